// Strided views and axes on the CPU engine: against one obvious loop, with guard zones, and every element of
// the output that no index reaches as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "faro/faro.hpp"
#include "plan/cpu/axes_runs.hpp"
#include "plan/cpu/cpu_pass.hpp"

namespace faro {
namespace cpu_strided_engine_test {

using testing::kAlignment;
using testing::kGuardBytes;
using testing::kInstrumented;
using testing::kPoison;

// An array between guard zones, some bytes past a line.
class Guarded {
 public:
  Guarded(std::uint64_t bytes, std::size_t past_line)
      : memory_(bytes + 2 * kGuardBytes + 2 * kAlignment, kPoison), bytes_(bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
    data_ = kGuardBytes + (kAlignment - begin % kAlignment) % kAlignment + past_line;
  }
  std::byte* data() { return memory_.data() + data_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::vector<std::byte>& memory() const { return memory_; }

 private:
  std::vector<std::byte> memory_;
  std::uint64_t bytes_;
  std::size_t data_ = 0;
};

void fill(Guarded& array, std::uint64_t seed) {
  testing::SplitMix64 random{seed};
  for (std::uint64_t at = 0; at < array.bytes(); ++at) array.data()[at] = static_cast<std::byte>(random());
}

// The definition, one element after another.
void move_by_loop(const Strided& view, std::uint64_t width, const std::byte* in, std::byte* out) {
  if (std::find(view.extents.begin(), view.extents.end(), 0) != view.extents.end()) return;
  std::vector<std::uint64_t> at(view.extents.size(), 0);
  auto from = static_cast<std::int64_t>(view.in_offset);
  auto to = static_cast<std::int64_t>(view.out_offset);
  for (;;) {
    std::memcpy(out + static_cast<std::uint64_t>(to) * width, in + static_cast<std::uint64_t>(from) * width,
                width);
    std::size_t a = at.size();
    while (a-- > 0) {
      from += view.in_strides[a];
      to += view.out_strides[a];
      if (++at[a] < view.extents[a]) break;
      from -= view.in_strides[a] * static_cast<std::int64_t>(at[a]);
      to -= view.out_strides[a] * static_cast<std::int64_t>(at[a]);
      at[a] = 0;
    }
    if (a == static_cast<std::size_t>(-1)) return;
  }
}

enum class Stores { as_sized, streamed };

struct Setting {
  std::uint64_t width = 4;
  std::size_t in_past_line = 0;
  std::size_t out_past_line = 0;
  int threads = 1;
  Stores stores = Stores::as_sized;
};

StridedPlan plan_of(const Strided& view, const Setting& setting) {
  Target target = cpu::target(setting.threads);
  if (setting.stores == Stores::streamed) target.streaming_bytes = 0;
  return {view, setting.width, std::move(target)};
}

void expect_moved(const Strided& view, const Setting& setting) {
  SCOPED_TRACE(to_text(view) + ", elements of " + std::to_string(setting.width) + " bytes, " +
               std::to_string(setting.in_past_line) + " and " + std::to_string(setting.out_past_line) +
               " bytes past a line, " + std::to_string(setting.threads) + " threads" +
               (setting.stores == Stores::streamed ? ", streamed" : ""));
  Guarded in(in_elements(view) * setting.width, setting.in_past_line);
  Guarded out(out_elements(view) * setting.width, setting.out_past_line);
  Guarded wanted(out_elements(view) * setting.width, setting.out_past_line);
  fill(in, 1);
  fill(out, 2);
  std::copy_n(out.data(), out.bytes(), wanted.data());
  const std::vector<std::byte> before = in.memory();
  move_by_loop(view, setting.width, in.data(), wanted.data());
  const StridedPlan plan = plan_of(view, setting);
  const cpu::Executor executor(plan);
  if (plan.moved_bytes() > 0) executor.run(in.data(), out.data());
  ASSERT_TRUE(std::equal(out.data() - kGuardBytes / 2, out.data() + out.bytes() + kGuardBytes / 2,
                         wanted.data() - kGuardBytes / 2));
  ASSERT_EQ(in.memory(), before);
}

Strided view_of(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  Strided view{.extents = shape, .in_strides = {}, .out_strides = {}};
  view.in_strides.resize(shape.size());
  view.out_strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t a = shape.size(); a-- > 0;) {
    view.in_strides[a] = stride;
    stride *= static_cast<std::int64_t>(shape[a]);
  }
  stride = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    const auto a = static_cast<std::size_t>(order[k]);
    view.out_strides[a] = stride;
    stride *= static_cast<std::int64_t>(shape[a]);
  }
  return view;
}

// Through faro::plan, as a user has it.
void expect_axes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order, std::uint64_t width,
                 std::uint64_t batch, Stores stores) {
  const Axes axes(shape, order);
  Strided view = view_of(shape, order);
  view.extents.insert(view.extents.begin(), batch);
  view.in_strides.insert(view.in_strides.begin(), static_cast<std::int64_t>(axes.count()));
  view.out_strides.insert(view.out_strides.begin(), static_cast<std::int64_t>(axes.count()));
  const std::uint64_t bytes = axes.count() * width * batch;
  Guarded in(bytes, 0);
  Guarded out(bytes, 0);
  Guarded wanted(bytes, 0);
  fill(in, 3);
  move_by_loop(view, width, in.data(), wanted.data());
  Target target = cpu::target(2);
  if (stores == Stores::streamed) target.streaming_bytes = 0;
  const Plan plan(Problem{.permutation = axes, .element_bytes = width, .batch = batch}, target);
  const cpu::Executor executor(plan);
  executor.run(in.data(), out.data());
  ASSERT_TRUE(std::equal(out.data() - kGuardBytes / 2, out.data() + bytes + kGuardBytes / 2,
                         wanted.data() - kGuardBytes / 2))
      << to_text(axes) << ", elements of " << width << " bytes, batch " << batch;
}

