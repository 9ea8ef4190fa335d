// The kernels of partition schedules on the counting memory: every pass right, in bounds and without a race,
// and no more traffic than the schedule's formula says.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "faro/permutation/indexed.hpp"
#include "partition_kernel_support.hpp"

namespace faro::kernels {
namespace partition_kernel_test {

std::vector<int> levels_for(std::uint64_t count, int chunk_bits, int most_bits) {
  return schedule::even_levels(count, chunk_bits, most_bits);
}

PartitionSchedule schedule_of(const std::vector<std::uint32_t>& entries, const PartitionShape& shape) {
  return schedule::partition_schedule(Indexed(entries, Direction::scatter), shape, 1);
}

void expect_both_ways(const std::vector<std::uint32_t>& entries, const PartitionShape& shape,
                      const KernelCase& c, std::mt19937_64& random) {
  SCOPED_TRACE(describe(shape) + "; " + describe(c) + "; seed " + std::to_string(kPartitionSeed));
  const PartitionSchedule schedule = schedule_of(entries, shape);
  const Bytes in = random_bytes(entries.size() * c.element_bytes() * c.batch, random);
  for (const bool forwards : {true, false}) {
    ASSERT_TRUE(run_schedule(schedule, c, forwards, in) == permuted(entries, c, forwards, in))
        << (forwards ? "forwards" : "backwards");
  }
}

// Every width, several units to an element, every kernel, batches whose arrays are not aligned, tails.
TEST(PartitionKernel, EveryWidthAndShape) {
  std::mt19937_64 random(kPartitionSeed);
  int tails = 0;
  int whole = 0;
  for (const std::uint64_t count : {2048U, 1000U, 1537U}) {
    for (const int chunk_bits : {5, 8}) {
      const std::vector<std::uint32_t> entries = random_entries(count, random);
      const PartitionShape shape{count, chunk_bits, levels_for(count, chunk_bits, 4)};
      ++(count % shape.chunk_elements() == 0 ? whole : tails);
      for (const std::uint32_t unit_bytes : {1U, 2U, 4U, 8U, 16U}) {
        for (const int lane_bits : {3, 4, 5}) {
          KernelCase c;
          c.unit_bytes = unit_bytes;
          c.lane_bits = lane_bits;
          c.batch = lane_bits == 4 ? 3 : 1;
          c.threads = lane_bits == 5 ? 128 : 64;
          expect_both_ways(entries, shape, c, random);
        }
        KernelCase wide;
        wide.unit_bytes = unit_bytes;
        wide.units = unit_bytes == 4 ? 3 : 4;
        expect_both_ways(entries, shape, wide, random);
        wide.in_global = true;
        wide.batch = 2;
        expect_both_ways(entries, shape, wide, random);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_TRUE(tails > 0 && whole > 0);
}

TEST(PartitionKernel, EveryLengthUpTo300) {
  std::mt19937_64 random(kPartitionSeed);
  for (std::uint64_t count = 0; count <= 300; ++count) {
    const std::vector<std::uint32_t> entries = random_entries(count, random);
    for (const int chunk_bits : {1, 4}) {
      if (chunk_bits == 1 && count % 5 != 0) continue;
      KernelCase c;
      c.unit_bytes = 1U << count / 5 % 5;
      c.lane_bits = 3 + static_cast<int>(count % 3);
      c.batch = 1 + count % 2;
      c.in_global = count % 7 == 0;
      expect_both_ways(entries, {count, chunk_bits, levels_for(count, chunk_bits, 5)}, c, random);
    }
    if (HasFailure()) return;
  }
}

// Runs of all lengths: one that is the whole chunk, none at all, one element each.
TEST(PartitionKernel, AdversarialRuns) {
  std::mt19937_64 random(kPartitionSeed);
  const std::uint64_t count = 4096;
  std::vector<std::vector<std::uint32_t>> arrays(4, std::vector<std::uint32_t>(count));
  for (std::uint32_t i = 0; i < count; ++i) {
    arrays[0][i] = i;  // a chunk's elements stay in one bucket
    arrays[1][i] = static_cast<std::uint32_t>(count - 1 - i);
    arrays[2][i] = i / 64 + i % 64 * 64;  // a transpose: every run of the same length
    arrays[3][i] = (i * 2654435761U) % static_cast<std::uint32_t>(count);  // odd multiplier
  }
  for (const auto& entries : arrays) {
    for (const int lane_bits : {3, 4, 5}) {
      KernelCase c;
      c.lane_bits = lane_bits;
      expect_both_ways(entries, {count, 8, {4}}, c, random);
      expect_both_ways(entries, {count, 6, {6}}, c, random);
      expect_both_ways(entries, {count, 10, {1, 1}}, c, random);
    }
  }
}

// The real kernels' threads, more buckets than threads, and a chunk of 2^16 elements without levels.
TEST(PartitionKernel, RealSizes) {
  std::mt19937_64 random(kPartitionSeed);
  KernelCase c;
  c.threads = 512;
  c.lane_bits = 5;
  const std::vector<std::uint32_t> entries = random_entries(3 * 4096 + 77, random);
  expect_both_ways(entries, {entries.size(), 12, {2}}, c, random);
  const std::vector<std::uint32_t> few = random_entries(1000, random);
  expect_both_ways(few, {few.size(), 4, {10}}, c, random);
  c.unit_bytes = 1;
  const std::vector<std::uint32_t> chunk = random_entries(65536, random);
  expect_both_ways(chunk, {65536, 16, {}}, c, random);
}

std::uint64_t pieces(std::uint64_t begin, std::uint64_t end, std::uint64_t piece_bytes) {
  return begin == end ? 0 : (end - 1) / piece_bytes - begin / piece_bytes + 1;
}

// Sectors, or lines, that the runs of a level touch, one run after another.
std::uint64_t run_pieces(const PartitionSchedule& schedule, int l, std::uint64_t bytes,
                         std::uint64_t piece_bytes) {
  const PartitionShape& shape = schedule.shape;
  const schedule::PartitionLevel& level = schedule.levels[static_cast<std::size_t>(l)];
  const std::uint32_t buckets = shape.buckets(l);
  std::uint64_t all = 0;
  for (std::uint64_t chunk = 0; chunk < shape.chunks(); ++chunk) {
    const std::uint64_t region = chunk << shape.chunk_bits >> shape.region_bits(l) << shape.region_bits(l);
    for (std::uint32_t b = 0; b < buckets; ++b) {
      const std::uint64_t row = chunk * buckets + b;
      const std::uint64_t end = b + 1 < buckets ? level.starts[row + 1] : shape.chunk_size(chunk);
      const std::uint64_t to = region + (std::uint64_t{b} << shape.region_bits(l + 1)) + level.offsets[row];
      all += pieces(to * bytes, (to + end - level.starts[row]) * bytes, piece_bytes);
    }
  }
  return all;
}

// Elements and places are moved once in whole sectors, descriptors once, and runs touch no sector twice.
TEST(PartitionKernel, TrafficIsTheSchedules) {
  std::mt19937_64 random(kPartitionSeed);
  const std::uint64_t count = 1 << 14;
  const std::vector<std::uint32_t> entries = random_entries(count, random);
  const PartitionSchedule schedule = schedule_of(entries, {count, 10, {4}});
  const std::uint64_t places = count * 2;
  const std::uint64_t descriptors = schedule.shape.chunks() * 16 * 6;
  for (const std::uint32_t unit_bytes : {4U, 8U, 16U}) {
    for (const int lane_bits : {3, 4, 5}) {
      KernelCase c;
      c.unit_bytes = unit_bytes;
      c.lane_bits = lane_bits;
      c.threads = 256;
      SCOPED_TRACE(describe(c));
      const PassRun run(schedule, c);
      const Bytes in = random_bytes(count * unit_bytes, random);
      Bytes out(in.size());
      const std::uint64_t runs = run_pieces(schedule, 0, unit_bytes, kSectorBytes);
      const std::uint64_t run_lines = run_pieces(schedule, 0, unit_bytes, kLineBytes);

      const AccessCounts spread = run.level(0, true, in, out);
      EXPECT_EQ(spread.global_loads.bytes, in.size() + places + descriptors);
      EXPECT_EQ(spread.global_loads.sectors, (in.size() + places + descriptors) / 32);
      EXPECT_EQ(spread.global_stores.bytes, in.size());
      EXPECT_EQ(spread.global_stores.sectors, runs);
      if (unit_bytes << lane_bits == kLineBytes) {
        EXPECT_EQ(spread.global_stores.lines, run_lines);
      }

      const AccessCounts collect = run.level(0, false, in, out);
      EXPECT_EQ(collect.global_loads.bytes, in.size() + places + descriptors);
      EXPECT_EQ(collect.global_loads.sectors, runs + (places + descriptors) / 32);
      EXPECT_EQ(collect.global_stores.sectors, in.size() / 32);

      for (const bool forwards : {true, false}) {
        const AccessCounts last = run.last(forwards, in, out);
        EXPECT_EQ(last.global_loads.sectors, (in.size() + places) / 32);
        EXPECT_EQ(last.global_stores.sectors, in.size() / 32);
        const machine::SharedCounts& in_order = forwards ? last.shared_loads : last.shared_stores;
        EXPECT_EQ(in_order.max_congestion(), 1);
      }
    }
  }
}

// An output that begins within a sector: groups keep to the real sectors, told by run_skew.
TEST(PartitionKernel, SkewedOutput) {
  std::mt19937_64 random(kPartitionSeed);
  const std::uint64_t count = 2048;
  const std::vector<std::uint32_t> entries = random_entries(count, random);
  const PartitionSchedule schedule = schedule_of(entries, {count, 8, {3}});
  const schedule::PartitionLevel& level = schedule.levels[0];
  const Bytes in = random_bytes(count * 4, random);
  Bytes expected(in.size());
  PassRun(schedule, {}).level(0, true, in, expected);
  for (std::uint32_t skew = 0; skew < 8; ++skew) {
    PartitionParams params = make_level_params(schedule.shape, 0, {});
    params.run_skew = skew;
    Bytes out(in.size());
    CountingMemory memory({.shared_bytes = chunk_shared_bytes(params, 4)});
    memory.add_input(in);
    memory.add_output(out);
    memory.add_input(bytes_of(level.places));
    memory.add_input(bytes_of(level.starts));
    memory.add_input(bytes_of(level.offsets));
    memory.run(
        {.blocks = params.chunks, .threads = 64},
        [&](auto& m, std::uint64_t b, std::uint32_t t) { load_descriptors(m, params, b, t, 64); },
        [&](auto& m, std::uint64_t b, std::uint32_t t) { load_placed<4, true>(m, params, b, t, 64); },
        [&](auto& m, std::uint64_t b, std::uint32_t t) { store_runs<4, true, 4>(m, params, b, t, 64); });
    EXPECT_TRUE(out == expected) << skew;
  }
}

// Chunks far beyond 32 bits, on buffers without bytes: every access in bounds. Lists of zeros say that all
// elements are in the last bucket, and are picked from place 0.
TEST(PartitionKernel, AddressesBeyondThirtyTwoBits) {
  const PartitionShape shape{(std::uint64_t{1} << 33) + 12345, 14, {10, 10}};
  for (const std::uint64_t chunk : {std::uint64_t{0}, shape.chunks() / 2 + 1, shape.chunks() - 1}) {
    for (const int l : {0, 1}) {
      const PartitionParams params = make_level_params(shape, l, {});
      const Chunk at = chunk_of(params, chunk);
      EXPECT_EQ(at.first, chunk << 14);
      EXPECT_EQ(at.size, shape.chunk_size(chunk));
      CountingMemory memory({.shared_bytes = chunk_shared_bytes(params, 4)});
      memory.add_virtual_input(shape.count * 4 + (std::uint64_t{1} << 36));
      memory.add_virtual_output(shape.count * 4);
      memory.add_virtual_input(shape.count * 2);
      memory.add_virtual_input(shape.chunks() * 1024 * 2);
      memory.add_virtual_input(shape.chunks() * 1024 * 4);
      memory.run(
          {.blocks = 1, .threads = 512, .first_block = chunk},
          [&](auto& m, std::uint64_t b, std::uint32_t t) { load_descriptors(m, params, b, t, 512); },
          [&](auto& m, std::uint64_t b, std::uint32_t t) { load_runs<4, true, 4>(m, params, b, t, 512); },
          [&](auto& m, std::uint64_t b, std::uint32_t t) { store_picked<4, true>(m, params, b, t, 512); });
      EXPECT_EQ(memory.counts().global_stores.bytes, shape.chunk_size(chunk) * 4);
    }
  }
}

TEST(PartitionParams, FitTheSharedMemoryThatIsMeant) {
  const PartitionShape shape{std::uint64_t{1} << 30, 14, {8, 8}};
  const PartitionParams params = make_level_params(shape, 1, {});
  EXPECT_EQ(params.starts_at, 65536U);
  EXPECT_EQ(params.offsets_at, 65536U + 528U);  // 256 starts and the size, 16-byte aligned
  EXPECT_EQ(chunk_shared_bytes(params, 4), 65536U + 528U + 1024U);
  EXPECT_EQ(params.region_bits, 22);
  EXPECT_EQ(params.bucket_bits, 14);
  EXPECT_EQ(preferred_partition(64, 4, chunk_shared_bytes(params, 4)), 0);
  EXPECT_EQ(preferred_partition(16, 16, chunk_shared_bytes(params, 4)), 0);
  EXPECT_EQ(preferred_partition(16, 4, chunk_shared_bytes(params, 4)), 1);
  EXPECT_EQ(preferred_partition(4, 4, chunk_shared_bytes(params, 4)), 2);
  EXPECT_EQ(preferred_partition(64, 4, 131072), kLargeChunkPartition);
}

}  // namespace partition_kernel_test
}  // namespace faro::kernels
