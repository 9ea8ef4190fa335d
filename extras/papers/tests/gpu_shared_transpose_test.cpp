// The transposes in shared memory that are profiled and timed, on a GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "cuda/shared_transpose.hpp"
#include "faro/error.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

using cuda::SharedLayout;
using cuda::SharedTranspose;
using kernels::TransposeOrder;

constexpr std::uint32_t w = cuda::kTransposeWidth;

class GpuSharedTranspose : public GpuTest {};

template <typename Element>
std::uint64_t wrong_elements(const SharedTranspose& transpose) {
  constexpr std::uint32_t blocks = 3;
  std::vector<Element> host(std::size_t{blocks} * w * w);
  std::iota(host.begin(), host.end(), Element{1});
  const std::uint64_t bytes = host.size() * sizeof(Element);
  cuda::DeviceArray in(bytes);
  const cuda::DeviceArray out(bytes);
  in.upload(host.data());
  check_cuda(cudaMemset(out.data(), 0xA5, bytes), "cudaMemset");
  cuda::run(transpose, in.data(), out.data(), blocks, 3);
  std::vector<Element> result(host.size());
  out.download(result.data());
  std::uint64_t wrong = 0;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (std::uint32_t i = 0; i < w; ++i) {
      for (std::uint32_t j = 0; j < w; ++j) {
        wrong += result[(b * w + j) * w + i] != host[(b * w + i) * w + j];
      }
    }
  }
  return wrong;
}

TEST_F(GpuSharedTranspose, TransposesInSharedMemory) {
  for (const TransposeOrder order : {TransposeOrder::crsw, TransposeOrder::srcw, TransposeOrder::drdw}) {
    for (const SharedLayout layout : {SharedLayout::raw, SharedLayout::ras, SharedLayout::rap}) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        EXPECT_EQ(wrong_elements<std::uint32_t>({order, layout, 4, seed}), 0U) << static_cast<int>(order);
        EXPECT_EQ(wrong_elements<std::uint64_t>({order, layout, 8, seed}), 0U) << static_cast<int>(order);
      }
    }
  }
}

// The kernel as the paper prints it is wrong, unless the layout turns nothing.
TEST_F(GpuSharedTranspose, ThePrintedKernelIsWrong) {
  EXPECT_GT(wrong_elements<std::uint32_t>({TransposeOrder::crsw_as_printed, SharedLayout::rap, 4, 1}), 2000U);
  EXPECT_EQ(wrong_elements<std::uint32_t>({TransposeOrder::crsw_as_printed, SharedLayout::raw, 4, 1}), 0U);
}

TEST_F(GpuSharedTranspose, RefusesOtherElements) {
  EXPECT_THROW(cuda::run({.element_bytes = 2}, nullptr, nullptr, 1, 1), Error);
}

}  // namespace
}  // namespace faro::testing
