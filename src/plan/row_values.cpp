#include "plan/row_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "faro/error.hpp"
#include "permutation/index_rows.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kMostRowArrayBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kLongRowBytes = 1024;
constexpr std::uint64_t kPieceOfRows = std::uint64_t{128} << 10;  // bytes, of a second-level cache
constexpr std::uint64_t kAddedPiece = std::uint64_t{4} << 20;     // that all threads share
constexpr std::uint64_t kFewRowBytes = std::uint64_t{128} << 10;  // moved on one thread

bool is_take(const RowMove& move) { return std::holds_alternative<Take>(move); }

// Numbers of all rows together.
std::uint64_t numbers_of(std::uint64_t outer, std::uint64_t rows, std::uint64_t numbers,
                         std::uint64_t width) {
  std::uint64_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(outer, rows, &bytes) ||
                         __builtin_mul_overflow(bytes, numbers * width, &bytes) || bytes > kMostRowArrayBytes;
  if (overflows) fail(ErrorCode::value, "plan rows", "arrays past 2^62 bytes", "at most 2^62");
  return bytes / width;
}

void check_whole_numbers(const RowLayout& layout, const Arithmetic& arithmetic) {
  const std::uint64_t width = bytes_of(arithmetic.from);
  if (layout.row_bytes != 0 && layout.row_bytes % width == 0) return;
  fail(ErrorCode::value, "plan rows", fmt::format("rows of {} bytes", layout.row_bytes),
       fmt::format("a whole number of {} of {} bytes", name(arithmetic.from), width));
}

// Factors go by the place in the output; of what is put or added they are found by the place in the row.
void check_row_factors(const RowValues& values, const Coefficient& of, const char* what) {
  if (!of.axis) return;
  const std::vector<std::uint64_t>& shape = values.arithmetic.shape;
  const std::uint64_t period = std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(*of.axis),
                                               shape.end(), std::uint64_t{1}, std::multiplies<>());
  if (is_take(values.move) || (period != 0 && values.numbers % period == 0)) return;
  fail(ErrorCode::unsupported, "plan rows",
       fmt::format("{} that differs from row to row, of rows that are {}", what,
                   std::holds_alternative<Put>(values.move) ? "put" : "added"),
       "one value, or values along an axis of the row", "scale the rows first");
}

void check_move(const RowValues& values) {
  const Arithmetic& of = values.arithmetic;
  if (of.addend && (!is_take(values.move) || !of.addend->strides.empty())) {
    fail(ErrorCode::unsupported, "plan rows",
         is_take(values.move) ? "strides of an added array" : "an added array, and rows that are not taken",
         "a dense one where rows are taken", "Add accumulates on the output");
  }
  if (const auto* const add = std::get_if<Add>(&values.move); add != nullptr) {
    if (add->number != of.to)
      fail(ErrorCode::value, "plan rows", fmt::format("sums of {}", name(add->number)),
           fmt::format("{}, what rows are converted to", name(of.to)));
    // Sums are kept in the output itself.
    if (of.out_swapped && bytes_of(of.to) > 1)
      fail(ErrorCode::unsupported, "plan rows", "sums of numbers in the other byte order",
           "an output in this machine's byte order");
  }
  if (const auto* const take = std::get_if<Take>(&values.move)) {
    const std::size_t bytes = take->fill.value.size();
    if (take->fill.with == Fill::With::value &&
        (bytes == 0 || values.numbers * bytes_of(of.to) % bytes != 0)) {
      fail(ErrorCode::value, "plan rows", fmt::format("a fill of {} bytes", bytes),
           fmt::format("a divisor of the output's row, {} bytes", values.numbers * bytes_of(of.to)));
    }
  }
}

void check_row_shape(const RowValues& values) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : values.arithmetic.shape) {
    if (__builtin_mul_overflow(count, extent, &count)) count = ~std::uint64_t{0};
  }
  if (count == values.out_count()) return;
  fail(ErrorCode::value, "plan rows",
       fmt::format("an output of shape {} for {} numbers", fmt::join(values.arithmetic.shape, " x "),
                   values.out_count()),
       fmt::format("a shape of {}", values.out_count()));
}

