// The text of emitted swizzle kernels: what is in it, what is left out, and what is refused.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle_kernels_support.hpp"

namespace faro::testing {
namespace emit_swizzle_text_test {

using namespace swizzle;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The comment's wrapped lines as one.
std::string joined(std::string text) {
  for (std::size_t at = text.find("\n// "); at != std::string::npos; at = text.find("\n// ", at))
    text.replace(at, 4, " ");
  return text;
}

TEST(EmitSwizzle, AnImagesText) {
  const Example example = make_example("conv-2d", {.struct_words = 3});
  const EmittedKernel kernel =
      swizzle::emit(example.sketch, example.known.front().valuation,
                    {.name = "k", .element_type = "float", .batch = 4, .tiling = example.tiling});
  EXPECT_EQ(kernel.threads, 128U);
  for (const char* part :
       {"// launch: <<<((tiles + 3) / 4), 128>>>, warps of 32 lanes",
        "// tiles = ((width + 7) / 8) * ((height + 3) / 4), for any `width` and `height` below 2^31, not 0,",
        "at most 4294967295 tiles.", "// I: height + 2 rows of width + 2 elements, read",
        "// w: 9 elements, read", "// O: height rows of width elements, written",
        "float* __restrict__ O, uint32_t width, uint32_t height)", "if (top >= height) return;"})
    EXPECT_TRUE(has(kernel.text, part)) << part << "\n" << kernel.text;
}

EmittedKernel emitted(const SwizzleKernel& kernel) {
  return swizzle::emit(kernel.program, kernel.valuation,
                       {.name = "k", .element_type = "uint32_t", .title = ""});
}

TEST(EmitSwizzle, TheStencilsText) {
  const EmittedKernel kernel = emitted(stencil_kernel(32, 2, false));
  EXPECT_TRUE(has(kernel.text, "i <= t ? rc[0] : rc[1]")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "sum += x;")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "#pragma unroll")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "= sum / 3u;")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "__shfl_sync(0xffffffffu, ")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "const uint32_t* __restrict__ I")) << kernel.text;
  EXPECT_FALSE(has(kernel.text, "for[")) << kernel.text;  // what only dead statements would use
  EXPECT_EQ(kernel.blocks, 2U);
  EXPECT_EQ(kernel.threads, 64U);
  EXPECT_EQ(kernel.shuffles, 3U);
  EXPECT_EQ(kernel.selects, 3U);
  EXPECT_EQ(kernel.live_accumulates, 1U);
  EXPECT_EQ(kernel.shared_bytes, 0U);
}

TEST(EmitSwizzle, DeadAccumulatesAndWhatOnlyTheyNeedAreGone) {
  SwizzleKernel kernel = poly_64_kernel(32);
  const EmittedKernel six = emitted(kernel);
  EXPECT_EQ(six.live_accumulates, 6U);
  EXPECT_EQ(six.shuffles, 128U);
  // Without the accumulates of b2, its 32 shuffles go too.
  for (const char* use : {"use2_a1b2", "use3_a2b2"})
    kernel.valuation.set(use, ConditionParameters{.literal = false});
  const EmittedKernel less = emitted(kernel);
  EXPECT_EQ(less.live_accumulates, 4U);
  EXPECT_EQ(less.shuffles, 96U);
}

// A grid has fewer than 2^31 blocks, two for each tile of a stencil; a tile's number is below 2^32.
TEST(EmitSwizzle, AnImageIsOneLaunch) {
  struct Case {
    std::string example;
    std::uint32_t batch;
    std::string limit;
  };
  for (const Case& c : std::vector<Case>{{"stencil-1d", 0, "1073741823"},
                                         {"stencil-1d", 1, "1073741823"},
                                         {"conv-1d", 0, "1073741823"},
                                         {"conv-1d", 2, "2147483646"},
                                         {"conv-1d", 8, "4294967295"},
                                         {"conv-2d", 0, "2147483647"},
                                         {"conv-2d", 8, "4294967295"}}) {
    SCOPED_TRACE(c.example + " by " + std::to_string(c.batch));
    const Example example = make_example(c.example, {});
    const EmittedKernel kernel =
        swizzle::emit(example.sketch, example.known.front().valuation,
                      {.name = "k", .element_type = "float", .batch = c.batch, .tiling = example.tiling});
    EXPECT_TRUE(has(joined(kernel.text), "that give at most " + c.limit + " tiles.")) << kernel.text;
  }
}