// All permutations of all shapes to four axes with extents 1 to 5.
TEST(CpuStridedEngine, EveryOrderOfEverySmallShape) {
  int shapes = 0;
  const std::uint64_t most = kInstrumented ? 3 : 5;
  for (std::size_t rank = 1; rank <= 4; ++rank) {
    std::vector<std::uint64_t> shape(rank, 1);
    for (;;) {
      std::vector<int> order(rank);
      std::iota(order.begin(), order.end(), 0);
      do {
        const std::uint64_t width = std::vector<std::uint64_t>{1, 2, 4, 8, 16, 3, 12}[shapes % 7];
        expect_axes(shape, order, width, 1, shapes % 2 == 0 ? Stores::as_sized : Stores::streamed);
        // As a view, which nothing but boxes carries out.
        if (shapes % 5 == 0) {
          Strided view = view_of(shape, order);
          view.out_offset = 1;
          expect_moved(view, {.width = width, .stores = Stores::streamed});
        }
        if (::testing::Test::HasFatalFailure()) return;
        ++shapes;
      } while (std::next_permutation(order.begin(), order.end()));
      std::size_t a = rank;
      while (a-- > 0) {
        if (++shape[a] <= most) break;
        shape[a] = 1;
      }
      if (a == static_cast<std::size_t>(-1)) break;
    }
  }
  EXPECT_GE(shapes, kInstrumented ? 2000 : 15'000);
}

// Random views of all kinds. The sweep reaches every way of moving a box.
TEST(CpuStridedEngine, RandomViews) {
  std::mt19937_64 random(191);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const std::vector<std::uint64_t> widths{1, 2, 4, 8, 16, 3, 5, 6, 12, 24, 32, 48, 60, 64, 100};
  std::set<std::string> reached;
  int moved = 0;
  const int trials = kInstrumented ? 400 : 6000;
  for (int trial = 0; trial < trials; ++trial) {
    Strided view;
    const std::size_t rank = 1 + below(5);
    const std::uint64_t most = below(6) == 0 ? 90 : 18;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < rank; ++a) {
      view.extents.push_back(1 + below(most));
      count *= view.extents.back();
    }
    if (count > 60'000) continue;
    view.in_strides.resize(rank);
    view.out_strides.resize(rank);
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (auto* const strides : {&view.in_strides, &view.out_strides}) {
      std::shuffle(order.begin(), order.end(), random);
      const bool is_in = strides == &view.in_strides;
      // Gaps are rare along the fastest axis, and grow.
      std::int64_t stride = below(8) == 0 ? 1 + static_cast<std::int64_t>(below(4)) : 1;
      for (const std::size_t a : order) {
        (*strides)[a] = stride;
        if (is_in && below(12) == 0) (*strides)[a] = 0;
        if (is_in && below(12) == 0) (*strides)[a] = static_cast<std::int64_t>(below(4));
        if (below(5) == 0) (*strides)[a] = -(*strides)[a];
        stride *= static_cast<std::int64_t>(view.extents[a]);
        if (below(5) == 0) stride += static_cast<std::int64_t>(below(6));
      }
      std::uint64_t offset = below(2) * below(9);
      for (std::size_t a = 0; a < rank; ++a) {
        if ((*strides)[a] < 0) offset += static_cast<std::uint64_t>(-(*strides)[a]) * (view.extents[a] - 1);
      }
      (is_in ? view.in_offset : view.out_offset) = offset;
    }
    const std::uint64_t width = widths[below(below(2) == 0 ? 5 : widths.size())];
    if (std::max(in_elements(view), out_elements(view)) * width > (std::uint64_t{1} << 22)) continue;
    const Setting setting{.width = width,
                          .in_past_line = below(2) * below(64),
                          .out_past_line = below(2) * below(64),
                          .threads = 1 + static_cast<int>(below(3)),
                          .stores = below(2) == 0 ? Stores::as_sized : Stores::streamed};
    expect_moved(view, setting);
    if (::testing::Test::HasFatalFailure()) return;
    ++moved;
    const StridedPlan plan = plan_of(view, setting);
    if (plan.permutation_plan() != nullptr) continue;
    const auto& axes = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    const char* const move = axes.move == detail::AxesMove::pieces   ? "pieces"
                             : axes.move == detail::AxesMove::planes ? "planes"
                             : axes.move == detail::AxesMove::groups ? "groups"
                             : axes.move == detail::AxesMove::lines  ? "lines"
                                                                     : "table";
    reached.insert(std::string(move) + (axes.staged ? ", staged" : ""));
  }
  EXPECT_GT(moved, trials / 3);
  EXPECT_EQ(reached, (std::set<std::string>{"pieces", "planes", "planes, staged", "table", "table, staged",
                                            "groups, staged", "lines", "lines, staged"}));
}

// Sizes of many boxes, ends that are cut, and what fills a box with one run.
// Affine, but no roll, flip or permutation of axes of the whole: boxes where the width is no power of two.
TEST(CpuStridedEngine, FlipsOfOneAxisOfAnyWidth) {
  for (const std::uint64_t width : {1, 3, 8, 12}) {
    Strided view;
    view.extents = {2, 4};
    view.in_strides = {4, -1};
    view.out_strides = {4, 1};
    view.in_offset = 3;
    expect_moved(view, {.width = width});
  }
}

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
    const StridedPlan plan = plan_of(view, setting);
    if (plan.permutation_plan() != nullptr) continue;
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
    const StridedPlan plan = plan_of(view, setting);
    for (const Pass& pass : plan.passes()) {
      const auto* const axes = pass.cpu ? std::get_if<detail::CpuAxes>(&pass.cpu->kernel) : nullptr;
      if (axes == nullptr || !axes->one_by_one || setting.out_past_line != 0) continue;
      ++(detail::reads_rows_backwards(axes->box) ? backwards : one_by_one);
    }
  }
  EXPECT_GT(one_by_one, rounds / 10);
  EXPECT_GT(backwards, rounds / 20);
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
                          .stores = Stores::streamed};
    expect_moved(view, setting);
    if (::testing::Test::HasFatalFailure()) return;
    const StridedPlan plan = plan_of(view, setting);
    if (plan.permutation_plan() != nullptr) continue;
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
    const StridedPlan plan = plan_of(view, setting);
    if (plan.permutation_plan() != nullptr) continue;
    const auto& axes = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    if (axes.move == detail::AxesMove::lines) steps.insert(step);
  }
  EXPECT_EQ(steps, (std::set<std::int64_t>{-2, -1, 0, 2, 3}));
}

