// Blocks of numbers quantised, and made wide again, on one thread (kernels/block_scales.hpp).
//
//     along a line      x x x x … | x x x x … |      blocks follow one another: numbers of one lie together
//     down columns      x | x | x | x |              blocks lie side by side: number i of all of them lie
//                       x | x | x | x |              together, in row i
//                       …
//
// Chunk by chunk through a buffer in the first-level cache, each step a loop over one type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/block_scales.hpp"
#include "kernels/block_scales.hpp"

namespace faro::cpu {

/// What is the same for all blocks; made once.
struct BlockProgram {
  BlockFormat format = BlockFormat::mxfp8_e4m3;
  Number wide = Number::f32;
  kernels::BlockParams params;
  bool in_columns = false;
};

/// So many blocks; rows of columns lie a pitch apart. A row of 4 bits has whole bytes.
template <typename WideByte, typename DataByte>
struct BlockRun {
  WideByte* wide = nullptr;
  DataByte* data = nullptr;
  DataByte* scales = nullptr;  // one behind another
  std::uint64_t blocks = 0;
  std::int64_t wide_pitch_bytes = 0;
  std::int64_t data_pitch_bytes = 0;
};
using QuantizedRun = BlockRun<const std::byte, std::byte>;
using DequantizedRun = BlockRun<std::byte, const std::byte>;

/// Any alignment.   Cost: 20 KiB of the stack.
void quantize_run(const BlockProgram& program, const QuantizedRun& run);
void dequantize_run(const BlockProgram& program, const DequantizedRun& run);

}  // namespace faro::cpu
