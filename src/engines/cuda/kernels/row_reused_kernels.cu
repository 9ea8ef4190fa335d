// The kernels that take and add by sorted entries (engines/cuda/rows/reused_steps.hpp), and those of
// exceptions to a map (patch_step.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/rows/patch_step.hpp"
#include "engines/cuda/rows/reused_steps.hpp"

namespace faro::cuda {

using kernels::CompensatedSum;
using kernels::OwnSum;
using kernels::WideSum;

template const void* value_kernel<PatchElements<1>>();
template const void* value_kernel<PatchElements<2>>();
template const void* value_kernel<PatchElements<4>>();
template const void* value_kernel<PatchElements<8>>();
template const void* value_kernel<PatchElements<16>>();

template const void* value_kernel<TakeSorted<4>>();
template const void* value_kernel<TakeSorted<8>>();
template const void* value_kernel<PutSorted<4>>();
template const void* value_kernel<PutSorted<8>>();
template const void* value_kernel<FindTwice>();
template const void* value_kernel<FindStretches>();
template const void* value_kernel<OffsetPlaces>();
template const void* value_kernel<TakeChunks<4>>();
template const void* value_kernel<TakeChunks<8>>();

template const void* value_kernel<SumSegments<OwnSum<std::uint32_t>>>();
template const void* value_kernel<SumLongSegments<OwnSum<std::uint32_t>>>();
template const void* value_kernel<SumSegments<OwnSum<std::uint64_t>>>();
template const void* value_kernel<SumLongSegments<OwnSum<std::uint64_t>>>();
template const void* value_kernel<SumSegments<OwnSum<float>>>();
template const void* value_kernel<SumLongSegments<OwnSum<float>>>();
template const void* value_kernel<SumSegments<OwnSum<double>>>();
template const void* value_kernel<SumLongSegments<OwnSum<double>>>();
template const void* value_kernel<SumSegments<WideSum<float, double>>>();
template const void* value_kernel<SumLongSegments<WideSum<float, double>>>();
template const void* value_kernel<SumSegments<CompensatedSum<float, float>>>();
template const void* value_kernel<SumLongSegments<CompensatedSum<float, float>>>();
template const void* value_kernel<SumSegments<CompensatedSum<double, double>>>();
template const void* value_kernel<SumLongSegments<CompensatedSum<double, double>>>();

}  // namespace faro::cuda
