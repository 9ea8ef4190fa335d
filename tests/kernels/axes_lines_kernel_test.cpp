// Transposes of any shape at any alignment, on the counting memory: every form, width and skew against the
// definition, every byte stored once, whole sectors but at the ends of lines, few bank conflicts.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "axes_kernel_support.hpp"
#include "faro/machine/congestion.hpp"
#include "kernels/axes_lines.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_turned.hpp"
#include "kernels/stored_part.hpp"

namespace faro::kernels {
namespace axes_lines_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;

// Few rows and columns too by axes_lines.hpp.
constexpr AxesLinesOptions kJoined{.skinny = false};

template <int unit>
void run_lines(CountingMemory& memory, const AxesLinesParams& p, CountingMemory::Launch launch) {
  launch.threads = kAxesLinesThreads;
  memory.run(
      launch,
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        load_axes_lines<unit>(m, p, axes_lines_tile(p, block), thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_axes_lines<unit>(m, p, axes_lines_tile(p, block), thread);
      });
}

template <AxesPlaneShape shape, bool aligned>
void run_plane(CountingMemory& memory, const AxesLinesParams& p, CountingMemory::Launch launch) {
  launch.threads = static_cast<std::uint32_t>(shape.threads);
  memory.run(
      launch,
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        load_axes_plane<shape, aligned>(m, p, axes_lines_tile(p, block), thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_axes_plane<shape>(m, p, axes_lines_tile(p, block), thread);
      });
}

template <AxesPlaneShape shape, bool words>
void run_turned(CountingMemory& memory, const AxesLinesParams& p, CountingMemory::Launch launch) {
  launch.threads = static_cast<std::uint32_t>(shape.threads);
  ASSERT_EQ(p.pitch, TurnedLayout<shape>::kPitch);
  ASSERT_EQ(p.shared_bytes, TurnedLayout<shape>::kSharedBytes);
  memory.run(
      launch,
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        load_axes_turned<shape, words>(m, p, axes_lines_tile(p, block), thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        store_axes_turned<shape>(m, p, axes_lines_tile(p, block), thread);
      });
}

template <std::size_t index>
bool run_if_shape(CountingMemory& memory, const AxesLinesChoice& choice,
                  const CountingMemory::Launch& launch) {
  constexpr AxesPlaneShape shape = kAxesPlaneShapes[index];
  if (choice.turned || *choice.plane != shape) return false;
  if (choice.aligned) {
    run_plane<shape, true>(memory, choice.params, launch);
  } else {
    run_plane<shape, false>(memory, choice.params, launch);
  }
  return true;
}

template <std::size_t index>
bool run_if_turned(CountingMemory& memory, const AxesLinesChoice& choice,
                   const CountingMemory::Launch& launch) {
  constexpr AxesPlaneShape shape = kAxesTurnedShapes[index];
  if (!choice.turned || *choice.plane != shape) return false;
  if constexpr (shape.unit_bytes < 4) {
    if (!choice.aligned) run_turned<shape, false>(memory, choice.params, launch);
  }
  if (choice.aligned) run_turned<shape, true>(memory, choice.params, launch);
  return true;
}

template <std::size_t... planes, std::size_t... turned>
bool run_any_shape(CountingMemory& memory, const AxesLinesChoice& choice,
                   const CountingMemory::Launch& launch, std::index_sequence<planes...> /*all*/,
                   std::index_sequence<turned...> /*all*/) {
  return (run_if_shape<planes>(memory, choice, launch) || ...) ||
         (run_if_turned<turned>(memory, choice, launch) || ...);
}

void run_kernel(CountingMemory& memory, const AxesLinesChoice& choice, int unit_bytes,
                const CountingMemory::Launch& launch) {
  if (choice.plane) {
    constexpr auto planes = std::make_index_sequence<std::size(kAxesPlaneShapes)>();
    constexpr auto turned = std::make_index_sequence<std::size(kAxesTurnedShapes)>();
    ASSERT_TRUE(run_any_shape(memory, choice, launch, planes, turned));
    return;
  }
  switch (unit_bytes) {
    case 1:
      return run_lines<1>(memory, choice.params, launch);
    case 2:
      return run_lines<2>(memory, choice.params, launch);
    case 4:
      return run_lines<4>(memory, choice.params, launch);
    case 8:
      return run_lines<8>(memory, choice.params, launch);
    default:
      return run_lines<16>(memory, choice.params, launch);
  }
}

using Reached = std::set<std::string>;

std::string form_text(const AxesLinesChoice& choice, int unit_bytes) {
  const AxesLinesParams& p = choice.params;
  std::string text = p.form == AxesLinesForm::plane         ? "plane"
                     : p.form == AxesLinesForm::few_columns ? "few columns"
                                                            : "few rows";
  if (choice.turned) text = "turned";
  if (choice.plane) text += choice.aligned ? " aligned" : " anywhere";
  return text + " " + std::to_string(unit_bytes);
}

// False where the axes have no such form.
bool check(const StridedAxes& axes, int unit_bytes, const AxesLinesOptions& options, std::mt19937_64& random,
           Reached& reached, AccessCounts* counts = nullptr) {
  AxesLinesOptions joined = options;
  joined.skinny = kJoined.skinny;
  const auto choice = make_axes_lines(axes, unit_bytes, joined);
  if (!choice) return false;
  const AxesLinesParams& p = choice->params;
  SCOPED_TRACE(describe(axes, unit_bytes) + ", skews " + std::to_string(options.in_skew) + " " +
               std::to_string(options.out_skew) + ": " + form_text(*choice, unit_bytes) + ", shape " +
               std::to_string(options.plane_shape.value_or(-1)) + ", band " + std::to_string(options.band) +
               ", tile " + std::to_string(p.tile_steps) + " x " + std::to_string(p.tile_columns) + ", halo " +
               std::to_string(p.halo) + ", pitch " + std::to_string(p.pitch));
  const AccessCounts moved = expect_moved(
      axes, unit_bytes,
      {.in_end = p.in.end,
       .out_end = p.out.end,
       .in_skew = options.in_skew,
       .out_skew = options.out_skew,
       .shared_bytes = p.shared_bytes},
      random, [&](CountingMemory& memory) { run_kernel(memory, *choice, unit_bytes, {.blocks = p.tiles}); });
  reached.insert(form_text(*choice, unit_bytes));
  if (p.halo > 0) reached.insert("halo");
  if (p.bands > 1) reached.insert("bands");
  if (p.axes > 0) reached.insert("planes");
  if (p.element_bytes > static_cast<std::uint64_t>(unit_bytes)) reached.insert("elements");
  if (p.tiles > 0 && p.last_band.divisor() != p.band.divisor()) reached.insert("short band");
  if (counts != nullptr) *counts = moved;
  return true;
}

AxesLinesOptions random_options(int unit_bytes, std::mt19937_64& random) {
  AxesLinesOptions options = random_skews(unit_bytes, random);
  if (random() % 4 != 0) options.plane_shape = static_cast<int>(random() % 4);
  if (random() % 2 != 0) options.band = 1 + random() % 3;
  if (random() % 3 != 0) options.turned = random() % 2 == 0;
  return options;
}

TEST(AxesLinesKernel, KnownShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
  };
  const Case cases[] = {
      {{256, 256}, {1, 0}},
      {{257, 255}, {1, 0}},
      {{300, 131}, {1, 0}},
      {{3, 5000}, {1, 0}},
      {{5000, 3}, {1, 0}},
      {{31, 1200}, {1, 0}},
      {{1200, 31}, {1, 0}},
      {{2, 4000}, {1, 0}},
      {{4000, 2}, {1, 0}},
      {{100, 100, 3}, {1, 0, 2}},
      {{1000, 5, 3}, {1, 0, 2}},
      {{5, 140, 150}, {0, 2, 1}},
      {{140, 5, 150}, {2, 1, 0}},
      {{3, 2, 1000, 2}, {3, 0, 2, 1}},
      {{130, 2, 3, 128}, {3, 1, 0, 2}},
      {{16, 1024}, {1, 0}},
      {{1024, 16}, {1, 0}},
      {{255, 256}, {1, 0}},  // the last sector of a line begins a tile that has none of its rows
      {{127, 256}, {1, 0}},
      {{511, 128}, {1, 0}},
      {{135, 160}, {1, 0}},
  };
  for (const Case& c : cases) {
    const StridedAxes axes = normal(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8, 16}) {
      check(axes, unit, {}, random, reached);
      for (int round = 0; round < 3; ++round)
        check(axes, unit, random_options(unit, random), random, reached);
      if (HasFailure()) FAIL() << "seed " << kSeed;
    }
  }
  for (const char* unit : {"1", "2", "4", "8", "16"}) {
    for (const char* form : {"plane aligned ", "plane anywhere ", "turned aligned ", "turned anywhere ",
                             "few rows ", "few columns "}) {
      const std::string name = std::string(form) + unit;
      const bool none = name == "plane anywhere 16" || name == "turned anywhere 4" ||
                        name == "turned anywhere 8" || name == "turned aligned 16" ||
                        name == "turned anywhere 16";
      EXPECT_EQ(reached.contains(name), !none) << name;
    }
  }
  for (const char* what : {"plane 4", "halo", "bands", "planes", "elements", "short band"}) {
    EXPECT_TRUE(reached.contains(what)) << what;
  }
}

