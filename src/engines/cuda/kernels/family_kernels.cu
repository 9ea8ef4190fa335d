// The kernels of families of shapes (kernels/axes_family.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/axes_family.hpp"

namespace faro::cuda {

using kernels::MoveFamily;

template const void* value_kernel<MoveFamily<1, false>>();
template const void* value_kernel<MoveFamily<2, false>>();
template const void* value_kernel<MoveFamily<4, false>>();
template const void* value_kernel<MoveFamily<8, false>>();
template const void* value_kernel<MoveFamily<16, false>>();
template const void* value_kernel<MoveFamily<1, true>>();
template const void* value_kernel<MoveFamily<2, true>>();
template const void* value_kernel<MoveFamily<4, true>>();
template const void* value_kernel<MoveFamily<8, true>>();
template const void* value_kernel<MoveFamily<16, true>>();

}  // namespace faro::cuda
