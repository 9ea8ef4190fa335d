// The kernels that add numbers up by bins (engines/cuda/rows/bin_steps.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/kernels/value_kernels.hpp"
#include "engines/cuda/rows/bin_steps.hpp"

namespace faro::cuda {

template <typename Kernel>
const void* row_kernel() {
  return value_kernel<Kernel>();
}

using kernels::BrainHalf;
using kernels::CompensatedSum;
using kernels::Half;
using kernels::OwnSum;
using kernels::WideSum;

template const void* row_kernel<CountDigits<PackedPairs, std::uint32_t>>();
template const void* row_kernel<SpreadBins<KeyedValues<std::uint32_t>>>();
template const void* row_kernel<SpreadBins<PackedPairs>>();

template const void* row_kernel<SumBins<OwnSum<std::uint8_t>>>();
template const void* row_kernel<SumBins<OwnSum<std::uint16_t>>>();
template const void* row_kernel<SumBins<OwnSum<std::uint32_t>>>();
template const void* row_kernel<SumBins<OwnSum<float>>>();
template const void* row_kernel<SumBins<WideSum<Half, float>>>();
template const void* row_kernel<SumBins<WideSum<Half, double>>>();
template const void* row_kernel<SumBins<WideSum<BrainHalf, float>>>();
template const void* row_kernel<SumBins<WideSum<BrainHalf, double>>>();
template const void* row_kernel<SumBins<WideSum<float, double>>>();
template const void* row_kernel<SumBins<CompensatedSum<Half, float>>>();
template const void* row_kernel<SumBins<CompensatedSum<BrainHalf, float>>>();
template const void* row_kernel<SumBins<CompensatedSum<float, float>>>();

}  // namespace faro::cuda
