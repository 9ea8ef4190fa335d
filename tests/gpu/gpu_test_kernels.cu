#include <cuda_runtime.h>

#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "faro/device/memory.hpp"
#include "gpu/gpu_test_tiles.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"

namespace faro::testing {

template <std::size_t number>
using TestParams = std::conditional_t<kTestTiles[number].kernel.blocked, kernels::AffineBlockedParams,
                                      kernels::AffineTileParams>;

template <std::size_t number>
__global__ void test_tile(const __grid_constant__ TestParams<number> params, const std::byte* in,
                          std::byte* out) {
  constexpr kernels::AffineTileShape shape = kTestTiles[number].kernel.shape;
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  device::DirectMemory memory{in, out, shared};
  kernels::load_tile<shape>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_tile<shape>(memory, params, blockIdx.x, threadIdx.x);
}

namespace {

template <std::size_t number>
const void* address_of_test_tile() {
  return reinterpret_cast<const void*>(&test_tile<number>);
}

template <std::size_t... number>
std::array<const void*, kTestTileCount> test_tiles(std::index_sequence<number...>) {
  return {address_of_test_tile<number>()...};
}

}  // namespace

void launch_test_tile(std::size_t number, const void* params, std::uint64_t blocks, const std::byte* in,
                      std::byte* out, Stream stream) {
  static const auto functions = test_tiles(std::make_index_sequence<kTestTileCount>());
  const kernels::AffineTileShape& shape = kTestTiles[number].kernel.shape;
  void* arguments[] = {const_cast<void*>(params), &in, &out};
  const cudaError_t error = cudaLaunchKernel(functions[number], dim3(static_cast<unsigned>(blocks)),
                                             dim3(static_cast<unsigned>(shape.threads())), arguments,
                                             static_cast<std::size_t>(shape.tile_bytes()), stream.handle());
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("a test tile: cudaLaunchKernel: ") + cudaGetErrorString(error));
  }
}

}  // namespace faro::testing
