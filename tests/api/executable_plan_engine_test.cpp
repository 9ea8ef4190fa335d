// faro::plan and ExecutablePlan: what they refuse before anything is written, threads, and memory.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine_support.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "refusal.hpp"

// Every allocation of this program by `new` is counted, except where a sanitizer has its own `new`.
namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

#if !FARO_INSTRUMENTED
namespace {

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif  // !FARO_INSTRUMENTED

namespace faro::testing {
namespace {

using test::expect_refused;

// Large enough for several threads, small enough for an instrumented build.
constexpr int kThreadedBits = 22;

std::size_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

void expect_right(const Problem& problem, const ExecutablePlan& executable, std::uint64_t seed = 1) {
  Arrays arrays(total_bytes(problem), 0, 0, seed);
  executable.run(arrays.in(), arrays.out(), arrays.bytes());
  EXPECT_EQ(first_wrong(problem, arrays.in(), arrays.out()), std::nullopt) << describe(problem);
  EXPECT_TRUE(arrays.guards_intact() && arrays.input_intact()) << describe(problem);
}

// --- threads; first, while the process has started none

TEST(ExecutablePlanThreads, AsManyAsAskedForAndNoneForSmallArrays) {
  const std::size_t before = threads_of_process();
  const Problem small{.permutation = maps::bit_reversal(14), .element_bytes = 4};
  expect_right(small, plan(small, {.threads = 8}));
  EXPECT_EQ(threads_of_process(), before) << "64 KiB are work for one thread";

  const Problem large{.permutation = maps::bit_reversal(kThreadedBits), .element_bytes = 4};
  const ExecutablePlan three = plan(large, {.threads = 3});
  EXPECT_EQ(three.plan().target().threads, 3);
  expect_right(large, three);
  EXPECT_GE(threads_of_process(), 3U);
  // ThreadSanitizer adds one of its own.
  EXPECT_LE(threads_of_process(), before + 2 + (kInstrumented ? 1 : 0));
}

TEST(ExecutablePlanThreads, OpenMpDecidesWhereNoneAreNamed) {
  const int usual = omp_get_max_threads();
  const Problem problem{.permutation = maps::gray(10), .element_bytes = 4};
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);  // what OMP_NUM_THREADS sets at the start
    EXPECT_EQ(plan(problem).plan().target().threads, threads);
    EXPECT_EQ(plan(problem, {.threads = 3}).plan().target().threads, 3);
  }
  omp_set_num_threads(usual);
}

TEST(ExecutablePlanThreads, TheSameResultWithAnyNumber) {
  for (const Affine& map : {maps::random_bmmc(kThreadedBits, 9), maps::identity(kThreadedBits),
                            direct_sum(Affine(8), maps::bit_reversal(kThreadedBits - 8))}) {
    const Problem problem{.permutation = map, .element_bytes = 4};
    Arrays reference(total_bytes(problem), 0, 0, 3);
    plan(problem, {.threads = 1}).run(reference.in(), reference.out(), reference.bytes());
    EXPECT_EQ(first_wrong(problem, reference.in(), reference.out()), std::nullopt) << describe(problem);
    for (const int threads : {2, 7}) {
      Arrays arrays(total_bytes(problem), 1, 3, 3);
      plan(problem, {.threads = threads}).run(arrays.in(), arrays.out(), arrays.bytes());
      EXPECT_EQ(std::memcmp(arrays.out(), reference.out(), arrays.bytes()), 0)
          << threads << " threads: " << describe(problem);
      EXPECT_TRUE(arrays.guards_intact());
    }
  }
}

TEST(ExecutablePlanThreads, OnePlanFromManyThreads) {
  const Problem problem{.permutation = maps::random_bmmc(19, 4), .element_bytes = 4, .batch = 3};
  const ExecutablePlan shared = plan(problem, {.threads = 2});
  std::vector<std::thread> callers;
  for (std::uint64_t caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, caller] {
      for (int k = 0; k < 2; ++k) expect_right(problem, shared, caller);
      EXPECT_FALSE(shared.explain().empty());
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ExecutablePlanThreads, ManyPlansAtOnce) {
  std::vector<std::thread> callers;
  for (std::uint64_t caller = 0; caller < 6; ++caller) {
    callers.emplace_back([caller] {
      for (int n = 6; n <= 18; n += 3) {
        const Problem problem{.permutation = maps::random_bmmc(n, caller),
                              .element_bytes = std::uint64_t{1} << caller,
                              .batch = 1 + caller % 2};
        expect_right(problem, plan(problem, {.threads = 1 + static_cast<int>(caller % 3)}), caller);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// --- memory

TEST(ExecutablePlan, RunningAllocatesNothing) {
  if (kInstrumented) GTEST_SKIP() << "a sanitizer has its own `new`";
  const Problem problems[] = {
      {.permutation = maps::identity(kThreadedBits), .element_bytes = 4},
      {.permutation = direct_sum(Affine(6), maps::bit_reversal(kThreadedBits - 6)), .element_bytes = 4},
      {.permutation = maps::random_bmmc(kThreadedBits, 1), .element_bytes = 1},
      {.permutation = maps::bit_reversal(18), .element_bytes = 16},
      {.permutation = maps::bit_reversal(5), .element_bytes = 4, .batch = 1001},
      {.permutation = maps::bit_reversal(4), .element_bytes = 1},
  };
  for (const Problem& problem : problems) {
    for (const int threads : {1, 3}) {
      const ExecutablePlan executable = plan(problem, {.threads = threads});
      EXPECT_EQ(executable.workspace_bytes(), 0U);
      Arrays arrays(total_bytes(problem), 0, 0, 1);
      executable.run(arrays.in(), arrays.out(), arrays.bytes());  // threads that wait are made once
      const std::uint64_t before = allocations.load();
      executable.run(arrays.in(), arrays.out(), arrays.bytes());
      EXPECT_EQ(allocations.load() - before, 0U) << describe(problem) << ", " << threads << " threads";
    }
  }
  EXPECT_GT(allocations.load(), 0U) << "they are counted";
}

// --- what run refuses

class ExecutablePlanRun : public ::testing::Test {
 protected:
  Problem problem_{.permutation = maps::bit_reversal(10), .element_bytes = 4, .batch = 3};
  ExecutablePlan plan_ = plan(problem_);
  std::uint64_t bytes_ = total_bytes(problem_);
};

TEST_F(ExecutablePlanRun, RefusesNullPointers) {
  Arrays arrays(bytes_, 0, 0, 1);
  expect_refused(ErrorCode::value, "null input", [&] { plan_.run(nullptr, arrays.out(), bytes_); });
  expect_refused(ErrorCode::value, "null output", [&] { plan_.run(arrays.in(), nullptr, bytes_); });
  EXPECT_TRUE(arrays.untouched());
}

TEST_F(ExecutablePlanRun, RefusesAnotherSize) {
  Arrays arrays(bytes_, 0, 0, 1);
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, bytes_ - 1, bytes_ + 1, 2 * bytes_, ~bytes_}) {
    expect_refused(ErrorCode::value, std::to_string(bytes_) + " bytes",
                   [&] { plan_.run(arrays.in(), arrays.out(), bytes); });
  }
  EXPECT_TRUE(arrays.untouched());
}

TEST_F(ExecutablePlanRun, RefusesSpansOfAnotherOrDifferentSize) {
  const std::vector<std::uint32_t> in(bytes_ / 4, 7);
  std::vector<std::uint32_t> out(bytes_ / 4, 9);
  const std::span<const std::uint32_t> from(in);
  const std::span<std::uint32_t> to(out);
  expect_refused(ErrorCode::value, "one size", [&] { plan_.run(from, to.first(out.size() - 1)); });
  expect_refused(ErrorCode::value, "one size", [&] { plan_.run(from.first(1), to); });
  expect_refused(ErrorCode::value, "bytes", [&] { plan_.run(from.first(1024), to.first(1024)); });
  EXPECT_EQ(out, std::vector<std::uint32_t>(bytes_ / 4, 9));
  plan_.run(from, to);
  EXPECT_EQ(out, in);  // all elements are alike
}

TEST_F(ExecutablePlanRun, RefusesOverlapAndTakesNeighbours) {
  std::vector<std::byte> memory(3 * bytes_, kPoison);
  std::byte* const middle = memory.data() + bytes_;
  for (const std::uint64_t apart : {std::uint64_t{1}, std::uint64_t{4}, bytes_ / 2, bytes_ - 1}) {
    expect_refused(ErrorCode::value, "overlap", [&] { plan_.run(middle, middle + apart, bytes_); });
    expect_refused(ErrorCode::value, "overlap", [&] { plan_.run(middle, middle - apart, bytes_); });
  }
  expect_refused(ErrorCode::value, "in place", [&] { plan_.run(middle, middle, bytes_); });
  EXPECT_EQ(memory, std::vector<std::byte>(3 * bytes_, kPoison));

  SplitMix64 random{1};
  for (std::uint64_t i = 0; i < bytes_; ++i) middle[i] = static_cast<std::byte>(random());
  plan_.run(middle, middle + bytes_, bytes_);
  EXPECT_EQ(first_wrong(problem_, middle, middle + bytes_), std::nullopt);
  plan_.run(middle, memory.data(), bytes_);
  EXPECT_EQ(first_wrong(problem_, middle, memory.data()), std::nullopt);
}

// --- what plan refuses

TEST(ExecutablePlan, RefusesWhatItCannotPlan) {
  const Permutation map = maps::bit_reversal(4);
  expect_refused(ErrorCode::device, "cuda",
                 [&] { plan({.permutation = map, .element_bytes = 4}, {.engine = Engine::cuda}); });
  expect_refused(ErrorCode::unsupported, "in place", [] {
    plan({.permutation = Axes({3, 4, 5}, {2, 1, 0}), .element_bytes = 4, .placement = Placement::in_place});
  });
  for (const int threads : {kMaxThreads + 1, -1, -1000000}) {
    expect_refused(ErrorCode::value, "threads",
                   [&] { plan({.permutation = map, .element_bytes = 4}, {.threads = threads}); });
  }
  for (const std::uint64_t width : {0U, 3U, 12U, 8192U}) {
    expect_refused(ErrorCode::value, std::to_string(width) + " bytes",
                   [&] { plan({.permutation = maps::gray(4), .element_bytes = width}); });
  }
  expect_refused(ErrorCode::value, "n = 41",
                 [] { plan({.permutation = maps::bit_reversal(41), .element_bytes = 1}); });
  expect_refused(ErrorCode::value, "2^62",
                 [&] { plan({.permutation = map, .element_bytes = 4, .batch = ~std::uint64_t{0}}); });
  expect_refused(ErrorCode::value, "2^62",
                 [] { plan({.permutation = maps::gray(40), .element_bytes = 4096, .batch = 2048}); });
}

// --- what it takes

static_assert(std::is_nothrow_move_constructible_v<ExecutablePlan> &&
              std::is_nothrow_move_assignable_v<ExecutablePlan>);
static_assert(!std::is_copy_constructible_v<ExecutablePlan>);

TEST(ExecutablePlan, Moves) {
  const Problem first{.permutation = maps::bit_reversal(12), .element_bytes = 4};
  const Problem second{.permutation = maps::gray(9), .element_bytes = 8};
  ExecutablePlan a = plan(first);
  ExecutablePlan b(std::move(a));
  expect_right(first, b);
  b = plan(second);
  expect_right(second, b);
  std::vector<ExecutablePlan> plans;
  for (int n = 0; n < 12; ++n)
    plans.push_back(plan({.permutation = maps::bit_reversal(n), .element_bytes = 4}));
  for (int n = 0; n < 12; ++n) {
    expect_right({.permutation = maps::bit_reversal(n), .element_bytes = 4},
                 plans[static_cast<std::size_t>(n)]);
  }
}

TEST(ExecutablePlan, EmptyBatch) {
  const ExecutablePlan nothing =
      plan({.permutation = maps::bit_reversal(20), .element_bytes = 4, .batch = 0});
  nothing.run(nullptr, nullptr, 0);
  nothing.run(std::span<const float>(), std::span<float>());
  std::byte one{1};
  nothing.run(&one, &one, 0);
  EXPECT_EQ(one, std::byte{1});
  expect_refused(ErrorCode::value, "0 bytes", [&] { nothing.run(&one, &one, 1); });
  EXPECT_FALSE(nothing.explain().empty());
}

TEST(ExecutablePlan, OneElement) {
  for (const std::uint64_t width : {1U, 2U, 16U, 64U, 4096U}) {
    for (const std::uint64_t batch : {1U, 3U, 1000U}) {
      const Problem problem{.permutation = maps::identity(0), .element_bytes = width, .batch = batch};
      expect_right(problem, plan(problem));
    }
  }
}

TEST(ExecutablePlan, WidestElements) {
  const Problem problem{.permutation = maps::random_bmmc(9, 2), .element_bytes = 4096, .batch = 3};
  expect_right(problem, plan(problem));
}

TEST(ExecutablePlan, TypedSpans) {
  struct Field {
    std::uint64_t limbs[4];
  };
  const Problem problem{.permutation = maps::reverse(8), .element_bytes = sizeof(Field)};
  std::vector<Field> in(256);
  std::vector<Field> out(256);
  for (std::uint64_t i = 0; i < 256; ++i) in[i].limbs[3] = i;
  plan(problem).run(std::span<const Field>(in), std::span<Field>(out));
  for (std::uint64_t i = 0; i < 256; ++i) EXPECT_EQ(out[255 - i].limbs[3], i);
}

// A plan knows its width: values of another are refused, and bytes have none.
TEST(ExecutablePlan, TypedRunsAreOfThePlansWidth) {
  constexpr int kBits = 6;
  std::vector<double> in(1 << kBits);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  std::vector<double> out(in.size());
  const ExecutablePlan of_doubles = plan(maps::bit_reversal(kBits), sizeof(double));
  of_doubles.run(in, out);
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[maps::bit_reversal(kBits)(i)], in[i]);
  std::array<double, 1 << kBits> array{};
  of_doubles.run(in, array);
  EXPECT_TRUE(std::equal(array.begin(), array.end(), out.begin()));
  of_doubles.run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)));

  const ExecutablePlan of_floats = plan(maps::bit_reversal(kBits + 1), sizeof(float));
  const std::vector<double> before = out;
  expect_refused(ErrorCode::value, "values of 8 bytes", [&] { of_floats.run(in, out); });
  expect_refused(ErrorCode::value, "values of 8 bytes", [&] { of_floats.run<double>(in, out); });
  EXPECT_EQ(out, before);

  const ExecutablePlan in_place = plan({.permutation = maps::bit_reversal(kBits),
                                        .element_bytes = sizeof(double),
                                        .placement = Placement::in_place});
  in_place.run(out);
  EXPECT_EQ(out, in);
  std::vector<float> halves(out.size() * 2);
  expect_refused(ErrorCode::value, "values of 4 bytes", [&] { in_place.run(halves); });
}

TEST(ExecutablePlan, NothingIsAssumedOfAProblem) {
  expect_refused(ErrorCode::value, "without a permutation", [] { plan({}); });
  expect_refused(ErrorCode::value, "without a permutation", [] { plan({.element_bytes = 4}); });
  expect_refused(ErrorCode::value, "no width by default", [] { plan({.permutation = maps::gray(4)}); });
  expect_refused(ErrorCode::value, "without a permutation", [] { plan_only({}); });
}

TEST(ExecutablePlan, NamesItsEngine) {
  const Problem problem{.permutation = maps::gray(4), .element_bytes = 4};
  const ExecutablePlan automatic = plan(problem);
  EXPECT_EQ(automatic.engine(), Engine::cpu);
  EXPECT_FALSE(automatic.engine_reason().empty());
  EXPECT_EQ(plan(problem, {.engine = Engine::cpu}).engine_reason(), "asked for");
}

}  // namespace
}  // namespace faro::testing