// Bytes low .. high - 1 and no others, each once.
template <int unit>
void check_parts() {
  for (std::uint32_t low = 0; low < 16; low += unit) {
    for (std::uint32_t high = low + unit; high <= 16; high += unit) {
      if (high - low == 16) continue;
      std::vector<std::byte> in(16);
      std::vector<std::byte> out(16, kPoison);
      for (std::size_t i = 0; i < 16; ++i) in[i] = static_cast<std::byte>(0x40 + i);
      CountingMemory memory({.shared_bytes = 0});
      memory.add_input(in);
      memory.add_output(out);
      memory.run({.blocks = 1, .threads = 1}, [&](CountingMemory& m, std::uint64_t, std::uint32_t) {
        store_part<unit>(m, 0, m.template load_global<16>(device::kInput, 0), low, high);
      });
      for (std::uint32_t i = 0; i < 16; ++i) {
        EXPECT_EQ(out[i], i >= low && i < high ? in[i] : kPoison) << unit << ": " << low << " " << high;
      }
      // Each lane sits out the steps that are not its own.
      EXPECT_EQ(memory.counts().global_stores.bytes, high - low);
    }
  }
}

TEST(AxesLinesKernel, PartsOfVectors) {
  check_parts<1>();
  check_parts<2>();
  check_parts<4>();
  check_parts<8>();
}

