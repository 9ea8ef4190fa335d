// Emitted conversions: run on the CPU, lane by lane with waits at shuffles, and compiled by nvcc.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#define FARO_WARP_ON_CPU_HOST
#include "emitted/warp_on_cpu.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle_exchange_kernels.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace swizzle_exchange_emit_test {

using namespace exchange;

// ldmatrix, stmatrix and movmatrix as the PTX ISA tells of them, by shuffles of rows' addresses and of
// halves.
constexpr const char* kMatrices = R"cpp(
  template <bool is_trans>
  inline char* matrix_half(char* row, int matrix, int half) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned r = is_trans ? 2 * (lane % 4) + half : lane / 4;
    const unsigned column = is_trans ? lane / 4 : 2 * (lane % 4) + half;
    return __shfl_sync(0xffffffffu, row, static_cast<int>(8 * matrix + r)) + 2 * column;
  }
  inline uint32_t transposed_matrix(uint32_t word) {
    const unsigned lane = threadIdx.x % 32;
    uint32_t result = 0;
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = 2 * (lane % 4) + half;
      const unsigned column = lane / 4;
      const uint32_t other = __shfl_sync(0xffffffffu, word, static_cast<int>(4 * row + column / 2));
      result |= (other >> 16 * (column % 2) & 0xffffu) << 16 * half;
    }
    return result;
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
  static const std::regex move(
      R"(asm volatile\("movmatrix.*?" : "=r"\((out\[\d+\])\) : "r"\((in\[\d+\])\)\);)");
  std::string code = std::regex_replace(text, move, "$1 = transposed_matrix($2);");
  code = std::regex_replace(code, load, "load_matrices<$1, 0$2>(const_cast<char*>($4), &$3);");
  code = std::regex_replace(code, store, "store_matrices<$1, 0$2>($3, &$4);");
  EXPECT_EQ(code.find("asm"), std::string::npos) << text;
  return replaced(code, "0.trans", "1");
}

TEST(ExchangeEmit, RunsOnTheCpu) {
  const std::vector<EmittedExchange> all = emitted_exchanges();
  WarpLibrary library;
  library.add("#include <cstdint>\nusing std::uint16_t;\nusing std::uint32_t;");
  library.add(kMatrices);
  for (const EmittedExchange& e : all) library.add(without_ptx(exchange_kernel(e)));
  library.build();
  int through_shared = 0;
  int matrices = 0;
  int blocks = 0;
  int transposed = 0;
  for (const EmittedExchange& e : all) {
    const Conversion& c = e.conversion;
    const auto data = random_bytes(c.from, c.element, 9);
    auto from = exchanged_words(c, true, data);
    const auto wanted = exchanged_words(c, false, data);
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
    transposed += e.code.text.find("movmatrix.sync") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(through_shared, 40);
  EXPECT_GT(matrices, 4);
  EXPECT_GT(transposed, 2);
  EXPECT_GT(blocks, 15);
}

#if defined(FARO_TEST_NVCC)
TEST(ExchangeEmit, NvccKeepsItInRegisters) {
  const std::vector<EmittedExchange> all = emitted_exchanges();
  const ScratchDirectory scratch;
  const auto path = [&](const std::string& name) { return "'" + (scratch.path() / name).string() + "'"; };
  std::string text;
  int shuffles = 0;
  int transposed = 0;
  for (const EmittedExchange& e : all) {
    text += exchange_kernel(e);
    if (e.code.is_shared) continue;
    transposed += static_cast<int>(e.conversion.transposed.size());
    shuffles += e.conversion.transposed.empty() ? e.conversion.program.counts().shuffles : 0;
  }
  std::ofstream(scratch.path() / "all.cu") << text;
  const std::string nvcc = std::string("'") + FARO_TEST_NVCC + "' -std=c++17 -Werror all-warnings";
  run_command(nvcc + " -arch=compute_90 -ptx -o " + path("all.ptx") + " " + path("all.cu"),
              scratch.path() / "log");
  const std::string ptx = read_text(scratch.path() / "all.ptx");
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
  EXPECT_EQ(test::occurrences(ptx, "shfl.sync"), shuffles);
  EXPECT_EQ(test::occurrences(ptx, "movmatrix.sync"), transposed);
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
