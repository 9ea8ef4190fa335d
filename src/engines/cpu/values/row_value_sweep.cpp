#include "engines/cpu/values/row_value_sweep.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "permutation/index_rows.hpp"

namespace faro::cpu {
namespace {

// Calls work, which may throw, on shares by several threads; the first error is thrown when all are done.
template <typename Work>
void share_out_or_throw(std::uint64_t count, int threads, const Work& work) {
  std::mutex lock;
  std::exception_ptr error;
  share_out_by_rank(count, threads, [&](const Share& share) {
    try {
      work(share);
    } catch (...) {
      const std::lock_guard held(lock);
      if (error == nullptr) error = std::current_exception();
    }
  });
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace

// Entries first .. first + rows - 1 of array `outer`.
struct RowValueSweep::Piece {
  std::uint64_t outer = 0;
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
};

RowValueSweep::RowValueSweep(const detail::RowValues& plan)
    : plan_(plan), values_(plan.arithmetic, plan.streamed) {}

// Pieces that are taken or put have a thread each; one that is added has all of them.
RowPlan RowValueSweep::part_plan(const Piece& piece) const {
  const int threads = std::holds_alternative<Add>(plan_.move) ? plan_.threads : 1;
  return plan_.row_plan->of_part(piece.first, piece.rows, threads);
}

void RowValueSweep::fill(std::uint64_t place, const ValueArrays& arrays) const {
  const Fill& with = std::get<Take>(plan_.move).fill;
  std::byte* const to = arrays.out + place * bytes_of(plan_.arithmetic.to);
  if (with.with == Fill::With::zero) std::memset(to, 0, out_row_bytes());
  if (with.with != Fill::With::value) return;
  for (std::uint64_t at = 0; at < out_row_bytes(); at += with.value.size())
    std::copy(with.value.begin(), with.value.end(), to + at);
}

// Row by row, from the input or from where taken rows lie in the buffer.
void RowValueSweep::move_directly(const Piece& piece, const ValueArrays& arrays) const {
  const bool takes = std::holds_alternative<Take>(plan_.move);
  std::vector<std::uint64_t> rows(piece.rows);
  const bool fine = detail::RowReader(plan_.move).read(piece.first, piece.rows, rows.data());
  if (!fine) static_cast<void>(check_rows(plan_.move));
  const std::uint64_t numbered = piece.outer * numbered_rows(plan_.move);
  const std::uint64_t counted = piece.outer * plan_.moved_rows() + piece.first;
  const ValueSide side(values_, arrays, 0);
  for (std::uint64_t i = 0; i < piece.rows; ++i) {
    const std::uint64_t out_row = takes ? counted + i : numbered + rows[i];
    if (rows[i] == detail::kNoRow) {
      if (takes) fill(out_row * plan_.numbers, arrays);
      continue;
    }
    const std::uint64_t in_row = takes ? numbered + rows[i] : counted + i;
    side.write(arrays.in + in_row * in_row_bytes(), out_row * plan_.numbers, plan_.numbers);
  }
}

void RowValueSweep::take(const Piece& piece, const ValueArrays& arrays, std::byte* buffer) const {
  const std::uint64_t array = piece.outer * numbered_rows(plan_.move) * in_row_bytes();
  run_rows(part_plan(piece), arrays.in + array, buffer);
  const std::uint64_t place = (piece.outer * plan_.moved_rows() + piece.first) * plan_.numbers;
  const ValueSide side(values_, arrays, place);
  if (plan_.row_plan->census().absent == 0) return side.write(buffer, 0, piece.rows * plan_.numbers);
  std::vector<std::uint64_t> rows(piece.rows);
  static_cast<void>(detail::RowReader(plan_.move).read(piece.first, piece.rows, rows.data()));
  for (std::uint64_t i = 0; i < piece.rows; ++i) {
    if (rows[i] == detail::kNoRow) {
      fill(place + i * plan_.numbers, arrays);
    } else {
      side.write(buffer + i * in_row_bytes(), i * plan_.numbers, plan_.numbers);
    }
  }
}

void RowValueSweep::put(const Piece& piece, const ValueArrays& arrays, std::byte* buffer) const {
  const std::uint64_t place = (piece.outer * plan_.moved_rows() + piece.first) * plan_.numbers;
  ValueSide(values_, arrays, place).read(0, piece.rows * plan_.numbers, buffer);
  run_rows(part_plan(piece), buffer, arrays.out + piece.outer * numbered_rows(plan_.move) * out_row_bytes());
}

void RowValueSweep::run_piece(const Piece& piece, const ValueArrays& arrays, std::byte* buffer) const {
  if (plan_.direct) return move_directly(piece, arrays);
  if (std::holds_alternative<Take>(plan_.move)) return take(piece, arrays, buffer);
  put(piece, arrays, buffer);
}

// Pieces one after another, for rows are added in their order.
void RowValueSweep::add(const ValueArrays& arrays) const {
  std::vector<std::byte> buffer(std::min(plan_.piece_rows, plan_.moved_rows()) * out_row_bytes());
  constexpr std::uint64_t kPart = 4096;
  for (std::uint64_t outer = 0; outer < plan_.outer; ++outer) {
    for (std::uint64_t first = 0; first < plan_.moved_rows(); first += plan_.piece_rows) {
      const Piece piece{
          .outer = outer, .first = first, .rows = std::min(plan_.piece_rows, plan_.moved_rows() - first)};
      const std::uint64_t numbers = piece.rows * plan_.numbers;
      const ValueSide side(values_, arrays, (outer * plan_.moved_rows() + first) * plan_.numbers);
      share_out((numbers + kPart - 1) / kPart, plan_.threads, [&](std::uint64_t begin, std::uint64_t end) {
        side.read(begin * kPart, std::min(end * kPart, numbers) - begin * kPart,
                  buffer.data() + begin * kPart * bytes_of(plan_.arithmetic.to));
      });
      run_rows(part_plan(piece), buffer.data(),
               arrays.out + outer * numbered_rows(plan_.move) * out_row_bytes());
    }
  }
}

void RowValueSweep::run(const ValueArrays& arrays) const {
  if (plan_.outer * plan_.moved_rows() == 0) return;
  if (std::holds_alternative<Add>(plan_.move)) return add(arrays);
  const std::uint64_t of_array = (plan_.moved_rows() + plan_.piece_rows - 1) / plan_.piece_rows;
  const std::uint64_t rows = std::min(plan_.piece_rows, plan_.moved_rows());
  const std::uint64_t buffer_bytes = plan_.direct ? 0 : rows * std::max(in_row_bytes(), out_row_bytes());
  std::vector<std::optional<std::vector<std::byte>>> buffers(
      static_cast<std::size_t>(std::max(plan_.threads, 1)));
  share_out_or_throw(plan_.outer * of_array, plan_.threads, [&](const Share& share) {
    auto& own = buffers[share.rank];
    if (!own) own.emplace(buffer_bytes);
    for (std::uint64_t i = share.begin; i < share.end; ++i) {
      const std::uint64_t first = i % of_array * plan_.piece_rows;
      run_piece({.outer = i / of_array,
                 .first = first,
                 .rows = std::min(plan_.piece_rows, plan_.moved_rows() - first)},
                arrays, own->data());
    }
    finish_streams();
  });
}

}  // namespace faro::cpu
