// The popular kernels of tiles with scaled blocks; others, and those of boxes, are compiled by NVRTC
// (value_source.cpp).

#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/value_program.hpp"
#include "kernels/quantize_tile.hpp"

namespace faro::cuda {
namespace {

// bfloat16, by vectors as plan/gpu/block_tiles.cpp has them where nothing is in the way.
template <typename Scaled, bool kWideAlong, bool kDataAlong>
const void* find_tiles(const BlockTileKernel& wanted) {
  using Wide = kernels::BrainHalf;
  constexpr bool kAlong = kWideAlong && kDataAlong;
  constexpr int kPart = kWideAlong ? 8 : Scaled::kBlock;
  constexpr int kBlocks = (kAlong ? 64 : 128) / Scaled::kBlock;
  constexpr int kBlocksBack = kAlong ? 4 : kWideAlong ? 16 : kBlocks;
  BlockTileKernel which = wanted;
  which.wide = Number::bf16;
  which.wide_along = kWideAlong;
  which.data_along = kDataAlong;
  which.part = wanted.back ? kPart : Scaled::kBlock;
  which.vector = wanted.back ? kBlocksBack : kBlocks;
  if (which != wanted) return nullptr;
  if (wanted.back)
    return value_kernel<kernels::DequantizeTiles<Wide, Scaled, kPart, kBlocksBack, kWideAlong, kDataAlong>>();
  return value_kernel<kernels::QuantizeTiles<Wide, Scaled, kBlocks, kWideAlong, kDataAlong>>();
}

template <typename Scaled>
const void* find_tiles_of(const BlockTileKernel& wanted) {
  for (const void* const function :
       {find_tiles<Scaled, false, false>(wanted), find_tiles<Scaled, false, true>(wanted),
        find_tiles<Scaled, true, false>(wanted), find_tiles<Scaled, true, true>(wanted)}) {
    if (function != nullptr) return function;
  }
  return nullptr;
}

}  // namespace

const void* compiled_block_kernel(const BlockTileKernel& wanted) {
  if (wanted.format == BlockFormat::mxfp8_e4m3)
    return find_tiles_of<kernels::PowerScaled<kernels::Float8E4M3>>(wanted);
  if (wanted.format == BlockFormat::nvfp4) return find_tiles_of<kernels::TwiceScaled>(wanted);
  return nullptr;
}

}  // namespace faro::cuda
