// A tile pass as flat tables of byte offsets: what the inner loops read, made once at planning.
//
// Everything is XOR-linear, so an address is a base XOR one table entry a level:
//
//     source of a vector   in  + array + (block_source(b) ^ micro_sources[k] ^ vector_sources[j])
//     target of a vector   out + array + (block_target(b) ^ micro_targets[k] ^ vector_targets[j])
//
// With 64-byte vectors a segment is one vector and a tile one micro tile. Narrower vectors are less than a
// cache line, and stores that bypass the caches want whole lines: such a program is *staged*, its vectors are
// put into a small buffer and the target's rows written from there. Its micro tiles are in the order of the
// source, so that each line is read once, whatever sets of the caches the rows share; the buffer is one run
// of half the first level at most, which has the same number of lines in every set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cpu/element_width.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cpu {

inline constexpr std::size_t kMaxVectorBytes = 64;
inline constexpr std::uint64_t kMaxTileBytes = 16384;  // and of the staging buffer
/// The buffer of a pass in place: two tiles that change places, or a larger one that stays where it is.
inline constexpr std::uint64_t kInPlaceBufferBytes = 2 * kMaxTileBytes;

/// A vector register as it is loaded; the low 16 bytes where vectors have 16.
struct alignas(kMaxVectorBytes) RegisterImage {
  std::byte bytes[kMaxVectorBytes] = {};
};

/// The lanes in which one bit of the vector number flips, in both forms that instruction sets want: all ones
/// in the bytes of a lane, and a bit a lane.
struct ExchangeLanes {
  RegisterImage bytes;
  std::uint64_t mask = 0;
};

/// A linear function of the block number: directions combined, and an offset.
class BlockWalk {
 public:
  BlockWalk(const std::vector<f2::Word>& directions, f2::Word offset, int shift);

  f2::Word at(f2::Word block) const;
  /// From at(block - 1) to at(block): one precomputed word. Requires: block not 0 (unchecked).
  f2::Word next(f2::Word value, f2::Word block) const {
    return value ^ steps_[static_cast<std::size_t>(f2::trailing_bit(block))];
  }

 private:
  std::vector<f2::Word> directions_;
  std::vector<f2::Word> steps_;  // the XOR of directions 0..k
  f2::Word offset_;
};

/// One of the functions above, followed over the tiles of all arrays in order.
class TileCursor {
 public:
  TileCursor(const BlockWalk& walk, int block_bits, std::uint64_t array_bytes, std::uint64_t tile)
      : walk_(&walk),
        mask_(f2::low_mask(block_bits)),
        array_bytes_(array_bytes),
        block_(tile & mask_),
        array_((tile >> block_bits) * array_bytes),
        value_(walk.at(block_)) {}

  std::uint64_t array() const { return array_; }  // bytes before the tile's array
  f2::Word value() const { return value_; }

  void advance() {
    block_ = (block_ + 1) & mask_;
    if (block_ != 0) {
      value_ = walk_->next(value_, block_);
    } else {
      array_ += array_bytes_;
      value_ = walk_->at(0);
    }
  }

 private:
  const BlockWalk* walk_;
  f2::Word mask_;
  std::uint64_t array_bytes_;
  f2::Word block_;
  std::uint64_t array_;
  f2::Word value_;
};

/// How the target is written.
enum class StoreKind {
  cached,    // any alignment
  streamed,  // past the caches; the output is aligned to 64 bytes
};

struct TileRange {
  std::uint64_t begin = 0;  // tiles, over all arrays
  std::uint64_t end = 0;
  bool fetches_ahead = false;  // what is read, although the caches are written; streamed stores always do
};

/// Which programs go through a buffer.
enum class Staging { narrow_vectors, always };

struct TileProgram {
  /// Requires: segments of at least one vector, tiles of at most kMaxTileBytes, or kInPlaceBufferBytes where
  /// staging is asked for (checked).
  TileProgram(const Pass& pass, std::uint64_t unit_bytes, std::uint64_t vector_bytes,
              Staging staging = Staging::narrow_vectors);

  /// Where the caches of a core like long reads: several tiles that go on in the same rows are fetched
  /// together, row by row, and lines are written in pairs. Programs that are staged stay as they are.
  void read_and_write_in_runs();

  std::uint64_t unit_bytes;
  std::uint64_t vector_bytes;
  bool staged;
  int unit_shift;

  std::uint64_t arrays;
  std::uint64_t array_bytes;
  int block_bits;
  BlockWalk block_sources;  // bytes
  BlockWalk block_targets;  // units: the kernel splits the lane bits off
  std::uint64_t tiles() const { return arrays << block_bits; }

  std::uint64_t rows;
  std::uint64_t row_bytes;
  std::vector<std::uint64_t> target_rows;   // bytes, for staged programs
  std::vector<std::uint64_t> source_lines;  // bytes; every cache line of a group's source, as first met
  int group_bits = 0;                       // consecutive tiles that are fetched together
  bool writes_pairs = false;  // micro tiles 2 k and 2 k + 1 write the halves of 128 bytes, both at once

  int exchange_bits;
  f2::Word lane_mask;                         // of a place in units
  f2::Word column_mask;                       // of a place in units
  std::vector<std::uint64_t> micro_sources;   // bytes
  std::vector<std::uint64_t> micro_targets;   // bytes, lane bits cleared; places in the buffer where staged
  std::vector<std::uint8_t> micro_lanes;      // the lane bits of the micro tile's target
  std::vector<std::uint64_t> vector_sources;  // 2^q, bytes
  std::vector<std::uint64_t> vector_targets;  // 2^q, bytes; places in the buffer where staged

  // Lane tables (micro_tile.hpp) as the lookup instruction reads them: lane numbers at the width of a lane,
  // or the byte numbers of the lanes where vectors have 16 bytes.
  std::vector<RegisterImage> first_index;     // l ^ H j, by source vector
  std::vector<RegisterImage> last_index;      // G^-1 l' ^ G^-1 K j', by target vector
  std::vector<std::uint8_t> last_index_flip;  // XORed onto it: G^-1 of the target's lane bits, by those bits
  std::vector<ExchangeLanes> exchange_lanes;  // by bit of the vector number
};

}  // namespace faro::cpu
