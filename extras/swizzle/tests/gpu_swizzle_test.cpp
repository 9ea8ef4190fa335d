// Kernels of completed sketches on a GPU, compiled at run time: every one against the interpreter, between
// guard zones, for each type of element, and nothing in local memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "faro/engines/nvrtc.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "gpu/gpu_support.hpp"
#include "swizzle_arrays_support.hpp"
#include "swizzle_kernels_support.hpp"

namespace faro::testing {
namespace {

class GpuSwizzle : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const cuda::NvrtcStatus compiler = cuda::nvrtc_status();
    if (!compiler.available) GTEST_SKIP() << compiler.reason;
  }
};

template <typename T>
void check_kernel(const SwizzleKernel& kernel, const swizzle::EmittedKernel& emitted,
                  const cuda::RuntimeKernel& compiled) {
  SCOPED_TRACE(emitted.name + "\n" + emitted.text);
  const auto inputs = swizzle_inputs<T>(kernel, !std::is_floating_point_v<T>);
  const auto expected = swizzle_expected<T>(kernel, inputs);
  const auto& arrays = kernel.program.arrays();
  std::vector<std::vector<T>> host;
  std::vector<cuda::DeviceArray> device;
  std::vector<std::byte*> pointers;
  std::vector<std::size_t> numbers;  // of the arrays that are parameters
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (arrays[k].kind == swizzle::ArrayKind::shared) continue;
    const bool output = arrays[k].kind == swizzle::ArrayKind::output;
    numbers.push_back(k);
    host.push_back(output ? std::vector<T>(expected[k].size() + 2 * kSwizzleGuard, T{kSwizzlePoison})
                          : inputs[k]);
    device.emplace_back(host.back().size() * sizeof(T));
    device.back().upload(host.back().data());
    pointers.push_back(device.back().data() + (output ? kSwizzleGuard * sizeof(T) : 0));
  }
  std::vector<void*> arguments;
  for (std::byte*& pointer : pointers) arguments.push_back(&pointer);
  EXPECT_EQ(compiled.local_bytes(), 0U);
  EXPECT_EQ(compiled.static_shared_bytes(), emitted.shared_bytes);
  compiled.launch(emitted.blocks, static_cast<int>(emitted.threads), 1, 0, arguments.data(), {});
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    std::vector<T> wanted = host[k];
    const auto& results = expected[numbers[k]];
    for (std::size_t i = 0; i < results.size(); ++i) wanted[kSwizzleGuard + i] = results[i];
    std::vector<T> got(wanted.size());
    device[k].download(got.data());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], wanted[i]) << arrays[numbers[k]].name << " + " << i << " (guard " << kSwizzleGuard
                                   << ")";
  }
}

template <typename T>
void check_all(const std::string& type) {
  std::vector<SwizzleKernel> kernels = swizzle_kernels();
  std::vector<swizzle::EmittedKernel> emitted;
  std::string text;
  for (const SwizzleKernel& kernel : kernels) {
    if (std::is_floating_point_v<T> && kernel.integers) {
      emitted.emplace_back();
      continue;
    }
    emitted.push_back(swizzle::emit(kernel.program, kernel.valuation,
                                    {.name = kernel.name, .element_type = type, .title = ""}));
    text += emitted.back().text + "\n";
  }
  const auto module = cuda::compile({.text = text}, cuda::kCurrentDevice);
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (!emitted[k].text.empty()) check_kernel<T>(kernels[k], emitted[k], module->kernel(emitted[k].name));
}

TEST_F(GpuSwizzle, KernelsOfWords) { check_all<std::uint32_t>("uint32_t"); }
TEST_F(GpuSwizzle, KernelsOfDoubleWords) { check_all<std::uint64_t>("uint64_t"); }
TEST_F(GpuSwizzle, KernelsOfFloats) { check_all<float>("float"); }

}  // namespace
}  // namespace faro::testing
