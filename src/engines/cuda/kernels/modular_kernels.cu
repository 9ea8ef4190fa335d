// The kernels of multiplications modulo a count (kernels/modular_tile.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/evaluation_order.hpp"
#include "kernels/modular_tile.hpp"

namespace faro::cuda {

using kernels::MoveModularTiles;

template <typename Element>
__device__ void copy_past_registers(const DeviceBlock& /*block*/, Element* to, const Element* from) {
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(sizeof(Element))
               : "memory");
}
/// For the calling thread's own.
__device__ inline void wait_for_copies(const DeviceBlock& /*block*/) {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

template const void* value_kernel<kernels::MoveEvaluations<1>>();
template const void* value_kernel<kernels::MoveEvaluations<2>>();
template const void* value_kernel<kernels::MoveEvaluations<4>>();
template const void* value_kernel<kernels::MoveEvaluations<8>>();
template const void* value_kernel<kernels::MoveEvaluations<16>>();

template const void* value_kernel<MoveModularTiles<1, std::uint32_t>>();
template const void* value_kernel<MoveModularTiles<2, std::uint32_t>>();
template const void* value_kernel<MoveModularTiles<4, std::uint32_t>>();
template const void* value_kernel<MoveModularTiles<8, std::uint32_t>>();
template const void* value_kernel<MoveModularTiles<16, std::uint32_t>>();
template const void* value_kernel<MoveModularTiles<1, std::uint32_t, true>>();
template const void* value_kernel<MoveModularTiles<2, std::uint32_t, true>>();
template const void* value_kernel<MoveModularTiles<4, std::uint32_t, true>>();
template const void* value_kernel<MoveModularTiles<8, std::uint32_t, true>>();
template const void* value_kernel<MoveModularTiles<1, std::uint64_t>>();
template const void* value_kernel<MoveModularTiles<2, std::uint64_t>>();
template const void* value_kernel<MoveModularTiles<4, std::uint64_t>>();
template const void* value_kernel<MoveModularTiles<8, std::uint64_t>>();
template const void* value_kernel<MoveModularTiles<16, std::uint64_t>>();
template const void* value_kernel<MoveModularTiles<1, std::uint64_t, true>>();
template const void* value_kernel<MoveModularTiles<2, std::uint64_t, true>>();
template const void* value_kernel<MoveModularTiles<4, std::uint64_t, true>>();
template const void* value_kernel<MoveModularTiles<8, std::uint64_t, true>>();

}  // namespace faro::cuda