// On a CPU rows that are taken or put go piece by piece, each by one thread.
RowPlan plan_of_rows(const RowValues& values, const Target& target) {
  RowMove move = values.move;
  auto* const take = std::get_if<Take>(&move);
  // Absent rows are filled once the others are converted.
  if (take != nullptr && take->fill.with != Fill::With::nothing) take->fill = Fill::zero();
  const Number number = take != nullptr ? values.arithmetic.from : values.arithmetic.to;
  const std::uint64_t outer = target.engine == Engine::cuda ? values.outer : 1;
  return {std::move(move), {.outer = outer, .row_bytes = values.numbers * bytes_of(number)}, target};
}

}  // namespace

std::uint64_t RowValues::in_count() const {
  const std::uint64_t rows = is_take(move) ? numbered_rows(move) : moved_rows();
  return numbers_of(outer, rows, numbers, bytes_of(arithmetic.from));
}
std::uint64_t RowValues::out_count() const {
  const std::uint64_t rows = is_take(move) ? moved_rows() : numbered_rows(move);
  return numbers_of(outer, rows, numbers, bytes_of(arithmetic.to));
}
std::uint64_t RowValues::read_bytes() const {
  std::uint64_t width = bytes_of(arithmetic.from);
  if (arithmetic.addend) width += bytes_of(arithmetic.addend->number);
  if (std::holds_alternative<Add>(move)) width += bytes_of(arithmetic.to);
  return outer * moved_rows() * numbers * width;
}
std::uint64_t RowValues::written_bytes() const {
  return outer * moved_rows() * numbers * bytes_of(arithmetic.to);
}

RowValues make_row_values(const RowMove& move, const RowLayout& layout, const Arithmetic& arithmetic,
                          const Target& target) {
  check_whole_numbers(layout, arithmetic);
  RowValues values{.arithmetic = arithmetic,
                   .move = move,
                   .outer = layout.outer,
                   .numbers = layout.row_bytes / bytes_of(arithmetic.from)};
  if (values.arithmetic.shape.empty()) values.arithmetic.shape = {values.out_count()};
  static_cast<void>(values.in_count());
  check_row_shape(values);
  check(arithmetic, values.arithmetic.shape);
  check_move(values);
  check_row_factors(values, arithmetic.scale, "a scale");
  check_row_factors(values, arithmetic.offset, "an offset");
  values.row_plan.emplace(plan_of_rows(values, target));
  if (target.engine == Engine::cuda) return values;
  const bool adds = std::holds_alternative<Add>(move);
  const std::uint64_t width = std::max(bytes_of(arithmetic.from), bytes_of(arithmetic.to));
  values.direct = !adds && layout.row_bytes >= kLongRowBytes;
  values.piece_rows =
      std::max<std::uint64_t>((adds ? kAddedPiece : kPieceOfRows) / (values.numbers * width), 1);
  values.streamed = is_take(move) && values.written_bytes() > target.streaming_bytes;
  values.threads = values.read_bytes() + values.written_bytes() < kFewRowBytes ? 1 : target.threads;
  return values;
}

RowValues RowValues::with_entries_at(const void* entries) const {
  RowValues made = *this;
  entries_of(made.move).data = entries;
  made.row_plan.emplace(plan_of_rows(made, row_plan->target()));
  return made;
}

std::string RowValues::explain() const {
  std::string text = fmt::format("arithmetic      {}\n", to_text(arithmetic));
  text += fmt::format("rows            {} of {} numbers: {} bytes read, {} bytes written\n",
                      outer * moved_rows(), numbers, read_bytes(), written_bytes());
  if (row_plan->target().engine == Engine::cuda) return text;
  if (direct) return text + "converted       row by row, from where they are to where they belong\n";
  return text + fmt::format("pieces          of up to {}, {}\n", count_text(piece_rows, "row"),
                            is_take(move) ? "gathered in the cache, and converted as they are written"
                                          : "converted in the cache, and moved on from there");
}

}  // namespace faro::detail