TEST(EmitSwizzle, ABatchsText) {
  const SwizzleKernel poly = poly_64_kernel(32);
  const EmittedKernel kernel = swizzle::emit(
      poly.program, poly.valuation, {.name = "k", .element_type = "uint32_t", .title = "", .batch = 4});
  EXPECT_EQ(kernel.threads, 128U);
  EXPECT_EQ(kernel.blocks, 1U);
  for (const char* part :
       {"// launch: <<<((problems + 3) / 4), 128>>>, warps of 32 lanes", "__launch_bounds__(128) k(",
        "uint32_t* __restrict__ c, uint32_t problems)",
        "const uint32_t problem = blockIdx.x * 4 + threadIdx.x / 32;", "if (problem >= problems) return;",
        "`problems` problems, at most 4294967295, one behind another", "a += uint64_t{problem} * 64;",
        "c += uint64_t{problem} * 128;", "threadIdx.x % 32"})
    EXPECT_TRUE(has(kernel.text, part)) << part << "\n" << kernel.text;
  EXPECT_FALSE(has(emitted(poly).text, "problems"));
}

TEST(EmitSwizzle, ColumnsAreBarrels) {
  for (const std::int64_t S : {2, 3, 4, 5, 6, 7, 8, 12, 16}) {
    const EmittedKernel kernel = emitted(rcr_kernel(S, 32));
    EXPECT_EQ(kernel.shuffles, 0U);
    EXPECT_FALSE(has(kernel.text, "shfl")) << kernel.text;
    ASSERT_EQ(kernel.notes.size(), 1U) << kernel.text;
    EXPECT_TRUE(has(kernel.notes[0], "a barrel of ")) << kernel.notes[0];
    // ceil(log2 of each digit's length), summed: at most one more than of S itself.
    int steps = 0;
    while ((1 << steps) < S) ++steps;
    EXPECT_LE(kernel.selects, static_cast<std::uint64_t>(S * (steps + 1))) << kernel.text;
  }
}

TEST(EmitSwizzle, AShuffleFromTheOwnLaneIsNone) {
  Specification spec;
  const Array I = spec.input("I", 32), O = spec.output("O", 32);
  Program p(spec, {.warp = 32, .warps = 1, .blocks = 1});
  const Registers x = p.registers("x", 1);
  p.load(x[0], I, lane_index());
  p.shuffle(x[0], x[0], lane_index() + 32);
  p.store(O, lane_index(), x[0], lane_index() < 100);
  const EmittedKernel kernel = swizzle::emit(p, Valuation(p), {});
  EXPECT_EQ(kernel.shuffles, 0U);
  EXPECT_FALSE(has(kernel.text, "shfl"));
  EXPECT_FALSE(has(kernel.text, "if (")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "void __launch_bounds__(32) kernel("));
}

TEST(EmitSwizzle, LoadsThatAreDemandedStay) {
  Specification spec;
  const Array I = spec.input("I", 34), O = spec.output("O", 32);
  for (std::int64_t k = 0; k < 32; ++k) {
    auto sum = spec.accumulator({});
    for (std::int64_t j = 0; j < 3; ++j) sum.add({spec.at(I, k + j)});
    spec.set(O, k, sum);
  }
  Program p(spec, {.warp = 32, .warps = 1, .blocks = 1});
  const Registers rc = p.registers("rc", 2);
  p.global_to_registers(rc, I, {.rounds = 2, .offset = 0, .size = Index(34), .lane = {}});
  p.present(rc, O, lane_index());
  const EmittedKernel kernel = swizzle::emit(p, Valuation(p), {});
  EXPECT_TRUE(has(kernel.text, "rc[round] = I[")) << kernel.text;
  EXPECT_TRUE(has(kernel.text, "hold all that it needs for `O`")) << kernel.text;
}

TEST(EmitSwizzle, CommentsCannotBecomeCode) {
  SwizzleKernel kernel = rcr_kernel(2, 32);
  const EmittedKernel text = swizzle::emit(
      kernel.program, kernel.valuation, {.name = "k", .element_type = "float", .title = "one\nint x = } \\"});
  EXPECT_EQ(text.text.rfind("// one int x = } /\n", 0), 0U) << text.text;
  // A command stays one line, however long, and as it is.
  const std::string long_words(150, 'x');
  const EmittedKernel command = swizzle::emit(
      kernel.program, kernel.valuation,
      {.name = "k", .element_type = "float", .command = "do 'a\n  b' " + long_words + "\\", .title = "one"});
  EXPECT_EQ(command.text.rfind("// do 'a   b' " + long_words + "/\n// one\n//\n", 0), 0U) << command.text;
}

std::string refusal(const std::function<void()>& call, ErrorCode code) {
  return test::message_of(code, call);
}

