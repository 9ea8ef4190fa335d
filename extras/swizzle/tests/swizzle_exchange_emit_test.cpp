// Emitted conversions: run on the CPU, lane by lane with waits at shuffles, and compiled by nvcc.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <regex>

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
    // Between warps.
    {"wgmma.m64n32.C", "blocked(1x16, 16x2, 4x1)", 16},
    {"wgmma.m64n16.C", "blocked(1x8, 16x2, 4x1)", 32},
    {"blocked(1x8, 8x4, 4x1)", "trans(blocked(1x8, 8x4, 4x1))", 16},
    // From and to memory.
    {"tma.128B(64x64)", "mma.m16n8k16.A[64x64]", 16},
    {"tma.128B(64x64)", "mma.m16n8k16.B[64x64]", 16},
    {"tma.64B(16x64)", "mma.m16n8k32.A[16x64]", 8},
    {"tma.32B(16x8)", "mma.m16n8.C", 32},
    {"wgmma.m64n64.C", "tma.128B(64x64)", 16},
    {"trans(mma.m16n8.C[16x16])", "tma.32B(16x16)", 16},
    {"mma.m16n8.C[16x32]", "tma.32B(16x32)", 8},
};

struct Emitted {
  Conversion conversion;
  EmittedConversion code;
};

std::vector<Emitted> emit_all() {
  std::vector<Emitted> all;
  const auto add = [&](const Layout& from, const Layout& to, int element, int capability) {
    const Conversion c = convert(from, to, {.element = element, .attempts = 8, .capability = capability});
    for (const Way way : {Way::registers, Way::shared}) {
      if (way == Way::shared && (!c.shared || !c.has_program())) continue;
      const std::string name = "convert_" + std::to_string(all.size());
      all.push_back({c, emit_conversion(c, {.name = name, .command = "", .way = way})});
    }
  };
  std::mt19937_64 random(42);
  for (const Pair& p : kPairs)
    for (const int capability : {70, 90})
      add(parse_layout(p.from, p.element), parse_layout(p.to, p.element), p.element, capability);
  for (int round = 0; round < 16; ++round) {
    const int element = 8 << round % 4;
    const int registers = static_cast<int>(random() % 4);
    const Layout from = random_layout(registers, 5, random);
    add(from, random_layout(registers, 5, random), element, 90);
    const auto [one, other] = random_block_layouts(random);
    add(one, other, element, 90);
  }
  return all;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// ldmatrix and stmatrix as the PTX ISA tells of them, by shuffles of rows' addresses and of halves.
constexpr const char* kMatrices = R"cpp(
  template <bool is_trans>
  inline char* matrix_half(char* row, int matrix, int half) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned r = is_trans ? 2 * (lane % 4) + half : lane / 4;
    const unsigned column = is_trans ? lane / 4 : 2 * (lane % 4) + half;
    return __shfl_sync(0xffffffffu, row, static_cast<int>(8 * matrix + r)) + 2 * column;
  }
  template <int matrices, bool is_trans>
  inline void load_matrices(char* row, uint32_t* out) {
    for (int m = 0; m < matrices; ++m) {
      out[m] = 0;
      for (int half = 0; half < 2; ++half)
        out[m] |= uint32_t{*reinterpret_cast<uint16_t*>(matrix_half<is_trans>(row, m, half))} << 16 * half;
    }
  }
  template <int matrices, bool is_trans>
  inline void store_matrices(char* row, const uint32_t* in) {
    for (int m = 0; m < matrices; ++m)
      for (int half = 0; half < 2; ++half)
        *reinterpret_cast<uint16_t*>(matrix_half<is_trans>(row, m, half)) =
            static_cast<uint16_t>(in[m] >> 16 * half);
  }
)cpp";

// Its inline PTX as calls of those.
std::string without_ptx(const std::string& text) {
  static const std::regex load(
      R"(asm volatile\("ldmatrix\.sync\.aligned\.m8n8\.x(\d)(\.trans)?\.shared\.b16 .*?" : "=r"\((out\[\d+\]).*: "r"\(static_cast<uint32_t>\(__cvta_generic_to_shared\((.*)\)\)\) : "memory"\);)");
  static const std::regex store(
      R"(asm volatile\("stmatrix\.sync\.aligned\.m8n8\.x(\d)(\.trans)?\.shared\.b16 .*?" :: "r"\(static_cast<uint32_t>\(__cvta_generic_to_shared\((.*)\)\)\), "r"\((in\[\d+\]).* : "memory"\);)");
  std::string code = std::regex_replace(text, load, "load_matrices<$1, 0$2>(const_cast<char*>($4), &$3);");
  code = std::regex_replace(code, store, "store_matrices<$1, 0$2>($3, &$4);");
  EXPECT_EQ(code.find("asm"), std::string::npos) << text;
  return replaced(code, "0.trans", "1");
}

