// Boxes of axes, and of any strided view: one kernel a shape of kernels/axes_box.hpp.
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "kernels/axes_box.hpp"
#include "kernels/axes_ragged_box.hpp"

namespace faro::cuda {
namespace {

// Input goes to shared memory by the machine's own copies, all of a block's at a time.
struct BoxMemory : TileMemory {
  using TileMemory::TileMemory;

  __device__ const std::byte* input_cursor(std::uint64_t offset) const { return sectors.input + offset; }
  __device__ std::byte* output_cursor(std::uint64_t offset) const { return sectors.output + offset; }
  template <int bytes>
  __device__ device::Packet<bytes> load_cursor(const std::byte* from) const {
    return load_global<bytes>(device::kInput, static_cast<std::uint64_t>(from - sectors.input));
  }
  template <int bytes>
  __device__ void store_cursor(std::byte* to, const device::Packet<bytes>& packet) const {
    store_global<bytes>(device::kOutput, static_cast<std::uint64_t>(to - sectors.output), packet);
  }
  /// Arrives before wait() returns. `bytes`: 4, 8 or 16.
  template <int bytes>
  __device__ void copy_to_shared(const std::byte* from, std::uint32_t address) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(sectors.shared + address));
    if constexpr (bytes == 16) {
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                   "l"(sectors.load_policy)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
    }
  }
  /// For the calling thread's own copies; a barrier must follow.
  static __device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

template <std::size_t index>
__global__ void __launch_bounds__(kernels::kBoxThreads, 4)
    permute_axes_box(const __grid_constant__ kernels::AxesBoxParams params, const std::byte* in,
                     std::byte* out) {
  constexpr kernels::BoxShape shape = kernels::kBoxShapes[index];
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  BoxMemory memory(in, out, shared, params.in_sectors != 0, params.out_sectors != 0);
  kernels::prepare_box<shape>(memory, params, blockIdx.x, threadIdx.x);
  if constexpr (shape.ragged) {
    __syncthreads();
    kernels::read_box<shape>(memory, params, threadIdx.x);
    BoxMemory::wait();
    __syncthreads();
    kernels::write_box<shape>(memory, params, threadIdx.x);
  } else {
    // What depends on the thread alone is worked out while it waits.
    const auto reader = kernels::box_reader<shape>(params, threadIdx.x);
    __syncthreads();
    kernels::load_box<shape>(memory, params, reader);
    const kernels::BoxWriter<shape> writer(params, threadIdx.x);
    BoxMemory::wait();
    __syncthreads();
    kernels::store_box<shape>(memory, params, writer, threadIdx.x);
  }
}

}  // namespace

KernelEntry axes_box_kernel(const kernels::BoxShape& wanted) {
  return find_entry<std::size(kernels::kBoxShapes)>([&](auto number) -> KernelEntry {
    constexpr std::size_t index = decltype(number)::value;
    if (wanted != kernels::kBoxShapes[index]) return {};
    return entry_of(&permute_axes_box<index>, kernels::kBoxThreads);
  });
}

}  // namespace faro::cuda
