// Boxes of axes on the counting memory, held against the definition: every byte once, runs long on both
// sides, few bank conflicts, arrays past 2^32 units; all permutations of small shapes.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "affine_kernel_support.hpp"
#include "axes_kernel_support.hpp"
#include "faro/error.hpp"
#include "kernels/axes_box.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_ragged_box.hpp"
#include "layout/box_choice.hpp"
#include "layout/strided_box.hpp"
#include "view_oracle.hpp"

namespace faro::kernels {
namespace axes_box_kernel_test {

using layout::StridedAxis;
using layout::StridedBox;
using machine::AccessCounts;
using machine::CountingMemory;

std::string axes_text(const std::vector<StridedAxis>& axes) {
  std::string text;
  for (const StridedAxis& axis : axes) {
    text += "(" + std::to_string(axis.extent) + " in " + std::to_string(axis.in) + " out " +
            std::to_string(axis.out) + ")";
  }
  return text;
}

std::string box_text(const StridedBox& box) {
  std::string text = "box";
  for (const std::uint32_t e : box.extent) text += " " + std::to_string(e);
  for (const layout::BoxWalk* walk : {&box.in, &box.out}) {
    text += walk == &box.in ? ", in: " : ", out: ";
    text += "runs of " + std::to_string(walk->units) + " by " + std::to_string(walk->vector);
  }
  return text + ", shared " + std::to_string(box.shared_words) + " words of " +
         std::to_string(box.word_bytes());
}

// --- the kernel, by a shape that is known at run time

template <BoxShape shape>
void run_blocks(CountingMemory& memory, const AxesBoxParams& p, const CountingMemory::Launch& launch) {
  memory.run(
      launch,
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        prepare_box<shape>(m, p, block, thread);
      },
      [&](CountingMemory& m, std::uint64_t /*block*/, std::uint32_t thread) {
        read_box<shape>(m, p, thread);
      },
      [&](CountingMemory& m, std::uint64_t /*block*/, std::uint32_t thread) {
        write_box<shape>(m, p, thread);
      });
}

void run_kernel(CountingMemory& memory, const AxesBoxParams& p, const BoxShape& shape,
                const CountingMemory::Launch& launch) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((shape == kBoxShapes[i] ? run_blocks<kBoxShapes[i]>(memory, p, launch) : void()), ...);
  }
  (std::make_index_sequence<std::size(kBoxShapes)>());
}

struct Reached {
  std::set<std::string> shapes;
  bool cut = false;
  bool two_cuts = false;
  bool same_cut = false;
  bool several_axes_a_run = false;
};

// Of units; `in` begins at the first, from which strides may go back.
void expect_view(const std::vector<StridedAxis>& axes, std::size_t unit, const std::byte* in,
                 const std::byte* out) {
  const auto bytes = static_cast<std::int64_t>(unit);
  test::for_places(axes, [&](std::int64_t from, std::int64_t to) {
    ASSERT_TRUE(std::equal(in + from * bytes, in + (from + 1) * bytes, out + to * bytes))
        << "unit " << from << " of the input, " << to << " of the output";
  });
}

std::uint64_t units_of(const std::vector<StridedAxis>& axes) {
  std::uint64_t units = 1;
  for (const StridedAxis& axis : axes) units *= axis.extent;
  return units;
}

// Bytes that a ragged box may read besides its own: vectors reach past rows, and the halo is the next box's.
std::uint64_t most_read_over(const AxesBoxParams& params, const BoxShape& shape) {
  if (!shape.ragged) return 0;
  const auto unit = static_cast<std::uint64_t>(shape.unit_bytes);
  const std::uint64_t ends = 2 * (kMovedBytes - unit);
  return params.in.rows * ends + params.halo * (params.in.units * unit + ends);
}

