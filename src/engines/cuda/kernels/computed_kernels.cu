// The kernels of computed maps (kernels/computed_tile.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/computed_parts.hpp"
#include "kernels/computed_tile.hpp"

namespace faro::cuda {

using kernels::HealpixParts;
using kernels::HilbertParts;
using kernels::MoveComputedParts;

template const void* value_kernel<MoveComputedParts<HilbertParts<2>, 1>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<2>, 2>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<2>, 4>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<2>, 8>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<2>, 16>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<0>, 1>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<0>, 2>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<0>, 4>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<0>, 8>>();
template const void* value_kernel<MoveComputedParts<HilbertParts<0>, 16>>();
template const void* value_kernel<MoveComputedParts<HealpixParts, 1>>();
template const void* value_kernel<MoveComputedParts<HealpixParts, 2>>();
template const void* value_kernel<MoveComputedParts<HealpixParts, 4>>();
template const void* value_kernel<MoveComputedParts<HealpixParts, 8>>();
template const void* value_kernel<MoveComputedParts<HealpixParts, 16>>();

}  // namespace faro::cuda
