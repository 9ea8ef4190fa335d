// Families of shapes on the CPU engine: drawn ones against one obvious loop, with guard zones; what ordinary
// plans of the same shapes move; refusals. Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "family_support.hpp"
#include "faro/family.hpp"
#include "refusal.hpp"

namespace faro {
namespace cpu_family_engine_test {

using namespace family_test;
using test::report_of;

constexpr std::uint64_t kGuard = 64;

std::vector<std::uint8_t> noise(std::uint64_t bytes) {
  std::vector<std::uint8_t> made(bytes);
  std::mt19937 random(static_cast<unsigned>(bytes));
  std::generate(made.begin(), made.end(), [&] { return static_cast<std::uint8_t>(random()); });
  return made;
}

void expect_moved(const ShapeFamily& family, const FamilyCase& call, std::uint64_t skew) {
  SCOPED_TRACE(call.text() + ", skew " + std::to_string(skew));
  const std::vector<std::uint8_t> in = noise(call.bytes() + skew);
  std::vector<std::uint8_t> out(call.bytes() + 2 * kGuard + skew, 0xa5);
  const std::vector<std::uint64_t> free = call.free();
  family.run(free, in.data() + skew, out.data() + kGuard + skew);
  std::vector<std::uint8_t> wanted(out.size(), 0xa5);
  const std::vector<std::uint8_t> moved = family_test::moved(call, in.data() + skew);
  std::copy(moved.begin(), moved.end(), wanted.begin() + static_cast<std::ptrdiff_t>(kGuard + skew));
  EXPECT_TRUE(out == wanted);
  EXPECT_EQ(family.in_bytes(free), call.bytes());
  EXPECT_EQ(family.out_bytes(free), call.bytes());
}

TEST(CpuFamilyEngine, MovesDrawnFamilies) {
  std::mt19937 random(47);
  for (int n = 0; n < 300; ++n) {
    FamilyCase call = drawn_family(random, 20'000);
    const ShapeFamily family(call.map, {.threads = static_cast<int>(1 + random() % 3)});
    for (int again = 0; again < 4; ++again) {
      expect_moved(family, call, random() % 3);
      if (again == 1) continue;  // the same shape once more
      for (std::size_t a = 0; a < call.extents.size(); ++a) {
        // None, one, the most, or what comes.
        const std::uint64_t most = std::min<std::uint64_t>(call.map.extents[a].most, 40);
        const std::uint64_t extents[] = {0, 1, most, random() % (most + 1)};
        if (call.map.extents[a].is_free) call.extents[a] = extents[random() % 8 < 3 ? random() % 3 : 3];
      }
    }
  }
}

// Larger than the caches, in boxes that are staged.
TEST(CpuFamilyEngine, MovesLargeArrays) {
  for (const auto& order :
       {std::vector<int>{1, 0, 2}, std::vector<int>{2, 1, 0}, std::vector<int>{0, 2, 1}}) {
    FamilyCase call = family_case(4, {90, 331, 129}, order, 3);
    const ShapeFamily family(call.map);
    expect_moved(family, call, 0);
    call.extents[0] = 179;
    expect_moved(family, call, 1);
  }
}

TEST(CpuFamilyEngine, MovesAsAPlanOfTheShape) {
  const FamilyCase call = family_case(8, {37, 50, 21}, {2, 0, 1}, 5);
  const ShapeFamily family(call.map);
  const std::vector<std::uint8_t> in = noise(call.bytes());
  std::vector<std::uint8_t> out(in.size());
  std::vector<std::uint8_t> wanted(in.size());
  family.run(call.free(), in.data(), out.data());
  plan(Axes(call.extents, call.map.order), 8).run(in.data(), wanted.data(), in.size());
  EXPECT_TRUE(out == wanted);
  EXPECT_EQ(family.out_shape(call.free()), (std::vector<std::uint64_t>{21, 37, 50}));
}

// Strides of the family: rows of an array of the most, upside down; and those of one call.
TEST(CpuFamilyEngine, MovesStridedArrays) {
  const ShapeFamily family({.extents = {up_to(10), exactly(6)},
                            .order = {1, 0},
                            .in_strides = {-8, 1},
                            .out_strides = {12, 1},
                            .element_bytes = 2});
  for (const std::uint64_t rows : {0, 1, 7, 10}) {
    std::vector<std::uint16_t> in(80);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
    std::vector<std::uint16_t> out(72, 9999);
    std::vector<std::uint16_t> wanted = out;
    for (std::uint64_t r = 0; r < rows; ++r) {
      for (std::uint64_t c = 0; c < 6; ++c) wanted[c * 12 + r] = in[(rows - 1 - r) * 8 + c];
    }
    family.run({{rows}}, in.data(), out.data());
    EXPECT_EQ(out, wanted) << rows;
    EXPECT_EQ(family.in_bytes({{rows}}), rows == 0 ? 0 : ((rows - 1) * 8 + 6) * 2);
    EXPECT_EQ(family.out_bytes({{rows}}), rows == 0 ? 0 : (5 * 12 + rows) * 2);
    // The same of a call.
    const ShapeFamily dense({.extents = {up_to(10), exactly(6)}, .order = {1, 0}, .element_bytes = 2});
    std::vector<std::uint16_t> again(72, 9999);
    const std::int64_t in_strides[] = {-8, 1};
    const std::int64_t out_strides[] = {12, 1};
    dense.run({{rows}}, in.data(), again.data(), {}, {.in = in_strides, .out = out_strides});
    EXPECT_EQ(again, wanted) << rows;
  }
}

TEST(CpuFamilyEngine, IsCalledByManyThreads) {
  FamilyCase call = family_case(4, {50, 60}, {1, 0}, 3);
  const ShapeFamily family(call.map, {.threads = 1});
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      FamilyCase own = call;
      for (std::uint64_t n = 0; n < 50; ++n) {
        own.extents[0] = 10 + (n + t) % 7;
        expect_moved(family, own, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CpuFamilyEngine, ExplainsCalls) {
  const ShapeFamily family({.extents = {up_to(1000), up_to(1000)}, .order = {1, 0}, .element_bytes = 4});
  EXPECT_NE(family.explain({{300, 500}}).find("turned in registers"), std::string::npos)
      << family.explain({{300, 500}});
  EXPECT_EQ(family.explain({{0, 5}}), "nothing is moved");
  EXPECT_EQ(family.engine(), Engine::cpu);
  EXPECT_EQ(family.free_extents(), 2);
}

TEST(CpuFamilyEngine, RefusesFamilies) {
  const auto refusal = [](const FamilyMap& map) { return report_of([&] { ShapeFamily{map}; }); };
  const std::vector<FamilyExtent> two = {up_to(10), exactly(3)};
  EXPECT_EQ(refusal({.extents = two}).got, "elements of 0 bytes");
  EXPECT_EQ(refusal({.extents = two, .element_bytes = 4097}).got, "elements of 4097 bytes");
  EXPECT_EQ(refusal({.extents = two, .order = {0}, .element_bytes = 4}).got, "1 axes of the order");
  EXPECT_EQ(refusal({.extents = two, .order = {1, 1}, .element_bytes = 4}).got, "the order 1 1");
  EXPECT_EQ(refusal({.extents = two, .flipped = {2}, .element_bytes = 4}).got, "axis 2 flipped");
  EXPECT_EQ(refusal({.extents = two, .flipped = {1, 1}, .element_bytes = 4}).got, "axis 1 flipped twice");
  EXPECT_EQ(refusal({.extents = two, .shifts = {1, 2, 3}, .element_bytes = 4}).got, "3 shifts");
  EXPECT_EQ(refusal({.extents = two, .in_strides = {1}, .element_bytes = 4}).got, "1 strides of the input");
  EXPECT_EQ(refusal({.extents = std::vector<FamilyExtent>(17, exactly(1)), .element_bytes = 4}).got,
            "17 axes");
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  EXPECT_EQ(refusal({.extents = {exactly(kMany), exactly(2)}, .element_bytes = 4}).code,
            ErrorCode::unsupported);
  EXPECT_EQ(refusal({.extents = {up_to(kMany), up_to(2)}, .in_strides = {2, 1}, .element_bytes = 4}).code,
            ErrorCode::unsupported);
  const ShapeFamily unbounded({.extents = {up_to(kMany), up_to(kMany)}, .order = {1, 0}, .element_bytes = 1});
  EXPECT_EQ(report_of([&] {
              static_cast<void>(unbounded.in_bytes({{kMany, 2}}));
            }).code,
            ErrorCode::unsupported);
  EXPECT_EQ(unbounded.in_bytes({{kMany, 0}}), 0);
  EXPECT_EQ(unbounded.in_bytes({{3, 5}}), 15);
  EXPECT_EQ(refusal({.extents = two, .out_strides = {1, 1}, .element_bytes = 4}).code, ErrorCode::value);
  EXPECT_EQ(report_of([&] { ShapeFamily({.extents = two, .element_bytes = 4}, {.threads = -1}); }).got,
            "-1 threads");
}

TEST(CpuFamilyEngine, RefusesCalls) {
  const ShapeFamily family({.extents = {up_to(10), exactly(3)}, .order = {1, 0}, .element_bytes = 4});
  std::vector<std::uint32_t> in(40);
  std::vector<std::uint32_t> out(40, 7);
  const auto refusal = [&](std::vector<std::uint64_t> extents, const void* from, void* to,
                           FamilyStrides strides = {}) {
    return report_of([&] { family.run(extents, from, to, {}, strides); });
  };
  EXPECT_EQ(refusal({}, in.data(), out.data()).got, "0 extents");
  EXPECT_EQ(refusal({11}, in.data(), out.data()).got, "an extent of 11 for axis 0");
  EXPECT_EQ(refusal({11}, in.data(), out.data()).wanted, "at most 10");
  EXPECT_EQ(refusal({5}, nullptr, out.data()).got, "a null input");
  EXPECT_EQ(refusal({5}, in.data(), nullptr).got, "a null output");
  EXPECT_EQ(refusal({5}, out.data() + 4, out.data()).code, ErrorCode::value);
  const std::int64_t met[] = {1, 1};
  EXPECT_EQ(refusal({5}, in.data(), out.data(), {.in = {}, .out = met}).code, ErrorCode::value);
  const std::int64_t one[] = {1};
  EXPECT_EQ(refusal({5}, in.data(), out.data(), {.in = one, .out = {}}).got, "1 strides of the input");
  EXPECT_EQ(report_of([&] {
              family.run({{5}}, in.data(), out.data(), Stream(reinterpret_cast<CUstream_st*>(&out)));
            }).got,
            "a stream for engine cpu");
  EXPECT_EQ(report_of([&] { family.run_on_device({.data = in.data()}, in.data(), out.data()); }).code,
            ErrorCode::unsupported);
  EXPECT_EQ(out, std::vector<std::uint32_t>(40, 7));
  family.run({{0}}, nullptr, nullptr);  // nothing to move
}

}  // namespace cpu_family_engine_test
}  // namespace faro