AccessCounts run_box(const std::vector<StridedAxis>& axes, int unit_bytes, const layout::BoxLimits& limits,
                     std::mt19937_64& random, Reached& reached) {
  const StridedBox box = layout::choose_box(axes, unit_bytes, limits);
  SCOPED_TRACE(axes_text(axes) + ", " + std::to_string(unit_bytes) + " bytes: " + box_text(box));
  const AxesBoxParams params = make_axes_box_params(box);
  const auto unit = static_cast<std::size_t>(unit_bytes);
  Arrays arrays(units_of(axes) * unit, random);
  CountingMemory memory({.shared_bytes = params.shared_bytes()});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  const BoxShape shape = box_shape(box);
  run_kernel(memory, params, shape, {.blocks = params.tiles, .threads = box.threads});
  expect_view(axes, unit, arrays.in.data(), arrays.output().data());
  expect_guards(arrays);
  EXPECT_TRUE(memory.output_complete());
  // Vectors reach past rows, by less than one at either end.
  const std::uint64_t over = params.tiles * most_read_over(params, shape);
  EXPECT_GE(memory.counts().global_loads.bytes, units_of(axes) * unit);
  EXPECT_LE(memory.counts().global_loads.bytes, units_of(axes) * unit + over);
  EXPECT_EQ(memory.counts().global_stores.bytes, units_of(axes) * unit);
  const bool by_units = shape.unit_bytes < 4 && shape.words == 1 && shape.in_vector > 1 && !shape.ragged;
  reached.shapes.insert(
      (shape.ragged ? "ragged "
       : by_units   ? "units "
                    : "") +
      std::to_string(unit) + " " + std::to_string(shape.in_vector) + " " + std::to_string(shape.out_vector) +
      (shape.threads == kLargeBoxThreads ? " large" : "") + (shape.triples > 1 ? " triples" : ""));
  int cuts = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) cuts += axes[a].extent % box.extent[a] != 0 ? 1 : 0;
  reached.cut |= cuts > 0;
  reached.two_cuts |= cuts == 2;
  reached.same_cut |= cuts > 0 && box.p == box.q;
  reached.several_axes_a_run |= box.in.run.size() > 1 && box.out.run.size() > 1;
  return memory.counts();
}

std::vector<StridedAxis> strided(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                                 std::uint64_t element_units = 1, std::uint64_t batch = 1) {
  return layout::unit_axes(Axes(shape, order), element_units, batch).axes;
}

double congestion(const AccessCounts& counts) {
  const auto& s = counts.shared_stores;
  const auto& l = counts.shared_loads;
  return static_cast<double>(s.wavefronts + l.wavefronts) / static_cast<double>(s.phases + l.phases);
}

TEST(StridedAxes, NormalFormWithElementsAndBatch) {
  EXPECT_EQ(normal({2, 3, 1, 4}, {1, 3, 0, 2}), (StridedAxes{{2, 12, 1}, {12, 1, 2}}));  // 2 | 3 4
  EXPECT_EQ(strided({5, 7}, {1, 0}, 3, 10), (StridedAxes{{3, 1, 1}, {5, 21, 3}, {7, 3, 15}, {10, 105, 105}}));
  // What stays in front joins the batch, what stays behind the element.
  EXPECT_EQ(strided({4, 5, 6, 7}, {0, 2, 1, 3}, 2, 9),
            (StridedAxes{{14, 1, 1}, {5, 84, 14}, {6, 14, 70}, {36, 420, 420}}));
}

TEST(StridedAxes, NormalFormIsOneWhateverItWasWrittenAs) {
  const std::vector<StridedAxis> plain = strided({4, 6, 10}, {2, 0, 1});
  EXPECT_EQ(plain, (std::vector<StridedAxis>{{24, 10, 1}, {10, 1, 24}}));
  EXPECT_EQ(strided({24, 10}, {1, 0}), plain);
  EXPECT_EQ(strided({2, 2, 1, 3, 2, 5, 2}, {5, 6, 2, 0, 1, 3, 4}), plain);
  const layout::AxisMap scattered{.axes = {{1, 7, 7}, {5, 2, 48}, {2, 1, 24}, {4, 60, 6}, {6, 10, 1}}};
  EXPECT_EQ(faro::detail::normal_form(scattered).axes, plain);
  // What stays in front or behind joins no axis that moves.
  EXPECT_EQ(strided({3, 4, 5, 6}, {0, 2, 1, 3}).size(), 4U);
}

