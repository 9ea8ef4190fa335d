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

template <int unit_bytes, MovedElements as, typename Params>
__global__ void __launch_bounds__(kernels::kInPlaceThreads)
    exchange_in_place(const __grid_constant__ Params params, std::byte* data) {
  extern __shared__ __align__(kSharedAlignment) std::byte shared[];
  InPlaceMemory memory{data, nullptr, nullptr, shared};
  kernels::load_exchange<unit_bytes>(memory, params, blockIdx.x, threadIdx.x);
  __syncthreads();
  kernels::store_exchange<unit_bytes, as>(memory, params, blockIdx.x, threadIdx.x);
}

namespace {

template <typename Params, MovedElements... choices>
const void* exchange_kernel(int unit_bytes, MovedElements as) {
  return faro::detail::by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [as](auto bytes) {
    const void* found = nullptr;
    static_cast<void>(
        ((as == choices
              ? (found = reinterpret_cast<const void*>(&exchange_in_place<bytes(), choices, Params>), true)
              : false) ||
         ...));
    return found;
  });
}

}  // namespace

const void* reversal_kernel(int unit_bytes, MovedElements as) {
  return exchange_kernel<kernels::ReversalParams, MovedElements::units, MovedElements::several>(unit_bytes,
                                                                                                as);
}

const void* whole_cyclic_kernel(int unit_bytes, MovedElements as) {
  return exchange_kernel<kernels::CyclicWholeParams, MovedElements::in_order, MovedElements::units,
                         MovedElements::several>(unit_bytes, as);
}

const void* squares_kernel(int unit_bytes, bool several_units) {
  return exchange_kernel<kernels::SquaresParams, MovedElements::units, MovedElements::several>(
      unit_bytes, several_units ? MovedElements::several : MovedElements::units);
}

}  // namespace faro::cuda
