// The kernels of work on index arrays (value_kernels.hpp): each a value that a thread runs.
#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_columns.hpp"
#include "engines/cuda/index/index_entries.hpp"
#include "engines/cuda/index/index_partition_steps.hpp"
#include "engines/cuda/index/index_recognise_steps.hpp"
#include "engines/cuda/index/index_spread_step.hpp"
#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/kernels/value_kernels.hpp"

namespace faro::cuda {

template <typename Kernel>
const void* index_kernel() {
  return value_kernel<Kernel>();
}

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template const void* index_kernel<CountRuns<u32>>();
template const void* index_kernel<CountRuns<u64>>();

template const void* index_kernel<SpreadEntries<8, u32, u32>>();
template const void* index_kernel<SpreadEntries<8, u32, u16>>();
template const void* index_kernel<SpreadEntries<8, u64, u32>>();
template const void* index_kernel<SpreadEntries<8, u64, u16>>();
template const void* index_kernel<SpreadEntries<9, u32, u32>>();
template const void* index_kernel<SpreadEntries<9, u32, u16>>();
template const void* index_kernel<SpreadEntries<9, u64, u32>>();
template const void* index_kernel<SpreadEntries<9, u64, u16>>();
template const void* index_kernel<SpreadEntries<12, u32, u32>>();
template const void* index_kernel<SpreadEntries<12, u32, u16>>();
template const void* index_kernel<SpreadEntries<12, u64, u32>>();
template const void* index_kernel<SpreadEntries<12, u64, u16>>();

template const void* index_kernel<NarrowEntries<u32>>();
template const void* index_kernel<NarrowEntries<u64>>();
template const void* index_kernel<CheckLast>();
template const void* index_kernel<CheckTotals>();

template const void* index_kernel<SumColumns<u32>>();
template const void* index_kernel<SumColumns<u64>>();
template const void* index_kernel<ScanColumns<u32>>();
template const void* index_kernel<ScanColumns<u64>>();

template const void* index_kernel<Mark>();
template const void* index_kernel<FindEntry>();
template const void* index_kernel<FindFar>();
template const void* index_kernel<FindUnmarked>();
template const void* index_kernel<Invert<u32>>();
template const void* index_kernel<Invert<u64>>();
template const void* index_kernel<Chain<u32>>();
template const void* index_kernel<Chain<u64>>();
template const void* index_kernel<Draw<u32>>();
template const void* index_kernel<Draw<u64>>();
template const void* index_kernel<ReadAt>();
template const void* index_kernel<ShiftsOf>();
template const void* index_kernel<CheckShifts>();
template const void* index_kernel<CountHeads>();
template const void* index_kernel<WriteHeads>();

template const void* index_kernel<MismatchAffine>();
template const void* index_kernel<MismatchCyclic>();
template const void* index_kernel<MismatchAxes<4>>();
template const void* index_kernel<MismatchAxes<8>>();
template const void* index_kernel<MismatchAxes<40>>();
template const void* index_kernel<MeasureLocality>();

}  // namespace faro::cuda