TEST(AxesLinesKernel, RandomShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  int planned = 0;
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t units = 100 + random() % 40000;
    const std::uint64_t rows = 2 + random() % (random() % 2 == 0 ? 20 : 400);
    const std::uint64_t columns = std::max<std::uint64_t>(2, units / rows);
    std::vector<std::uint64_t> shape = {rows, columns};
    if (random() % 2 == 0) std::swap(shape[0], shape[1]);
    const std::uint64_t element = random() % 4 == 0 ? 3 : 1;
    const std::uint64_t batch = random() % 3 == 0 ? 3 : 1;
    const StridedAxes axes = layout::unit_axes(Axes(shape, {1, 0}), element, batch).axes;
    const int unit = 1 << random() % 5;
    if (faro::detail::unit_count(axes) * static_cast<std::uint64_t>(unit) > (1 << 18)) continue;
    if (check(axes, unit, random_options(unit, random), random, reached)) ++planned;
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GT(planned, 100);
}

// What the memories are asked for, by hand: 512 x 512 units, all aligned.
TEST(AxesLinesKernel, AlignedPlanesMoveWholeSectorsWithoutConflicts) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (const int unit : {1, 2, 4, 8, 16}) {
    for (int shape = 0; shape < 2; ++shape) {
      AccessCounts counts;
      const StridedAxes axes = normal({512, 512}, {1, 0});
      AxesLinesOptions options;
      options.plane_shape = shape;
      ASSERT_TRUE(check(axes, unit, options, random, reached, &counts));
      const std::uint64_t bytes = faro::detail::unit_count(axes) * static_cast<unsigned>(unit);
      EXPECT_EQ(counts.global_loads.bytes, bytes) << unit;
      EXPECT_EQ(counts.global_loads.sectors, bytes / 32) << unit;
      EXPECT_EQ(counts.global_stores.sectors, bytes / 32) << unit;
      EXPECT_EQ(counts.global_stores.requests, bytes / 512) << unit;
      EXPECT_EQ(counts.shared_stores.max_congestion(), 1) << unit;
      EXPECT_EQ(counts.shared_loads.max_congestion(), 1) << unit;
    }
  }
}

// Odd planes: each sector of the output is stored once, but for those where lines meet, each vector of it by
// one request; a halo of a sector of rows, and no bank conflicts still.
TEST(AxesLinesKernel, OddPlanesMoveWholeSectorsToo) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (const int unit : {1, 2, 4, 8}) {
    AccessCounts counts;
    constexpr std::uint64_t rows = 1021;
    constexpr std::uint64_t columns = 259;
    const StridedAxes axes = normal({rows, columns}, {1, 0});
    ASSERT_TRUE(check(axes, unit, {}, random, reached, &counts));
    const std::uint64_t bytes = faro::detail::unit_count(axes) * static_cast<unsigned>(unit);
    EXPECT_LE(counts.global_stores.sectors, bytes / 32 + columns * (2 * 32 / static_cast<unsigned>(unit)));
    EXPECT_EQ(counts.shared_stores.max_congestion(), 1) << unit;
    // The ends of lines are read unit by unit.
    EXPECT_LE(counts.shared_loads.wavefronts, counts.shared_loads.phases * 21 / 20) << unit;
  }
}

