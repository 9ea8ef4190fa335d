// Any bytes as an index array: refused by name, or a permutation that every schedule made of it carries out.
//
//     byte 0, bits 0..2   type of the entries and direction
//     byte 1              chunk bits and level bits of the partition
//     the rest            the entries; with bit 3 of byte 0 they are ranks, which always make a permutation
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace {

using namespace faro;
using namespace faro::schedule;

void require(bool condition, const char* law) {
  if (condition) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

// What the definition makes of 0 .. N - 1.
std::vector<std::uint32_t> moved(const Indexed& indexed) {
  std::vector<std::uint32_t> out(indexed.count());
  for (std::uint64_t i = 0; i < indexed.count(); ++i) {
    const std::uint64_t entry = indexed.entry(i);
    require(entry < indexed.count(), "entries of an Indexed are in range");
    const bool is_scatter = indexed.direction() == Direction::scatter;
    out[is_scatter ? entry : i] = static_cast<std::uint32_t>(is_scatter ? i : entry);
  }
  return out;
}

void require_schedule(const IndexSchedule& schedule, const std::vector<std::uint32_t>& wanted) {
  check_schedule(schedule);
  std::vector<std::uint32_t> in(schedule.count);
  std::iota(in.begin(), in.end(), 0U);
  std::vector<std::uint32_t> out(schedule.count);
  run_by_definition(schedule, reinterpret_cast<const std::byte*>(in.data()),
                    reinterpret_cast<std::byte*>(out.data()), sizeof(std::uint32_t));
  require(out == wanted, "a schedule is the permutation it was made from");
}

void schedule_all(const Indexed& indexed, int chunk_bits, int most_bits) {
  const std::vector<std::uint32_t> wanted = moved(indexed);
  const std::uint64_t count = indexed.count();
  std::uint64_t farthest = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    farthest = std::max(farthest, std::max(indexed.entry(i), i) - std::min(indexed.entry(i), i));
  }
  require_schedule(direct_schedule(indexed), wanted);
  require_schedule(runs_schedule(indexed), wanted);
  require_schedule(window_schedule(indexed, static_cast<std::uint32_t>(farthest)), wanted);
  require_schedule(row_column_schedule(indexed), wanted);
  const PartitionShape shape{
      .count = count, .chunk_bits = chunk_bits, .level_bits = even_levels(count, chunk_bits, most_bits)};
  require_schedule(partition_index_schedule(indexed, shape), wanted);
  require_schedule(partition_index_schedule(indexed, shape).inverse(), moved(indexed.inverse()));
}

// The bytes as sort keys: position i has rank P[i].
std::vector<std::byte> ranks(const std::uint8_t* data, std::size_t size, int entry_bytes) {
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return data[a] < data[b]; });
  std::vector<std::byte> bytes(size * static_cast<std::size_t>(entry_bytes));
  for (std::size_t i = 0; i < size; ++i) {
    std::memcpy(bytes.data() + i * static_cast<std::size_t>(entry_bytes), &order[i],
                static_cast<std::size_t>(entry_bytes));
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int flags = data[0];
  const IndexType type{.bytes = (flags & 1) != 0 ? 8 : 4, .is_signed = (flags & 2) != 0};
  const Direction direction = (flags & 4) != 0 ? Direction::gather : Direction::scatter;
  const auto given = std::as_bytes(std::span(data + 2, size - 2));
  const std::vector<std::byte> bytes = (flags & 8) != 0 ? ranks(data + 2, size - 2, type.bytes)
                                                        : std::vector<std::byte>(given.begin(), given.end());
  try {
    const Indexed indexed = Indexed::from_bytes(bytes, type, direction);
    schedule_all(indexed, 1 + data[1] % 12, 2 + data[1] / 16 % 8);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::value, "the array is at fault");
    require((flags & 8) == 0, "ranks are a permutation");
    require(std::string(error.what()).find('\n') == std::string::npos, "an error is one line");
  }
  return 0;
}