// Two equal axes change places in one array, across others, with arrays before them and parts behind.
TEST(CpuStridedEngine, EqualAxesInPlace) {
  std::mt19937_64 random(193);
  for (int trial = 0; trial < (kInstrumented ? 60 : 600); ++trial) {
    const bool large = trial % 40 == 0;
    const std::uint64_t side = large ? 60 + random() % 90 : 2 + random() % 11;
    const std::vector<std::uint64_t> shape{1 + random() % 3, side, 1 + random() % (large ? 3 : 6), side,
                                           1 + random() % 4};
    const std::vector<int> order{0, 3, 2, 1, 4};
    const std::vector<std::uint64_t> widths{1, 2, 3, 4, 8, 12, 16, 100, 3000};
    const std::uint64_t width = widths[random() % (large ? 6 : widths.size())];
    const std::uint64_t batch = 1 + random() % 3;
    const Problem problem{.permutation = Axes(shape, order),
                          .element_bytes = width,
                          .batch = batch,
                          .placement = Placement::in_place};
    Strided view = view_of(shape, order);
    const std::uint64_t count = Axes(shape, order).count();
    view.extents.insert(view.extents.begin(), batch);
    view.in_strides.insert(view.in_strides.begin(), static_cast<std::int64_t>(count));
    view.out_strides.insert(view.out_strides.begin(), static_cast<std::int64_t>(count));
    Guarded data(count * width * batch, random() % 64);
    Guarded wanted(count * width * batch, 0);
    fill(data, static_cast<std::uint64_t>(trial));
    move_by_loop(view, width, data.data(), wanted.data());
    const bool is_affine = std::holds_alternative<Affine>(normal_form(problem.permutation));
    if (is_affine && (width & (width - 1)) != 0) continue;  // refused: another width than a power of two
    const Plan plan(problem, cpu::target(1 + static_cast<int>(random() % 3)));
    const cpu::Executor executor(plan);
    executor.run_in_place(data.data());
    ASSERT_TRUE(std::equal(data.data(), data.data() + data.bytes(), wanted.data()))
        << to_text(problem.permutation) << ", elements of " << width << " bytes, batch " << batch;
    ASSERT_EQ(*(data.data() - 1), kPoison);
    ASSERT_EQ(*(data.data() + data.bytes()), kPoison);
  }
}

