// The kernels of a stable partition by key (engines/cuda/rows/partition_rows_steps.hpp) and of a routing by
// it (place_items_steps.hpp), and of ragged rows (segment_steps.hpp). Those of few keys are one of their own
// (route_few_step.hpp). Both also take the kernels of columns that index_device_kernels.cu lists.
#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/rows/partition_rows_steps.hpp"
#include "engines/cuda/rows/place_items_steps.hpp"
#include "engines/cuda/rows/route_few_step.hpp"
#include "engines/cuda/rows/route_many_steps.hpp"
#include "engines/cuda/rows/segment_steps.hpp"

namespace faro::cuda {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template const void* value_kernel<SizeSegments>();
template const void* value_kernel<CopySegments<16>>();
template const void* value_kernel<CopySegments<4>>();
template const void* value_kernel<CopySegments<2>>();
template const void* value_kernel<CopySegments<1>>();

template const void* value_kernel<CountDigits<KeyedEntries, u32>>();
template const void* value_kernel<CountDigits<KeyedEntries, u64>>();
template const void* value_kernel<CountDigits<KeyedValues<u32>, u32>>();
template const void* value_kernel<CountDigits<KeyedValues<u64>, u64>>();
template const void* value_kernel<CountDigits<KeyedPairs<u32>, u32>>();
template const void* value_kernel<CountDigits<KeyedPairs<u64>, u64>>();
template const void* value_kernel<BeginBuckets<u32>>();
template const void* value_kernel<BeginBuckets<u64>>();

template const void* value_kernel<PlaceItems<8, u32>>();
template const void* value_kernel<PlaceItems<8, u64>>();
template const void* value_kernel<PlaceItems<12, u32>>();
template const void* value_kernel<PlaceItems<12, u64>>();
template const void* value_kernel<PadPlaces<u32>>();
template const void* value_kernel<PadPlaces<u64>>();

template const void* value_kernel<SpreadPairs<8, KeyedEntries, u32>>();
template const void* value_kernel<SpreadPairs<8, KeyedEntries, u64>>();
template const void* value_kernel<SpreadPairs<8, KeyedValues<u32>, u32>>();
template const void* value_kernel<SpreadPairs<8, KeyedValues<u64>, u64>>();
template const void* value_kernel<SpreadPairs<8, KeyedPairs<u32>, u32>>();
template const void* value_kernel<SpreadPairs<8, KeyedPairs<u64>, u64>>();

template const void* value_kernel<RouteFew<0>>();
template const void* value_kernel<RouteFew<1>>();
template const void* value_kernel<RouteFew<4>>();
template const void* value_kernel<RouteFew<16>>();

template const void* value_kernel<BeginKeys<u32>>();
template const void* value_kernel<BeginKeys<u64>>();
template const void* value_kernel<SizeBuckets<u32>>();
template const void* value_kernel<SizeBuckets<u64>>();
template const void* value_kernel<PlaceSorted<u32>>();
template const void* value_kernel<PlaceSorted<u64>>();

}  // namespace faro::cuda