// Bank turns of the first warps' reads of lines, over those without conflict.
double congestion_of_reads(const AxesLinesParams& p, int unit_bytes) {
  constexpr std::uint32_t threads = 4 * 32;
  const machine::MemoryGeometry geometry;
  const auto unit = static_cast<std::uint32_t>(unit_bytes);
  const auto phase = static_cast<std::uint32_t>(geometry.lanes_per_phase(unit_bytes));
  machine::TurnCounter turns(static_cast<std::uint64_t>(geometry.banks));
  std::uint64_t taken = 0;
  for (std::uint32_t first = 0; first < threads; first += phase) {
    std::vector<std::uint64_t> words;
    for (std::uint32_t thread = first; thread < first + phase; ++thread) {
      // A vector of a line, by its first unit.
      const std::uint32_t line = thread / p.line_slots.divisor();
      const std::uint32_t number = thread % p.line_slots.divisor() * (kMovedBytes / unit);
      const std::uint32_t at = number % p.digit0.divisor() * p.stride0 +
                               number / p.digit0.divisor() * p.stride1 + line * p.line_stride;
      for (std::uint32_t byte = 0; byte < unit; byte += 4) words.push_back((p.exchange.place(at) + byte) / 4);
    }
    taken += turns.by_bank(words);
  }
  return static_cast<double>(taken) / (threads / phase);
}

TEST(AxesLinesKernel, SkinnyTransposesMeetFewConflicts) {
  std::mt19937_64 random(kSeed);
  double worst = 0;
  std::string where;
  for (const int unit : {1, 2, 4, 8, 16}) {
    for (std::uint64_t few = 2; few < 64; ++few) {
      for (const bool rows : {false, true}) {
        const std::uint64_t many = 100003;
        const StridedAxes axes = rows ? normal({few, many}, {1, 0}) : normal({many, few}, {1, 0});
        const auto choice = make_axes_lines(axes, unit, kJoined);
        ASSERT_TRUE(choice);
        if (choice->plane) continue;
        EXPECT_LE(choice->params.shared_bytes, 40U << 10) << describe(axes, unit);
        const double congestion = congestion_of_reads(choice->params, unit);
        if (congestion > worst) where = describe(axes, unit);
        worst = std::max(worst, congestion);
      }
    }
  }
  EXPECT_LE(worst, 2.5) << where;
}

// Blocks of arrays of 2^36 units and more: at both ends, and anywhere.
TEST(AxesLinesKernel, BeyondThirtyTwoBits) {
  std::mt19937_64 random(kSeed);
  const StridedAxes all[] = {normal({(1 << 20) + 3, (1 << 18) + 1}, {1, 0}),
                             normal({3, (std::uint64_t{1} << 34) + 5}, {1, 0}),
                             normal({(std::uint64_t{1} << 34) + 5, 5}, {1, 0}),
                             layout::unit_axes(Axes({(1 << 17) + 1, 1025}, {1, 0}), 1, 1003).axes};
  for (const StridedAxes& axes : all) {
    const auto choice = make_axes_lines(axes, 4, kJoined);
    ASSERT_TRUE(choice);
    const AxesLinesParams& p = choice->params;
    for (int sample = 0; sample < 20; ++sample) {
      const std::uint64_t block = sample == 0 ? 0 : sample == 1 ? p.tiles - 1 : random() % p.tiles;
      CountingMemory memory({.shared_bytes = p.shared_bytes});
      memory.add_virtual_input(p.in.end);
      memory.add_virtual_output(p.out.end);
      run_kernel(memory, *choice, 4, {.blocks = 1, .first_block = block});
      EXPECT_LE(memory.counts().global_stores.bytes, std::uint64_t{p.tile_bytes} * p.tile_columns);
      if (sample > 1) {
        EXPECT_GT(memory.counts().global_stores.bytes, 0U);
      }
    }
    // All tiles together hold every element: so many bytes as lines have, and a sector's raggedness.
    const std::uint64_t tiles = std::uint64_t{p.bands - 1} * p.band.divisor() + p.last_band.divisor();
    const std::uint64_t along = tiles * p.tile_bytes;
    EXPECT_GE(along, p.line_bytes);
    EXPECT_LT(along, p.line_bytes + p.tile_bytes + kLineSector);
  }
}

}  // namespace axes_lines_kernel_test
}  // namespace faro::kernels