TEST(CpuStridedEngine, LargerShapes) {
  const std::vector<std::pair<std::vector<std::uint64_t>, std::vector<int>>> cases{
      {{301, 423}, {1, 0}},
      {{3, 30'001}, {1, 0}},
      {{30'001, 3}, {1, 0}},
      {{2, 3, 20'007}, {1, 0, 2}},
      {{61, 7, 600}, {2, 1, 0}},
      {{9, 11, 13, 17, 19}, {4, 3, 2, 1, 0}},
      {{30, 41, 50, 7}, {0, 2, 1, 3}},
      {{5, 4, 3, 5, 4, 3, 5, 4, 3}, {8, 6, 4, 2, 0, 7, 5, 3, 1}},
      {{40, 500, 9}, {1, 0, 2}},
      {{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}};
  for (const auto& [shape, order] : cases) {
    for (const std::uint64_t width : {1, 2, 4, 8, 16, 12}) {
      if (kInstrumented && width != 4) continue;
      const Strided view = view_of(shape, order);
      for (const int threads : {1, 3}) {
        expect_moved(view, {.width = width, .threads = threads, .stores = Stores::streamed});
        Strided apart = view;  // a view, by boxes for sure
        apart.out_offset = 3;
        apart.in_offset = 1;
        expect_moved(apart, {.width = width,
                             .in_past_line = 5,
                             .out_past_line = 9,
                             .threads = threads,
                             .stores = threads == 1 ? Stores::as_sized : Stores::streamed});
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(CpuStridedEngine, Batches) {
  expect_axes({3, 5}, {1, 0}, 4, 1000, Stores::streamed);
  expect_axes({3, 5}, {1, 0}, 4, 1000, Stores::as_sized);
  expect_axes({3, 5, 2}, {2, 1, 0}, 3, 77, Stores::streamed);
  expect_axes({300, 5}, {1, 0}, 600, 3, Stores::streamed);
}

// --- as a user has it

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.report().got + "; wanted " + error.report().wanted;
  }
  return "none";
}

// The C library may add up the caches of a socket; results have to leave those that a core has.
TEST(CpuTarget, ResultsPassTheCacheThatACoreHas) {
  std::uint64_t kib = 0;
  std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> kib;
  if (kib == 0) GTEST_SKIP() << "no third level of cache is told";
  EXPECT_LE(cpu::target(1).streaming_bytes, kib * 1024 / 4);
  EXPECT_GT(cpu::target(1).streaming_bytes, 0U);
}

TEST(StridedPlan, RunsOnVectors) {
  const std::vector<float> in{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<float> out(12, -1);
  const auto rows =
      faro::plan(Strided{.extents = {3, 4}, .in_strides = {-4, 1}, .out_strides = {4, 1}, .in_offset = 8},
                 sizeof(float));
  rows.run(in, out);
  EXPECT_EQ(out, (std::vector<float>{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}));
  const auto windows =
      faro::plan(Strided{.extents = {3, 2}, .in_strides = {1, 1}, .out_strides = {3, 1}}, sizeof(float));
  out.assign(9, -1);
  windows.run(in, out);
  EXPECT_EQ(out, (std::vector<float>{0, 1, -1, 1, 2, -1, 2, 3, -1}));
  EXPECT_EQ(rows.engine(), Engine::cpu);
  EXPECT_THAT(rows.explain(), ::testing::HasSubstr("strided(3 4; -4 1; 4 1; 8 0)"));
  EXPECT_THAT(rows.plan().explain_json(), ::testing::HasSubstr("\"normal_form\""));
  const auto transposed =
      faro::plan(Strided{.extents = {3, 4}, .in_strides = {4, 1}, .out_strides = {1, 3}}, sizeof(float));
  ASSERT_NE(transposed.plan().permutation_plan(), nullptr);
  EXPECT_THAT(transposed.explain(), ::testing::HasSubstr("transpose(3, 4)"));
}

TEST(StridedPlan, Refusals) {
  const Strided view{.extents = {3, 4}, .in_strides = {5, 1}, .out_strides = {4, 1}};
  const auto plan = faro::plan(view, 4);
  std::vector<float> in(14);
  std::vector<float> out(12);
  plan.run(in, out);
  using ::testing::HasSubstr;
  const std::vector<float> poison(12, 7);
  out = poison;
  in.resize(13);
  EXPECT_THAT(refusal_of([&] { plan.run(in, out); }), HasSubstr("an input of 13 elements"));
  in.resize(20);
  std::vector<float> shorter(11, 7);
  EXPECT_THAT(refusal_of([&] { plan.run(in, shorter); }), HasSubstr("an output of 11 elements"));
  EXPECT_THAT(refusal_of([&] { plan.run(in.data(), 20, in.data() + 5, 12); }), HasSubstr("overlapping"));
  EXPECT_THAT(refusal_of([&] { plan.run(nullptr, 20, out.data(), 12); }), HasSubstr("a null input"));
  std::vector<double> wide_in(14);
  std::vector<double> wide_out(12);
  EXPECT_THAT(refusal_of([&] { plan.run(wide_in, wide_out); }), HasSubstr("values of 8 bytes"));
  EXPECT_EQ(out, poison);
  EXPECT_EQ(shorter, std::vector<float>(11, 7));
  EXPECT_THAT(refusal_of([&] { faro::plan(view, 0); }), HasSubstr("elements of 0 bytes"));
  EXPECT_THAT(refusal_of([&] { faro::plan(view, 5000); }), HasSubstr("elements of 5000 bytes"));
  EXPECT_THAT(refusal_of([&] {
                faro::plan(Strided{.extents = {3, 4}, .in_strides = {4, 1}, .out_strides = {2, 1}}, 4);
              }),
              HasSubstr("meet"));
  PlanOptions options;
  options.index_choice.method = IndexMethod::direct;
  EXPECT_THAT(refusal_of([&] { faro::plan(view, 4, options); }), HasSubstr("for a strided view"));
  auto moved = faro::plan(view, 4);
  const auto other = std::move(moved);
  EXPECT_THAT(refusal_of([&] { moved.run(in, out); }), HasSubstr("moved from"));
}

}  // namespace cpu_strided_engine_test
}  // namespace faro
