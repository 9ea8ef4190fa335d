// The popular kernels of boxes with scaled blocks; others are compiled by NVRTC (value_source.cpp).

#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/value_program.hpp"
#include "kernels/quantize_box.hpp"

namespace faro::cuda {
namespace {

using kernels::BrainHalf;

// bfloat16, by vectors of 16 bytes where nothing is in the way.
template <typename Scaled, kernels::ValueOrder kOrder>
const void* find_blocks(const BlockKernel& wanted, BlockFormat format) {
  constexpr int kNumbers = 16;
  constexpr int kWide = 8;
  constexpr bool kPairs = kernels::kIsPacked<Scaled>;
  BlockKernel which{.wide = Number::bf16, .format = format, .loads = kOrder, .stores = kOrder};
  which.in = kWide;
  which.out = kNumbers;
  if (which == wanted)
    return value_kernel<
        kernels::QuantizeBoxes<BrainHalf, Scaled, kernels::ValueShape<kWide, kNumbers, kOrder, kOrder>>>();
  which.back = true;
  which.in = kNumbers;
  which.out = kWide;
  if (which == wanted)
    return value_kernel<kernels::DequantizeBoxes<
        BrainHalf, Scaled, kernels::ValueShape<kNumbers, kWide, kOrder, kOrder, false, kPairs>>>();
  return nullptr;
}

}  // namespace

const void* compiled_block_kernel(const BlockKernel& wanted) {
  using kernels::ValueOrder;
  const void* const found[] = {
      find_blocks<kernels::PowerScaled<kernels::Float8E4M3>, ValueOrder::by_steps>(wanted,
                                                                                   BlockFormat::mxfp8_e4m3),
      find_blocks<kernels::PowerScaled<kernels::Float8E4M3>, ValueOrder::by_table>(wanted,
                                                                                   BlockFormat::mxfp8_e4m3),
      find_blocks<kernels::TwiceScaled, ValueOrder::by_steps>(wanted, BlockFormat::nvfp4),
      find_blocks<kernels::TwiceScaled, ValueOrder::by_table>(wanted, BlockFormat::nvfp4),
  };
  for (const void* const function : found) {
    if (function != nullptr) return function;
  }
  return nullptr;
}

}  // namespace faro::cuda
