// Executables of networks: which arrays they take, what they refuse before writing anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "network_engine_support.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace network_executable_engine_test {

using namespace engine_testing;

TEST(NetworkExecutable, OneArrayWhereThePlanAllowsIt) {
  std::vector<std::uint32_t> data(1 << 12);
  SplitMix64 random{11};
  for (std::uint32_t& value : data) value = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> wanted = data;
  std::sort(wanted.begin(), wanted.end());
  int allowed = 0;
  for (const int m : {0, 12, 8}) {
    const Executable run =
        compile({.program = bitonic_sort(12), .element = {}, .batch = 1, .placement = Placement::in_place},
                {.engine = Engine::cpu, .tile_bits = m, .segment_bits = m == 8 ? 2 : 0});
    if (!run.runs_in_place()) continue;
    ++allowed;
    std::vector<std::uint32_t> once = data;
    run.run(once.data(), once.data(), once.size() * 4);
    EXPECT_EQ(once, wanted) << m;
  }
  EXPECT_GE(allowed, 2);

  // A bit reversal in tiles smaller than the array cannot.
  const Executable run = compile({.program = bmmc(maps::bit_reversal(12)), .element = {}},
                                 {.engine = Engine::cpu, .tile_bits = 6, .segment_bits = 3});
  ASSERT_FALSE(run.runs_in_place());
  const std::vector<std::uint32_t> before = data;
  EXPECT_THROW(run.run(data.data(), data.data(), data.size() * 4), Error);
  EXPECT_EQ(data, before);
}

// --- refusals

using test::message_of;

TEST(NetworkExecutable, RefusesArraysBeforeWritingThem) {
  const Executable run = compile({.program = fft(12), .element = {.scalar = Scalar::c64}},
                                 {.engine = Engine::cpu, .tile_bits = 6, .segment_bits = 2});
  const std::uint64_t bytes = run.plan().array_bytes();
  Bytes in(2 * bytes);
  Bytes out(bytes, std::byte{0xa5});
  const auto call = [&](const void* from, void* to, std::uint64_t size, Stream stream = {}) {
    const std::string text = message_of(ErrorCode::value, [&] { run.run(from, to, size, stream); });
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::byte b) { return b == std::byte{0xa5}; }));
    return text;
  };
  EXPECT_EQ(call(in.data(), out.data(), bytes - 8),
            "run network: got 32760 bytes, wanted 32768 bytes, batch x 2^n x element width");
  EXPECT_EQ(call(nullptr, out.data(), bytes), "run network: got a null input, wanted an array");
  EXPECT_EQ(call(in.data(), nullptr, bytes), "run network: got a null output, wanted an array");
  EXPECT_EQ(call(in.data(), in.data() + 64, bytes).rfind("run network: got overlapping arrays", 0), 0U);
  EXPECT_EQ(call(in.data() + bytes - 1, in.data(), bytes).rfind("run network: got overlapping arrays", 0),
            0U);
  EXPECT_EQ(call(in.data(), out.data(), bytes, Stream(reinterpret_cast<CUstream_st*>(out.data())))
                .rfind("run network: got a stream for engine cpu", 0),
            0U);
  EXPECT_NO_THROW(run.run(in.data() + bytes, in.data(), bytes)) << "neighbours do not overlap";
}

TEST(NetworkExecutable, RefusesOptionsAndOperators) {
  const Problem problem{.program = sort(4), .element = {}};
  EXPECT_NE(message_of(ErrorCode::value, [&] { compile(problem, {.engine = Engine::cpu, .device = 0}); })
                .find("device 0 for engine cpu"),
            std::string::npos);
  EXPECT_NE(message_of(ErrorCode::value, [&] { compile(problem, {.engine = Engine::cpu, .threads = -1}); })
                .find("-1 threads"),
            std::string::npos);
  EXPECT_NE(message_of(ErrorCode::value, [&] { compile(problem, {.engine = Engine::cpu, .threads = 5000}); })
                .find("5000 threads"),
            std::string::npos);
  EXPECT_NE(
      message_of(ErrorCode::value, [&] { compile({.program = fft(4), .element = {.scalar = Scalar::u32}}); })
          .find("fourier"),
      std::string::npos);
  const Problem text_only{.program = pairs(operators::user("mine", "for (;;) a = b;"), 4), .element = {}};
  EXPECT_EQ(
      message_of(ErrorCode::unsupported, [&] { compile(text_only, {.engine = Engine::cpu}); }),
      "pairs(mine) on engine cpu: got `for (;;) a = b;` at character 1 of its text, wanted a statement: `a = "
      "b;`, `auto t = a;`, `if (a < b) ...`; a CPU reads simple statements; give a host function in C++, or "
      "take engine cuda");
}

TEST(NetworkExecutable, EmptyBatchesAndDefaults) {
  const Executable run = compile({.program = sort(4), .element = {}, .batch = 0});
  EXPECT_EQ(run.engine(), Engine::cpu);
  EXPECT_NO_THROW(run.run(nullptr, nullptr, 0));
  EXPECT_NE(run.explain().find("cpu: "), std::string::npos);
}

}  // namespace network_executable_engine_test
}  // namespace faro::network
