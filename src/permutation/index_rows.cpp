#include "permutation/index_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "faro/error.hpp"
#include "faro/permutation/take.hpp"
#include "index_check.hpp"
#include "rounding.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kCheckBlock = 1024;

// As its type has it.
std::string row_entry_text(const RowNumbers& numbers, std::uint64_t value) {
  return numbers.type.is_signed ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
}

[[noreturn]] void fail_row(const RowMove& move, std::uint64_t position, std::uint64_t value) {
  const std::uint64_t rows = numbered_rows(move);
  const bool is_take = std::holds_alternative<Take>(move);
  const auto* const take = std::get_if<Take>(&move);
  const bool fills = take != nullptr && take->fill.with != Fill::With::nothing;
  const bool would_be_absent =
      is_take && !fills && row_numbers(move).type.is_signed && value == detail::kNoRow;
  fail(ErrorCode::value, name(move),
       "row " + row_entry_text(row_numbers(move), value) + " at position " + std::to_string(position),
       rows == 0 ? "no entry: there are no rows" : "rows from 0 to " + std::to_string(rows - 1),
       would_be_absent ? "a fill says what -1 gives" : "");
}

[[noreturn]] void fail_twice(const RowMove& move, const detail::RowReader& reader) {
  const std::uint64_t rows = numbered_rows(move);
  const auto marker = absent_marker(move);
  detail::Marks marks(rows);
  std::uint64_t second = 0;
  while (reader.entry(second) == marker || !marks.mark_alone(reader.entry(second))) ++second;
  std::uint64_t first = 0;
  while (reader.entry(first) != reader.entry(second)) ++first;
  fail(ErrorCode::value, name(move),
       "row " + std::to_string(reader.entry(second)) + " at positions " + std::to_string(first) + " and " +
           std::to_string(second),
       "each row at most once", "add takes rows that repeat");
}

// What one thread or block has seen.
struct Seen {
  std::uint64_t absent = 0;
  std::uint64_t runs = 0;
};

Seen seen_in(const std::uint64_t* rows, std::uint64_t n, std::uint64_t before) {
  Seen seen;
  for (std::uint64_t i = 0; i < n; ++i) {
    const bool absent = rows[i] == detail::kNoRow;
    // Absent entries follow each other as themselves, rows as their successors; no row wraps to kNoRow.
    const bool follows =
        absent ? before == detail::kNoRow : rows[i] == before + 1 && before != detail::kNoRow;
    seen.absent += absent ? 1 : 0;
    seen.runs += follows ? 0 : 1;
    before = rows[i];
  }
  return seen;
}

}  // namespace

const char* name(Sums sums) noexcept {
  static constexpr std::array kNames{"usual", "fp32", "fp64", "compensated"};
  return kNames[static_cast<std::size_t>(sums)];
}

const char* name(const RowMove& move) noexcept {
  static constexpr std::array kNames{"take", "put", "add"};
  return kNames[move.index()];
}

const RowNumbers& row_numbers(const RowMove& move) noexcept {
  if (const auto* const take = std::get_if<Take>(&move)) return take->from;
  if (const auto* const put = std::get_if<Put>(&move)) return put->to;
  return std::get_if<Add>(&move)->to;
}

RowNumbers& detail::entries_of(RowMove& move) { return const_cast<RowNumbers&>(row_numbers(move)); }

std::uint64_t numbered_rows(const RowMove& move) {
  return std::visit([](const auto& of) { return of.rows; }, move);
}

std::optional<std::uint64_t> absent_marker(const RowMove& move) {
  const auto* const take = std::get_if<Take>(&move);
  if (take != nullptr && take->fill.with == Fill::With::nothing) return std::nullopt;
  const auto marker = std::visit([](const auto& of) { return of.marker; }, move);
  if (marker || !row_numbers(move).type.is_signed) return marker;
  return detail::kNoRow;
}

void detail::require_row_move(const RowMove& move) {
  const RowNumbers& numbers = row_numbers(move);
  if (!is_entry_width(numbers.type.bytes)) {
    fail(ErrorCode::value, name(move), "entries of " + std::to_string(numbers.type.bytes) + " bytes",
         "entries of 1, 2, 4 or 8 bytes");
  }
  if (numbers.count > 0 && numbers.data == nullptr)
    fail(ErrorCode::value, name(move), "a null pointer", "the entries");
  if (numbers.count > Indexed::kMaxCount || numbered_rows(move) > Indexed::kMaxCount) {
    fail(ErrorCode::value, name(move), std::to_string(std::max(numbers.count, numbered_rows(move))) + " rows",
         "at most 2^40 rows");
  }
}