TEST(StridedAxes, UnitsAreWidenedByWhatStays) {
  const auto widest = [](const StridedAxes& axes, std::uint64_t unit) {
    return layout::with_widest_units({.axes = axes, .unit = unit});
  };
  EXPECT_EQ(widest(strided({4, 6, 8}, {1, 0, 2}), 2).axes, strided({4, 6}, {1, 0}));
  EXPECT_EQ(widest(strided({4, 6, 8}, {1, 0, 2}), 2).unit, 16U);
  EXPECT_EQ(widest(strided({4, 6, 12}, {1, 0, 2}), 2).axes, strided({4, 6, 3}, {1, 0, 2}));
  EXPECT_EQ(widest(strided({4, 6, 12}, {1, 0, 2}), 2).unit, 8U);
  EXPECT_EQ(widest(strided({4, 6}, {1, 0}), 4).unit, 4U);
}

struct Case {
  std::vector<std::uint64_t> shape;
  std::vector<int> order;
};

TEST(StridedBoxes, RunsAreLongOnBothSidesWhateverTheShape) {
  const Case cases[] = {
      {{1000, 1000}, {1, 0}},
      {{12345, 6789}, {1, 0}},
      {{3, 1 << 20}, {1, 0}},
      {{1 << 20, 3}, {1, 0}},
      {{100, 3, 50, 7}, {2, 0, 3, 1}},
      {{100, 3, 50, 7}, {3, 2, 1, 0}},
      {{7, 5, 1 << 18}, {2, 1, 0}},
      {{1 << 16, 2, 9, 3}, {3, 1, 2, 0}},
      {{31, 33333}, {1, 0}},
      {{4096, 17, 3}, {1, 0, 2}},
      {{1 << 25, 2}, {1, 0}},
      {{1024, 1024, 5}, {1, 0, 2}},
      {{27, 27, 27, 27}, {3, 2, 1, 0}},
      {{48, 28, 28, 28, 48}, {4, 3, 2, 1, 0}},
  };
  for (const Case& c : cases) {
    const std::vector<StridedAxis> axes = strided(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8, 16}) {
      const StridedBox box = layout::choose_box(axes, unit, {.many_boxes = 1});
      SCOPED_TRACE(axes_text(axes) + ": " + box_text(box));
      const auto width = static_cast<std::uint64_t>(unit);
      EXPECT_GE(box.in.contiguous * width, std::min<std::uint64_t>(64, units_of(axes) * width));
      EXPECT_GE(box.out.contiguous * width, std::min<std::uint64_t>(64, units_of(axes) * width));
      EXPECT_LE(make_axes_box_params(box).shared_bytes(), 75U << 10);  // three blocks a multiprocessor
    }
  }
}

TEST(StridedBoxes, ManySmallArraysShareABox) {
  const Case cases[] = {
      {{1 << 20, 8, 48}, {0, 2, 1}},
      {{1 << 20, 16, 32}, {0, 2, 1}},
      {{1 << 20, 32, 48}, {0, 2, 1}},
      {{1 << 20, 3, 16, 16}, {0, 3, 2, 1}},
  };
  for (const Case& c : cases) {
    const std::vector<StridedAxis> axes = strided(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8}) {
      const StridedBox box = layout::choose_box(axes, unit);
      EXPECT_GE(box.units() * static_cast<unsigned>(unit), 6U << 10)
          << axes_text(axes) << " of " << unit << ": " << box_text(box);
    }
  }
}

