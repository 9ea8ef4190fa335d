// The kernels that hold an index array against maps, and that compose it with them
// (engines/cuda/index/index_form_steps.hpp).
#include "engines/cuda/index/index_form_steps.hpp"
#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/kernels/value_kernels.hpp"

namespace faro::cuda {

template <typename Kernel>
const void* index_kernel() {
  return value_kernel<Kernel>();
}

template const void* index_kernel<MismatchImage<ModularImage>>();
template const void* index_kernel<MismatchImage<CyclicAxesImage>>();
template const void* index_kernel<CollectMismatches<ModularImage>>();
template const void* index_kernel<CollectMismatches<AffineImage>>();

template const void* index_kernel<ChainImage<std::uint32_t, ModularImage>>();
template const void* index_kernel<ChainImage<std::uint64_t, ModularImage>>();
template const void* index_kernel<ChainImage<std::uint32_t, AffineImage>>();
template const void* index_kernel<ChainImage<std::uint64_t, AffineImage>>();
template const void* index_kernel<ChainImage<std::uint32_t, CyclicAxesImage>>();
template const void* index_kernel<ChainImage<std::uint64_t, CyclicAxesImage>>();

}  // namespace faro::cuda
