// The kernels in place that exchange chunks and tiles: phases of src/kernels put on the device, with the
// barrier between them.
//
// Without hints: what is written in parts of sectors has just been read, so the second-level cache has it.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_memory.cuh"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/transpose_memory.cuh"
#include "kernels/cyclic_in_place.hpp"
#include "kernels/squares_in_place.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using kernels::MovedElements;

template <int unit_bytes, MovedElements as>
__global__ void __launch_bounds__(kernels::kInPlaceThreads)
    reverse_chunks(const __grid_constant__ kernels::ReversalParams params, std::byte* data) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{data, nullptr, nullptr, shared};
  kernels::load_chunks<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_chunks<unit_bytes, as>(memory, params, blockIdx.x, threadIdx.x);
}

template <int unit_bytes, MovedElements as>
__global__ void __launch_bounds__(kernels::kInPlaceThreads)
    move_whole_cyclic(const __grid_constant__ kernels::CyclicWholeParams params, std::byte* data) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{data, nullptr, nullptr, shared};
  kernels::load_whole_cyclic<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_whole_cyclic<unit_bytes, as>(memory, params, blockIdx.x, threadIdx.x);
}

template <int unit_bytes, bool several_units>
__global__ void __launch_bounds__(kernels::kInPlaceThreads)
    exchange_tiles(const __grid_constant__ kernels::SquaresParams params, std::byte* data) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{data, nullptr, nullptr, shared};
  kernels::load_squares<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_squares<unit_bytes, several_units>(memory, params, blockIdx.x, threadIdx.x);
}

namespace {

template <typename Kernel>
const void* in_place_address(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace

const void* reversal_kernel(int unit_bytes, MovedElements as) {
  if (as == MovedElements::in_order) return nullptr;
  return faro::detail::by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [&](auto bytes) {
    return as == MovedElements::units ? in_place_address(&reverse_chunks<bytes(), MovedElements::units>)
                                      : in_place_address(&reverse_chunks<bytes(), MovedElements::several>);
  });
}

const void* whole_cyclic_kernel(int unit_bytes, MovedElements as) {
  return faro::detail::by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [&](auto bytes) {
    if (as == MovedElements::in_order) {
      return in_place_address(&move_whole_cyclic<bytes(), MovedElements::in_order>);
    }
    return as == MovedElements::units ? in_place_address(&move_whole_cyclic<bytes(), MovedElements::units>)
                                      : in_place_address(&move_whole_cyclic<bytes(), MovedElements::several>);
  });
}

const void* squares_kernel(int unit_bytes, bool several_units) {
  return faro::detail::by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [&](auto bytes) {
    return several_units ? in_place_address(&exchange_tiles<bytes(), true>)
                         : in_place_address(&exchange_tiles<bytes(), false>);
  });
}

}  // namespace faro::cuda
