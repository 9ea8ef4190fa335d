// Emitted conversions: run on the CPU, lane by lane with waits at shuffles, and compiled by nvcc.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#define FARO_WARP_ON_CPU_HOST
#include "emitted/warp_on_cpu.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle_exchange_support.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace swizzle_exchange_emit_test {

using namespace exchange;

struct Pair {
  const char* from;
  const char* to;
  int element;
};
constexpr Pair kPairs[] = {
    {"mma.m16n8.C", "mma.m16n8k8.A", 32},
    {"mma.m16n8.C[16x16]", "mma.m16n8k16.A", 16},
    {"mma.m16n8.C[16x16]", "trans(mma.m16n8.C)[16x16]", 16},
    {"ldmatrix.x4", "ldmatrix.x4.trans", 16},
    {"ldmatrix.x1", "ldmatrix.x1.trans", 16},
    {"wgmma.m64n16.C", "wgmma.m64k16.A", 16},
    {"wgmma.m64n8.C", "wgmma.m64k8.A", 32},
    {"mma.m16n8k32.A", "contiguous(16)", 8},
    {"strided(16)", "contiguous(16)", 8},
    {"contiguous(8)", "strided(8)", 64},
    {"contiguous(1)", "matrix(0, 5, 0: 00001 00010 00100 01000 10000)", 32},
    {"mma.m8n8k4.C[4x8x8]", "blocked(1x1x8, 4x8x1, 1x1x1)", 32},
    {"tcgen05.16x256b.x4", "tcgen05.16x128b.x8", 32},
    {"strided(2)", "contiguous(2)", 8},
    {"blocked(1x4, 8x4, 1x1)", "blocked(4x1, 2x16, 1x1)", 16},
};

struct Emitted {
  Conversion conversion;
  EmittedConversion code;
  bool shared = false;
};

std::vector<Emitted> emit_all() {
  std::vector<Emitted> all;
  const auto add = [&](const Layout& from, const Layout& to, int element) {
    const Conversion c = convert(from, to, {.element = element, .attempts = 8});
    for (const bool shared : {false, true}) {
      if (shared && !c.shared) continue;
      const std::string name = "convert_" + std::to_string(all.size());
      all.push_back({c, emit_conversion(c, {.name = name, .command = "", .shared = shared}), shared});
    }
  };
  for (const Pair& p : kPairs) add(parse_layout(p.from, p.element), parse_layout(p.to, p.element), p.element);
  std::mt19937_64 random(42);
  for (int round = 0; round < 40; ++round) {
    const int element = 8 << round % 4;
    const int registers = static_cast<int>(random() % 4);
    const Layout from = random_layout(registers, 5, random);
    add(from, random_layout(registers, 5, random), element);
  }
  return all;
}

// A kernel around it: lane by lane, the registers of a lane behind one another.
std::string kernel_of(const Emitted& e) {
  std::string code = e.code.text;
  code.erase(code.find("#pragma once"), std::string("#pragma once").size());
  const std::string from = std::to_string(e.conversion.words_from);
  const std::string to = std::to_string(e.conversion.words_to);
  return code + "extern \"C\" __global__ void run_" + e.code.name +
         "(const uint32_t* from, uint32_t* to) {\n" +
         (e.shared
              ? "  __shared__ uint4 shared[" + std::to_string((e.conversion.shared->bytes + 15) / 16) + "];\n"
              : "") +
         "  const uint32_t lane = threadIdx.x;\n  uint32_t in[" + from + "];\n  uint32_t out[" + to +
         "];\n#pragma unroll\n  for (int i = 0; i < " + from + "; ++i) in[i] = from[" + from +
         " * lane + i];\n  " + e.code.name + "(in, out, lane" +
         (e.shared ? ", reinterpret_cast<char*>(shared)" : "") +
         ");\n#pragma unroll\n  for (int i = 0; i < " + to + "; ++i) to[" + to +
         " * lane + i] = out[i];\n}\n";
}

TEST(ExchangeEmit, RunsOnTheCpu) {
  const std::vector<Emitted> all = emit_all();
  WarpLibrary library;
  for (const Emitted& e : all) library.add(kernel_of(e));
  library.build();
  int through_shared = 0;
  for (const Emitted& e : all) {
    const Conversion& c = e.conversion;
    const auto data = random_bytes(c.from, c.element, 9);
    auto from = held_registers(c.from, c.element, c.words_from, 0, data);
    const auto wanted = held_registers(c.to, c.element, c.words_to, 0, data);
    for (const Order order : {Order::forward, Order::backward}) {
      std::vector<std::uint32_t> to(wanted.size() + 2, 0xdeadbeef);
      library.run("run_" + e.code.name, {.blocks = 1, .threads = 32}, {from.data(), to.data() + 1}, order);
      EXPECT_EQ(to.front(), 0xdeadbeef);
      EXPECT_EQ(to.back(), 0xdeadbeef);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_EQ(to[i + 1] & filled_bits(c.to, c.element), wanted[i]) << i << "\n" << e.code.text;
    }
    through_shared += e.shared ? 1 : 0;
  }
  EXPECT_GT(through_shared, 40);
}

#if defined(FARO_TEST_NVCC)
TEST(ExchangeEmit, NvccKeepsItInRegisters) {
  const std::vector<Emitted> all = emit_all();
  const ScratchDirectory scratch;
  const auto path = [&](const std::string& name) { return "'" + (scratch.path() / name).string() + "'"; };
  std::string text;
  int shuffles = 0;
  for (const Emitted& e : all) {
    text += kernel_of(e);
    shuffles += e.shared ? 0 : e.conversion.program.counts().shuffles;
  }
  std::ofstream(scratch.path() / "all.cu") << text;
  const std::string nvcc = std::string("'") + FARO_TEST_NVCC + "' -std=c++17 -Werror all-warnings";
  run_command(nvcc + " -arch=compute_80 -ptx -o " + path("all.ptx") + " " + path("all.cu"),
              scratch.path() / "log");
  const std::string ptx = read_text(scratch.path() / "all.ptx");
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
  EXPECT_EQ(test::occurrences(ptx, "shfl.sync"), shuffles);
  const std::string said =
      run_command(nvcc + " -Xptxas -v -cubin -arch=sm_90 -o " + path("all.cubin") + " " + path("all.ptx"),
                  scratch.path() / "log");
  EXPECT_EQ(test::occurrences(said, " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"),
            static_cast<int>(all.size()))
      << said;
}
#endif

TEST(ExchangeEmit, RefusesOtherWarps) {
  const Layout c = parse_layout("mfma.16x16.C", 32);
  const Conversion conversion = convert(c, parse_layout("trans(mfma.16x16.C)", 32));
  EXPECT_EQ(test::code_of([&] { emit_conversion(conversion, {}); }), ErrorCode::unsupported);
}

}  // namespace swizzle_exchange_emit_test
}  // namespace faro::testing
