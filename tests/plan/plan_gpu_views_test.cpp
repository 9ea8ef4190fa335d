// Strided views as GPU passes: every block of every alternative on the counting memory, held against one
// obvious loop, wherever the arrays begin; what no index reaches stays as it is.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "tell/counts/block_phases.hpp"
#include "view_oracle.hpp"

namespace faro {
namespace plan_gpu_views_test {

constexpr std::uint64_t kSeed = 19;
constexpr std::byte kPoison{0xa5};

struct Reached {
  bool elements = false;
  bool whole = false;
  int lines = 0;
  bool lines_anywhere = false;
  bool ragged = false;
  bool plain = false;
  bool skewed = false;
};

// Arrays that begin so many units past an aligned address: what the engine adds to the params.
struct Skew {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

void expect_kernel_moves(const Strided& view, std::uint64_t width, const detail::GpuKernel& kernel, Skew skew,
                         std::mt19937_64& random) {
  detail::GpuKernel run = kernel;
  const auto* const box = std::get_if<detail::AxesBoxKernel>(&run.id);
  const std::uint64_t unit = box != nullptr ? static_cast<std::uint64_t>(box->shape.unit_bytes) : 1;
  if (box != nullptr && box->shape.ragged) {
    std::get<kernels::AxesBoxParams>(run.params).skew(skew.in, skew.out);
  } else if (auto* const whole = std::get_if<kernels::AxesWholeParams>(&run.params)) {
    for (std::uint64_t* const at : {&whole->in.begin, &whole->in.end}) *at += skew.in;
    for (std::uint64_t* const at : {&whole->out.begin, &whole->out.end}) *at += skew.out;
  } else if (auto* const lines = std::get_if<kernels::AxesLinesParams>(&run.params)) {
    for (std::uint64_t* const at : {&lines->in.begin, &lines->in.end}) *at += skew.in;
    for (std::uint64_t* const at : {&lines->out.begin, &lines->out.end}) *at += skew.out;
  } else {
    skew = {};
  }
  // Exactly what the view reaches: a read past it is an error of the memory.
  std::vector<std::byte> in(in_elements(view) * width + skew.in * unit);
  std::vector<std::byte> out(out_elements(view) * width + skew.out * unit, kPoison);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  std::vector<std::byte> wanted = out;
  test::move_by_loop(view, width, in.data() + skew.in * unit, wanted.data() + skew.out * unit);
  machine::CountingMemory memory({.shared_bytes = static_cast<std::size_t>(run.shared_bytes)});
  memory.add_input(in);
  memory.add_output(out);
  for (std::uint64_t block = 0; block < run.blocks; ++block) {
    ASSERT_TRUE(detail::run_axes_phases(run, memory, block));
  }
  ASSERT_EQ(out, wanted);
  EXPECT_EQ(memory.counts().global_stores.bytes, element_count(view) * width);
}

void expect_moved(const Strided& view, std::uint64_t width, std::mt19937_64& random, Reached& reached) {
  SCOPED_TRACE(to_text(view) + " of " + std::to_string(width) + " bytes");
  const Plan plan({.element_bytes = width, .view = view}, cuda::target_of_capability(9, 0));
  if (!plan.problem().view) return;
  ASSERT_EQ(plan.passes().size(), plan.array_bytes() > 0 ? 1U : 0U);
  if (plan.passes().empty()) return;
  std::vector<detail::GpuKernel> kernels = plan.passes().front().gpu->kernels;
  // Small views go unit by unit; as larger ones they have rows and boxes, or planes.
  const detail::AxesVariant others[] = {{.elements = false},
                                        {.elements = false, .lines_only = true, .whole = false}};
  for (const detail::AxesVariant& other : others) {
    for (detail::GpuKernel& kernel :
         detail::view_pass(detail::normal_form(detail::axis_map(view)), width, other).kernels) {
      kernels.push_back(std::move(kernel));
    }
  }
  for (const detail::GpuKernel& kernel : kernels) {
    SCOPED_TRACE(detail::to_text(kernel));
    expect_kernel_moves(view, width, kernel, {}, random);
    if (::testing::Test::HasFailure()) return;
    const auto* const box = std::get_if<detail::AxesBoxKernel>(&kernel.id);
    reached.elements |= std::holds_alternative<detail::AxesElementsKernel>(kernel.id);
    if (const auto* const whole = std::get_if<detail::AxesWholeKernel>(&kernel.id)) {
      reached.whole = true;
      const auto unit = static_cast<std::uint64_t>(whole->unit_bytes);
      expect_kernel_moves(view, width, kernel, {random() % 16 / unit * unit, random() % 32 / unit * unit},
                          random);
      if (::testing::Test::HasFailure()) return;
    }
    if (std::holds_alternative<kernels::AxesLinesParams>(kernel.params)) {
      ++reached.lines;
      if (kernel.in_alignment == 16 && kernel.out_alignment == 32) continue;
      reached.lines_anywhere = true;
      const std::uint64_t unit = kernel.out_alignment;
      expect_kernel_moves(view, width, kernel, {random() % 16 / unit * unit, random() % 32 / unit * unit},
                          random);
      if (::testing::Test::HasFailure()) return;
    }
    if (box == nullptr) continue;
    const auto unit = static_cast<std::uint64_t>(box->shape.unit_bytes);
    const Skew skew{.in = random() % 16 / unit, .out = random() % 32 / unit};
    (box->shape.ragged ? reached.ragged : reached.plain) = true;
    reached.skewed |= box->shape.ragged && skew.in > 0 && skew.out > 0;
    expect_kernel_moves(view, width, kernel, skew, random);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(GpuViews, KnownViews) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  const char* const views[] = {
      "strided(3 4; -4 1; 4 1; 8 0)",                     // rows flipped
      "strided(100; -1; 1; 99 0)",                        // an axis flipped
      "strided(10 4; 8 2; 4 1)",                          // every other column
      "strided(5 8; 0 1; 8 1)",                           // a row, repeated
      "strided(7 9; 0 0; 9 1)",                           // one element, repeated
      "strided(4 4; 6 1; 4 1; 7 0)",                      // the inside of a matrix
      "strided(8 3; 1 1; 3 1)",                           // windows
      "strided(40 50; 1 40; 64 1)",                       // transposed into padded rows
      "strided(1; 1; 1; 5 7)",                            // one element
      "strided(0 4; 4 1; 4 1)",                           // none
      "strided(1000; 1; 1; 3 5)",                         // a stretch, somewhere else
      "strided(13 17 19; -323 19 1; 1 13 221; 3876 2)",   // axes turned and flipped
      "strided(64 32 16; 512 16 1; 16 1024 1; 0 16)",     // wide rows to somewhere
      "strided(21 33 2 3; 198 6 3 1; 3 63 2100 1; 0 0)",  // elements of three units in disguise
  };
  for (const char* const view : views) {
    for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 48U}) {
      expect_moved(parse_strided(view), width, random, reached);
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(reached.elements && reached.ragged && reached.plain && reached.skewed);
}

// Random extents, orders, gaps, signs and zeros on the input; gaps on the output.
TEST(GpuViews, RandomViews) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (int round = 0; round < 500; ++round) {
    const std::size_t n = 1 + random() % 4;
    Strided view{.extents = std::vector<std::uint64_t>(n),
                 .in_strides = std::vector<std::int64_t>(n),
                 .out_strides = std::vector<std::int64_t>(n)};
    std::uint64_t count = 1;
    for (std::uint64_t& extent : view.extents) {
      extent = 1 + random() % std::clamp<std::uint64_t>(9000 / count, 1, 70);
      count *= extent;
    }
    const auto stride_all = [&](std::vector<std::int64_t>& strides, bool of_input) {
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), 0U);
      std::shuffle(order.begin(), order.end(), random);
      std::int64_t stride = random() % 5 == 0 ? 2 : 1;
      for (const std::size_t a : order) {
        const auto extent = static_cast<std::int64_t>(view.extents[a]);
        strides[a] = of_input && random() % 8 == 0 ? 0 : random() % 4 == 0 ? -stride : stride;
        stride *= extent + static_cast<std::int64_t>(random() % 3 == 0 ? random() % 4 : 0);
      }
    };
    stride_all(view.in_strides, true);
    stride_all(view.out_strides, false);
    const auto first = [&](const std::vector<std::int64_t>& strides) {
      std::uint64_t offset = random() % 3;
      for (std::size_t a = 0; a < n; ++a) {
        if (strides[a] < 0) offset += (view.extents[a] - 1) * static_cast<std::uint64_t>(-strides[a]);
      }
      return offset;
    };
    view.in_offset = first(view.in_strides);
    view.out_offset = first(view.out_strides);
    constexpr std::uint64_t widths[] = {1, 2, 4, 8, 16, 6};
    expect_moved(view, widths[random() % 6], random, reached);
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  EXPECT_TRUE(reached.elements && reached.ragged && reached.plain && reached.skewed);
}

// What a family's call takes of these without a search: the kernel for arrays that begin there, or none.
TEST(GpuViews, QuickKernels) {
  std::mt19937_64 random(kSeed);
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
    std::uint64_t width;
    std::size_t aligned;   // which detail::QuickChoice
    std::size_t anywhere;  // of arrays that are aligned to an element
  };
  const Case cases[] = {{{30, 41}, {1, 0}, 4, 1, 1},
                        {{30, 40, 16}, {1, 0, 2}, 2, 1, 1},
                        {{20, 60, 1000}, {1, 0, 2}, 2, 2, 0},
                        {{20, 59, 1001}, {1, 0, 2}, 2, 2, 2},
                        {{801, 700}, {1, 0}, 4, 3, 3},
                        {{5, 700, 612}, {0, 2, 1}, 1, 3, 3},
                        {{120, 90, 100}, {2, 1, 0}, 2, 3, 3},
                        {{1000, 9, 128}, {1, 0, 2}, 2, 2, 0},
                        {{7, 70000, 3}, {0, 2, 1}, 1, 3, 3},
                        {{3, 2, 70000, 3}, {0, 3, 2, 1}, 1, 0, 0},
                        {{30, 31, 32, 33}, {3, 2, 1, 0}, 4, 0, 0}};
  for (const Case& of : cases) {
    const Strided view = as_strided(Axes(of.shape, of.order));
    SCOPED_TRACE(to_text(view) + " of " + std::to_string(of.width) + " bytes");
    detail::AxisMap units = detail::normal_form(detail::axis_map(view));
    units.unit = of.width;
    for (const Skew& skew : {Skew{}, Skew{of.width, of.width}}) {
      const bool is_aligned = skew.in == 0;
      const auto choice = detail::choose_quickly(units, skew.in, skew.out);
      EXPECT_EQ(choice.index(), is_aligned ? of.aligned : of.anywhere);
      const auto kernel = detail::quick_kernel(units, skew.in, skew.out);
      ASSERT_EQ(kernel.has_value(), choice.index() > 0);
      if (!kernel) continue;
      EXPECT_TRUE(skew.in % kernel->in_alignment == 0 && skew.out % kernel->out_alignment == 0);
      expect_kernel_moves(view, of.width, *kernel, skew, random);
      if (HasFailure()) return;
    }
  }
}

// Planes: rows and lines that go forwards or backwards, with gaps and without, and begin anywhere; more axes.
TEST(GpuViews, Planes) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (int round = 0; round < 160; ++round) {
    constexpr std::uint64_t widths[] = {1, 2, 4, 8, 16};
    const std::uint64_t width = widths[random() % 5];
    const std::uint64_t side = 128 / width + 1;
    const std::uint64_t others = 1 + random() % 3;
    Strided view{.extents = {others, side + random() % (2 * side), side + random() % (2 * side)},
                 .in_strides = {0, 0, 1},
                 .out_strides = {0, 1, 0}};
    const auto gap = [&]() -> std::int64_t {
      return random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % 40);
    };
    const auto extent = [&](std::size_t a) { return static_cast<std::int64_t>(view.extents[a]); };
    const auto place = [&](std::vector<std::int64_t>& strides, std::uint64_t& offset, std::size_t line,
                           std::size_t next) {
      offset = random() % 20;
      strides[next] = extent(line) + gap();
      strides[0] = strides[next] * extent(next) + gap();
      if (random() % 4 == 0) {  // the planes interleaved
        strides[0] = extent(line) + gap();
        strides[next] = strides[0] * extent(0) + gap();
      }
      for (const std::size_t a : {std::size_t{0}, line, next}) {
        if (random() % 3 != 0 || (a == line && &strides == &view.out_strides)) continue;
        offset += (view.extents[a] - 1) * static_cast<std::uint64_t>(strides[a]);
        strides[a] = -strides[a];
      }
    };
    place(view.in_strides, view.in_offset, 2, 1);
    place(view.out_strides, view.out_offset, 1, 2);
    expect_moved(view, width, random, reached);
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GE(reached.lines, 250);
  EXPECT_TRUE(reached.lines_anywhere);
}

