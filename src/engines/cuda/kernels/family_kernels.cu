// The kernels of families of shapes (kernels/axes_family.hpp, kernels/family_rows.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/axes_family.hpp"
#include "kernels/family_rows.hpp"

namespace faro::cuda {

using kernels::MoveFamily;
using kernels::MoveFamilyRows;

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
template const void* value_kernel<MoveFamilyRows<4>>();
template const void* value_kernel<MoveFamilyRows<8>>();
template const void* value_kernel<MoveFamilyRows<16>>();

}  // namespace faro::cuda
