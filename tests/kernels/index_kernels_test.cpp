// The kernels of index arrays beside those of partitions, on the counting memory: direct gather and scatter,
// and columns of a matrix.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "faro/schedule/row_column.hpp"
#include "kernels/indexed_direct.hpp"
#include "kernels/row_column.hpp"
#include "partition_kernel_support.hpp"

namespace faro::kernels {
namespace index_kernels_test {

enum class Moved { vectors, units, small, one };

template <int bytes, typename Entry, bool gather>
AccessCounts run_direct(const DirectParams& p, Moved moved, const std::vector<Entry>& entries,
                        const Bytes& in, Bytes& out) {
  constexpr int index_bytes = sizeof(Entry);
  CountingMemory memory({});
  memory.add_input(in);
  memory.add_output(out);
  memory.add_input(bytes_of(entries));
  const auto run = [&](int elements, std::uint32_t batch, const auto& phase) {
    memory.run({.blocks = direct_blocks(p, elements, batch), .threads = kDirectThreads}, phase);
  };
  switch (moved) {
    case Moved::vectors:
      run(direct_vector(bytes), kDirectVectorBatch, [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        move_direct_vectors<bytes, index_bytes, gather>(m, p, block, thread);
      });
      break;
    case Moved::units:
      run(1, kDirectUnitBatch, [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        move_direct_units<bytes, index_bytes, gather, kDirectUnitBatch>(m, p, block, thread);
      });
      break;
    case Moved::small:
      run(1, 1, [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        move_direct_units<bytes, index_bytes, gather, 1>(m, p, block, thread);
      });
      break;
    case Moved::one:
      run(1, 1, [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        move_direct_one<bytes, index_bytes, gather>(m, p, block, thread);
      });
      break;
  }
  EXPECT_TRUE(memory.output_complete());
  return memory.counts();
}

template <typename Entry>
void expect_direct(const KernelCase& c, const std::vector<Entry>& entries, std::mt19937_64& random,
                   int& vectors) {
  SCOPED_TRACE(describe(c) + "; count " + std::to_string(entries.size()) + ", entries of " +
               std::to_string(sizeof(Entry)) + "; seed " + std::to_string(kPartitionSeed));
  const bool power = (c.units & (c.units - 1)) == 0;
  const DirectParams p{.count = entries.size(),
                       .arrays = c.batch,
                       .units = c.units,
                       .unit_bits = power ? std::countr_zero(c.units) : -1};
  const Bytes in = random_bytes(p.elements() * c.element_bytes(), random);
  with_bytes(c.unit_bytes, [&](auto bytes) {
    for (const Moved moved : {Moved::vectors, Moved::units, Moved::small, Moved::one}) {
      if (moved == Moved::vectors && !direct_vectors_fit(p, bytes)) continue;
      if (moved == Moved::one && (p.arrays != 1 || p.units != 1)) continue;
      vectors += moved == Moved::vectors ? 1 : 0;
      Bytes gathered(in.size());
      run_direct<bytes(), Entry, true>(p, moved, entries, in, gathered);
      EXPECT_TRUE(gathered == permuted(entries, c, false, in)) << static_cast<int>(moved);
      Bytes scattered(in.size());
      run_direct<bytes(), Entry, false>(p, moved, entries, in, scattered);
      EXPECT_TRUE(scattered == permuted(entries, c, true, in)) << static_cast<int>(moved);
    }
  });
}

TEST(DirectKernel, EveryWidthEntryAndBatch) {
  std::mt19937_64 random(kPartitionSeed);
  int vectors = 0;
  for (const std::uint64_t count : {1U, 2U, 5U, 100U, 1000U, 1023U, 4099U}) {
    const std::vector<std::uint32_t> entries = random_entries(count, random);
    const std::vector<std::uint64_t> wide(entries.begin(), entries.end());
    for (const std::uint32_t unit_bytes : {1U, 2U, 4U, 8U, 16U}) {
      for (const std::uint64_t batch : {1U, 3U, 41U}) {
        if (batch * count > 5000) continue;
        for (const std::uint32_t units : {1U, 3U, 4U}) {
          KernelCase c;
          c.unit_bytes = unit_bytes;
          c.batch = batch;
          c.units = units;
          expect_direct(c, entries, random, vectors);
          if (units == 1) expect_direct(c, wide, random, vectors);
        }
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(vectors, 50);
}

TEST(DirectKernel, OrderedSidesAreWholeSectors) {
  std::mt19937_64 random(kPartitionSeed);
  const std::uint64_t count = 1 << 13;
  const std::vector<std::uint32_t> entries = random_entries(count, random);
  const DirectParams p{.count = count, .arrays = 1, .units = 1, .unit_bits = 0};
  const Bytes in = random_bytes(count * 4, random);
  Bytes out(in.size());
  const AccessCounts gather = run_direct<4, std::uint32_t, true>(p, Moved::vectors, entries, in, out);
  EXPECT_EQ(gather.global_stores.sectors, count * 4 / 32);
  EXPECT_EQ(gather.global_loads.bytes, count * 8);
  const AccessCounts scatter = run_direct<4, std::uint32_t, false>(p, Moved::vectors, entries, in, out);
  EXPECT_EQ(scatter.global_loads.sectors, count * 8 / 32);
}

// Positions in a batch beyond 32 bits, against division.
TEST(DirectKernel, PositionsInLongBatches) {
  std::mt19937_64 random(kPartitionSeed);
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000003}, std::uint64_t{1} << 33}) {
    const DirectParams p{
        .count = count, .arrays = (std::uint64_t{1} << 38) / count, .units = 1, .unit_bits = 0};
    for (int sample = 0; sample < 1000; ++sample) {
      const std::uint64_t first = random() % (p.elements() - 4096);
      const auto further = static_cast<std::uint32_t>(random() % 4096);
      const detail::InBatch at = detail::further_on(p, detail::in_batch(p, first), further);
      ASSERT_EQ(at.element, (first + further) % count);
      ASSERT_EQ(at.array, (first + further) / count * count);
    }
  }
}

struct Matrix {
  std::uint32_t rows;
  std::uint32_t columns;
};

template <int bytes>
AccessCounts run_columns(const ColumnsParams& p, bool forwards, bool in_global, const KernelCase& c,
                         const std::vector<std::uint16_t>& list, const Bytes& in, Bytes& out) {
  CountingMemory memory({.shared_bytes = c.element_bytes() * p.rows * p.strip});
  memory.add_input(in);
  memory.add_output(out);
  memory.add_input(bytes_of(list));
  const std::uint64_t units = std::uint64_t{p.rows} * p.columns * p.units;
  const std::uint64_t blocks = in_global ? (units + c.threads - 1) / c.threads : p.strips;
  const machine::CountingMemory::Launch launch{.blocks = blocks * c.batch, .threads = c.threads};
  const auto go = [&](auto way) {
    constexpr bool on = decltype(way)::value;
    if (in_global) {
      memory.run(launch, [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        move_columns_in_global<bytes, on>(m, p, block, thread, c.threads);
      });
      return;
    }
    memory.run(
        launch,
        [&](auto& m, std::uint64_t block, std::uint32_t thread) {
          load_columns<bytes, on>(m, p, block, thread, c.threads);
        },
        [&](auto& m, std::uint64_t block, std::uint32_t thread) {
          store_columns<bytes, on>(m, p, block, thread, c.threads);
        });
  };
  if (forwards) go(std::true_type());
  if (!forwards) go(std::false_type());
  EXPECT_TRUE(memory.output_complete());
  return memory.counts();
}

// Three passes by a real colouring, forwards and backwards, fused and without shared memory.
TEST(RowColumnKernel, ThreePasses) {
  std::mt19937_64 random(kPartitionSeed);
  for (const Matrix size : {Matrix{1, 1}, Matrix{8, 8}, Matrix{33, 20}, Matrix{64, 128}, Matrix{5, 300}}) {
    const std::uint64_t count = std::uint64_t{size.rows} * size.columns;
    const std::vector<std::uint32_t> entries = random_entries(count, random);
    const schedule::RowColumnRow row = schedule::row_column_row(entries, size.rows, size.columns);
    const auto places = [](const std::vector<std::uint32_t>& list, std::uint32_t length) {
      std::vector<std::uint16_t> all(list.size());
      for (std::size_t i = 0; i < list.size(); ++i) all[i] = static_cast<std::uint16_t>(list[i] % length);
      return all;
    };
    const std::vector<std::uint16_t> first = places(row.first, size.columns);
    const std::vector<std::uint16_t> middle = places(row.middle, size.rows);
    const std::vector<std::uint16_t> last = places(row.last, size.columns);
    for (const std::uint32_t unit_bytes : {1U, 2U, 4U, 8U, 16U}) {
      for (const bool in_global : {false, true}) {
        KernelCase c;
        c.unit_bytes = unit_bytes;
        c.units = size.rows == 33 ? 3 : 1;
        c.batch = 2;
        SCOPED_TRACE(describe(c) + ", rows " + std::to_string(size.rows));
        ColumnsParams p{size.rows, size.columns, 1, 0, c.units};
        p.strip = columns_strip(size.rows, size.columns, c.element_bytes(), 8192);
        p.strip = p.strip == 0 ? 1 : p.strip;
        p.strips = (size.columns + p.strip - 1) / p.strip;
        const PartitionParams rows = make_chunk_params(count, size.columns, c.element());
        const PartitionSchedule none;
        const PassRun run(none, c);
        const Bytes in = random_bytes(count * c.element_bytes() * c.batch, random);
        Bytes a(in.size());
        Bytes b(in.size());
        with_bytes(unit_bytes, [&](auto bytes) {
          run.chunks(rows, first, true, in, a);
          run_columns<bytes()>(p, true, in_global, c, middle, a, b);
          run.chunks(rows, last, true, b, a);
          EXPECT_TRUE(a == permuted(entries, c, true, in));
          run.chunks(rows, last, false, in, a);
          run_columns<bytes()>(p, false, in_global, c, middle, a, b);
          run.chunks(rows, first, false, b, a);
          EXPECT_TRUE(a == permuted(entries, c, false, in));
        });
      }
      if (HasFailure()) return;
    }
  }
}

TEST(RowColumnKernel, StripsAreWholeSectorsAndFit) {
  EXPECT_EQ(columns_strip(1024, 1024, 4, 232448), 32U);  // a line
  EXPECT_EQ(columns_strip(4096, 4096, 4, 232448), 8U);   // a sector: 128 KiB
  EXPECT_EQ(columns_strip(16384, 16384, 4, 232448), 0U);
  EXPECT_EQ(columns_strip(4096, 4096, 64, 232448), 0U);
  EXPECT_EQ(columns_strip(100, 3, 4, 232448), 3U);
  std::mt19937_64 random(kPartitionSeed);
  const ColumnsParams p{64, 64, 32, 2, 1};
  std::vector<std::uint16_t> list(4096);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::uint16_t>(63 - i % 64);
  const Bytes in = random_bytes(16384, random);
  Bytes out(in.size());
  const AccessCounts counts = run_columns<4>(p, true, false, {}, list, in, out);
  EXPECT_EQ(counts.global_stores.sectors, in.size() / 32);
}

}  // namespace index_kernels_test
}  // namespace faro::kernels
