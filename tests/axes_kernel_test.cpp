// Permutations of axes through shared memory, on the counting memory, held against the definition; every byte
// once, runs long on both sides, few bank conflicts, arrays past 2^32 units.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "axes_kernel_support.hpp"
#include "kernels/axes_tile.hpp"
#include "kernels/axes_tile_params.hpp"
#include "layout/axes_tile.hpp"

namespace faro::kernels {
namespace axes_kernel_test {

using layout::AxesTile;
using machine::AccessCounts;
using machine::CountingMemory;

std::string tile_text(const AxesTile& tile) {
  std::string text = "tile";
  for (const std::uint64_t e : tile.extent) text += " " + std::to_string(e);
  for (const layout::TileSide* side : {&tile.in, &tile.out}) {
    text += side == &tile.in ? ", in: " : ", out: ";
    text += std::to_string(side->row_count()) + " runs of " + std::to_string(side->run_units()) + " by " +
            std::to_string(side->vector_units);
  }
  return text + ", shared " + std::to_string(tile.shared_units);
}

// --- one tile kernel, by widths that are known at run time

template <int unit, int in_vector, int out_vector>
void run_blocks(CountingMemory& memory, const AxesTileParams& p, const CountingMemory::Launch& launch) {
  memory.run(
      launch,
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        list_axes_rows(m, p, block, thread);
      },
      [&](CountingMemory& m, std::uint64_t, std::uint32_t thread) {
        load_axes_tile<unit, in_vector>(m, p, thread);
      },
      [&](CountingMemory& m, std::uint64_t, std::uint32_t thread) {
        store_axes_tile<unit, out_vector>(m, p, thread);
      });
}

template <int unit, int in_vector>
void run_out(CountingMemory& memory, const AxesTileParams& p, int out_vector,
             const CountingMemory::Launch& launch) {
  if (out_vector == 1) return run_blocks<unit, in_vector, 1>(memory, p, launch);
  if (out_vector * unit == 16) return run_blocks<unit, in_vector, 16 / unit>(memory, p, launch);
  if constexpr (unit < 4) {
    if (out_vector * unit == 4) return run_blocks<unit, in_vector, 4 / unit>(memory, p, launch);
  }
  FAIL() << "vectors of " << out_vector;
}

template <int unit>
void run_in(CountingMemory& memory, const AxesTileParams& p, const AxesTile& tile,
            const CountingMemory::Launch& launch) {
  const int in = tile.in.vector_units;
  const int out = tile.out.vector_units;
  if (in == 1) return run_out<unit, 1>(memory, p, out, launch);
  if (in * unit == 16) return run_out<unit, 16 / unit>(memory, p, out, launch);
  if constexpr (unit < 4) {
    if (in * unit == 4) return run_out<unit, 4 / unit>(memory, p, out, launch);
  }
  FAIL() << "vectors of " << in;
}

void run_kernel(CountingMemory& memory, const AxesTileParams& p, const AxesTile& tile,
                const CountingMemory::Launch& launch) {
  switch (tile.unit_bytes) {
    case 1:
      return run_in<1>(memory, p, tile, launch);
    case 2:
      return run_in<2>(memory, p, tile, launch);
    case 4:
      return run_in<4>(memory, p, tile, launch);
    case 8:
      return run_in<8>(memory, p, tile, launch);
    default:
      return run_in<16>(memory, p, tile, launch);
  }
}

struct Reached {
  std::set<std::string> vectors;
  bool short_tiles = false;
  bool cut_runs = false;
  bool several_run_digits = false;
  bool two_clips = false;
};

AccessCounts run_tile(const UnitAxes& axes, int unit_bytes, bool vectors, std::mt19937_64& random,
                      Reached& reached) {
  layout::AxesTileLimits limits;
  limits.vectors = vectors;
  const AxesTile tile = layout::choose_axes_tile(axes, unit_bytes, limits);
  SCOPED_TRACE(describe(axes, unit_bytes) + ": " + tile_text(tile));
  const AxesTileParams params = make_axes_tile_params(tile);
  const auto unit = static_cast<std::size_t>(unit_bytes);
  Arrays arrays(axes.count() * unit, random);
  CountingMemory memory({.shared_bytes = params.shared_bytes()});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  run_kernel(memory, params, tile, {.blocks = params.tiles, .threads = kAxesTileThreads});
  expect_moved(axes, unit, arrays.in, arrays.output());
  expect_guards(arrays);
  EXPECT_TRUE(memory.output_complete());
  EXPECT_EQ(memory.counts().global_loads.bytes, axes.count() * unit);
  reached.vectors.insert(std::to_string(unit) + " " + std::to_string(tile.in.vector_units) + " " +
                         std::to_string(tile.out.vector_units));
  int clips = 0;
  for (std::size_t a = 0; a < axes.shape.size(); ++a) clips += axes.shape[a] % tile.extent[a] != 0 ? 1 : 0;
  reached.short_tiles |= clips > 0;
  reached.two_clips |= clips == 2;
  for (const layout::TileSide* side : {&tile.in, &tile.out}) {
    reached.cut_runs |= !side->rows.empty() && side->rows.back().step > 1;
    reached.several_run_digits |= side->run.size() > 1;
  }
  return memory.counts();
}

// Bank turns over those without conflicts, the list of rows apart.
double congestion(const AccessCounts& counts) {
  const auto& s = counts.shared_stores;
  const auto& l = counts.shared_loads;
  return static_cast<double>(s.wavefronts + l.wavefronts) / static_cast<double>(s.phases + l.phases);
}

TEST(AxesTile, NormalFormWithElementsAndBatch) {
  const UnitAxes plain = normal({2, 3, 1, 4}, {1, 3, 0, 2});  // 2 | 3 4 -> 12 2
  EXPECT_EQ(plain.shape, (std::vector<std::uint64_t>{2, 12}));
  EXPECT_EQ(plain.order, (std::vector<int>{1, 0}));
  const UnitAxes more = layout::unit_axes(Axes({5, 7}, {1, 0}), 3, 10);
  EXPECT_EQ(more.shape, (std::vector<std::uint64_t>{10, 5, 7, 3}));
  EXPECT_EQ(more.order, (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(more.in_strides(), (std::vector<std::uint64_t>{105, 21, 3, 1}));
  EXPECT_EQ(more.out_strides(), (std::vector<std::uint64_t>{105, 3, 15, 1}));
  // What stays in front joins the batch, what stays behind the element.
  const UnitAxes joined = layout::unit_axes(Axes({4, 5, 6, 7}, {0, 2, 1, 3}), 2, 9);
  EXPECT_EQ(joined.shape, (std::vector<std::uint64_t>{36, 5, 6, 14}));
  EXPECT_EQ(joined.order, (std::vector<int>{0, 2, 1, 3}));
}

TEST(AxesTile, RunsAreLongOnBothSidesWhateverTheShape) {
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
  };
  const Case cases[] = {
      {{1000, 1000}, {1, 0}},          {{12345, 6789}, {1, 0}},
      {{3, 1 << 20}, {1, 0}},          {{1 << 20, 3}, {1, 0}},
      {{100, 3, 50, 7}, {2, 0, 3, 1}}, {{100, 3, 50, 7}, {3, 2, 1, 0}},
      {{7, 5, 1 << 18}, {2, 1, 0}},    {{1 << 16, 2, 9, 3}, {3, 1, 2, 0}},
      {{31, 33333}, {1, 0}},           {{4096, 17, 3}, {1, 0, 2}},
      {{1 << 25, 2}, {1, 0}},          {{1024, 1024, 5}, {1, 0, 2}},
  };
  for (const Case& c : cases) {
    const UnitAxes axes = normal(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8, 16}) {
      const AxesTile tile = layout::choose_axes_tile(axes, unit);
      SCOPED_TRACE(describe(axes, unit) + ": " + tile_text(tile));
      const std::vector<std::uint64_t>* shape = &axes.shape;
      for (const bool output : {false, true}) {
        std::uint64_t run = static_cast<std::uint64_t>(unit);
        for (std::size_t i = shape->size(); i-- > 0;) {
          const auto a = output ? static_cast<std::size_t>(axes.order[i]) : i;
          run *= tile.extent[a];
          if (tile.extent[a] < (*shape)[a]) break;
        }
        EXPECT_GE(run, 64U);
      }
      const AxesTileParams params = make_axes_tile_params(tile);
      EXPECT_LE(params.shared_bytes(), 40U << 10);
    }
  }
}

TEST(AxesTileKernel, KnownShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
  };
  const Case cases[] = {
      {{2, 2}, {1, 0}},
      {{256, 256}, {1, 0}},
      {{100, 3, 50, 7}, {2, 0, 3, 1}},
      {{3, 5000}, {1, 0}},
      {{5000, 3}, {1, 0}},
      {{100, 100, 3}, {1, 0, 2}},
      {{101, 103}, {1, 0}},
      {{4000, 2}, {1, 0}},
      {{3, 2, 4, 5, 6, 7}, {5, 4, 3, 2, 1, 0}},
      {{160, 96}, {1, 0}},
      {{9, 130, 140}, {0, 2, 1}},
      {{130, 9, 140}, {2, 1, 0}},
      {{64, 2, 64, 2}, {2, 1, 0, 3}},
      {{2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
  };
  double worst = 0;
  for (const Case& c : cases) {
    const UnitAxes axes = normal(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8, 16}) {
      for (const bool vectors : {true, false}) {
        const AccessCounts counts = run_tile(axes, unit, vectors, random, reached);
        if (axes.count() > 8000) worst = std::max(worst, congestion(counts));
        if (HasFailure()) FAIL() << "seed " << kSeed;
      }
    }
  }
  EXPECT_LT(worst, 1.7);
  EXPECT_TRUE(reached.short_tiles && reached.cut_runs && reached.several_run_digits && reached.two_clips);
}

// Random shapes of two to six axes with batches and elements of several units.
TEST(AxesTileKernel, RandomShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (int round = 0; round < 250; ++round) {
    const std::size_t n = 2 + random() % 5;
    std::vector<std::uint64_t> shape;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < n; ++a) {
      const std::uint64_t most = std::max<std::uint64_t>(1, 6000 / count);
      shape.push_back(1 + random() % std::min<std::uint64_t>(most, a + 1 == n ? 6000 : 90));
      count *= shape.back();
    }
    std::shuffle(shape.begin(), shape.end(), random);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const UnitAxes axes =
        layout::unit_axes(Axes(shape, order), random() % 3 == 0 ? 3 : 1, random() % 3 == 0 ? 5 : 1);
    if (axes.shape.size() < 2) continue;
    run_tile(axes, 1 << random() % 5, random() % 2 == 0, random, reached);
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  // One side in vectors, the other in units.
  run_tile(normal({1001, 160}, {1, 0}), 1, true, random, reached);
  run_tile(normal({160, 1001}, {1, 0}), 1, true, random, reached);
  for (const char* vectors : {"1 16 16", "1 4 4", "1 1 1", "1 16 1", "1 1 16", "2 8 8", "2 2 2", "4 4 4",
                              "4 4 1", "4 1 4", "8 2 2", "8 1 1", "16 1 1"}) {
    EXPECT_TRUE(reached.vectors.contains(vectors)) << vectors;
  }
}

// As many axes as 2^40 elements can have: every digit of blocks, rows and runs in use.
TEST(AxesTileKernel, ManyAxes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  std::vector<std::uint64_t> shape(14, 2);
  std::vector<int> order(14);
  std::iota(order.rbegin(), order.rend(), 0);
  run_tile(layout::unit_axes(Axes(shape, order), 1, 1), 1, true, random, reached);
  shape.assign(40, 2);
  order.resize(40);
  std::iota(order.rbegin(), order.rend(), 0);
  for (const int unit : {1, 4, 16}) {
    const AxesTile tile = layout::choose_axes_tile(layout::unit_axes(Axes(shape, order), 1, 1), unit);
    const AxesTileParams params = make_axes_tile_params(tile);
    EXPECT_EQ(tile.tiles() * std::accumulate(tile.extent.begin(), tile.extent.end(), std::uint64_t{1},
                                             std::multiplies<>()),
              std::uint64_t{1} << 40);
    EXPECT_GT(params.grid_axes, 20);
  }
}

// Blocks of an array of 2^36 units and more, and the index functions against the coordinates.
TEST(AxesTileKernel, BeyondThirtyTwoBits) {
  const UnitAxes axes = normal({(1 << 20) + 3, 7, (1 << 15) + 1}, {2, 0, 1});
  const std::vector<std::uint64_t> in_strides = axes.in_strides();
  const std::vector<std::uint64_t> out_strides = axes.out_strides();
  const AxesTile tile = layout::choose_axes_tile(axes, 4);
  const AxesTileParams params = make_axes_tile_params(tile);
  std::mt19937_64 random(kSeed);
  for (int sample = 0; sample < 40; ++sample) {
    const std::uint64_t block = sample == 0 ? 0 : sample == 1 ? params.tiles - 1 : random() % params.tiles;
    CountingMemory memory({.shared_bytes = params.shared_bytes()});
    memory.add_virtual_input(axes.count() * 4);
    memory.add_virtual_output(axes.count() * 4);
    run_kernel(memory, params, tile, {.blocks = 1, .threads = kAxesTileThreads, .first_block = block});
    EXPECT_EQ(memory.counts().global_loads.bytes, memory.counts().global_stores.bytes);
    EXPECT_GT(memory.counts().global_loads.bytes, 0U);
    const AxesTileOrigin origin = axes_tile_origin(params, block);
    std::uint64_t out = 0;
    for (std::size_t a = 0; a < axes.shape.size(); ++a) {
      out += origin.in / in_strides[a] % axes.shape[a] * out_strides[a];
    }
    EXPECT_EQ(out, origin.out);
  }
}

}  // namespace axes_kernel_test
}  // namespace faro::kernels
