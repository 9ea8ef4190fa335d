// The kernels that move rows (value_kernels.hpp): each a value that a thread runs.
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/cache_move.hpp"
#include "kernels/row_dispatch.hpp"
#include "kernels/row_elements.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_move.hpp"
#include "kernels/row_staged.hpp"
#include "kernels/row_walk.hpp"

namespace faro::cuda {

using kernels::kElementArrays;
using kernels::kMostRowArrays;
using kernels::MoveRowBytes;
using kernels::MoveRowElements;
using kernels::MoveRowVectors;
using kernels::RowDirection;

template const void* value_kernel<kernels::MarkRows>();

template const void* value_kernel<MoveRowVectors<RowDirection::take, 16>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 8>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 4>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 2>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 1>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 16>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 8>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 4>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 2>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 1>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 16, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 8, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 4, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 2, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::take, 1, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 16, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 8, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 4, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 2, kMostRowArrays>>();
template const void* value_kernel<MoveRowVectors<RowDirection::put, 1, kMostRowArrays>>();

template const void* value_kernel<MoveRowElements<RowDirection::take, 16, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 8, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 4, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 2, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 1, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 16, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 8, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 4, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 2, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::take, 1, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 16, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 8, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 4, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 2, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 1, 1>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 16, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 8, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 4, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 2, kElementArrays>>();
template const void* value_kernel<MoveRowElements<RowDirection::put, 1, kElementArrays>>();

template const void* value_kernel<kernels::MoveStaged<RowDirection::take, 8>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::take, 4>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::take, 2>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::take, 1>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::put, 8>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::put, 4>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::put, 2>>();
template const void* value_kernel<kernels::MoveStaged<RowDirection::put, 1>>();

template const void* value_kernel<MoveRowBytes<RowDirection::take>>();
template const void* value_kernel<MoveRowBytes<RowDirection::put>>();
template const void* value_kernel<MoveRowBytes<RowDirection::take, kMostRowArrays>>();
template const void* value_kernel<MoveRowBytes<RowDirection::put, kMostRowArrays>>();

template const void* value_kernel<kernels::TakeRowVectors<>>();
template const void* value_kernel<kernels::TakeRowVectors<kMostRowArrays>>();

template const void* value_kernel<kernels::MoveCache<16>>();
template const void* value_kernel<kernels::MoveCache<8>>();
template const void* value_kernel<kernels::MoveCache<4>>();
template const void* value_kernel<kernels::MoveCache<2>>();
template const void* value_kernel<kernels::MoveCache<1>>();
template const void* value_kernel<kernels::ConvertCache<8>>();
template const void* value_kernel<kernels::ConvertCache<1>>();

template const void* value_kernel<kernels::DispatchRows<16>>();
template const void* value_kernel<kernels::DispatchRows<4>>();
template const void* value_kernel<kernels::DispatchRows<1>>();

}  // namespace faro::cuda