// Small arrays of a batch: turned, flipped and repeated within themselves, of a few padded rows, or apart.
TEST(GpuViews, ManySmallArrays) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  int whole = 0;
  for (int round = 0; round < 120; ++round) {
    reached.whole = false;
    const std::size_t n = 1 + random() % 3;
    Strided view{.extents = {130 + random() % 200}, .in_strides = {0}, .out_strides = {0}};
    std::int64_t in = 1;
    std::int64_t out = 1;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 1U);
    view.extents.resize(n + 1);
    view.in_strides.resize(n + 1);
    view.out_strides.resize(n + 1);
    view.in_offset = random() % 4;
    view.out_offset = random() % 4;
    for (std::size_t a = 1; a <= n; ++a) view.extents[a] = 2 + random() % (n == 1 ? 40 : 9);
    for (std::size_t a = n; a >= 1; --a) {
      view.in_strides[a] = random() % 8 == 0 ? 0 : random() % 3 == 0 ? -in : in;
      if (view.in_strides[a] < 0) view.in_offset += (view.extents[a] - 1) * static_cast<std::uint64_t>(in);
      if (view.in_strides[a] != 0) in *= static_cast<std::int64_t>(view.extents[a] + random() % 8 / 7);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t a : order) {
      view.out_strides[a] = out;
      out *= static_cast<std::int64_t>(view.extents[a]);
    }
    view.in_strides[0] = in + static_cast<std::int64_t>(random() % 3 == 0 ? random() % 5 : 0);
    view.out_strides[0] = out;
    constexpr std::uint64_t widths[] = {1, 2, 4, 8, 16, 6};
    expect_moved(view, widths[random() % 6], random, reached);
    if (HasFailure()) FAIL() << "seed " << kSeed << ", round " << round;
    if (reached.whole) ++whole;
  }
  EXPECT_GE(whole, 40);
}

