// The kernels of multiplications modulo a count (kernels/modular_tile.hpp).
#include "engines/cuda/kernels/row_kernels.hpp"
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/modular_tile.hpp"

namespace faro::cuda {

template <typename Kernel>
const void* row_kernel() {
  return value_kernel<Kernel>();
}

using kernels::MoveModularTiles;

template const void* row_kernel<MoveModularTiles<1>>();
template const void* row_kernel<MoveModularTiles<2>>();
template const void* row_kernel<MoveModularTiles<4>>();
template const void* row_kernel<MoveModularTiles<8>>();
template const void* row_kernel<MoveModularTiles<16>>();
template const void* row_kernel<MoveModularTiles<1, true>>();
template const void* row_kernel<MoveModularTiles<2, true>>();
template const void* row_kernel<MoveModularTiles<4, true>>();
template const void* row_kernel<MoveModularTiles<8, true>>();

}  // namespace faro::cuda