TEST(AxesBoxKernel, KnownShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  const Case cases[] = {
      {{2, 2}, {1, 0}},
      {{256, 256}, {1, 0}},
      {{100, 3, 50, 7}, {2, 0, 3, 1}},
      {{3, 5000}, {1, 0}},
      {{5000, 3}, {1, 0}},
      {{5000, 4}, {1, 0}},
      {{4, 5000}, {1, 0}},
      {{100, 100, 3}, {1, 0, 2}},
      {{101, 103}, {1, 0}},
      {{4000, 2}, {1, 0}},
      {{3, 2, 4, 5, 6, 7}, {5, 4, 3, 2, 1, 0}},
      {{160, 96}, {1, 0}},
      {{9, 130, 140}, {0, 2, 1}},
      {{130, 9, 140}, {2, 1, 0}},
      {{64, 2, 64, 2}, {2, 1, 0, 3}},
      {{2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
      {{16, 7, 5, 48}, {3, 2, 1, 0}},
      {{10, 10, 10, 10}, {3, 2, 1, 0}},
  };
  double worst = 0;
  double worst_of_narrow = 0;  // units of 1 and 2 bytes
  for (const Case& c : cases) {
    const std::vector<StridedAxis> axes = strided(c.shape, c.order);
    for (const int unit : {1, 2, 4, 8, 16}) {
      for (const bool vectors : {true, false}) {
        for (const std::uint32_t many : {1U, 792U}) {
          const AccessCounts counts = run_box(
              axes, unit, {.vectors = vectors, .ragged = many > 1, .many_boxes = many}, random, reached);
          const bool skinny = std::min(axes.front().extent, axes.back().extent) < 8 && axes.size() == 2;
          if (units_of(axes) > 8000 && !skinny) {
            double& of = unit < 4 ? worst_of_narrow : worst;
            of = std::max(of, congestion(counts));
          }
          if (HasFailure()) FAIL() << "seed " << kSeed;
        }
      }
    }
  }
  EXPECT_LT(worst, 2.6);
  // Blocks that begin cost more there than conflicts do (layout/box_price.cpp).
  EXPECT_LT(worst_of_narrow, 3.7);
  EXPECT_TRUE(reached.cut && reached.two_cuts && reached.same_cut && reached.several_axes_a_run);
}

TEST(AxesBoxKernel, ManySmallArrays) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  const Case cases[] = {
      {{701, 5, 16}, {0, 2, 1}},      {{701, 5, 15}, {0, 2, 1}}, {{91, 24, 40}, {0, 2, 1}},
      {{101, 3, 4, 8}, {0, 3, 2, 1}}, {{61, 50, 48}, {0, 2, 1}}, {{7, 13, 20, 24}, {1, 0, 3, 2}},
  };
  for (const Case& c : cases) {
    for (const int unit : {1, 2, 4, 8, 16}) {
      for (const bool vectors : {true, false}) {
        run_box(strided(c.shape, c.order), unit, {.vectors = vectors}, random, reached);
        if (HasFailure()) FAIL() << "seed " << kSeed;
      }
    }
  }
  EXPECT_TRUE(reached.cut);
}

// All permutations of up to four axes of 1 to 5.
TEST(AxesBoxKernel, EverySmallShape) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (std::size_t n = 1; n <= 4; ++n) {
    std::vector<std::uint64_t> shape(n, 1);
    do {
      std::vector<int> order(n);
      std::iota(order.begin(), order.end(), 0);
      do {
        const std::vector<StridedAxis> axes = strided(shape, order);
        if (axes.size() < 2) continue;
        run_box(axes, 1 << random() % 5, {.vectors = random() % 2 == 0}, random, reached);
        if (HasFailure()) FAIL() << "seed " << kSeed;
      } while (std::next_permutation(order.begin(), order.end()));
    } while (test::step(shape, std::vector<std::uint64_t>(n, 5), 1));
  }
}

// Elements of three units, by words: every residue of rows and vectors, ends of arrays and halos.
TEST(AxesBoxKernel, TriplesAreMovedByWords) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  int by_words = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 2 + random() % 3;
    std::vector<std::uint64_t> shape(n);
    for (std::uint64_t& extent : shape) extent = 1 + random() % (n == 2 ? 150 : n == 3 ? 40 : 17);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<StridedAxis> axes = strided(shape, order, 3, 1 + random() % 3);
    if (axes.size() < 3) continue;
    const int unit = 1 + static_cast<int>(random() % 2);
    const layout::BoxLimits limits{.vectors = random() % 2 == 0,
                                   .best_bytes = random() % 2 == 0 ? 4U << 10 : 32U << 10,
                                   .many_boxes = random() % 2 == 0 ? 1U : 792U};
    by_words += box_shape(layout::choose_box(axes, unit, limits)).triples > 1 ? 1 : 0;
    run_box(axes, unit, limits, random, reached);
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GT(by_words, 80);
  // A vector of neighbours reads six elements of 3 bytes by two words each and six entries of the list.
  const AccessCounts counts = run_box(strided({301, 303}, {1, 0}, 3), 1, {.many_boxes = 1}, random, reached);
  EXPECT_LT(counts.shared_loads.wavefronts * 16, counts.global_stores.bytes * 2);
}

