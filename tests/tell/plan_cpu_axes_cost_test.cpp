// What a pass over boxes is counted to do on a CPU, beside a walk through all of its boxes; and the time that
// is made of it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "contains.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/axes_runs.hpp"
#include "tell/axes_cost.hpp"
#include "tell/axes_counts.hpp"
#include "tell/prediction.hpp"

namespace faro {
namespace plan_cpu_axes_cost_test {

using detail::AxesCounts;
using detail::AxesMove;
using detail::CpuAxes;
using detail::CpuPass;

struct DrawnAxes {
  std::vector<layout::StridedAxis> axes;  // strides in elements
  std::uint64_t width = 4;
  bool past_caches = false;
};

class DrawAxes {
 public:
  explicit DrawAxes(std::uint64_t seed) : random_(seed) {}

  // Dense outputs, and some of padded rows; inputs in any order, of padded rows, flipped.
  DrawnAxes next() {
    static constexpr std::uint64_t kWidths[] = {1, 2, 3, 4, 8, 16, 24, 64, 100};
    DrawnAxes drawn{.axes = {}, .width = kWidths[below(std::size(kWidths))], .past_caches = below(2) == 0};
    const std::size_t rank = 2 + below(3);
    std::vector<std::uint64_t> extents(rank);
    for (auto& extent : extents) extent = 2 + below(rank == 2 ? 300 : rank == 3 ? 60 : 20);
    std::vector<std::size_t> order(rank);
    for (std::size_t a = 0; a < rank; ++a) order[a] = a;
    for (std::size_t a = rank; a-- > 1;) std::swap(order[a], order[below(a + 1)]);
    drawn.axes.resize(rank);
    std::int64_t stride = 1;
    const bool padded_output = below(4) == 0;
    for (std::size_t a = 0; a < rank; ++a) {
      drawn.axes[a].extent = extents[a];
      drawn.axes[a].out = stride;
      stride *= static_cast<std::int64_t>(extents[a]) + (a == 0 && padded_output ? 3 : 0);
    }
    stride = 1;
    const bool padded_input = below(4) == 0;
    for (const std::size_t a : order) {
      drawn.axes[a].in = below(6) == 0 ? -stride : stride;
      stride *= static_cast<std::int64_t>(extents[a]) + (padded_input ? 5 : 0);
    }
    drawn.axes = detail::normal_form({.axes = std::move(drawn.axes)}).axes;
    return drawn;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::mt19937_64 random_;
};

// Calls visit(first, extents) for every box.
template <typename Visit>
void each_box(const layout::CacheBox& box, const Visit& visit) {
  const std::size_t axes = box.axes.size();
  std::vector<std::uint64_t> first(axes, 0);
  for (bool more = true; more;) {
    std::vector<std::uint64_t> extents(axes);
    for (std::size_t a = 0; a < axes; ++a)
      extents[a] = std::min(box.extent[a], box.axes[a].extent - first[a]);
    visit(first, extents);
    more = false;
    for (std::size_t a = 0; a < axes && !more; ++a) {
      first[a] += box.extent[a];
      more = first[a] < box.axes[a].extent;
      if (!more) first[a] = 0;
    }
  }
}

// Counts of a walk through all boxes, element by element.
struct Walked {
  double writes = 0;
  double parts = 0;
  std::set<std::int64_t> lines_in;
  std::set<std::int64_t> lines_out;
};
Walked walk(const CpuAxes& axes) {
  constexpr std::int64_t kLine = 64;
  const layout::CacheBox& box = axes.box;
  const bool turns = axes.move == AxesMove::planes || axes.move == AxesMove::groups;
  const std::vector<std::size_t> run = turns ? detail::turned_axes(box).rows : detail::written_axes(box);
  Walked walked;
  each_box(box, [&](const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& extents) {
    std::int64_t run_bytes = static_cast<std::int64_t>(box.element_bytes);
    std::uint64_t elements = 1;
    for (std::size_t a = 0; a < extents.size(); ++a) {
      elements *= extents[a];
      if (detail::contains(run, a)) run_bytes *= static_cast<std::int64_t>(extents[a]);
    }
    for (std::uint64_t e = 0; e < elements; ++e) {
      std::uint64_t rest = e;
      std::int64_t in = 0;
      std::int64_t out = 0;
      bool begins = true;
      for (std::size_t a = 0; a < extents.size(); ++a) {
        const std::uint64_t digit = rest % extents[a];
        rest /= extents[a];
        begins = begins && (digit == 0 || !detail::contains(run, a));
        in += static_cast<std::int64_t>(first[a] + digit) * box.axes[a].in;
        out += static_cast<std::int64_t>(first[a] + digit) * box.axes[a].out;
      }
      for (std::int64_t at = 0; at < static_cast<std::int64_t>(box.element_bytes); ++at) {
        walked.lines_in.insert((in + at + (std::int64_t{1} << 40)) / kLine);
        walked.lines_out.insert((out + at) / kLine);
      }
      if (!begins) continue;
      const std::int64_t end = out + run_bytes;
      const int ends = (out % kLine != 0 ? 1 : 0) + (end % kLine != 0 ? 1 : 0);
      walked.writes += 1;
      walked.parts += (end - 1) / kLine == out / kLine ? std::min(ends, 1) : ends;
    }
  });
  return walked;
}

TEST(CpuAxesCounts, AreThoseOfAWalkThroughAllBoxes) {
  DrawAxes draw(5);
  int walked_boxes = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const DrawnAxes drawn = draw.next();
    std::uint64_t elements = 1;
    for (const auto& axis : drawn.axes) elements *= axis.extent;
    if (elements > 20000) continue;
    const CpuPass pass = detail::cpu_strided_pass(drawn.axes, drawn.width, drawn.past_caches);
    const auto& axes = std::get<CpuAxes>(pass.kernel);
    const AxesCounts counts = detail::count_axes(axes);
    const double bytes = static_cast<double>(elements * drawn.width);
    ASSERT_DOUBLE_EQ(counts.lines, bytes / 64);
    if (axes.box.is_of_long_elements()) continue;
    const Walked walked = walk(axes);
    const auto width = static_cast<double>(axes.box.element_bytes);
    const std::string what = "turn " + std::to_string(turn);
    // Columns that follow one another in the output are one run; runs may be cut at lines.
    EXPECT_LE(counts.writes, walked.writes) << what;
    EXPECT_LE(counts.parts, 1.2 * walked.parts + 8) << what;
    if (axes.move != AxesMove::groups) {
      EXPECT_DOUBLE_EQ(counts.writes, walked.writes) << what;
      if (counts.parts > 0) {
        EXPECT_NEAR(counts.parts, walked.parts, 0.25 * walked.parts + 8) << what;
      }
    }
    // Every line is touched, some of them by more than one run.
    EXPECT_GE(1.05 * counts.lines_written + 4, static_cast<double>(walked.lines_out.size())) << what;
    EXPECT_GE(1.05 * counts.lines_held + 4, static_cast<double>(walked.lines_in.size())) << what;
    // Whatever registers turn, they turn all elements.
    const double turned = 64 * (counts.squares + counts.blocks_1 + counts.blocks_2 + counts.blocks_4 +
                                counts.blocks_8 + counts.blocks_16) +
                          16 * counts.small_squares + width * counts.single;
    const bool turns = axes.move == AxesMove::planes || axes.move == AxesMove::groups;
    EXPECT_GE(turned, turns ? bytes : 0) << what;
    const double moved = axes.one_by_one ? static_cast<double>(detail::bytes_one_by_one(axes.box)) : width;
    EXPECT_DOUBLE_EQ(counts.placed + counts.stepped, turns ? 0 : bytes / moved) << what;
    ++walked_boxes;
  }
  EXPECT_GT(walked_boxes, 150);
}

std::shared_ptr<const IndexCalibration> copies(double gb_per_s) {
  IndexCalibration made{.source = "a copy", .curves = {}};
  IndexCurve copy{.kernel = IndexKernel::copy, .element_bytes = 16, .curve = {}};
  for (int bits = 10; bits <= 26; bits += 2)
    copy.curve.points.push_back(
        {.elements = std::uint64_t{1} << bits, .microseconds = 16 * std::exp2(bits) / (gb_per_s * 1e3)});
  made.curves.push_back(copy);
  return std::make_shared<const IndexCalibration>(made);
}

Target machine(int threads, double gb_per_s) {
  Target target;
  target.engine = Engine::cpu;
  target.threads = threads;
  target.streaming_bytes = std::uint64_t{8} << 20;
  target.index_calibration = copies(gb_per_s);
  return target;
}

double us_of(const Permutation& permutation, std::uint64_t width, const Target& target) {
  const Plan plan({.permutation = permutation, .element_bytes = width}, target);
  return PassCounter(plan).microseconds().value_or(-1);
}

// Instructions are shared out among threads, memory is what the copy takes of all of them.
TEST(CpuAxesTimes, GoByTheThreadsAndByTheCopy) {
  for (const std::uint64_t width : {1, 3, 4, 16, 64, 1024}) {
    for (const std::uint64_t rows : {1999, 8001}) {
      const Axes axes({rows, 17, 201}, {2, 1, 0});
      const double us = us_of(axes, width, machine(1, 20));
      ASSERT_GT(us, 0);
      const double shared = us_of(axes, width, machine(2, 20));
      EXPECT_LT(shared, us);
      EXPECT_GE(2.001 * shared, us);
      const double slower = us_of(axes, width, machine(1, 10));
      EXPECT_GT(slower, us);
      EXPECT_LE(slower, 2.001 * us);
      // At least about as long as the copy.
      EXPECT_GT(us, 0.5 * static_cast<double>(rows * 17 * 201 * width) / 20e3) << width;
    }
  }
}

TEST(CpuAxesTimes, OfViewsAreThoseOfTheirBoxes) {
  const Target target = machine(1, 20);
  const Strided dense = as_strided(Axes({3000, 2001}, {1, 0}));
  Strided padded = dense;
  padded.in_strides = {2300, 1};
  const auto of_dense = predict_us(Plan({.element_bytes = 4, .view = dense}, target));
  const auto of_padded = predict_us(Plan({.element_bytes = 4, .view = padded}, target));
  ASSERT_TRUE(of_dense && of_padded);
  EXPECT_GT(*of_padded, *of_dense);
  EXPECT_LT(*of_padded, 2 * *of_dense);
  EXPECT_NEAR(us_of(Axes({3000, 2001}, {1, 0}), 4, target), *of_dense, 1e-6 * *of_dense);
}

// Passes that take what factors make of the prices are told so, whichever these are, by factors that were
// found from half of them.
TEST(CpuAxesTimes, PricesAreFittedToWhatPassesTake) {
  const IndexCalibration plain = *copies(20);
  std::mt19937_64 random(3);
  std::vector<CpuPass> passes;
  DrawAxes draw(7);
  while (passes.size() < 600) {
    const DrawnAxes drawn = draw.next();
    passes.push_back(detail::cpu_strided_pass(drawn.axes, drawn.width, drawn.past_caches));
    passes.back().threads = 1;
  }
  // Any factors: those of a fit to times that have nothing to do with each other.
  std::vector<detail::TimedAxes> noise;
  for (const CpuPass& pass : passes)
    noise.push_back({.axes = std::get<CpuAxes>(pass.kernel),
                     .us = *detail::axes_us(pass, plain) * std::exp2(static_cast<double>(random() % 5) - 1)});
  IndexCalibration made = plain;
  made.axes = detail::fitted_prices(noise, plain);
  ASSERT_GT(made.axes.size(), 30U);

  std::vector<detail::TimedAxes> half;
  for (std::size_t i = 0; i < passes.size(); i += 2)
    half.push_back({.axes = std::get<CpuAxes>(passes[i].kernel), .us = *detail::axes_us(passes[i], made)});
  IndexCalibration found = plain;
  found.axes = detail::fitted_prices(half, plain);
  int near_before = 0;
  int near = 0;
  for (std::size_t i = 1; i < passes.size(); i += 2) {
    const double us = *detail::axes_us(passes[i], made);
    near += std::fabs(*detail::axes_us(passes[i], found) / us - 1) < 0.1 ? 1 : 0;
    near_before += std::fabs(*detail::axes_us(passes[i], plain) / us - 1) < 0.1 ? 1 : 0;
  }
  EXPECT_GT(near, 240) << "of 300";
  EXPECT_LT(near_before, 150);
}

TEST(CpuAxesTimes, FewPassesMakeNoPrices) {
  const CpuPass pass = detail::cpu_strided_pass(
      {{.extent = 300, .in = 200, .out = 1}, {.extent = 200, .in = 1, .out = 300}}, 4, false);
  EXPECT_TRUE(
      detail::fitted_prices({{.axes = std::get<CpuAxes>(pass.kernel), .us = 10}}, *copies(20)).empty());
}

TEST(CpuAxesTimes, WithoutACopyThereAreNone) {
  Target target = machine(1, 20);
  target.index_calibration = std::make_shared<const IndexCalibration>();
  EXPECT_FALSE(predict_us(Plan({.element_bytes = 4, .view = as_strided(Axes({300, 201}, {1, 0}))}, target))
                   .has_value());
}

}  // namespace plan_cpu_axes_cost_test
}  // namespace faro