RowCensus check_rows(const RowMove& move, int threads) {
  detail::require_row_move(move);
  const detail::RowReader reader(move);
  const std::uint64_t count = reader.count();
  const bool distinct = std::holds_alternative<Put>(move);
  if (distinct) detail::require_memory(name(move), "a check of the rows", numbered_rows(move) / 8);
  detail::Marks marks(distinct ? numbered_rows(move) : 0);
  const int used = detail::threads_for(count, threads);
  std::atomic<std::uint64_t> wrong_block{detail::kNoRow};
  std::atomic<bool> twice{false};
  const bool plain = !distinct && !absent_marker(move) && numbered_rows(move) > 0;
  const auto check_block = [&](std::uint64_t block, std::uint64_t& absent, std::uint64_t& runs) {
    const std::uint64_t first = block * kCheckBlock;
    const std::uint64_t n = std::min(kCheckBlock, count - first);
    if (plain) {
      // Past the last row there is none that an entry could follow.
      const std::uint64_t previous = first == 0 ? numbered_rows(move) : reader.entry(first - 1);
      if (!reader.sum_up(first, n, previous, &runs)) detail::keep_smallest(wrong_block, block);
      return;
    }
    std::array<std::uint64_t, kCheckBlock + 1> rows;
    // With the entry before, for the runs; before the first there is one that nothing follows.
    const std::uint64_t before = first == 0 ? 0 : 1;
    rows[0] = numbered_rows(move);
    if (!reader.read(first - before, n + before, rows.data() + 1 - before))
      detail::keep_smallest(wrong_block, block);
    const Seen seen = seen_in(rows.data() + 1, n, rows[0]);
    absent += seen.absent;
    runs += seen.runs;
    if (!distinct) return;
    for (std::uint64_t i = 1; i <= n; ++i) {
      if (rows[i] == detail::kNoRow || numbered_rows(move) == 0) continue;
      if (used > 1 ? marks.mark_shared(rows[i]) : marks.mark_alone(rows[i])) twice.store(true);
    }
  };
  std::atomic<std::uint64_t> all_absent{0};
  std::atomic<std::uint64_t> all_runs{0};
  detail::share_out_evenly(detail::ceil_div(count, kCheckBlock), used,
                           [&](std::uint64_t begin, std::uint64_t end) {
                             std::uint64_t absent = 0;
                             std::uint64_t runs = 0;
                             for (std::uint64_t block = begin; block < end; ++block)
                               check_block(block, absent, runs);
                             all_absent += absent;
                             all_runs += runs;
                           });
  if (wrong_block.load() != detail::kNoRow) {
    const auto marker = absent_marker(move);
    // The entry before a block is read with it, so it may be that one.
    std::uint64_t i = wrong_block.load() * kCheckBlock;
    if (i > 0) --i;
    while (reader.entry(i) == marker || reader.entry(i) < numbered_rows(move)) ++i;
    fail_row(move, i, reader.entry(i));
  }
  if (twice.load()) fail_twice(move, reader);
  return {.absent = all_absent, .runs = all_runs};
}

std::optional<RowCensus> sample_rows(const RowMove& move) {
  constexpr std::uint64_t kSamples = 32;
  constexpr std::uint64_t kSampled = 256;  // entries of each
  detail::require_row_move(move);
  const detail::RowReader reader(move);
  const std::uint64_t count = reader.count();
  const bool plain = std::holds_alternative<Take>(move) && !absent_marker(move) && numbered_rows(move) > 0;
  if (!plain || count <= kSamples * kSampled) return std::nullopt;
  std::uint64_t runs = 0;
  for (std::uint64_t k = 0; k < kSamples; ++k) {
    const std::uint64_t first = 1 + (count - kSampled - 1) / (kSamples - 1) * k;
    if (!reader.sum_up(first, kSampled, reader.entry(first - 1), &runs)) return std::nullopt;
  }
  const double share = static_cast<double>(runs) / (kSamples * kSampled);
  return RowCensus{.absent = 0, .runs = static_cast<std::uint64_t>(share * static_cast<double>(count))};
}

}  // namespace faro