// Sectors that runs of the output share are written by one box, whole, but at the ends of chains.
TEST(AxesBoxKernel, RaggedBoxesWriteWholeSectors) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (const int unit : {2, 4, 8}) {
    const std::vector<StridedAxis> axes = strided({81, 5, 7, 81}, {3, 2, 1, 0});
    const layout::BoxLimits limits{.many_boxes = 1};
    const StridedBox box = layout::choose_box(axes, unit, limits);
    ASSERT_GT(box.chain, 0U);
    const AccessCounts counts = run_box(axes, unit, limits, random, reached);
    // Each row of a chain may end within a sector, and begin within one, which is then written in pieces.
    std::uint64_t chains = box.boxes();
    const std::size_t first = box.out.run.size() - (box.cut(box.out.run.back()) ? 1 : 0);
    for (std::size_t a = first; a < first + box.chain; ++a) {
      chains /= (axes[a].extent + box.extent[a] - 1) / box.extent[a];
    }
    constexpr std::uint64_t sector_bytes = 32;
    constexpr std::uint64_t pieces = 3;
    const std::uint64_t ends = chains * (box.units() / box.out.units) * 2 * pieces * sector_bytes;
    EXPECT_LE(sector_bytes * counts.global_stores.sectors, counts.global_stores.bytes + ends)
        << unit << " bytes";
    EXPECT_LT(ends, counts.global_stores.bytes / 2);
  }
}

// Random shapes of two to six axes with batches and elements of several units.
TEST(AxesBoxKernel, RandomShapes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  run_box(strided({44, 52}, {1, 0}), 1, {.ragged = false, .many_boxes = 1}, random, reached);
  run_box(strided({68, 88}, {1, 0}), 1, {.ragged = false, .many_boxes = 1}, random, reached);
  run_box(strided({45, 18, 28}, {2, 0, 1}), 8, {.many_boxes = 1}, random, reached);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t n = 2 + random() % 5;
    std::vector<std::uint64_t> shape;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < n; ++a) {
      const std::uint64_t most = std::max<std::uint64_t>(1, 6000 / count);
      std::uint64_t extent = 1 + random() % std::min<std::uint64_t>(most, a + 1 == n ? 6000 : 90);
      const std::uint64_t multiple = std::uint64_t{1} << random() % 6;  // vectors of some widths
      if (extent > multiple) extent = extent / multiple * multiple;
      shape.push_back(extent);
      count *= shape.back();
    }
    std::shuffle(shape.begin(), shape.end(), random);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<StridedAxis> axes =
        strided(shape, order, random() % 3 == 0 ? 3 : 1, random() % 3 == 0 ? 5 : 1);
    if (axes.size() < 2) continue;
    const std::uint32_t large = random() % 2 == 0 ? 30U << 10 : 2U << 10;
    const layout::BoxLimits limits{.vectors = random() % 3 != 0,
                                   .ragged = random() % 2 == 0,
                                   .large_bytes = large,
                                   .large_ragged_bytes = large,
                                   .most_bytes = random() % 3 == 0 ? 4U << 10 : 44U << 10,
                                   .many_boxes = random() % 2 == 0 ? 1U : 792U};
    run_box(axes, 1 << random() % 5, limits, random, reached);
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  for (const char* shape : {"1 1 1",
                            "1 4 4",
                            "1 4 16",
                            "1 16 4",
                            "1 16 16",
                            "2 1 1",
                            "2 2 2",
                            "2 2 8",
                            "2 8 2",
                            "2 8 8",
                            "4 1 1",
                            "4 2 2",
                            "4 4 4",
                            "8 1 1",
                            "8 2 2",
                            "16 1 1",
                            "ragged 1 16 16",
                            "ragged 2 8 8",
                            "ragged 4 4 4",
                            "ragged 8 2 2",
                            "units 1 16 16",
                            "units 2 8 8",
                            "4 2 2 large",
                            "4 2 4 large",
                            "4 4 2 large",
                            "4 4 4 large",
                            "8 2 2 large",
                            "16 1 1 large",
                            "ragged 4 4 4 large",
                            "ragged 8 2 2 large",
                            "ragged 1 16 16 triples",
                            "ragged 2 8 8 triples"}) {
    EXPECT_TRUE(reached.shapes.contains(shape)) << shape;
  }
}

