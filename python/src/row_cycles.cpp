#include "row_cycles.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace faro::python {
namespace {

// One row of each cycle that moves anything.
std::vector<std::uint64_t> cycle_starts(const std::vector<std::uint64_t>& sources) {
  std::vector<std::uint64_t> starts;
  std::vector<bool> met(sources.size());
  for (std::uint64_t start = 0; start < sources.size(); ++start) {
    if (met[start] || sources[start] == start) continue;
    starts.push_back(start);
    for (std::uint64_t row = start; !met[row]; row = sources[row]) met[row] = true;
  }
  return starts;
}

struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;
};

void follow(const RowCycles& rows, const std::vector<std::uint64_t>& starts, ByteRange columns,
            std::byte* data) {
  const std::uint64_t width = columns.end - columns.begin;
  std::vector<std::byte> held(width);
  for (std::uint64_t array = 0; array < rows.outer; ++array) {
    std::byte* const first = data + array * rows.sources.size() * rows.row_bytes + columns.begin;
    const auto at = [&](std::uint64_t row) { return first + row * rows.row_bytes; };
    for (const std::uint64_t start : starts) {
      std::memcpy(held.data(), at(start), width);
      std::uint64_t row = start;
      for (std::uint64_t from = rows.sources[row]; from != start; row = from, from = rows.sources[row])
        std::memcpy(at(row), at(from), width);
      std::memcpy(at(row), held.data(), width);
    }
  }
}

}  // namespace

void permute_rows(const RowCycles& rows, std::byte* data) {
  constexpr std::uint64_t kLine = 64;
  constexpr std::uint64_t kLeastColumns = 2048;                     // bytes of a row that a thread moves
  constexpr std::uint64_t kLeastOfThread = std::uint64_t{1} << 20;  // bytes in all
  const std::vector<std::uint64_t> starts = cycle_starts(rows.sources);
  if (starts.empty()) return;
  const std::uint64_t total = rows.outer * rows.sources.size() * rows.row_bytes;
  const std::uint64_t processors = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t parts = std::clamp<std::uint64_t>(
      std::min(rows.row_bytes / kLeastColumns, total / kLeastOfThread), 1, processors);
  const std::uint64_t columns = (rows.row_bytes / parts + kLine - 1) / kLine * kLine;
  std::vector<std::jthread> threads;
  for (std::uint64_t begin = columns; begin < rows.row_bytes; begin += columns) {
    const ByteRange range{.begin = begin, .end = std::min(begin + columns, rows.row_bytes)};
    threads.emplace_back([&rows, &starts, range, data] { follow(rows, starts, range, data); });
  }
  follow(rows, starts, {.begin = 0, .end = std::min(columns, rows.row_bytes)}, data);
}

}  // namespace faro::python
