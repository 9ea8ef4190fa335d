#include "faro/schedule/index_schedule.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "faro/error.hpp"
#include "permutation/axes_search.hpp"
#include "permutation/index_check.hpp"
#include "permutation/index_sweep.hpp"
#include "schedule/host_entries.hpp"

namespace faro::schedule {
namespace {

static_assert(std::endian::native == std::endian::little, "fingerprints are of little-endian entries");

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return sizeof(T) * values.size();
}

std::uint64_t bytes_of(const DirectSchedule& direct) {
  return direct.indexed.count() * static_cast<std::uint64_t>(direct.indexed.index_type().bytes);
}
std::uint64_t bytes_of(const WindowSchedule& window) { return bytes_of(window.shift); }
std::uint64_t bytes_of(const RunsSchedule& runs) { return bytes_of(runs.source) + bytes_of(runs.target); }
std::uint64_t bytes_of(const PartitionSchedule& partition) { return partition.shape.bytes(); }
std::uint64_t bytes_of(const RowColumnSchedule& lists) {
  return bytes_of(lists.first) + bytes_of(lists.middle) + bytes_of(lists.last);
}

std::vector<std::uint64_t> entries(const DirectSchedule& direct) {
  require_host(direct.indexed, "read a schedule's entries");
  return with_entries(direct.indexed,
                      [](auto given) { return std::vector<std::uint64_t>(given.begin(), given.end()); });
}

std::vector<std::uint64_t> entries(const WindowSchedule& window) {
  std::vector<std::uint64_t> result(window.count);
  for (std::uint64_t i = 0; i < window.count; ++i) result[i + window.shift[i] - window.window] = i;
  return result;
}

std::vector<std::uint64_t> entries(const RunsSchedule& runs) {
  std::vector<std::uint64_t> result(runs.count);
  for (std::size_t r = 0; r < runs.target.size(); ++r) {
    for (std::uint64_t i = runs.source[r]; i < runs.source[r + 1]; ++i) {
      result[i] = runs.target[r] + (i - runs.source[r]);
    }
  }
  return result;
}

std::vector<std::uint64_t> entries(const PartitionSchedule& partition) { return entries_of(partition); }

std::vector<std::uint64_t> entries(const RowColumnSchedule& lists) {
  const std::uint64_t rows = lists.rows;
  const std::uint64_t columns = lists.columns;
  std::vector<std::uint64_t> result(rows * columns);
  for (std::uint64_t i = 0; i < result.size(); ++i) {
    const std::uint64_t column = lists.first[i];
    const std::uint64_t row = lists.middle[column * rows + i / columns];
    result[i] = row * columns + lists.last[row * columns + column];
  }
  return result;
}

}  // namespace

std::uint64_t IndexSchedule::bytes() const {
  return std::visit([](const auto& schedule) { return bytes_of(schedule); }, what);
}

IndexSchedule IndexSchedule::inverse() const {
  IndexSchedule result = *this;
  result.applied = opposite(applied);
  if (auto* const direct = std::get_if<DirectSchedule>(&result.what))
    direct->indexed = direct->indexed.inverse();
  return result;
}

std::uint64_t fingerprint(const Indexed& indexed) {
  require_host(indexed, "take the fingerprint of an index array");
  const std::uint64_t count = indexed.count();
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, &count, sizeof(count));
  const bool is_short = count <= std::uint64_t{1} << 32;
  if (!is_short || indexed.entries64().empty()) {
    with_entries(indexed,
                 [&](auto entries) { XXH3_64bits_update(&state, entries.data(), entries.size_bytes()); });
    return XXH3_64bits_digest(&state);
  }
  std::array<std::uint32_t, 4096> narrow{};
  const std::span<const std::uint64_t> wide = indexed.entries64();
  for (std::uint64_t begin = 0; begin < count; begin += narrow.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(narrow.size(), count - begin);
    for (std::uint64_t i = 0; i < size; ++i) narrow[i] = static_cast<std::uint32_t>(wide[begin + i]);
    XXH3_64bits_update(&state, narrow.data(), size * sizeof(std::uint32_t));
  }
  return XXH3_64bits_digest(&state);
}

