// Views whose runs the CPU engine moves in ways of their own: columns turned in groups, lines cut and
// streamed one by one, rows of one axis on both sides; each against the obvious loop.
// Sanitized: in `make test`, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "cpu_strided_support.hpp"
#include "engines/cpu.hpp"
#include "faro/faro.hpp"
#include "hwy/targets.h"
#include "plan/cpu/axes_runs.hpp"
#include "plan/cpu/cpu_pass.hpp"

namespace faro {
namespace cpu_strided_runs_engine_test {

using namespace cpu_strided_test;

// Groups of columns: of every width, of rows and columns that fill no square, upwards and downwards, to runs
// that follow one another and runs that lie apart.
TEST(CpuStridedEngine, GroupsOfColumns) {
  std::mt19937_64 random(192);
  int groups = 0;
  for (int trial = 0; trial < (kInstrumented ? 40 : 600); ++trial) {
    const std::uint64_t width = std::uint64_t{1} << random() % 5;
    const std::uint64_t rows = 64 / width + random() % 300;
    const std::uint64_t columns = 2 + random() % 200;
    const auto signed_of = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
    Strided view{.extents = {columns, 2, rows}, .in_strides = {}, .out_strides = {}};
    const std::uint64_t gap = random() % 3 == 0 ? random() % 40 : 0;
    view.in_strides = {1, signed_of(columns), signed_of(2 * columns)};
    view.out_strides = {signed_of(rows + gap), signed_of((rows + gap) * columns), 1};
    if (random() % 2 == 0) {
      view.in_strides[0] = -1;
      view.in_offset = columns - 1;
    }
    const Setting setting{.width = width,
                          .in_past_line = random() % 2 * (random() % 64),
                          .out_past_line = random() % 2 * (random() % 64),
                          .threads = 1 + static_cast<int>(random() % 2),
                          .stores = Stores::streamed};
    expect_moved(view, setting);
    if (::testing::Test::HasFatalFailure()) return;
    const Plan plan = plan_of(view, setting);
    if (!plan.problem().view) continue;
    groups += std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel).move == detail::AxesMove::groups;
  }
  EXPECT_GT(groups, kInstrumented ? 10 : 200);
}

// Elements of whole lines, and rows of such that are read backwards, one by one where the output begins at a
// line, else in boxes: padded, flipped and repeated on the input's side, with holes on the output's.
TEST(CpuStridedEngine, WholeLinesOneByOne) {
  testing::SplitMix64 random{19};
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  int one_by_one = 0;
  int backwards = 0;
  const int rounds = kInstrumented ? 60 : 400;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t width = std::uint64_t{1} << below(8);
    const std::uint64_t lines = 2 + below(round % 8 == 0 ? 100 : 8);
    const std::uint64_t together = std::max<std::uint64_t>(1, lines * 64 / width);
    Strided view{.extents = {together}, .in_strides = {1}, .out_strides = {1}};
    const std::size_t rank = 1 + below(4);
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{1});
    for (std::size_t a = 0; a < rank; ++a) {
      view.extents.push_back(2 + below(6));
      view.out_strides.push_back(0);
    }
    auto stride = static_cast<std::int64_t>(together + below(3) * below(20));
    for (std::size_t a = 1; a <= rank; ++a) {
      view.in_strides.push_back(below(12) == 0 ? 0 : stride);
      stride = (stride + static_cast<std::int64_t>(below(2) * below(40))) *
               static_cast<std::int64_t>(view.extents[a]);
    }
    for (std::size_t a = rank; a > 1; --a) std::swap(order[a - 1], order[below(a)]);
    stride = static_cast<std::int64_t>(together * (1 + below(2)));
    for (const std::size_t axis : order) {
      view.out_strides[axis] = stride;
      stride *= static_cast<std::int64_t>(view.extents[axis]);
    }
    for (std::size_t a = 0; a <= rank; ++a) {
      if (below(4) != 0) continue;
      view.in_offset += (view.extents[a] - 1) * static_cast<std::uint64_t>(view.in_strides[a]);
      view.in_strides[a] = -view.in_strides[a];
    }
    const Setting setting{.width = width,
                          .in_past_line = below(3) * 4,
                          .out_past_line = below(4) == 0 ? 16 : std::size_t{0},
                          .threads = static_cast<int>(1 + below(3)),
                          .stores = Stores::streamed};
    ASSERT_NO_FATAL_FAILURE(expect_moved(view, setting));
    const Plan plan = plan_of(view, setting);
    for (const Pass& pass : plan.passes()) {
      const auto* const axes = pass.cpu ? std::get_if<detail::CpuAxes>(&pass.cpu->kernel) : nullptr;
      if (axes == nullptr || !axes->one_by_one || setting.out_past_line != 0) continue;
      ++(detail::reads_rows_backwards(axes->box) ? backwards : one_by_one);
    }
  }
  EXPECT_GT(one_by_one, rounds / 10);
  EXPECT_GT(backwards, rounds / 20);
}

