// Transposes with few rows or few columns, on the counting memory: against the definition at any alignment,
// every byte stored once, few bank conflicts, few sectors more than there are.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "affine_kernel_support.hpp"
#include "axes_kernel_support.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_skinny.hpp"

namespace faro::kernels {
namespace axes_skinny_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;

// What copies to shared memory by itself, as a GPU's does.
struct CopyingMemory {
  CountingMemory& memory;

  std::uint64_t input_cursor(std::uint64_t offset) const { return offset; }
  template <int bytes>
  void copy_to_shared(std::uint64_t from, std::uint32_t address) const {
    memory.copy_past_registers<bytes>(device::kInput, from, address);
  }
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    return memory.load_global<bytes>(buffer, offset);
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    memory.store_global<bytes>(buffer, offset, packet);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) const {
    return memory.load_shared<bytes>(address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    memory.store_shared<bytes>(address, packet);
  }
  void idle() const { memory.idle(); }
  void converge() const { memory.converge(); }
};

template <std::size_t index, bool copies>
bool run_if(CountingMemory& memory, const AxesLinesChoice& choice, CountingMemory::Launch launch) {
  constexpr AxesSkinnyShape shape = axes_skinny_shape(static_cast<int>(index));
  if (*choice.skinny != shape) return false;
  launch.threads = kAxesSkinnyThreads;
  const AxesLinesParams& p = choice.params;
  memory.run(
      launch,
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        const AxesLinesTile tile = axes_lines_tile(p, block);
        if constexpr (copies) {
          CopyingMemory copying{m};
          load_axes_skinny<shape>(copying, p, tile, thread);
        } else {
          load_axes_skinny<shape>(m, p, tile, thread);
        }
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        CopyingMemory copying{m};
        if (copies) spread_axes_skinny<shape>(copying, p, axes_lines_tile(p, block), thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_axes_skinny<shape>(m, p, axes_lines_tile(p, block), thread);
      });
  return true;
}

template <bool copies, std::size_t... indices>
bool run_any(CountingMemory& memory, const AxesLinesChoice& choice, const CountingMemory::Launch& launch,
             std::index_sequence<indices...> /*all*/) {
  return (run_if<indices, copies>(memory, choice, launch) || ...);
}

void run_kernel(CountingMemory& memory, const AxesLinesChoice& choice, const CountingMemory::Launch& launch,
                bool copies = false) {
  const auto all = std::make_index_sequence<kAxesSkinnyShapes>();
  ASSERT_TRUE(copies ? run_any<true>(memory, choice, launch, all)
                     : run_any<false>(memory, choice, launch, all));
}

std::string text_of(const AxesSkinnyShape& shape) {
  if (shape.few > 0) {
    return std::to_string(shape.few) + (shape.by_rows ? " rows at vectors " : " columns at vectors ") +
           std::to_string(shape.unit_bytes);
  }
  return std::string(shape.by_rows ? "rows " : "columns ") + std::to_string(shape.unit_bytes) +
         (shape.exchanged ? " exchanged" : "") + (shape.chunks == 1 ? " short" : "");
}

using Reached = std::set<std::string>;

// False where another kernel is chosen.
bool check(const StridedAxes& axes, int unit_bytes, const AxesLinesOptions& options, std::mt19937_64& random,
           Reached& reached, AccessCounts* counts = nullptr) {
  const auto choice = make_axes_lines(axes, unit_bytes, options);
  if (!choice || !choice->skinny) return false;
  const AxesLinesParams& p = choice->params;
  SCOPED_TRACE(describe(axes, unit_bytes) + ", skews " + std::to_string(options.in_skew) + " " +
               std::to_string(options.out_skew) + ": " + text_of(*choice->skinny) + ", band " +
               std::to_string(options.band) + ", tile " + std::to_string(p.tile_steps) + ", halo " +
               std::to_string(p.halo));
  const auto moved_by = [&](bool copies) {
    return expect_moved(
        axes, unit_bytes,
        {.in_end = p.in.end,
         .out_end = p.out.end,
         .in_skew = options.in_skew,
         .out_skew = options.out_skew,
         .shared_bytes = p.shared_bytes},
        random, [&](CountingMemory& memory) { run_kernel(memory, *choice, {.blocks = p.tiles}, copies); });
  };
  const AccessCounts moved = moved_by(false);
  const AccessCounts copied = moved_by(true);
  EXPECT_EQ(copied.global_loads.sectors, moved.global_loads.sectors);
  EXPECT_EQ(copied.global_stores.sectors, moved.global_stores.sectors);
  reached.insert(text_of(*choice->skinny));
  if (p.halo > 0) reached.insert("halo");
  if (p.axes > 0) reached.insert("planes");
  if (counts != nullptr) *counts = moved;
  return true;
}

AxesLinesOptions random_options(int unit_bytes, std::mt19937_64& random) {
  AxesLinesOptions options = random_skews(unit_bytes, random);
  if (random() % 2 != 0) options.band = 1 + random() % 3;
  return options;
}

TEST(AxesSkinnyKernel, KnownShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
  };
  const Case cases[] = {
      {{3, 20001}, {1, 0}},      {{20001, 3}, {1, 0}},      {{2, 30000}, {1, 0}},
      {{30000, 2}, {1, 0}},      {{31, 2003}, {1, 0}},      {{2003, 31}, {1, 0}},
      {{32, 2003}, {1, 0}},      {{2003, 32}, {1, 0}},      {{127, 521}, {1, 0}},
      {{1301, 127}, {1, 0}},     {{253, 777}, {1, 0}},      {{256, 640}, {1, 0}},
      {{64, 1111}, {1, 0}},      {{1111, 64}, {1, 0}},      {{3, 5, 2001}, {0, 2, 1}},
      {{3, 2001, 5}, {0, 2, 1}}, {{4, 5, 2500}, {0, 2, 1}}, {{4, 2500, 6}, {0, 2, 1}},
      {{128, 600}, {1, 0}},      {{63, 700}, {1, 0}},       {{100, 515}, {1, 0}},
      {{16, 2048}, {1, 0}},      {{2048, 16}, {1, 0}},
  };
  for (const Case& c : cases) {
    const StridedAxes axes = normal(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8}) {
      check(axes, unit, {}, random, reached);
      for (int round = 0; round < 2; ++round)
        check(axes, unit, random_options(unit, random), random, reached);
      if (HasFailure()) FAIL() << "seed " << kSeed;
    }
  }
  for (int number = 0; number < kAxesWordShapes; ++number) {
    EXPECT_TRUE(reached.contains(text_of(axes_skinny_shape(number)))) << text_of(axes_skinny_shape(number));
  }
  EXPECT_TRUE(reached.contains("halo"));
  EXPECT_TRUE(reached.contains("planes"));
}

