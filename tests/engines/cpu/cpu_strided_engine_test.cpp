// Strided views and axes on the CPU engine: against one obvious loop, with guard zones, and every element of
// the output that no index reaches as it was.
// Sanitized: in `make test`, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cpu_strided_support.hpp"
#include "faro/faro.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "refusal.hpp"

namespace faro {
namespace cpu_strided_engine_test {

using namespace cpu_strided_test;

// All permutations of all shapes to four axes with extents 1 to 5.
TEST(CpuStridedEngine, EveryOrderOfEverySmallShape) {
  int shapes = 0;
  const std::uint64_t most = kInstrumented ? 3 : 5;
  for (std::size_t rank = 1; rank <= 4; ++rank) {
    std::vector<std::uint64_t> shape(rank, 1);
    do {
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
    } while (test::step(shape, std::vector<std::uint64_t>(rank, most), 1));
  }
  EXPECT_GE(shapes, kInstrumented ? 2000 : 15'000);
}

// Columns that all begin equally far past a line, and as many bytes as move the first rows by themselves.
TEST(CpuStridedEngine, PlanesWhoseColumnsBeginBetweenLines) {
  for (const std::uint64_t width : {1, 2, 4, 8, 16}) {
    for (const std::uint64_t column_bytes : {192, 256, 320, 576, 2112}) {
      for (const std::uint64_t columns : {2, 4, 7, 17}) {
        for (std::uint64_t offset = 0; offset * width < 64; offset += width == 1 ? 3 : 1) {
          Strided view = view_of({column_bytes / width, columns}, {1, 0});
          view.out_offset = offset;
          expect_moved(view, {.width = width, .stores = Stores::as_sized});
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
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
                          .stores = below(2) == 0 ? Stores::as_sized : Stores::streamed,
                          .caches = kCoreCaches[below(3)]};
    expect_moved(view, setting);
    if (::testing::Test::HasFatalFailure()) return;
    ++moved;
    const Plan plan = plan_of(view, setting);
    if (!plan.problem().view) continue;
    const auto& axes = std::get<detail::CpuAxes>(plan.passes().front().cpu->kernel);
    const char* const move = axes.move == detail::AxesMove::pieces     ? "pieces"
                             : axes.move == detail::AxesMove::planes   ? "planes"
                             : axes.move == detail::AxesMove::groups   ? "groups"
                             : axes.move == detail::AxesMove::lines    ? "lines"
                             : axes.move == detail::AxesMove::channels ? "channels"
                                                                       : "table";
    reached.insert(std::string(move) + (axes.staged ? ", staged" : ""));
  }
  EXPECT_GT(moved, trials / 3);
  reached.erase("channels, staged");  // drawn or not, as wide as registers are: LongRowsOfChannels has them
  if (kInstrumented) reached.insert("channels");  // among so few views perhaps not drawn
  EXPECT_EQ(reached, (std::set<std::string>{"pieces", "planes", "planes, staged", "table", "table, staged",
                                            "groups, staged", "lines", "lines, staged", "channels"}));
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
        for (const detail::CoreCaches& caches : kCoreCaches) {
          expect_moved(view,
                       {.width = width, .threads = threads, .stores = Stores::streamed, .caches = caches});
        }
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

// Pages that are never touched take no memory.
class SparseArray {
 public:
  explicit SparseArray(std::uint64_t bytes) : bytes_(bytes) {
    void* const mapped =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) data_ = static_cast<std::byte*>(mapped);
  }
  SparseArray(const SparseArray&) = delete;
  SparseArray& operator=(const SparseArray&) = delete;
  ~SparseArray() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_;
};

// Few elements whose strides pass 2^31 and 2^32 elements and bytes, on either side, forwards and backwards.
TEST(CpuStridedEngine, StridesPastThirtyTwoBits) {
  constexpr std::int64_t k31 = std::int64_t{1} << 31;
  constexpr std::int64_t k32 = std::int64_t{1} << 32;
  const std::vector<Strided> views{
      {.extents = {3, 40, 7}, .in_strides = {k32 + 7, 3, 301}, .out_strides = {280, 7, 1}},
      {.extents = {3, 40, 7},
       .in_strides = {-k32 - 7, 3, 301},
       .out_strides = {1, 3, 120},
       .in_offset = 2 * k32 + 14},
      {.extents = {3, 40, 7}, .in_strides = {280, 7, 1}, .out_strides = {k31 + 1, 3, 301}},
      {.extents = {2, 200, 2}, .in_strides = {1, 5, k32 + 9}, .out_strides = {k32 - 1, 1, k31 + 400}},
      {.extents = {90, 2}, .in_strides = {-2, k31 - 1}, .out_strides = {2, 1}, .in_offset = 178}};
  for (const Strided& view : views) {
    for (const std::uint64_t width : {1, 2, 3}) {
      SCOPED_TRACE(to_text(view) + ", elements of " + std::to_string(width));
      const SparseArray in(in_elements(view) * width);
      const SparseArray out(out_elements(view) * width);
      const SparseArray wanted(out_elements(view) * width);
      if (in.data() == nullptr || out.data() == nullptr || wanted.data() == nullptr)
        GTEST_SKIP() << "the system promises no memory beyond what it has";
      // Each element of the input by its number: the view that writes them all is the view's own, turned
      // round.
      std::vector<std::byte> numbers(element_count(view) * width);
      testing::SplitMix64 random{7};
      for (std::byte& byte : numbers) byte = static_cast<std::byte>(random());
      Strided from = view;
      std::int64_t stride = 1;
      for (std::size_t a = view.extents.size(); a-- > 0;) {
        from.in_strides[a] = stride;
        stride *= static_cast<std::int64_t>(view.extents[a]);
      }
      from.in_offset = 0;
      from.out_strides = view.in_strides;
      from.out_offset = view.in_offset;
      move_by_loop(from, width, numbers.data(), in.data());
      move_by_loop(view, width, in.data(), wanted.data());
      const Plan plan({.element_bytes = width, .view = view}, cpu::target(2));
      cpu::Executor(plan).run(in.data(), out.data());
      // What the view writes, brought together on both sides.
      Strided back = from;
      back.in_strides = view.out_strides;
      back.in_offset = view.out_offset;
      back.out_strides = from.in_strides;
      back.out_offset = 0;
      std::vector<std::byte> moved(numbers.size());
      std::vector<std::byte> by_loop(numbers.size());
      move_by_loop(back, width, out.data(), moved.data());
      move_by_loop(back, width, wanted.data(), by_loop.data());
      EXPECT_EQ(moved, by_loop);
      EXPECT_EQ(moved, numbers);
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

// The C library may add up the caches of a socket; results have to leave those that a core has.
TEST(CpuTarget, ResultsPassTheCacheThatACoreHas) {
  std::uint64_t kib = 0;
  std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> kib;
  if (kib == 0) GTEST_SKIP() << "no third level of cache is told";
  EXPECT_LE(cpu::target(1).streaming_bytes, kib * 1024 / 4);
  EXPECT_GT(cpu::target(1).streaming_bytes, 0U);
}

TEST(PlanOfView, RunsOnVectors) {
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
  ASSERT_FALSE(transposed.plan().problem().view);
  EXPECT_THAT(transposed.explain(), ::testing::HasSubstr("transpose(3, 4)"));
}

TEST(PlanOfView, Refusals) {
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
  EXPECT_THAT(refusal_of([&] { plan.run(in.data(), out.data(), 48); }), HasSubstr("one size for a plan"));
  EXPECT_THAT(refusal_of([&] { faro::plan(maps::roll(12, 1), 4).run(in.data(), 12, out.data(), 12); }),
              HasSubstr("for a plan of a permutation"));
  EXPECT_THAT(
      refusal_of([&] { faro::plan({.permutation = maps::roll(12, 1), .element_bytes = 4, .view = view}); }),
      HasSubstr("a permutation and a strided view"));
  EXPECT_THAT(refusal_of([&] { faro::plan({.element_bytes = 4, .batch = 2, .view = view}); }),
              HasSubstr("a batch of strided views"));
  EXPECT_THAT(
      refusal_of([&] { faro::plan({.element_bytes = 4, .placement = Placement::in_place, .view = view}); }),
      HasSubstr("a strided view in place"));
  auto moved = faro::plan(view, 4);
  const auto other = std::move(moved);
  EXPECT_THAT(refusal_of([&] { moved.run(in, out); }), HasSubstr("moved from"));
}

}  // namespace cpu_strided_engine_test
}  // namespace faro
