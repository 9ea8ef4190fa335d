// Conversions of register layouts as CUTLASS's users write them: CuTe's copy of a fragment to a tile of
// shared memory and back, with the tile swizzled by one of CUTLASS's atoms and both sides by the widest
// vectors that CuTe finds, or by stmatrix and ldmatrix.
//
//     fragment --copy--> (M, N) row-major o Swizzle<B, 4, 3> of bytes --copy--> fragment      B = 0 .. 3
#pragma once

#include <cute/tensor.hpp>

namespace ways {
using namespace cute;

/// Swizzle<B, 4, 3> of bytes is that of TMA's rows of 16 << B bytes.
template <class T, int M, int N, int B>
__device__ auto tile_of(char* shared) {
  constexpr int kLog = sizeof(T) == 1 ? 4 : sizeof(T) == 2 ? 3 : sizeof(T) == 4 ? 2 : 1;
  const auto rows = Layout<Shape<Int<M>, Int<N>>, Stride<Int<N>, _1>>{};
  const auto pointer = make_smem_ptr(reinterpret_cast<T*>(shared));
  if constexpr (B == 0)
    return make_tensor(pointer, rows);
  else
    return as_position_independent_swizzle_tensor(
        make_tensor(pointer, composition(Swizzle<B, kLog, 3>{}, rows)));
}

/// The part of the tile that a lane has, by the layout (lane, value) -> element, the first axis fastest.
struct Vectors {};

template <class Atom, class T, class Layout_TV, int M, int N, class Tile, class Registers>
__device__ void move(Tile const& tile, Registers& registers, int lane, bool_constant<true>) {
  if constexpr (is_same_v<Atom, Vectors>) {
    auto part = tile.compose(Layout_TV{})(lane, _);
    copy(AutoVectorizingCopyWithAssumedAlignment<128>{}, registers, part);
  } else {
    const auto tiled = make_tiled_copy_impl(Copy_Atom<Atom, T>{}, Layout_TV{}, Shape<Int<M>, Int<N>>{});
    const auto thread = tiled.get_slice(lane);
    copy(tiled, thread.retile_S(registers), thread.partition_D(tile));
  }
}

template <class Atom, class T, class Layout_TV, int M, int N, class Tile, class Registers>
__device__ void move(Tile const& tile, Registers& registers, int lane, bool_constant<false>) {
  if constexpr (is_same_v<Atom, Vectors>) {
    auto part = tile.compose(Layout_TV{})(lane, _);
    copy(AutoVectorizingCopyWithAssumedAlignment<128>{}, part, registers);
  } else {
    const auto tiled = make_tiled_copy_impl(Copy_Atom<Atom, T>{}, Layout_TV{}, Shape<Int<M>, Int<N>>{});
    const auto thread = tiled.get_slice(lane);
    auto retiled = thread.retile_D(registers);
    copy(tiled, thread.partition_S(tile), retiled);
  }
}

template <class T, int M, int N, int B, class From, class StoreAtom, class To, class LoadAtom, int R>
__device__ __forceinline__ void convert(const uint32_t (&in)[R], uint32_t (&out)[R], uint32_t lane,
                                        char* shared) {
  constexpr int kValues = R * 4 / sizeof(T);
  uint32_t words[R];
  for (int i = 0; i < R; ++i) words[i] = in[i];
  const auto shape = Layout<Shape<Int<kValues>, _1, _1>>{};
  auto source = make_tensor(make_rmem_ptr(reinterpret_cast<T*>(words)), shape);
  auto target = make_tensor(make_rmem_ptr(reinterpret_cast<T*>(out)), shape);
  const auto tile = tile_of<T, M, N, B>(shared);
  if constexpr (is_same_v<StoreAtom, Vectors>) {
    auto flat = source(_, 0, 0);
    move<StoreAtom, T, From, M, N>(tile, flat, lane, bool_constant<true>{});
  } else {
    move<StoreAtom, T, From, M, N>(tile, source, lane, bool_constant<true>{});
  }
  __syncwarp();
  if constexpr (is_same_v<LoadAtom, Vectors>) {
    auto flat = target(_, 0, 0);
    move<LoadAtom, T, To, M, N>(tile, flat, lane, bool_constant<false>{});
  } else {
    move<LoadAtom, T, To, M, N>(tile, target, lane, bool_constant<false>{});
  }
  __syncwarp();
}

}  // namespace ways