// Rows and lines at vectors: every sector is touched once, on both sides, and shared memory has no conflict
// that few rows do not make necessary.
TEST(AxesSkinnyKernel, FewAtVectors) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (const int unit : {1, 2}) {
    const auto in_vector = 16U / static_cast<unsigned>(unit);
    for (std::uint64_t few = kLeastFewVectors; few <= kMostFewVectors; ++few) {
      for (const bool rows : {true, false}) {
        for (const std::uint64_t vectors : {40U, 256U, 771U, 1030U}) {
          const std::uint64_t many = vectors * in_vector;
          const std::uint64_t planes = 1 + random() % 3;
          const StridedAxes axes =
              rows ? normal({planes, few, many}, {0, 2, 1}) : normal({planes, many, few}, {0, 2, 1});
          AccessCounts counts;
          const bool moved = check(axes, unit, {}, random, reached, &counts);
          if (many * static_cast<unsigned>(unit) < 512 || !moved) continue;
          const std::uint64_t bytes = faro::detail::unit_count(axes) * static_cast<unsigned>(unit);
          SCOPED_TRACE(describe(axes, unit));
          if (vectors % 2 == 0) {
            EXPECT_EQ(counts.global_loads.sectors, bytes / 32);
            EXPECT_EQ(counts.global_stores.sectors, bytes / 32);
          }
          const auto turns = [](const machine::SharedCounts& of) {
            return static_cast<double>(of.wavefronts) / static_cast<double>(of.phases);
          };
          const double most = few == 6 ? 2.1 : 1.01;
          EXPECT_LE(turns(counts.shared_loads), most);
          EXPECT_LE(turns(counts.shared_stores), most);
        }
        if (HasFailure()) return;
      }
    }
  }
  for (int number = kAxesWordShapes; number < kAxesSkinnyShapes; ++number) {
    EXPECT_TRUE(reached.contains(text_of(axes_skinny_shape(number)))) << text_of(axes_skinny_shape(number));
  }
  // What begins between vectors goes by words, and so do wide units.
  const auto few_of = [](const StridedAxes& axes, int unit, const AxesLinesOptions& options) {
    return make_axes_lines(axes, unit, options)->skinny->few;
  };
  EXPECT_EQ(few_of(normal({3, 80000}, {1, 0}), 2, {}), 3);
  EXPECT_EQ(few_of(normal({3, 80000}, {1, 0}), 2, {.in_skew = 2}), 0);
  EXPECT_EQ(few_of(normal({80000, 3}, {1, 0}), 2, {.out_skew = 2}), 0);
  EXPECT_EQ(few_of(normal({3, 80004}, {1, 0}), 2, {}), 0);
  EXPECT_EQ(few_of(normal({9, 80000}, {1, 0}), 2, {}), 0);
  EXPECT_EQ(few_of(normal({3, 80000}, {1, 0}), 4, {}), 0);
  EXPECT_EQ(few_of(normal({3, 80000}, {1, 0}), 2, {.few_vectors = false}), 0);
}

