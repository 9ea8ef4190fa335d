#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "io/buffer.hpp"
#include "schedule/conflict_free_chunk.hpp"
#include "schedule/host_entries.hpp"
#include "schedule/parallel.hpp"

namespace faro::schedule {
namespace {

constexpr std::uint64_t kColumnBuckets = 16;  // whose 32-bit counts share a cache line

struct PlaceOptions {
  int lanes = 0;  // places free of bank conflicts for so many; 0: in the order of the source
};

// A level's numbers, and what a thread needs beside them.
struct Level {
  Level(const PartitionShape& of, int index)
      : shape(of),
        low_bits(of.region_bits(index + 1)),
        region_bits(of.region_bits(index)),
        buckets(of.buckets(index)) {}

  template <typename Entry>
  std::uint32_t bucket(Entry entry) const {
    return static_cast<std::uint32_t>(entry >> low_bits) & (buckets - 1);
  }

  const PartitionShape& shape;
  int low_bits;     // of a place within a bucket
  int region_bits;  // of a place within a region
  std::uint32_t buckets;
};

// Run starts of every chunk, and the lengths of its runs in place of the offsets.
template <typename Entry>
void count_runs(const Level& level, const Entry* entries, PartitionLevel& made, int threads) {
  std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(threads),
                                                 std::vector<std::uint32_t>(level.buckets));
  for_each_chunk(level.shape.chunks(), threads, [&](std::uint64_t chunk, int thread) {
    std::vector<std::uint32_t>& count = counts[static_cast<std::size_t>(thread)];
    std::fill(count.begin(), count.end(), 0);
    const Entry* const from = entries + (chunk << level.shape.chunk_bits);
    const std::uint64_t size = level.shape.chunk_size(chunk);
    for (std::uint64_t i = 0; i < size; ++i) ++count[level.bucket(from[i])];
    std::uint32_t start = 0;
    for (std::uint32_t b = 0; b < level.buckets; ++b) {
      made.starts[chunk * level.buckets + b] = static_cast<std::uint16_t>(start);
      made.offsets[chunk * level.buckets + b] = count[b];
      start += count[b];
    }
  });
}

// Lengths of runs to their offsets in the bucket: those of earlier chunks of the region, summed.
void sum_over_chunks(const Level& level, PartitionLevel& made, int threads) {
  const std::uint64_t chunks = level.shape.chunks();
  const std::uint64_t region_chunks = std::uint64_t{1} << (level.region_bits - level.shape.chunk_bits);
  const std::uint64_t regions = (chunks + region_chunks - 1) / region_chunks;
  const std::uint64_t columns = (level.buckets + kColumnBuckets - 1) / kColumnBuckets;
  for_each_chunk(regions * columns, threads, [&](std::uint64_t task, int) {
    const std::uint64_t first = task / columns * region_chunks;
    const std::uint64_t end = std::min(first + region_chunks, chunks);
    const std::uint64_t begin_bucket = task % columns * kColumnBuckets;
    const std::uint64_t end_bucket = std::min<std::uint64_t>(begin_bucket + kColumnBuckets, level.buckets);
    std::uint32_t sums[kColumnBuckets] = {};
    for (std::uint64_t chunk = first; chunk < end; ++chunk) {
      for (std::uint64_t b = begin_bucket; b < end_bucket; ++b) {
        std::uint32_t& offset = made.offsets[chunk * level.buckets + b];
        std::uint32_t& sum = sums[b - begin_bucket];
        const std::uint32_t length = offset;
        offset = sum;
        sum += length;
      }
    }
  });
}

// Places, and the entries' remainders where the pass takes their elements.
template <typename Entry, typename Rest>
void place_and_spread(const Level& level, const Entry* entries, PartitionLevel& made, Rest* rests,
                      const PlaceOptions& options, int threads) {
  struct Scratch {
    std::vector<std::uint32_t> next;  // place of every bucket
    std::vector<Rest> sorted;
    ConflictFreePlaces conflict_free;
  };
  const PartitionShape& shape = level.shape;
  std::vector<Scratch> scratch(static_cast<std::size_t>(threads));
  for (Scratch& each : scratch) {
    each.next.resize(level.buckets);
    each.sorted.resize(std::min(shape.chunk_elements(), shape.count));
  }
  const Entry low_mask = static_cast<Entry>((std::uint64_t{1} << level.low_bits) - 1);
  for_each_chunk(shape.chunks(), threads, [&](std::uint64_t chunk, int thread) {
    std::uint32_t* const next = scratch[static_cast<std::size_t>(thread)].next.data();
    Rest* const sorted = scratch[static_cast<std::size_t>(thread)].sorted.data();
    const std::uint16_t* const starts = made.starts.data() + chunk * level.buckets;
    const std::uint32_t* const offsets = made.offsets.data() + chunk * level.buckets;
    std::copy_n(starts, level.buckets, next);
    const std::uint64_t base = chunk << shape.chunk_bits;
    const std::uint64_t size = shape.chunk_size(chunk);
    for (std::uint64_t i = 0; i < size; ++i) {
      const Entry entry = entries[base + i];
      const std::uint32_t place = next[level.bucket(entry)]++;
      made.places[base + i] = static_cast<std::uint16_t>(place);
      sorted[place] = static_cast<Rest>(entry & low_mask);
    }
    if (options.lanes > 0) {
      scratch[static_cast<std::size_t>(thread)].conflict_free.reorder(
          std::span(made.places).subspan(base, size), {starts, level.buckets}, options.lanes);
      for (std::uint64_t i = 0; i < size; ++i) {
        sorted[made.places[base + i]] = static_cast<Rest>(entries[base + i] & low_mask);
      }
    }
    Rest* const region = rests + (base >> level.region_bits << level.region_bits);
    for (std::uint64_t b = 0; b < level.buckets; ++b) {
      if (next[b] == starts[b]) continue;  // perhaps of a bucket past the array's end
      std::copy(sorted + starts[b], sorted + next[b], region + (b << level.low_bits) + offsets[b]);
    }
  });
}

template <typename Entry, typename Rest>
void make_level(const Level& level, const Entry* entries, PartitionLevel& made, Rest* rests,
                const PlaceOptions& options, int threads) {
  const std::uint64_t runs = level.shape.chunks() * level.buckets;
  made.places.resize(level.shape.count);
  made.starts.resize(runs);
  made.offsets.resize(runs);
  count_runs(level, entries, made, threads);
  sum_over_chunks(level, made, threads);
  place_and_spread(level, entries, made, rests, options, threads);
}

template <typename Entry>
PartitionSchedule make(std::span<const Entry> entries, const PartitionShape& shape,
                       const PlaceOptions& options, int threads) {
  PartitionSchedule schedule{.shape = shape, .levels = {}, .last = std::vector<std::uint16_t>(shape.count)};
  const int levels = shape.levels();
  schedule.levels.resize(static_cast<std::size_t>(levels));
  if (levels == 0) {
    std::transform(entries.begin(), entries.end(), schedule.last.begin(),
                   [](Entry entry) { return static_cast<std::uint16_t>(entry); });
    return schedule;
  }
  // Remainders between levels; what the last level leaves is `last` itself.
  std::unique_ptr<std::uint32_t[]> from;
  std::unique_ptr<std::uint32_t[]> to;
  for (int l = 0; l < levels; ++l) {
    const Level level(shape, l);
    PartitionLevel& made = schedule.levels[static_cast<std::size_t>(l)];
    const bool is_last = l + 1 == levels;
    if (!is_last && !to) to = std::make_unique_for_overwrite<std::uint32_t[]>(shape.count);
    if (l == 0 && is_last) make_level(level, entries.data(), made, schedule.last.data(), options, threads);
    if (l == 0 && !is_last) make_level(level, entries.data(), made, to.get(), options, threads);
    if (l > 0 && is_last) make_level(level, from.get(), made, schedule.last.data(), options, threads);
    if (l > 0 && !is_last) make_level(level, from.get(), made, to.get(), options, threads);
    std::swap(from, to);
  }
  return schedule;
}

constexpr const char* kOperation = "make a partition schedule";

std::string text_of(const PartitionShape& shape) {
  return std::to_string(shape.count) + " elements in " + std::to_string(shape.chunks()) + " chunks and " +
         std::to_string(shape.levels()) + " levels";
}

PartitionSchedule made_with(const Indexed& indexed, const PartitionShape& shape, const PlaceOptions& options,
                            int threads) {
  check_shape(shape);
  require_host(indexed, kOperation);
  if (indexed.count() != shape.count) {
    fail(ErrorCode::value, kOperation, "an index array of " + std::to_string(indexed.count()) + " entries",
         std::to_string(shape.count) + ", the shape's count");
  }
  const std::uint64_t rests =
      sizeof(std::uint32_t) * shape.count * static_cast<std::uint64_t>(std::clamp(shape.levels() - 1, 0, 2));
  detail::require_memory(kOperation, text_of(shape), shape.bytes() + rests);
  return with_entries(indexed, [&](auto entries) {
    return make(entries, shape, options, thread_count(threads, shape.count));
  });
}

}  // namespace

PartitionSchedule partition_schedule(const Indexed& indexed, const PartitionShape& shape, int threads) {
  return made_with(indexed, shape, {}, threads);
}

PartitionSchedule conflict_free_partition_schedule(const Indexed& indexed, const PartitionShape& shape,
                                                   int lanes, int threads) {
  if (lanes < 2 || lanes > kMaxLanes || !std::has_single_bit(static_cast<unsigned>(lanes))) {
    fail(ErrorCode::value, kOperation, std::to_string(lanes) + " lanes",
         "a power of two from 2 to " + std::to_string(kMaxLanes));
  }
  return made_with(indexed, shape, {.lanes = lanes}, threads);
}

}  // namespace faro::schedule
