// The kernels that add rows up and combine them (engines/cuda/rows/sum_rows_step.hpp), and those that add
// numbers up by bins (bin_steps.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/rows/bin_steps.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"

namespace faro::cuda {

using kernels::BrainHalf;
using kernels::CompensatedSum;
using kernels::Half;
using kernels::OwnSum;
using kernels::WideSum;

template const void* value_kernel<SumRows<OwnSum<std::uint8_t>, 1>>();
template const void* value_kernel<SumRows<OwnSum<std::uint8_t>, 16>>();
template const void* value_kernel<SumRows<OwnSum<std::uint16_t>, 1>>();
template const void* value_kernel<SumRows<OwnSum<std::uint16_t>, 8>>();
template const void* value_kernel<SumRows<OwnSum<std::uint32_t>, 1>>();
template const void* value_kernel<SumRows<OwnSum<std::uint32_t>, 4>>();
template const void* value_kernel<SumRows<OwnSum<std::uint64_t>, 1>>();
template const void* value_kernel<SumRows<OwnSum<std::uint64_t>, 2>>();
template const void* value_kernel<SumRows<OwnSum<float>, 1>>();
template const void* value_kernel<SumRows<OwnSum<float>, 4>>();
template const void* value_kernel<SumRows<OwnSum<double>, 1>>();
template const void* value_kernel<SumRows<OwnSum<double>, 2>>();
template const void* value_kernel<SumRows<WideSum<Half, float>, 1>>();
template const void* value_kernel<SumRows<WideSum<Half, float>, 8>>();
template const void* value_kernel<SumRows<WideSum<Half, double>, 1>>();
template const void* value_kernel<SumRows<WideSum<Half, double>, 8>>();
template const void* value_kernel<SumRows<WideSum<BrainHalf, float>, 1>>();
template const void* value_kernel<SumRows<WideSum<BrainHalf, float>, 8>>();
template const void* value_kernel<SumRows<WideSum<BrainHalf, double>, 1>>();
template const void* value_kernel<SumRows<WideSum<BrainHalf, double>, 8>>();
template const void* value_kernel<SumRows<WideSum<float, double>, 1>>();
template const void* value_kernel<SumRows<WideSum<float, double>, 4>>();
template const void* value_kernel<SumRows<CompensatedSum<Half, float>, 1>>();
template const void* value_kernel<SumRows<CompensatedSum<Half, float>, 8>>();
template const void* value_kernel<SumRows<CompensatedSum<BrainHalf, float>, 1>>();
template const void* value_kernel<SumRows<CompensatedSum<BrainHalf, float>, 8>>();
template const void* value_kernel<SumRows<CompensatedSum<float, float>, 1>>();
template const void* value_kernel<SumRows<CompensatedSum<float, float>, 4>>();
template const void* value_kernel<SumRows<CompensatedSum<double, double>, 1>>();
template const void* value_kernel<SumRows<CompensatedSum<double, double>, 2>>();

template const void* value_kernel<CombineRows<Half, float, 1>>();
template const void* value_kernel<CombineRows<Half, float, 8>>();
template const void* value_kernel<CombineRows<Half, double, 1>>();
template const void* value_kernel<CombineRows<Half, double, 8>>();
template const void* value_kernel<CombineRows<BrainHalf, float, 1>>();
template const void* value_kernel<CombineRows<BrainHalf, float, 8>>();
template const void* value_kernel<CombineRows<BrainHalf, double, 1>>();
template const void* value_kernel<CombineRows<BrainHalf, double, 8>>();
template const void* value_kernel<CombineRows<float, float, 1>>();
template const void* value_kernel<CombineRows<float, float, 4>>();
template const void* value_kernel<CombineRows<float, double, 1>>();
template const void* value_kernel<CombineRows<float, double, 4>>();
template const void* value_kernel<CombineRows<double, double, 1>>();
template const void* value_kernel<CombineRows<double, double, 2>>();

template const void* value_kernel<CountDigits<PackedPairs, std::uint32_t>>();
template const void* value_kernel<SpreadBins<KeyedValues<std::uint32_t>>>();
template const void* value_kernel<SpreadBins<PackedPairs>>();

template const void* value_kernel<SumBins<OwnSum<std::uint8_t>>>();
template const void* value_kernel<SumBins<OwnSum<std::uint16_t>>>();
template const void* value_kernel<SumBins<OwnSum<std::uint32_t>>>();
template const void* value_kernel<SumBins<OwnSum<float>>>();
template const void* value_kernel<SumBins<WideSum<Half, float>>>();
template const void* value_kernel<SumBins<WideSum<Half, double>>>();
template const void* value_kernel<SumBins<WideSum<BrainHalf, float>>>();
template const void* value_kernel<SumBins<WideSum<BrainHalf, double>>>();
template const void* value_kernel<SumBins<WideSum<float, double>>>();
template const void* value_kernel<SumBins<CompensatedSum<Half, float>>>();
template const void* value_kernel<SumBins<CompensatedSum<BrainHalf, float>>>();
template const void* value_kernel<SumBins<CompensatedSum<float, float>>>();

}  // namespace faro::cuda
