// Kernels of completed sketches, compiled by nvcc: no warnings, nothing in local memory, and the shuffles
// that are promised.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "emitted/emitted_library.hpp"  // ScratchDirectory, run_command
#include "engines/cuda/nvrtc.hpp"
#include "swizzle_kernels_support.hpp"
#include "text_search.hpp"

namespace faro::testing {
namespace {

#if defined(FARO_TEST_NVCC)
const std::string kNvcc = std::string("'") + FARO_TEST_NVCC + "' -std=c++20 -Werror all-warnings";
#else
const std::string kNvcc;
#endif

using test::occurrences;

TEST(EmitSwizzleNvcc, NothingIsInLocalMemory) {
  if (kNvcc.empty()) GTEST_SKIP() << "this build has no CUDA compiler";
  std::string text;
  std::uint64_t shuffles = 0;
  int kernels = 0;
  for (const SwizzleKernel& kernel : swizzle_kernels()) {
    const auto emitted = swizzle::emit(
        kernel.program, kernel.valuation,
        {.name = kernel.name, .element_type = kernel.integers ? "uint32_t" : "float", .title = ""});
    text += emitted.text + "\n";
    shuffles += emitted.shuffles;
    ++kernels;
  }
  const ScratchDirectory scratch;
  const auto path = [&](const std::string& name) { return "'" + (scratch.path() / name).string() + "'"; };
  std::ofstream(scratch.path() / "all.cu") << text;
  run_command(kNvcc + " -arch=compute_80 -ptx -o " + path("all.ptx") + " " + path("all.cu"),
              scratch.path() / "log");
  const std::string ptx = read_text(scratch.path() / "all.ptx");
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
  EXPECT_EQ(occurrences(ptx, ".entry "), kernels);
  EXPECT_EQ(static_cast<std::uint64_t>(occurrences(ptx, "shfl.sync")), shuffles);
  for (const std::string arch : {"sm_80", "sm_90"}) {
    const std::string said = run_command(
        kNvcc + " -Xptxas -v -cubin -o " + path("all.cubin") + " " + path("all.ptx") + " -arch=" + arch,
        scratch.path() / "log");
    EXPECT_EQ(occurrences(said, " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), kernels)
        << said;
    EXPECT_EQ(occurrences(said, "bytes stack frame"), kernels) << said;
  }
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

}  // namespace
}  // namespace faro::testing
