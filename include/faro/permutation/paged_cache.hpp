// Paged caches: keys and values of an inference engine in blocks of tokens, which lie anywhere.
//
//     a sequence's tokens      0 1 2 3 4 5 6         7 of them, source in blocks of 2, target of 4
//     the source's table       5 0 3 1               tokens 0 1 in block 5, 2 3 in block 0, 4 5 in 3, 6 in 1
//     the target's table       2 7                   tokens 0 1 2 3 in block 2, 4 5 6 in block 7
//
// A token has `heads` heads of `width` numbers. Engines lay a block out with the heads of a token together
// (NHD: token, head, width) or with the tokens of a head together (HND: head, token, width), keep keys and
// values, and layers, in one array or in one for each, and store other types. All of these are strides here:
// an array is what one layer has of keys, or of values, and several of them may be parts of one in memory.
//
//     number of (block, token t, head h, place w)  at  block * block_stride + t * token_stride
//                                                    + h * head_stride + w / part * part_stride
//                                                    + w % part * element_stride
//
// `part` is for layouts that cut heads: keys as (block, head, width / 8, token, 8) have parts of 8, values as
// (block, head, width, token) an element stride.
//
// Numbers of other types are converted on their way, in f32: a stored number q stands for q * scale, and x is
// stored as x / scale, rounded to nearest; 8-bit floats take their largest finite number for what is beyond.
#pragma once

#include <cstdint>

#include "faro/number.hpp"
#include "faro/permutation/take.hpp"

namespace faro {

struct CacheHeads {
  std::uint64_t heads = 1;
  std::uint64_t width = 1;  // of a head, in numbers
};

/// Where the numbers of an array lie. Strides are in numbers.
struct CacheLayout {
  Number number = Number::bf16;
  std::uint64_t blocks = 0;  // that tables number
  std::uint64_t block_tokens = 16;
  std::uint64_t block_stride = 0;
  std::uint64_t token_stride = 0;
  std::uint64_t head_stride = 0;
  std::uint64_t part = 0;  // numbers of a head in a row, which divide its width; 0: all
  std::uint64_t part_stride = 0;
  std::uint64_t element_stride = 1;

  /// Dense arrays of (block, token, head, width) and of (block, head, token, width).
  static CacheLayout nhd(Number number, std::uint64_t blocks, std::uint64_t block_tokens, CacheHeads of) {
    return {.number = number,
            .blocks = blocks,
            .block_tokens = block_tokens,
            .block_stride = block_tokens * of.heads * of.width,
            .token_stride = of.heads * of.width,
            .head_stride = of.width};
  }
  static CacheLayout hnd(Number number, std::uint64_t blocks, std::uint64_t block_tokens, CacheHeads of) {
    return {.number = number,
            .blocks = blocks,
            .block_tokens = block_tokens,
            .block_stride = block_tokens * of.heads * of.width,
            .token_stride = of.width,
            .head_stride = block_tokens * of.width};
  }
};

struct CacheMove {
  CacheHeads of;
  CacheLayout from;
  CacheLayout to;
};

/// One layer's keys, or values, on both sides.
struct CacheArrays {
  const void* in = nullptr;
  void* out = nullptr;
  float in_scale = 1;
  float out_scale = 1;
};

/// What a run moves, of all arrays: the first tokens of each sequence.
struct CacheTables {
  RowNumbers from = {};  // the source's blocks, sequences rows of as many each
  RowNumbers to = {};    // the target's, likewise; no block twice
  std::uint64_t sequences = 1;
  std::uint64_t tokens = 0;  // of each sequence
  RowNumbers lengths = {};   // unless empty: of each sequence its own number of tokens, at most `tokens`
};

}  // namespace faro
