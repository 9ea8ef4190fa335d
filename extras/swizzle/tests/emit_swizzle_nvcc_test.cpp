// Kernels of completed sketches, compiled by nvcc: no warnings, nothing in local memory, and the shuffles
// that are promised.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "emitted/emitted_library.hpp"  // ScratchDirectory, run_command
#include "faro/engines/nvrtc.hpp"
#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "swizzle_kernels_support.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace emit_swizzle_nvcc_test {

#if defined(FARO_TEST_NVCC)
const std::string kNvcc = std::string("'") + FARO_TEST_NVCC + "' -std=c++20 -Werror all-warnings";
#else
const std::string kNvcc;
#endif

using test::occurrences;

// Kernels in one text, and what they promise.
struct Kernels {
  std::string text;
  std::uint64_t shuffles = 0;  // instructions: two of 4 bytes for an element of 8
  int count = 0;

  void add(const swizzle::EmittedKernel& emitted, const std::string& type) {
    text += emitted.text + "\n";
    shuffles += emitted.shuffles * (type == "uint64_t" ? 2 : 1);
    ++count;
  }
};

void expect_in_registers(const Kernels& kernels) {
  const ScratchDirectory scratch;
  const auto path = [&](const std::string& name) { return "'" + (scratch.path() / name).string() + "'"; };
  std::ofstream(scratch.path() / "all.cu") << kernels.text;
  run_command(kNvcc + " -arch=compute_80 -ptx -o " + path("all.ptx") + " " + path("all.cu"),
              scratch.path() / "log");
  const std::string ptx = read_text(scratch.path() / "all.ptx");
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
  EXPECT_EQ(occurrences(ptx, ".entry "), kernels.count);
  EXPECT_EQ(static_cast<std::uint64_t>(occurrences(ptx, "shfl.sync")), kernels.shuffles);
  for (const std::string arch : {"sm_80", "sm_90"}) {
    const std::string said = run_command(
        kNvcc + " -Xptxas -v -cubin -o " + path("all.cubin") + " " + path("all.ptx") + " -arch=" + arch,
        scratch.path() / "log");
    EXPECT_EQ(occurrences(said, " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"),
              kernels.count)
        << said;
    EXPECT_EQ(occurrences(said, "bytes stack frame"), kernels.count) << said;
  }
}

TEST(EmitSwizzleNvcc, NothingIsInLocalMemory) {
  if (kNvcc.empty()) GTEST_SKIP() << "this build has no CUDA compiler";
  Kernels kernels;
  for (const SwizzleKernel& kernel : swizzle_kernels()) {
    const std::string type = kernel.integers ? "uint32_t" : "float";
    kernels.add(swizzle::emit(kernel.program, kernel.valuation,
                              {.name = kernel.name, .element_type = type, .title = ""}),
                type);
  }
  expect_in_registers(kernels);
}

// What `faro synth EXAMPLE --emit FILE --image` writes, with and without --batch, of every type of element.
TEST(EmitSwizzleNvcc, KernelsOfImages) {
  if (kNvcc.empty()) GTEST_SKIP() << "this build has no CUDA compiler";
  Kernels kernels;
  for (const swizzle::ExampleName& listed : swizzle::example_names()) {
    for (const std::int64_t words : {3, 7}) {
      if (listed.default_words == 0 && words > 3) continue;  // takes none
      const swizzle::Example example = swizzle::make_example(
          listed.name, {.struct_words = listed.default_words == 0 ? 0 : words, .warp = 32});
      if (!example.tiling) continue;
      swizzle::SynthesisOptions search;
      search.keep = 1;
      const auto found = swizzle::synthesise(example.specification, example.sketch, search);
      ASSERT_TRUE(found.best) << listed.name;
      for (const std::string type : {"uint32_t", "uint64_t", "float"})
        for (const std::uint32_t batch : {0U, 1U, 8U})
          kernels.add(swizzle::emit(example.sketch, found.best->valuation,
                                    {.name = "image_" + std::to_string(kernels.count),
                                     .element_type = type,
                                     .title = "",
                                     .batch = batch,
                                     .tiling = example.tiling}),
                      type);
    }
  }
  EXPECT_EQ(kernels.count, 4 * 9);  // stencil-1d, conv-1d, conv-2d of 3 and of 7
  expect_in_registers(kernels);
}

// As the tests on a GPU compile them: each type of element in one text.
TEST(EmitSwizzleNvcc, TheRuntimeCompilerTakesThem) {
  const cuda::NvrtcStatus status = cuda::nvrtc_status();
  if (!status.available) GTEST_SKIP() << status.reason;
  for (const std::string type : {"uint32_t", "uint64_t", "float"}) {
    std::string text;
    for (const SwizzleKernel& kernel : swizzle_kernels()) {
      if (type == "float" && kernel.integers) continue;
      text += swizzle::emit(kernel.program, kernel.valuation,
                            {.name = kernel.name, .element_type = type, .title = ""})
                  .text +
              "\n";
    }
    EXPECT_FALSE(cuda::compile_text({.text = text}, 9, 0).code.empty()) << type;
  }
}

}  // namespace emit_swizzle_nvcc_test
}  // namespace faro::testing
