// The kernels of work on index arrays: each a value that a thread runs. Those that hold an array against maps
// are of index_form_steps.hpp.
#include <cstdint>

#include "engines/cuda/index/index_columns.hpp"
#include "engines/cuda/index/index_entries.hpp"
#include "engines/cuda/index/index_form_steps.hpp"
#include "engines/cuda/index/index_partition_steps.hpp"
#include "engines/cuda/index/index_recognise_steps.hpp"
#include "engines/cuda/index/index_spread_step.hpp"
#include "engines/cuda/kernels/value_kernel.cuh"

namespace faro::cuda {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template const void* value_kernel<CountRuns<u32>>();
template const void* value_kernel<CountRuns<u64>>();

template const void* value_kernel<SpreadEntries<8, u32, u32>>();
template const void* value_kernel<SpreadEntries<8, u32, u16>>();
template const void* value_kernel<SpreadEntries<8, u64, u32>>();
template const void* value_kernel<SpreadEntries<8, u64, u16>>();
template const void* value_kernel<SpreadEntries<9, u32, u32>>();
template const void* value_kernel<SpreadEntries<9, u32, u16>>();
template const void* value_kernel<SpreadEntries<9, u64, u32>>();
template const void* value_kernel<SpreadEntries<9, u64, u16>>();
template const void* value_kernel<SpreadEntries<12, u32, u32>>();
template const void* value_kernel<SpreadEntries<12, u32, u16>>();
template const void* value_kernel<SpreadEntries<12, u64, u32>>();
template const void* value_kernel<SpreadEntries<12, u64, u16>>();

template const void* value_kernel<NarrowEntries<u32>>();
template const void* value_kernel<NarrowEntries<u64>>();
template const void* value_kernel<CheckLast>();
template const void* value_kernel<CheckTotals>();

template const void* value_kernel<SumColumns<u32>>();
template const void* value_kernel<SumColumns<u64>>();
template const void* value_kernel<ScanColumns<u32>>();
template const void* value_kernel<ScanColumns<u64>>();

template const void* value_kernel<Mark>();
template const void* value_kernel<FindEntry>();
template const void* value_kernel<FindFar>();
template const void* value_kernel<FindUnmarked>();
template const void* value_kernel<Invert<u32>>();
template const void* value_kernel<Invert<u64>>();
template const void* value_kernel<Chain<u32>>();
template const void* value_kernel<Chain<u64>>();
template const void* value_kernel<Draw<u32>>();
template const void* value_kernel<Draw<u64>>();
template const void* value_kernel<ReadAt>();
template const void* value_kernel<ShiftsOf>();
template const void* value_kernel<CheckShifts>();
template const void* value_kernel<CountHeads>();
template const void* value_kernel<WriteHeads>();

template const void* value_kernel<MismatchAffine>();
template const void* value_kernel<MismatchCyclic>();
template const void* value_kernel<MismatchAxes<4>>();
template const void* value_kernel<MismatchAxes<8>>();
template const void* value_kernel<MismatchAxes<40>>();
template const void* value_kernel<MeasureLocality>();

template const void* value_kernel<MismatchImage<ModularImage>>();
template const void* value_kernel<MismatchImage<CyclicAxesImage>>();
template const void* value_kernel<CollectMismatches<ModularImage>>();
template const void* value_kernel<CollectMismatches<AffineImage>>();

template const void* value_kernel<ChainImage<std::uint32_t, ModularImage>>();
template const void* value_kernel<ChainImage<std::uint64_t, ModularImage>>();
template const void* value_kernel<ChainImage<std::uint32_t, AffineImage>>();
template const void* value_kernel<ChainImage<std::uint64_t, AffineImage>>();
template const void* value_kernel<ChainImage<std::uint32_t, CyclicAxesImage>>();
template const void* value_kernel<ChainImage<std::uint64_t, CyclicAxesImage>>();

}  // namespace faro::cuda