TEST(EmitSwizzle, Refusals) {
  const SwizzleKernel poly = poly_64_kernel(4);
  const SwizzleKernel rcr = rcr_kernel(3, 32);
  const auto with = [](const SwizzleKernel& k, const EmissionOptions& options) {
    return [&k, options] { swizzle::emit(k.program, k.valuation, options); };
  };
  for (const char* name : {"", "1k", "a b", "int", "k;", "_k", "main"})
    EXPECT_TRUE(has(refusal(with(rcr, {.name = name, .element_type = "float", .title = ""}), ErrorCode::spec),
                    "an identifier"))
        << name;
  EXPECT_TRUE(has(refusal(with(rcr, {.name = "k", .element_type = "double", .title = ""}), ErrorCode::spec),
                  "`double`"));
  EXPECT_TRUE(has(refusal(with(poly, {.name = "k", .element_type = "float", .title = ""}), ErrorCode::spec),
                  "bit operator `^`"));
  EXPECT_TRUE(
      has(refusal([&] { swizzle::emit(rcr.program, Valuation(rcr.program), {}); }, ErrorCode::spec), "load"));

  const auto program = [](std::int64_t warp, std::int64_t warps, std::int64_t size,
                          const std::function<void(Program&, Array, Array)>& body) {
    return [=] {
      Specification spec;
      const Array I = spec.input("I", size), O = spec.output("O", size);
      Program p(spec, {.warp = warp, .warps = warps, .blocks = 1});
      body(p, I, O);
      swizzle::emit(p, Valuation(p), {});
    };
  };
  const auto shuffles = [](Program& p, Array I, Array O) {
    const Registers x = p.registers("x", 1);
    p.load(x[0], I, lane_index());
    p.shuffle(x[0], x[0], lane_index() + 1);
    p.store(O, lane_index(), x[0]);
  };
  EXPECT_TRUE(has(refusal(program(12, 1, 12, shuffles), ErrorCode::unsupported), "12 lanes"));
  EXPECT_TRUE(has(refusal(program(64, 1, 64, shuffles), ErrorCode::unsupported), "64 lanes"));
  EXPECT_TRUE(has(refusal(program(32, 64, 64, shuffles), ErrorCode::unsupported), "1024 threads"));
  EXPECT_TRUE(has(refusal(program(32, 1, 31, shuffles), ErrorCode::spec), "I[31]"));
  const auto far = [](Program& p, Array I, Array O) {
    const Registers x = p.registers("x", 2);
    p.load(x[lane_index() / 8], I, 0);
    p.store(O, 0, x[0]);
  };
  EXPECT_TRUE(has(refusal(program(32, 1, 31, far), ErrorCode::spec), "x[2] in block 0, warp 0, lane 16"));
  const auto shared = [](Program& p, Array I, Array O) {
    const Array tile = p.shared("tile", 12289);
    const Registers x = p.registers("x", 1);
    p.load(x[0], I, 0);
    p.store(tile, 0, x[0]);
    p.store(O, 0, x[0]);
  };
  EXPECT_TRUE(has(refusal(program(32, 1, 1, shared), ErrorCode::unsupported), "49156 bytes"));

  const SwizzleKernel transpose = transpose_kernel();
  const SwizzleKernel odd = odd_kernel();
  const auto batch = [](std::uint32_t of) {
    return EmissionOptions{.name = "k", .element_type = "uint32_t", .title = "", .batch = of};
  };
  for (const SwizzleKernel* waiting : {&transpose, &odd})
    EXPECT_TRUE(has(refusal(with(*waiting, batch(2)), ErrorCode::unsupported), "2 problems a block"));
  EXPECT_TRUE(has(refusal(with(rcr, batch(33)), ErrorCode::unsupported), "1024 threads"));
  for (const Tiling& wrong : std::vector<Tiling>{{.rows = 1, .columns = 32, .widths = {32}},
                                                 {.rows = 0, .columns = 32, .widths = {32, 32}},
                                                 {.rows = 1, .columns = 32, .widths = {31, 32}},
                                                 {.rows = 4, .columns = 32, .widths = {32, 32}},
                                                 {.rows = 1, .columns = 32, .widths = {64, 32}},
                                                 {.rows = 1, .columns = 32, .widths = {-32, 32}}})
    EXPECT_TRUE(has(refusal(with(rcr, {.tiling = wrong}), ErrorCode::spec), "a tiling of"));
  EXPECT_TRUE(has(refusal(with(rcr, batch(4294967295U)), ErrorCode::unsupported), "4294967295 problems"));
}

}  // namespace emit_swizzle_text_test
}  // namespace faro::testing