TEST(GpuViews, PlansSayTheirKernel) {
  const Target target = cuda::target_of_capability(9, 0);
  const Plan plan({.element_bytes = 4, .view = parse_strided("strided(3000 500; -500 1; 512 1; 1499500 0)")},
                  target);
  EXPECT_NE(plan.explain().find("view rows, 16 bytes a time"), std::string::npos) << plan.explain();
  const Plan turned({.element_bytes = 4, .view = parse_strided("strided(3000 200; 1 3000; 512 1)")}, target);
  EXPECT_NE(turned.explain().find("axes box"), std::string::npos) << turned.explain();
  const Plan arrays({.element_bytes = 4, .view = parse_strided("strided(90000 7 9; 64 9 -1; 63 1 7; 8 0)")},
                    target);
  EXPECT_NE(arrays.explain().find("axes whole"), std::string::npos) << arrays.explain();
  const Plan padded({.element_bytes = 4, .view = parse_strided("strided(90000 7 9; 63 9 -1; 64 1 7; 8 0)")},
                    target);
  EXPECT_EQ(padded.explain().find("axes whole"), std::string::npos) << padded.explain();
  for (const char* const plane :
       {"strided(7248 7248; 1 7280; 7248 1)", "strided(7248 7248; -1 7248; 7248 1; 7247 0)",
        "strided(7248 7248; 1 -7248; 7250 1; 52526256 0)"}) {
    const Plan lines({.element_bytes = 1, .view = parse_strided(plane)}, target);
    EXPECT_NE(lines.explain().find("axes turned"), std::string::npos) << lines.explain();
  }
  const Plan unaligned({.element_bytes = 2, .view = parse_strided("strided(8190 8190; 8192 1; 8190 1; 1 0)")},
                       target);
  EXPECT_NE(unaligned.explain().find("axes whole"), std::string::npos) << unaligned.explain();
  for (const char* const view :
       {"strided(30 50; 1 30; 51 1)", "strided(8192 4096; 8192 2; 4096 1)",
        "strided(8192 4096; -8192 -2; 4096 1; 67108862 0)", "strided(5000000 3; 1 1; 3 1)"}) {
    const Plan one_by_one({.element_bytes = 4, .view = parse_strided(view)}, target);
    EXPECT_NE(one_by_one.explain().find("axes, one by one"), std::string::npos) << one_by_one.explain();
  }
  // Of what is repeated a vector is made once.
  const Plan repeated({.element_bytes = 4, .view = parse_strided("strided(3000000 4; 1 0; 4 1)")}, target);
  EXPECT_EQ(repeated.explain().find("axes, one by one"), std::string::npos) << repeated.explain();
  EXPECT_NE(plan.explain_json().find("\"launch\""), std::string::npos);
  EXPECT_NE(plan.explain_json().find("\"sectors\": "), std::string::npos);
  EXPECT_NE(plan.explain_json().find("\"predicted_time\": {"), std::string::npos);
  EXPECT_THROW(
      Plan({.element_bytes = 4, .view = parse_strided("strided(2 2; 36028797018963967 1; 2 1)")}, target),
      Error);
}