// The input may have any strides: slices, padded rows, turned axes, one row for all.
TEST(AxesBoxKernel, ViewsOfTheInput) {
  std::mt19937_64 random(kSeed);
  bool any_turned = false;
  for (int round = 0; round < 600; ++round) {
    const std::size_t n = 1 + random() % 4;
    std::vector<StridedAxis> axes(n);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    std::int64_t out = 1;
    for (StridedAxis& axis : axes) {
      axis = {.extent = 1 + random() % 20, .in = 0, .out = out};
      out *= static_cast<std::int64_t>(axis.extent);
    }
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t in = random() % 4 == 0 ? 2 : 1;
    std::int64_t first = 0;
    for (const std::size_t a : order) {
      StridedAxis& axis = axes[a];
      const auto extent = static_cast<std::int64_t>(axis.extent);
      axis.in = random() % 5 == 0 ? 0 : random() % 4 == 0 ? -in : in;
      if (axis.in < 0) first += (extent - 1) * in;
      in *= extent + static_cast<std::int64_t>(random() % 3);
    }
    const layout::AxisMap view = faro::detail::normal_form({.axes = axes, .in_first = first});
    const std::vector<StridedAxis>& normal = view.axes;
    if (normal.empty()) continue;
    const int unit_bytes = 1 << random() % 5;
    const auto unit = static_cast<std::size_t>(unit_bytes);
    const auto turned = random() % 2 == 0 ? layout::read_forwards(view) : std::nullopt;
    any_turned |= turned.has_value();
    const auto in_begin = static_cast<std::uint64_t>(turned ? turned->in_first : first);
    const auto out_begin = static_cast<std::uint64_t>(turned ? turned->out_first : 0);
    const StridedBox box = layout::choose_box(turned ? turned->axes : normal, unit_bytes,
                                              {.vectors = (in_begin | out_begin) * unit % 16 == 0});
    SCOPED_TRACE(axes_text(normal) + ", " + std::to_string(unit_bytes) + " bytes: " + box_text(box));
    const AxesBoxParams params = make_axes_box_params(box, in_begin, out_begin);
    std::vector<std::byte> input(static_cast<std::size_t>(in + first) * unit);
    for (std::byte& b : input) b = static_cast<std::byte>(random());
    std::vector<std::byte> output(static_cast<std::size_t>(out) * unit);
    CountingMemory memory({.shared_bytes = params.shared_bytes()});
    memory.add_input(input);
    memory.add_output(output);
    run_kernel(memory, params, box_shape(box), {.blocks = params.tiles, .threads = box.threads});
    EXPECT_TRUE(memory.output_complete());
    expect_view(normal, unit, input.data() + first * static_cast<std::ptrdiff_t>(unit), output.data());
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  EXPECT_TRUE(any_turned);
}

// Neighbouring lanes of a ragged box of single bytes read entries of the list that are a vector apart, from
// anywhere on: in different banks, or in one word. What is past a column is in that column, too.
TEST(AxesBoxKernel, NeighboursReadPlacesOfBytesWithoutConflicts) {
  using List = PlaceList<1>;
  std::set<std::uint32_t> places;
  for (std::uint32_t number = 0; number < 600; ++number) {
    EXPECT_TRUE(places.insert(List::at(number)).second) << number;
    EXPECT_LT(List::at(number) + List::vector * List::row_bytes, ragged_list_bytes(1, 1, 600)) << number;
  }
  for (std::uint32_t first = 0; first < 64; ++first) {
    for (std::uint32_t k = 0; k < List::vector; ++k) {
      std::vector<std::set<std::uint32_t>> words(32);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t word = (List::at(first + lane * List::vector) + k * List::row_bytes) / 4;
        words[word % 32].insert(word);
      }
      for (const std::set<std::uint32_t>& of_bank : words) EXPECT_LE(of_bank.size(), 1U) << first << " " << k;
    }
  }
}

