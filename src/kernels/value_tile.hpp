// Tiles of an affine map whose numbers change on their way: the tile kernel (kernels/affine_tile.hpp)
// over a memory that converts (converting_memory.hpp).
//
//     in    vectors of From  -->  [rounded]  -->  shared memory  -->  [widened, changed, rounded]  -->  out   vectors of To
//
// The tile has the narrower of the two types, where nothing is added: numbers are rounded as they are read,
// or widened as they are written. A vector of the other type is as many numbers in more bytes, so both sides
// have segments of the same numbers, and the narrower's are what memory likes.
#pragma once

#include <cstdint>

#include "kernels/affine_tile.hpp"
#include "kernels/converting_memory.hpp"

namespace faro::kernels {

/// What a launch works on, of every program and shape.
struct ValueTileArrays : ConvertedArrays {
  AffineTileParams p;
};

/// A shape's numbers, but for the width, which is that of what the tile holds. `kAlongAxes`: factors may
/// differ along an axis.
template <typename Program, bool kRoundsFirst, int kSegmentBits, int kRowBits, int kVectorBits,
          int kThreadBits, bool kAlongAxes = false>
struct MoveValueTiles : ValueTileArrays {
  using Converting = ConvertingMemory<Program, kRoundsFirst, kAlongAxes, true>;
  using Held = typename Converting::Held;
  static constexpr int kWidthBits = sizeof(Held) == 1   ? 0
                                    : sizeof(Held) == 2 ? 1
                                    : sizeof(Held) == 4 ? 2
                                    : sizeof(Held) == 8 ? 3
                                                        : 4;
  static constexpr AffineTileShape kShape{.width_bits = kWidthBits,
                                          .segment_bits = kSegmentBits,
                                          .row_bits = kRowBits,
                                          .vector_bits = kVectorBits,
                                          .thread_bits = kThreadBits};
  static_assert(is_valid(kShape));
  static constexpr std::uint32_t kThreads = kShape.threads();
  // While some blocks wait for their loads, others store.
  static constexpr std::uint32_t kWantedThreads = 1280;  // of a multiprocessor
  static constexpr int kMinBlocks = kThreads < kWantedThreads ? int{kWantedThreads / kThreads} : 1;

  constexpr std::uint64_t blocks() const { return p.blocks(); }
  constexpr std::uint32_t shared_bytes() const { return kShape.tile_bytes(); }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    Converting memory(*this, block.shared());
    load_tile<kShape>(memory, p, block.index(), block.thread());
    block.barrier();
    store_tile<kShape>(memory, p, block.index(), block.thread());
  }
};

}  // namespace faro::kernels