// What the second-level cache is asked for are the sectors that rows of the input touch, those between them
// not, though rows begin between sectors: shared memory has them as far past a sector. A warp may end within
// one.
TEST(GpuViews, SectorsAreAskedForOnce) {
  struct Case {
    const char* view;
    std::uint64_t width;
    std::uint64_t row_bytes;  // together in the input
    std::uint64_t apart;
    std::uint64_t rows;
    double most;
  };
  const Case cases[] = {
      {"strided(75 75 96 96; 897728 10816 104 1; 9216 691200 1 96)", 2, 192, 208, 75 * 75 * 96, 1.02},
      {"strided(96 75 75 96; 716456 8632 104 1; 1 96 7200 540000)", 2, 192, 208, 96 * 75 * 75, 1.02},
      {"strided(8 2048 32 128; 11184640 5440 136 1; 8388608 128 262144 1)", 2, 256, 272, 1 << 19, 1.02},
      {"strided(100000 12 10 10; 1300 100 10 1; 1200 10 1 120)", 4, 4800, 5200, 100000, 1.04},
      {"strided(1300000 12 16; 208 16 1; 192 1 12)", 2, 384, 416, 1300000, 1.001},
  };
  for (const Case& of : cases) {
    std::uint64_t touched = 0;  // of as many rows as come back to a sector's begin
    const std::uint64_t period = 32 / std::gcd(of.apart, std::uint64_t{32});
    for (std::uint64_t row = 0; row < period; ++row) {
      const std::uint64_t begin = row * of.apart;
      touched += (begin + of.row_bytes + 31) / 32 - begin / 32;
    }
    const Plan plan({.element_bytes = of.width, .view = parse_strided(of.view)},
                    cuda::target_of_capability(9, 0));
    const auto json = nlohmann::json::parse(plan.explain_json());
    const double asked = json["passes"][0]["predicted"]["global_loads"]["sectors"].get<double>();
    const double least = static_cast<double>(touched) * static_cast<double>(of.rows / period);
    EXPECT_GE(asked, 0.98 * least) << of.view;
    EXPECT_LE(asked, of.most * least) << of.view;
  }
}

// Shared memory is spoken of where a kernel has it, and arrays as they are.
TEST(GpuViews, PlansSayWhatIsTrue) {
  const Target target = cuda::target_of_capability(9, 0);
  const std::string rows =
      Plan({.element_bytes = 4, .view = parse_strided("strided(5 800; 0 1; 800 1)")}, target).explain();
  EXPECT_NE(rows.find("reads 4000 elements of an array of 800 or more"), std::string::npos) << rows;
  EXPECT_NE(rows.find("writes an array of 4000 elements"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("through shared memory"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("to shared"), std::string::npos) << rows;
  const std::string boxes =
      Plan({.element_bytes = 4, .view = parse_strided("strided(3000 500; 1 3000; 512 1)")}, target).explain();
  EXPECT_NE(boxes.find("through shared memory"), std::string::npos) << boxes;
  EXPECT_NE(boxes.find("to shared"), std::string::npos) << boxes;
}

}  // namespace plan_gpu_views_test
}  // namespace faro