// Rows backwards, as they are, cut and of one element, of all lengths that vectors cut, to rows that lie
// apart, and turned ones that do: by every instruction set of this machine.
TEST(CpuStridedEngine, RowsByEveryInstructionSet) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    SCOPED_TRACE(cpu::simd_target());
    for (const std::uint64_t width : {1, 2, 4, 8}) {
      for (const std::uint64_t lines : {2, 3, 5, 8, 9, 17, 40}) {
        const auto columns = static_cast<std::int64_t>(lines * 64 / width);
        for (const std::int64_t step : {-2, -1, 0, 1, 2, 3, 4}) {
          const std::int64_t room = 4 * columns + 64 / static_cast<std::int64_t>(width);  // a line
          const Strided view{.extents = {3, 5, static_cast<std::uint64_t>(columns)},
                             .in_strides = {5 * room, room, step},
                             .out_strides = {room, 3 * room, 1},
                             .in_offset = step < 0 ? static_cast<std::uint64_t>((1 - columns) * step) : 0};
          for (const std::size_t past : {0, 24}) {
            ASSERT_NO_FATAL_FAILURE(expect_moved(
                view,
                {.width = width, .in_past_line = 8, .out_past_line = past, .stores = Stores::streamed}));
          }
        }
      }
      const auto rows = static_cast<std::int64_t>(192 / width);
      const Strided turned{.extents = {70, static_cast<std::uint64_t>(rows)},
                           .in_strides = {1, 71},
                           .out_strides = {rows + 64 / static_cast<std::int64_t>(width), 1}};
      for (const std::size_t past : {0, 24})
        ASSERT_NO_FATAL_FAILURE(
            expect_moved(turned, {.width = width, .out_past_line = past, .stores = Stores::streamed}));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// What registers turn, of every width, in rectangles whose ends are cut everywhere: by every instruction set
// of this machine, and with boxes for either first-level cache.
TEST(CpuStridedEngine, RectanglesByEveryInstructionSet) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    SCOPED_TRACE(cpu::simd_target());
    for (const std::uint64_t width : {1, 2, 4, 8, 16}) {
      for (const std::uint64_t rows : {3, 4, 8, 15, 16, 17, 31, 48, 50, 130, 300}) {
        for (const std::uint64_t columns : {2, 4, 7, 8, 16, 19, 33, 64, 131}) {
          const auto pitch = static_cast<std::int64_t>(columns + rows % 3);
          const Strided view{.extents = {columns, rows},
                             .in_strides = {1, pitch},
                             .out_strides = {static_cast<std::int64_t>(rows + columns % 2), 1}};
          for (const detail::CoreCaches& caches : kCoreCaches) {
            ASSERT_NO_FATAL_FAILURE(expect_moved(view, {.width = width,
                                                        .out_past_line = rows % 2 * 24 / width * width,
                                                        .stores = Stores::streamed,
                                                        .caches = caches}));
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Arrays that the caches hold, whose boxes are one call each: units of every width, planes short and long on
// either side, channels among other axes, some backwards or cut, by every instruction set of this machine and
// several threads.
TEST(CpuStridedEngine, CachedBoxesByEveryInstructionSet) {
  const std::vector<std::uint64_t> widths{1, 2, 4, 8, 16, 3, 5, 6, 7, 9, 12, 20, 24, 40, 48, 100, 192};
  const std::vector<std::uint64_t> extents{2, 3, 4, 5, 7, 8, 13, 16, 17, 24, 33, 64, 70};
  std::set<detail::AxesMove> moves;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    SCOPED_TRACE(cpu::simd_target());
    testing::SplitMix64 random{23};
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    for (int round = 0; round < (kInstrumented ? 150 : 1200); ++round) {
      const std::uint64_t width = widths[below(round % 3 == 0 ? widths.size() : 5)];
      std::vector<std::uint64_t> shape;
      for (std::uint64_t count = 1; shape.size() < 2 + below(4);) {
        shape.push_back(extents[below(extents.size())]);
        if ((count *= shape.back()) * width > (std::uint64_t{1} << 18)) break;
      }
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t a = order.size(); a > 1; --a) std::swap(order[a - 1], order[below(a)]);
      Strided view = view_of(shape, order);
      for (std::size_t a = 0; a < view.extents.size(); ++a) {
        if (below(8) != 0) continue;
        view.in_offset += (view.extents[a] - 1) * static_cast<std::uint64_t>(view.in_strides[a]);
        view.in_strides[a] = -view.in_strides[a];
      }
      const std::uint64_t step = below(2) == 0 ? 1 : 2 + below(3);  // of elements that are side by side
      for (std::int64_t& stride : view.in_strides) stride *= static_cast<std::int64_t>(step);
      view.in_offset *= step;
      const Setting setting{.width = width,
                            .in_past_line = below(3) * 4,
                            .out_past_line = below(3) * 12,
                            .threads = static_cast<int>(1 + below(3)),
                            .stores = Stores::as_sized};
      ASSERT_NO_FATAL_FAILURE(expect_moved(view, setting));
      const Plan plan = plan_of(view, setting);
      for (const Pass& pass : plan.passes()) {
        const auto* const axes = pass.cpu ? std::get_if<detail::CpuAxes>(&pass.cpu->kernel) : nullptr;
        if (axes != nullptr) moves.insert(axes->move);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  using detail::AxesMove;
  if (kInstrumented) moves.insert(AxesMove::table);  // among so few views perhaps not drawn
  EXPECT_THAT(moves, ::testing::IsSupersetOf({AxesMove::pieces, AxesMove::planes, AxesMove::table,
                                              AxesMove::lines, AxesMove::channels}));
}

// Two to eight rows interleaved, and taken apart again, of every width and of lengths that lines cut
// anywhere: planes that follow one another or lie apart, end for end and all the same, where lines of the
// output meet and where they do not; by every instruction set of this machine.
TEST(CpuStridedEngine, ChannelsByEveryInstructionSet) {
  int channels_moved = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    SCOPED_TRACE(cpu::simd_target());
    for (const std::uint64_t width : {1, 2, 4, 8}) {
      for (const std::uint64_t channels : {2, 3, 4, 5, 6, 7, 8, 9}) {
        for (const std::uint64_t line_parts : {15, 16, 17, 129, 200}) {
          const std::uint64_t count = line_parts * 4 + (line_parts % 2) * 3;
          const auto wide = static_cast<std::int64_t>(channels);
          // Between planes: nothing, some elements, whole lines.
          for (const std::uint64_t gap : {std::uint64_t{0}, std::uint64_t{5}, 64 - count % 64}) {
            const auto plane = static_cast<std::int64_t>(count + gap);
            const Strided joined{.extents = {2, count, channels},
                                 .in_strides = {plane * wide, 1, plane},
                                 .out_strides = {plane * wide, wide, 1}};
            Strided backwards = joined;
            backwards.in_strides[2] = -plane;
            backwards.in_offset = static_cast<std::uint64_t>(plane * (wide - 1));
            Strided repeated = joined;
            repeated.in_strides[2] = 0;
            const Strided parted{.extents = {2, channels, count},
                                 .in_strides = {plane * wide, 1, wide},
                                 .out_strides = {plane * wide, plane, 1}};
            for (const Strided& view : {joined, backwards, repeated, parted}) {
              for (const Stores stores : {Stores::as_sized, Stores::streamed}) {
                const Setting setting{.width = width,
                                      .in_past_line = gap % 2 * width,
                                      .out_past_line = count % 2 * 8 + (line_parts == 200 ? 1 : 0),
                                      .threads = line_parts == 129 ? 2 : 1,
                                      .stores = stores};
                ASSERT_NO_FATAL_FAILURE(expect_moved(view, setting));
                const Plan plan = plan_of(view, setting);
                if (!plan.problem().view || channels > 8) continue;
                const auto& axes = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
                channels_moved += axes.move == detail::AxesMove::channels;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(channels_moved, 1000);
  hwy::SetSupportedTargetsForTest(0);
}

// Boxes of channels are parts of long rows, and end at the ends of these.
TEST(CpuStridedEngine, LongRowsOfChannels) {
  for (const std::uint64_t channels : {3, 8}) {
    for (const std::uint64_t count : {65536, 100001}) {
      for (const Stores stores : {Stores::as_sized, Stores::streamed}) {
        for (const int threads : {1, 3}) {
          for (const std::size_t past : {0, 6}) {
            const Setting setting{.width = 2, .out_past_line = past, .threads = threads, .stores = stores};
            ASSERT_NO_FATAL_FAILURE(expect_moved(view_of({channels, count}, {1, 0}), setting));
            ASSERT_NO_FATAL_FAILURE(expect_moved(view_of({count, channels}, {1, 0}), setting));
            ASSERT_NO_FATAL_FAILURE(expect_moved(view_of({3, count / 3, channels}, {0, 2, 1}), setting));
          }
        }
      }
    }
  }
}

TEST(CpuStridedEngine, BoxesForTheCachesThereAre) {
  const Strided view = view_of({2000, 3000}, {1, 0});
  const auto axes_for = [&](std::uint64_t width, const detail::CoreCaches& caches) {
    const Plan plan = plan_of(view, {.width = width, .stores = Stores::streamed, .caches = caches});
    return std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
  };
  for (const std::uint64_t width : {1, 2, 4, 8, 16}) {
    const detail::CpuAxes large = axes_for(width, kLargeFirstLevel);
    const detail::CpuAxes small = axes_for(width, kSmallFirstLevel);
    const detail::CpuAxes unknown = axes_for(width, detail::CoreCaches{});
    const detail::CpuAxes ahead = axes_for(width, kLargeSecondLevel);
    EXPECT_FALSE(large.second_level);
    EXPECT_TRUE(small.second_level);
    EXPECT_FALSE(unknown.second_level);
    EXPECT_TRUE(ahead.second_level && ahead.by_input);
    EXPECT_FALSE(large.by_input || small.by_input || unknown.by_input);
    const bool writes_lines = 2000 * width % 64 == 0;
    EXPECT_EQ(ahead.box.extent[0] * width, !writes_lines ? 512U : width < 16 ? 128U : 256U) << width;
    EXPECT_EQ(ahead.box.extent[1] * width, 512U);
    EXPECT_EQ(unknown.box.extent, large.box.extent);
    const std::uint64_t longer = small.box.elements() / large.box.elements();
    EXPECT_EQ(longer, width >= 4 ? 2U : 1U) << width;
  }
}

// Outputs that begin between lines, as NumPy's do: axes that lie together there are one row, cut at lines,
// within any of its axes; elements of less than a line, turned, and of more, run by run.
TEST(CpuStridedEngine, RunsCutAtLines) {
  std::mt19937_64 random(195);
  int cut = 0;
  for (int trial = 0; trial < (kInstrumented ? 80 : 1200); ++trial) {
    const bool wide = random() % 3 == 0;
    const std::uint64_t width = wide ? 64 + 16 * (random() % 30) : std::uint64_t{1} << random() % 5;
    std::vector<std::uint64_t> shape(2 + random() % 3);  // of the row, slowest first
    std::uint64_t row = 1;
    for (std::uint64_t& extent : shape) row *= extent = 1 + random() % (wide ? 5 : 20);
    // A row of whole lines, by one axis more.
    const std::uint64_t lines = 64 / std::gcd(row * width, std::uint64_t{64});
    shape.push_back(lines * (1 + random() % 3));
    row *= shape.back();
    const std::uint64_t columns = 2 + random() % (wide ? 12 : 150);
    if (row * columns * width > 600'000) continue;
    Strided view{.extents = {columns}, .in_strides = {1}, .out_strides = {static_cast<std::int64_t>(row)}};
    if (random() % 3 == 0) {
      view.in_strides[0] = -1;
      view.in_offset = columns - 1;
    }
    // In the input the row's axes lie behind one another in any order.
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::int64_t> in(shape.size());
    auto step = static_cast<std::int64_t>(columns + random() % 3);
    for (const std::size_t a : order) {
      in[a] = step;
      step *= static_cast<std::int64_t>(shape[a]);
      if (random() % 5 == 0) {
        view.in_offset += static_cast<std::uint64_t>(in[a]) * (shape[a] - 1);
        in[a] = -in[a];
      }
    }
    std::vector<std::int64_t> out(shape.size());
    step = 1;
    for (std::size_t a = shape.size(); a-- > 0;) {
      out[a] = step;
      step *= static_cast<std::int64_t>(shape[a]);
    }
    view.extents.insert(view.extents.end(), shape.begin(), shape.end());
    view.in_strides.insert(view.in_strides.end(), in.begin(), in.end());
    view.out_strides.insert(view.out_strides.end(), out.begin(), out.end());
    const Setting setting{.width = width,
                          .in_past_line = random() % 64,
                          .out_past_line = wide ? random() % 64 : random() % (64 / width) * width,
                          .threads = 1 + static_cast<int>(random() % 3),
                          .stores = Stores::streamed,
                          .caches = kCoreCaches[random() % 3]};
    expect_moved(view, setting);
    if (::testing::Test::HasFatalFailure()) return;
    const Plan plan = plan_of(view, setting);
    if (!plan.problem().view) continue;
    const auto* const axes = std::get_if<detail::CpuAxes>(&plan.passes().front().cpu->kernel);
    cut +=
        axes != nullptr && (axes->move == detail::AxesMove::groups || axes->move == detail::AxesMove::lines);
  }
  EXPECT_GT(cut, kInstrumented ? 10 : 200);
}

// Runs that begin with the same axis on both sides: rows read backwards, every other element of them, one
// element again and again, and short rows turned side by side; of every width, beginning anywhere.
TEST(CpuStridedEngine, RowsOfOneAxis) {
  std::mt19937_64 random(194);
  const std::vector<std::uint64_t> widths{1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 24, 63};
  std::set<std::int64_t> steps;
  for (int trial = 0; trial < (kInstrumented ? 150 : 2500); ++trial) {
    const auto signed_of = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
    const std::uint64_t most = std::vector<std::uint64_t>{6, 40, 3000}[random() % 3];
    const std::uint64_t columns = 2 + random() % most;
    const std::uint64_t rows = 1 + random() % (most > 100 ? 6 : 60);
    const std::uint64_t planes = 1 + random() % 3;
    const std::int64_t step = std::vector<std::int64_t>{-1, -1, 2, 0, -2, 3}[random() % 6];
    const std::uint64_t gap = random() % 2 * (random() % 5);
    const std::uint64_t room =
        columns * std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::abs(step)));
    // Rows one after another, or planes before rows; in the output with gaps between them, or without.
    const bool planes_first = random() % 3 == 0;
    Strided view{.extents = {planes, rows, columns}, .in_strides = {}, .out_strides = {}};
    view.in_strides = {signed_of(planes_first ? room : room * rows),
                       signed_of(planes_first ? room * planes : room), step};
    const std::uint64_t pitch = columns + gap;
    view.out_strides = {signed_of(pitch * rows), signed_of(pitch), 1};
    if (step < 0) view.in_offset = static_cast<std::uint64_t>(-step) * (columns - 1);
    view.out_offset = random() % 3;
    const std::uint64_t width = widths[random() % widths.size()];
    const Setting setting{.width = width,
                          .in_past_line = random() % 2 * (random() % 64),
                          .out_past_line = random() % 2 * (random() % 64),
                          .threads = 1 + static_cast<int>(random() % 2),
                          .stores = random() % 3 == 0 ? Stores::as_sized : Stores::streamed};
    expect_moved(view, setting);
    if (::testing::Test::HasFatalFailure()) return;
    const Plan plan = plan_of(view, setting);
    if (!plan.problem().view) continue;
    const auto& axes = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    if (axes.move == detail::AxesMove::lines) steps.insert(step);
  }
  EXPECT_EQ(steps, (std::set<std::int64_t>{-2, -1, 0, 2, 3}));
}

}  // namespace cpu_strided_runs_engine_test
}  // namespace faro