TEST(AxesSkinnyKernel, RandomShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  int checked = 0;
  for (int round = 0; round < 150; ++round) {
    const int unit = 1 << random() % 4;
    const std::uint64_t few = 2 + random() % (round % 2 == 0 ? 30 : 254);
    const std::uint64_t many = (512 + random() % 30000) / few + 1 + 511 / static_cast<unsigned>(unit);
    const bool rows = random() % 2 == 0;
    const StridedAxes axes = rows ? normal({few, many}, {1, 0}) : normal({many, few}, {1, 0});
    checked += check(axes, unit, random_options(unit, random), random, reached) ? 1 : 0;
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GT(checked, 80);
}

// A tile between others. The stretch moves by vectors, the other side by words: 32 of them a request, so that
// rows that begin anywhere take a sector a request more; lines are cut where sectors begin.
TEST(AxesSkinnyKernel, MovesFewSectorsMore) {
  for (const int unit : {1, 2, 4, 8}) {
    for (const std::uint64_t few : {3U, 7U, 63U}) {
      for (const bool rows : {true, false}) {
        const StridedAxes axes = rows ? normal({few, 1000001}, {1, 0}) : normal({1000001, few}, {1, 0});
        const auto choice = make_axes_lines(axes, unit);
        if (!choice || !choice->skinny) continue;
        SCOPED_TRACE(describe(axes, unit));
        const AxesLinesParams& p = choice->params;
        CountingMemory memory({.shared_bytes = p.shared_bytes});
        memory.add_virtual_input(p.in.end);
        memory.add_virtual_output(p.out.end);
        run_kernel(memory, *choice, {.blocks = 1, .first_block = 5});
        const AccessCounts& counts = memory.counts();
        const std::uint64_t bytes = std::uint64_t{p.tile_bytes} * p.tile_columns;
        const std::uint64_t halo = rows ? 0 : p.halo * p.in_pitch;
        EXPECT_EQ(counts.global_stores.bytes, bytes);
        EXPECT_EQ(counts.global_stores.sectors, bytes / 32);
        EXPECT_LE(counts.global_loads.sectors, rows ? bytes / 32 * 5 / 4 + 2 * few : (bytes + halo) / 32 + 2);
        EXPECT_LE(counts.global_loads.bytes, bytes + halo + 16 + 4 * few);
        EXPECT_LE(counts.shared_loads.wavefronts, counts.shared_loads.phases * 21 / 20);
        EXPECT_LE(counts.shared_stores.wavefronts, counts.shared_stores.phases * 21 / 20);
        // Narrow units of stretches that stay as they are go past registers.
        CountingMemory past_registers({.shared_bytes = p.shared_bytes});
        past_registers.add_virtual_input(p.in.end);
        past_registers.add_virtual_output(p.out.end);
        run_kernel(past_registers, *choice, {.blocks = 1, .first_block = 5}, true);
        const bool past = !rows && unit < 4;
        if (choice->skinny->few == 0) {
          EXPECT_EQ(past_registers.counts().shared_stores.requests == 0, past);
          EXPECT_EQ(past_registers.counts().global_loads.sectors, counts.global_loads.sectors);
        }
      }
    }
  }
}

TEST(AxesSkinnyKernel, MeetsFewConflicts) {
  for (const int unit : {1, 2, 4, 8}) {
    double worst = 0;
    std::string where;
    for (std::uint64_t few = 2; few <= 256; ++few) {
      for (const bool rows : {false, true}) {
        const std::uint64_t many = 100003;
        const StridedAxes axes = rows ? normal({few, many}, {1, 0}) : normal({many, few}, {1, 0});
        const auto choice = make_axes_lines(axes, unit);
        if (!choice || !choice->skinny) continue;
        EXPECT_LE(choice->params.shared_bytes, (rows ? 76U : 40U) << 10) << describe(axes, unit);
        const double congestion = axes_skinny_congestion(choice->params, *choice->skinny);
        if (congestion > worst) where = describe(axes, unit);
        worst = std::max(worst, congestion);
      }
    }
    EXPECT_LE(worst, unit == 1 ? 2 : 4) << where;
  }
}

// Blocks of arrays of 2^34 units and more: at both ends, and anywhere.
TEST(AxesSkinnyKernel, BeyondThirtyTwoBits) {
  std::mt19937_64 random(kSeed);
  const StridedAxes all[] = {normal({3, (std::uint64_t{1} << 34) + 5}, {1, 0}),
                             normal({(std::uint64_t{1} << 34) + 5, 5}, {1, 0}),
                             normal({251, (std::uint64_t{1} << 30) + 5}, {1, 0})};
  for (const StridedAxes& axes : all) {
    const auto choice = make_axes_lines(axes, 2);
    ASSERT_TRUE(choice);
    ASSERT_TRUE(choice->skinny);
    const AxesLinesParams& p = choice->params;
    for (int sample = 0; sample < 12; ++sample) {
      const std::uint64_t block = sample == 0 ? 0 : sample == 1 ? p.tiles - 1 : random() % p.tiles;
      CountingMemory memory({.shared_bytes = p.shared_bytes});
      memory.add_virtual_input(p.in.end);
      memory.add_virtual_output(p.out.end);
      run_kernel(memory, *choice, {.blocks = 1, .first_block = block});
      EXPECT_LE(memory.counts().global_stores.bytes, std::uint64_t{p.tile_bytes} * p.tile_columns);
      if (sample > 1) {
        EXPECT_GT(memory.counts().global_stores.bytes, 0U);
      }
    }
  }
}

}  // namespace axes_skinny_kernel_test
}  // namespace faro::kernels