// As many axes as 2^40 elements can have: every digit of blocks, rows and runs in use.
TEST(AxesBoxKernel, ManyAxes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  std::vector<std::uint64_t> shape(14, 2);
  std::vector<int> order(14);
  std::iota(order.rbegin(), order.rend(), 0);
  for (const int unit : {1, 2, 4, 8, 16}) run_box(strided(shape, order), unit, {}, random, reached);
  shape.assign(40, 2);
  order.resize(40);
  std::iota(order.rbegin(), order.rend(), 0);
  for (const int unit : {1, 4, 16}) {
    const StridedBox box = layout::choose_box(strided(shape, order), unit);
    const AxesBoxParams params = make_axes_box_params(box);
    EXPECT_EQ(box.boxes() * box.units(), std::uint64_t{1} << 40);
    EXPECT_EQ(params.tiles, box.boxes());
    EXPECT_GT(params.grid_axes, 20);
  }
}

// Blocks of an array of 2^36 units and more, and the index functions against the coordinates.
TEST(AxesBoxKernel, BeyondThirtyTwoBits) {
  std::mt19937_64 random(kSeed);
  const Case cases[] = {{{(1 << 20) + 3, 7, (1 << 15) + 1}, {2, 0, 1}},
                        {{2, std::uint64_t{1} << 36, 3}, {2, 1, 0}},
                        {{(1 << 13) + 1, (1 << 13) + 3, 1 << 13}, {2, 1, 0}}};
  for (const Case& c : cases) {
    const std::vector<StridedAxis> axes = strided(c.shape, c.order);
    const StridedBox box = layout::choose_box(axes, 4);
    SCOPED_TRACE(axes_text(axes) + ": " + box_text(box));
    const AxesBoxParams params = make_axes_box_params(box);
    for (int sample = 0; sample < 40; ++sample) {
      const std::uint64_t block = sample == 0 ? 0 : sample == 1 ? params.tiles - 1 : random() % params.tiles;
      CountingMemory memory({.shared_bytes = params.shared_bytes()});
      memory.add_virtual_input(units_of(axes) * 4);
      memory.add_virtual_output(units_of(axes) * 4);
      run_kernel(memory, params, box_shape(box), {.blocks = 1, .threads = box.threads, .first_block = block});
      const std::uint64_t over = most_read_over(params, box_shape(box));
      EXPECT_GE(memory.counts().global_loads.bytes, memory.counts().global_stores.bytes);
      EXPECT_LE(memory.counts().global_loads.bytes, memory.counts().global_stores.bytes + over);
      EXPECT_GT(memory.counts().global_stores.bytes, 0U);
      const BoxOrigin origin = box_origin(params, block);
      const std::uint64_t scale = box.ragged ? 1 : 4;  // units, or bytes
      std::uint64_t out = 0;
      for (const StridedAxis& axis : axes) {
        out += origin.in / scale / static_cast<std::uint64_t>(axis.in) % axis.extent *
               static_cast<std::uint64_t>(axis.out);
      }
      EXPECT_EQ(out, origin.out / scale);
    }
  }
}

// A sector that two runs of the output share costs six others to write in parts. To read it as a halo costs
// more where a run is long, and its first units are in as many rows of the input.
TEST(AxesBoxKernel, HalosOnlyWhereTheyPay) {
  const StridedBox apart = layout::choose_box(strided({66, 34, 131, 197}, {2, 0, 3, 1}), 1);
  EXPECT_TRUE(apart.ragged);
  EXPECT_EQ(apart.halo, 0U) << box_text(apart);
  const StridedBox reversed = layout::choose_box(strided({27, 27, 27, 27, 27}, {4, 3, 2, 1, 0}), 4);
  EXPECT_TRUE(reversed.ragged);
  EXPECT_EQ(reversed.halo, 7U) << box_text(reversed);
}

TEST(AxesBoxKernel, RefusesWhatRowsCannotReach) {
  const StridedBox box =
      layout::choose_box({{.extent = std::uint64_t{1} << 24, .in = std::int64_t{1} << 24, .out = 1},
                          {.extent = std::uint64_t{1} << 24, .in = 1, .out = std::int64_t{1} << 24}},
                         16);
  EXPECT_THROW(make_axes_box_params(box), Error);
}

}  // namespace axes_box_kernel_test
}  // namespace faro::kernels