// A kernel around it: warp by warp and lane by lane, the registers of a lane behind one another.
std::string kernel_of(const Emitted& e) {
  const Conversion& c = e.conversion;
  std::string code = replaced(e.code.text, "#pragma once", "");
  const std::string from = std::to_string(c.words_from);
  const std::string to = std::to_string(c.words_to);
  code += "extern \"C\" __global__ void run_" + e.code.name + "(const uint32_t* from, uint32_t* to) {\n";
  if (e.code.is_shared)
    code += "  __shared__ uint4 shared[" + std::to_string((c.shared->bytes + 15) / 16) + "];\n";
  code += "  const uint32_t thread = threadIdx.x;\n";
  const std::string words = std::to_string(c.memory_bytes / 4);
  const std::string threads = std::to_string(32 << c.warp_bits);
  if (c.is_load()) {
    code += "  for (int i = thread; i < " + words + "; i += " + threads +
            ") reinterpret_cast<uint32_t*>(shared)[i] = from[i];\n  __syncthreads();\n";
  } else {
    code += "  uint32_t in[" + from + "];\n#pragma unroll\n  for (int i = 0; i < " + from +
            "; ++i) in[i] = from[" + from + " * thread + i];\n";
  }
  if (!c.is_store()) code += "  uint32_t out[" + to + "];\n";
  const std::string shared = "reinterpret_cast<char*>(shared)";
  code += "  " + e.code.name + "(" + (c.is_load() ? shared : "in") + ", " + (c.is_store() ? shared : "out") +
          ", thread" + (e.code.is_shared && !c.is_load() && !c.is_store() ? ", " + shared : "") + ");\n";
  if (c.is_store())
    return code + "  __syncthreads();\n  for (int i = thread; i < " + words + "; i += " + threads +
           ") to[i] = reinterpret_cast<uint32_t*>(shared)[i];\n}\n";
  return code + "#pragma unroll\n  for (int i = 0; i < " + to + "; ++i) to[" + to +
         " * thread + i] = out[i];\n}\n";
}

// What the kernel takes or gives: bytes of memory, or the registers of the warps that a launch has.
std::vector<std::uint32_t> held(const Conversion& c, bool is_source, const std::vector<std::uint8_t>& data) {
  const Layout& layout = is_source ? c.from : c.to;
  const int words = is_source ? c.words_from : c.words_to;
  std::vector<std::uint32_t> all;
  if (words == 0) {
    const std::vector<std::uint8_t> bytes = held_bytes(layout, c.element, data);
    all.resize(bytes.size() / 4);
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  for (std::uint32_t warp = 0; warp < 1U << c.warp_bits; ++warp) {
    const auto one = held_registers(layout, c.element, words, warp, data);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST(ExchangeEmit, RunsOnTheCpu) {
  const std::vector<Emitted> all = emit_all();
  WarpLibrary library;
  library.add("#include <cstdint>\nusing std::uint16_t;\nusing std::uint32_t;");
  library.add(kMatrices);
  for (const Emitted& e : all) library.add(without_ptx(kernel_of(e)));
  library.build();
  int through_shared = 0;
  int matrices = 0;
  int blocks = 0;
  for (const Emitted& e : all) {
    const Conversion& c = e.conversion;
    const auto data = random_bytes(c.from, c.element, 9);
    auto from = held(c, true, data);
    const auto wanted = held(c, false, data);
    const std::uint32_t filled = c.is_store() ? ~0U : filled_bits(c.to, c.element);
    for (const Order order : {Order::forward, Order::backward}) {
      std::vector<std::uint32_t> to(wanted.size() + 2, 0xdeadbeef);
      library.run("run_" + e.code.name, {.blocks = 1, .threads = 32U << c.warp_bits},
                  {from.data(), to.data() + 1}, order);
      EXPECT_EQ(to.front(), 0xdeadbeef);
      EXPECT_EQ(to.back(), 0xdeadbeef);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_EQ(to[i + 1] & filled, wanted[i]) << i << "\n" << e.code.text;
    }
    through_shared += e.code.is_shared ? 1 : 0;
    matrices += e.code.text.find("stmatrix.sync") != std::string::npos ? 1 : 0;
    blocks += c.warp_bits > 0 ? 1 : 0;
  }
  EXPECT_GT(through_shared, 40);
  EXPECT_GT(matrices, 4);
  EXPECT_GT(blocks, 15);
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
    shuffles += e.code.is_shared ? 0 : e.conversion.program.counts().shuffles;
  }
  std::ofstream(scratch.path() / "all.cu") << text;
  const std::string nvcc = std::string("'") + FARO_TEST_NVCC + "' -std=c++17 -Werror all-warnings";
  run_command(nvcc + " -arch=compute_90 -ptx -o " + path("all.ptx") + " " + path("all.cu"),
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