std::optional<Indexed> scheduled_block(const Indexed& indexed, const Blocks& blocks) {
  require_host(indexed, "schedule an index array");
  if (blocks == Blocks{}) return indexed;
  const std::uint64_t count = indexed.count();
  if (blocks.repeats == 0 || blocks.together == 0 || count % blocks.repeats != 0) return std::nullopt;
  const std::uint64_t block = count / blocks.repeats;
  if (block == 0 || block % blocks.together != 0) return std::nullopt;
  bool are_blocks = false;
  with_entries(indexed, [&](auto entries) {
    are_blocks = (blocks.repeats == 1 || !faro::detail::repeat_mismatch(entries, block, 0)) &&
                 (blocks.together == 1 || faro::detail::together(entries, 0) % blocks.together == 0);
  });
  if (!are_blocks) return std::nullopt;
  // The first block need not keep to itself for the others to be like it.
  for (std::uint64_t i = 0; i < block; ++i) {
    if (indexed.entry(i) >= block) return std::nullopt;
  }
  return faro::detail::block_of(indexed, block, blocks.together);
}

IndexSchedule direct_schedule(const Indexed& indexed) {
  require_host(indexed, "make a direct schedule");
  return {.what = DirectSchedule{indexed},
          .count = indexed.count(),
          .applied = indexed.direction(),
          .fingerprint = fingerprint(indexed)};
}

IndexSchedule partition_index_schedule(const Indexed& indexed, const PartitionShape& shape, int threads) {
  return {.what = partition_schedule(indexed, shape, threads),
          .count = indexed.count(),
          .applied = indexed.direction(),
          .fingerprint = fingerprint(indexed)};
}

std::vector<std::uint64_t> entries_of(const IndexSchedule& schedule) {
  return std::visit([](const auto& what) { return entries(what); }, schedule.what);
}

std::optional<std::uint64_t> first_difference(const IndexSchedule& schedule, const Indexed& indexed,
                                              int threads) {
  require_host(indexed, "compare a schedule with an index array");
  FARO_CHECK(schedule.count == indexed.count());
  std::atomic<std::uint64_t> first{schedule.count};
  // Whether entry i of the schedule, by the function `entry`, is the array's.
  const auto compare = [&](const auto& entry) {
    with_entries(indexed, [&](auto wanted) {
      detail::for_each_index(
          schedule.count,
          [&](std::uint64_t i) {
            if (entry(i) != wanted[i]) detail::keep_smallest(first, i);
          },
          threads);
    });
  };
  if (const auto* const direct = std::get_if<DirectSchedule>(&schedule.what)) {
    with_entries(direct->indexed, [&](auto entries) {
      compare([=](std::uint64_t i) -> std::uint64_t { return entries[i]; });
    });
  } else if (const auto* const window = std::get_if<WindowSchedule>(&schedule.what)) {
    // The gather form: what is fetched from there was sent here.
    with_entries(indexed, [&](auto wanted) {
      detail::for_each_index(
          schedule.count,
          [&](std::uint64_t i) {
            const std::uint64_t source = i + window->shift[i] - window->window;
            if (wanted[source] != i) detail::keep_smallest(first, source);
          },
          threads);
    });
  } else {
    const std::vector<std::uint64_t> entries = entries_of(schedule);
    compare([&](std::uint64_t i) { return entries[i]; });
  }
  if (first.load() == schedule.count) return std::nullopt;
  return first.load();
}

void run_by_definition(const IndexSchedule& schedule, const std::byte* in, std::byte* out,
                       std::uint64_t element_bytes) {
  const std::vector<std::uint64_t> entries = entries_of(schedule);
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const bool forwards = schedule.applied == Direction::scatter;
    const std::uint64_t from = forwards ? i : entries[i];
    const std::uint64_t to = forwards ? entries[i] : i;
    std::memcpy(out + to * element_bytes, in + from * element_bytes, element_bytes);
  }
}

}  // namespace faro::schedule
