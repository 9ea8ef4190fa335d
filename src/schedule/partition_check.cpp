// Checks whether a partition schedule is a permutation, and recovers its index array.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "schedule/check_places.hpp"
#include "schedule/parallel.hpp"

namespace faro::schedule {
namespace {

std::string pass_name(int level) { return "level " + std::to_string(level); }

void check_table(const std::string& what, std::uint64_t got, std::uint64_t wanted) {
  if (got != wanted)
    fail(ErrorCode::value, "check a partition schedule", std::to_string(got) + " " + what,
         std::to_string(wanted));
}

void check_starts(const PartitionShape& shape, int index, const PartitionLevel& level, int threads) {
  const std::uint64_t buckets = shape.buckets(index);
  // The first run that starts before the one in front of it, or past the chunk; the number of runs if none.
  const auto first_fault = [&](std::uint64_t chunk) {
    const std::uint16_t* const starts = level.starts.data() + chunk * buckets;
    std::uint64_t b = 0;
    while (b < buckets && starts[b] <= shape.chunk_size(chunk) &&
           (b == 0 ? starts[b] == 0 : starts[b - 1] <= starts[b])) {
      ++b;
    }
    return b;
  };
  const auto is_fine = [&](std::uint64_t chunk, int) { return first_fault(chunk) == buckets; };
  if (const auto chunk = first_failing(shape.chunks(), threads, is_fine)) {
    const std::uint64_t b = first_fault(*chunk);
    fail(ErrorCode::value, "check a partition schedule",
         pass_name(index) + ", chunk " + std::to_string(*chunk) + ": run " + std::to_string(b) +
             " starts at place " + std::to_string(level.starts[*chunk * buckets + b]),
         b == 0 ? "place 0" : "runs one after another, in the chunk");
  }
}

// Walks through the chunks of a region, with how full its buckets are. Returns the first run that is not
// where the one before it in its bucket ends, as chunk x buckets + bucket; the number of runs if there is
// none.
std::uint64_t misplaced_run(const PartitionShape& shape, int index, const PartitionLevel& level,
                            std::uint64_t region) {
  const std::uint64_t buckets = shape.buckets(index);
  const int chunks_bits = shape.region_bits(index) - shape.chunk_bits;
  const std::uint64_t first = region << chunks_bits;
  const std::uint64_t end = std::min(shape.chunks(), (region + 1) << chunks_bits);
  std::vector<std::uint64_t> filled(buckets);
  const auto room = [&](std::uint64_t b) {
    const std::uint64_t begin = (region << shape.region_bits(index)) + (b << shape.region_bits(index + 1));
    const std::uint64_t size = std::uint64_t{1} << shape.region_bits(index + 1);
    return begin >= shape.count ? 0 : std::min(size, shape.count - begin);
  };
  for (std::uint64_t chunk = first; chunk < end; ++chunk) {
    for (std::uint64_t b = 0; b < buckets; ++b) {
      const std::uint64_t run = chunk * buckets + b;
      const std::uint64_t run_end = b + 1 < buckets ? level.starts[run + 1] : shape.chunk_size(chunk);
      const std::uint64_t length = run_end - level.starts[run];
      if (level.offsets[run] != filled[b] || length > room(b) - filled[b]) return run;
      filled[b] += length;
    }
  }
  // Nothing is too long and the lengths sum to the region's size: all buckets are full.
  return level.offsets.size();
}

void check_offsets(const PartitionShape& shape, int index, const PartitionLevel& level, int threads) {
  const std::uint64_t region_size = std::uint64_t{1} << shape.region_bits(index);
  const std::uint64_t regions = (shape.count + region_size - 1) / region_size;
  const auto is_fine = [&](std::uint64_t region, int) {
    return misplaced_run(shape, index, level, region) == level.offsets.size();
  };
  if (const auto region = first_failing(regions, threads, is_fine)) {
    const std::uint64_t run = misplaced_run(shape, index, level, *region);
    fail(ErrorCode::value, "check a partition schedule",
         pass_name(index) + ", chunk " + std::to_string(run / shape.buckets(index)) + ": run " +
             std::to_string(run % shape.buckets(index)) + " at offset " + std::to_string(level.offsets[run]),
         "runs that follow one another and fit in their bucket");
  }
}

}  // namespace

void check_schedule(const PartitionSchedule& schedule, int threads) {
  const PartitionShape& shape = schedule.shape;
  check_shape(shape);
  const int workers = thread_count(threads, shape.count);
  check_table("levels", schedule.levels.size(), shape.level_bits.size());
  for (int index = 0; index < shape.levels(); ++index) {
    const PartitionLevel& level = schedule.levels[static_cast<std::size_t>(index)];
    const std::uint64_t runs = shape.chunks() * shape.buckets(index);
    check_table("places at " + pass_name(index), level.places.size(), shape.count);
    check_table("starts at " + pass_name(index), level.starts.size(), runs);
    check_table("offsets at " + pass_name(index), level.offsets.size(), runs);
    check_places(level.places, shape.chunk_elements(), pass_name(index) + ", chunk", workers);
    check_starts(shape, index, level, workers);
    check_offsets(shape, index, level, workers);
  }
  check_table("places of the last pass", schedule.last.size(), shape.count);
  check_places(schedule.last, shape.chunk_elements(), "last pass, chunk", workers);
}

std::vector<std::uint64_t> entries_of(const PartitionSchedule& schedule) {
  const PartitionShape& shape = schedule.shape;
  std::vector<std::uint64_t> now(shape.count);  // which element lies here
  std::vector<std::uint64_t> next(shape.count);
  std::iota(now.begin(), now.end(), std::uint64_t{0});
  for (int index = 0; index < shape.levels(); ++index) {
    const PartitionLevel& level = schedule.levels[static_cast<std::size_t>(index)];
    const std::uint64_t buckets = shape.buckets(index);
    std::vector<std::uint64_t> chunk_in_places(shape.chunk_elements());
    for (std::uint64_t chunk = 0; chunk < shape.chunks(); ++chunk) {
      const std::uint64_t base = chunk << shape.chunk_bits;
      const std::uint64_t size = shape.chunk_size(chunk);
      for (std::uint64_t i = 0; i < size; ++i) chunk_in_places[level.places[base + i]] = now[base + i];
      const std::uint64_t region = base >> shape.region_bits(index) << shape.region_bits(index);
      for (std::uint64_t b = 0; b < buckets; ++b) {
        const std::uint64_t start = level.starts[chunk * buckets + b];
        const std::uint64_t end = b + 1 < buckets ? level.starts[chunk * buckets + b + 1] : size;
        const std::uint64_t to =
            region + (b << shape.region_bits(index + 1)) + level.offsets[chunk * buckets + b];
        for (std::uint64_t place = start; place < end; ++place) {
          next[to + place - start] = chunk_in_places[place];
        }
      }
    }
    std::swap(now, next);
  }
  std::vector<std::uint64_t> entries = std::move(next);
  for (std::uint64_t x = 0; x < shape.count; ++x) {
    const std::uint64_t base = x >> shape.chunk_bits << shape.chunk_bits;
    entries[now[x]] = base + schedule.last[x];
  }
  return entries;
}

}  // namespace faro::schedule
