// Rows by a schedule that is made once and forms that index arrays are known by on a GPU, held against the
// CPU engine byte for byte.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "faro/rows.hpp"
#include "gpu/gpu_rows_support.hpp"

namespace faro::testing {
namespace gpu_reused_rows_test {

using namespace gpu_rows;

class GpuReusedRows : public GpuTest {};

// Elements by a schedule that is made once: the same as by the entries, again and again.
TEST_F(GpuReusedRows, ReusesASchedule) {
  constexpr std::uint64_t kCount = 9000001;
  constexpr std::uint64_t kRows = 10000019;
  for (const int bytes : {4, 8}) {
    for (const std::uint64_t width : {4U, 8U}) {
      const IndexType type{.bytes = bytes, .is_signed = bytes == 8};
      const Bytes entries = drawn(kCount, kRows, type, false, 0, width).bytes();
      const Placed device_entries(entries);
      const auto from = [&](const void* at) { return RowNumbers(at, kCount, type); };
      for (const bool adds : {false, true}) {
        const auto move = [&](const void* at) -> RowMove {
          if (adds)
            return Add{.to = from(at), .rows = kRows, .number = width == 4 ? Number::f32 : Number::f64};
          return Take{.from = from(at), .rows = kRows};
        };
        const ExecutableRows on_cpu = plan_rows(move(entries.data()), {.row_bytes = width});
        const ExecutableRows on_gpu =
            plan_rows(move(device_entries.data()), {.row_bytes = width}, {.reused = true});
        EXPECT_TRUE(on_gpu.is_scheduled());
        const Number number = width == 4 ? Number::f32 : Number::f64;
        const Bytes in = random_numbers(number, on_cpu.plan().in_bytes() / width, 1);
        const Bytes begin = random_numbers(number, on_cpu.plan().out_bytes() / width, 2);
        Bytes expected = begin;
        on_cpu.run(in, expected);
        const Placed device_in(in);
        Placed device_out(begin);
        for (int t = 0; t < 2; ++t) {
          if (t > 0) device_out.set(begin);
          on_gpu.run(device_in.span(), device_out.span());
          on_gpu.check();
          EXPECT_TRUE(device_out.get() == expected) << width << ", " << adds;
        }
      }
    }
  }
  const Placed few(drawn(100, 50, {.bytes = 4}, false, 0, 1).bytes());
  const Take take{.from = RowNumbers(few.data(), 100, {.bytes = 4}), .rows = 50};
  EXPECT_FALSE(plan_rows(take, {.row_bytes = 4}, {.reused = true}).is_scheduled());
}

// Elements put by a schedule, and one that names a row twice.
TEST_F(GpuReusedRows, PutsByASchedule) {
  constexpr std::uint64_t kRows = 9'000'000;
  for (const std::uint64_t width : {4U, 8U}) {
    for (const std::uint64_t count : {kRows, kRows - 1'234'567}) {
      Entries entries = drawn(count, kRows, {.bytes = 4, .is_signed = true}, true, 0, width);
      const Placed there(entries.bytes());
      const Bytes host_entries = entries.bytes();
      const auto put = [&](const void* data) {
        return Put{.to = {data, count, entries.type}, .rows = kRows};
      };
      const ExecutableRows plan = plan_rows(put(there.data()), {.row_bytes = width}, {.reused = true});
      EXPECT_TRUE(plan.is_scheduled());
      const Bytes in = random_bytes(count * width, 1);
      const Bytes begin = random_bytes(kRows * width, 2);
      Bytes expected = begin;
      plan_rows(put(host_entries.data()), {.row_bytes = width}).run(in, expected);
      const Placed device_in(in);
      const Placed device_out(begin);
      plan.run(device_in.span(), device_out.span());
      plan.check();
      EXPECT_TRUE(device_out.get() == expected) << width << ", " << count;
      entries.values[5] = entries.values[count - 3];
      const Placed wrong(entries.bytes());
      EXPECT_NE(refusal([&] {
                  static_cast<void>(plan_rows(put(wrong.data()), {.row_bytes = width}, {.reused = true}));
                }).find("twice"),
                std::string::npos);
    }
  }
}

// Forms that index arrays are known by, as plans.
TEST_F(GpuReusedRows, RunsFormsThatArraysAreKnownBy) {
  std::vector<Permutation> all;
  for (const char* const text :
       {"axes(300 410; 1 0; 0 0; 1)", "axes(300 410; 0 1; 150 205)", "axes(70 30 110; 2 0 1; 3 4 5; 0 2)",
        "multiply(100003, 777)", "affine_mod(65536, 5, 9)"})
    all.push_back(parse_permutation(text));
  std::mt19937_64 random(2);
  {
    std::vector<std::uint32_t> small(6000);
    std::iota(small.begin(), small.end(), 0U);
    std::shuffle(small.begin(), small.end(), random);
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t b = 0; b < 9; ++b) {
      for (const std::uint32_t p : small) {
        for (std::uint32_t j = 0; j < 3; ++j) blocks.push_back((b * 6000 + p) * 3 + j);
      }
    }
    all.emplace_back(Indexed(blocks, Direction::scatter));
    all.emplace_back(Indexed(std::move(blocks), Direction::gather));
  }
  for (const char* const text : {"bit_reversal(16)", "multiply(65536, 1237)"}) {
    const Permutation map = parse_permutation(text);
    std::vector<std::uint32_t> entries(65536);
    for (std::uint64_t x = 0; x < entries.size(); ++x) entries[x] = static_cast<std::uint32_t>(apply(map, x));
    std::swap(entries[3], entries[60000]);
    std::swap(entries[0], entries[777]);
    all.emplace_back(Indexed(std::move(entries), Direction::gather));
  }
  for (const Permutation& permutation : all) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 12U, 16U}) {
      const Problem problem{.permutation = permutation, .element_bytes = width, .batch = 2};
      const Bytes in = random_bytes(total_bytes(problem), width);
      Bytes expected(in.size());
      faro::plan(problem, {.engine = Engine::cpu}).run(in.data(), expected.data(), in.size());
      const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
      const Placed device_in(in);
      const Placed device_out(Bytes(in.size()));
      plan.run(device_in.data(), device_out.data(), in.size());
      EXPECT_TRUE(device_out.get() == expected) << to_text(permutation) << ", " << width << "\n"
                                                << plan.explain();
    }
  }
}

}  // namespace gpu_reused_rows_test
}  // namespace faro::testing
