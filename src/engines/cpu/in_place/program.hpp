// Passes in place as flat tables: the orbits of tiles, and what moves in a tile.
//
// Tile b is written where tile next(b) was read. Orbits of one and two are nearly all there are, and are
// followed in the order of b with five words, each linear in b, so that a step costs five XORs:
//
//     b          next(b)   where b is read   where next(b) is read   where b, and next(b), are written
//     0 0 0      0 1 1     ...               ...
//
// The tile of the smaller number leads its pair: it is met first, and both are moved then. Longer orbits
// are led by their smallest number as well, which takes a walk around the orbit to find out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/cpu/tile/kernel.hpp"
#include "engines/cpu/tile/program.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cpu {

/// What is linear in the number of a block.
struct BlockPlaces {
  f2::Word next = 0;
  f2::Word source = 0;  // bytes
  f2::Word target = 0;  // units
  f2::Word next_source = 0;
  f2::Word next_target = 0;

  BlockPlaces& operator^=(const BlockPlaces& other) {
    next ^= other.next;
    source ^= other.source;
    target ^= other.target;
    next_source ^= other.next_source;
    next_target ^= other.next_target;
    return *this;
  }
};

class OrbitTable {
 public:
  OrbitTable(const Pass& pass, int unit_shift);

  BlockPlaces at(f2::Word block) const;
  /// From at(block - 1) to at(block). Requires: block not 0 (unchecked).
  const BlockPlaces& step(f2::Word block) const {
    return steps_[static_cast<std::size_t>(f2::trailing_bit(block))];
  }

  /// Whether no block of the orbit of `block` has a smaller number. Cost: one at() a tile of the orbit, or
  /// less.
  bool leads(f2::Word block) const;

 private:
  BlockPlaces zero_;
  std::vector<BlockPlaces> directions_;
  std::vector<BlockPlaces> steps_;  // the XOR of directions 0..k
};

/// The pass's blocks over all arrays, and which change places.
struct Orbits {
  Orbits(const Pass& pass, std::uint64_t unit_bytes);

  std::uint64_t array_bytes;
  std::uint64_t arrays;
  int block_bits;
  bool in_pairs;  // no orbit is longer than two
  OrbitTable table;

  std::uint64_t tiles() const { return arrays << block_bits; }
};

/// The leaders of orbits of one and two among the tiles of `range`, in order.
class PairCursor {
 public:
  PairCursor(const Orbits& orbits, TileRange range)
      : orbits_(&orbits),
        mask_(f2::low_mask(orbits.block_bits)),
        tile_(range.begin),
        end_(range.end),
        array_((range.begin >> orbits.block_bits) * orbits.array_bytes),
        places_(orbits.table.at(range.begin & mask_)) {
    find_leader();
  }

  bool done() const { return tile_ >= end_; }
  f2::Word block() const { return tile_ & mask_; }
  std::uint64_t array() const { return array_; }  // bytes before the tile's array
  const BlockPlaces& places() const { return places_; }
  bool alone() const { return places_.next == block(); }

  void advance() {
    step();
    find_leader();
  }

 private:
  void step() {
    ++tile_;
    if (block() != 0) {
      places_ ^= orbits_->table.step(block());
    } else {
      array_ += orbits_->array_bytes;
      places_ = orbits_->table.at(0);
    }
  }
  void find_leader() {
    while (tile_ < end_ && places_.next < block()) step();
  }

  const Orbits* orbits_;
  f2::Word mask_;
  std::uint64_t tile_;
  std::uint64_t end_;
  std::uint64_t array_;
  BlockPlaces places_;
};

/// The tiles of the orbits that those of `range` lead, of any length, each orbit from its leader around.
class OrbitCursor {
 public:
  OrbitCursor(const Orbits& orbits, TileRange range)
      : orbits_(&orbits), mask_(f2::low_mask(orbits.block_bits)), tile_(range.begin), end_(range.end) {
    find_leader();
  }

  bool done() const { return tile_ >= end_; }
  std::uint64_t array() const { return (tile_ >> orbits_->block_bits) * orbits_->array_bytes; }
  const BlockPlaces& places() const { return places_; }
  bool is_first() const { return is_first_; }
  bool is_last() const { return places_.next == (tile_ & mask_); }

  void advance() {
    if (!is_last()) {
      places_ = orbits_->table.at(places_.next);
      is_first_ = false;
      return;
    }
    ++tile_;
    find_leader();
  }

 private:
  void find_leader() {
    while (tile_ < end_ && !orbits_->table.leads(tile_ & mask_)) ++tile_;
    if (tile_ < end_) places_ = orbits_->table.at(tile_ & mask_);
    is_first_ = true;
  }

  const Orbits* orbits_;
  f2::Word mask_;
  std::uint64_t tile_;  // the leader
  std::uint64_t end_;
  BlockPlaces places_;
  bool is_first_ = true;
};

/// Whole segments change places.
struct SegmentOrbits {
  SegmentOrbits(const Pass& pass, std::uint64_t unit_bytes);

  Orbits orbits;
  std::uint64_t segment_bytes;
};

/// Bytes of the registers that tiles in place are moved in, `most` at most. With 4 bytes larger tiles, which
/// go through a buffer in any case, are worth more than a line in one register.
std::uint64_t in_place_vector_bytes(std::uint64_t unit_bytes, std::uint64_t most);

/// Tiles change places and are permuted on their way.
struct TileOrbits {
  /// Requires: one tile of at most kInPlaceBufferBytes, or orbits of tiles of at most half as much (checked).
  TileOrbits(const Pass& pass, std::uint64_t unit_bytes, std::uint64_t vector_bytes);

  Orbits orbits;
  TileProgram tile;                     // through a buffer
  std::optional<TileProgram> straight;  // with registers of a whole line: from tile to tile
};

// The inner loops of passes in place on one thread.

/// Whether lines are asked for before they are needed: worth it in arrays beyond the caches.
enum class Fetch { none, ahead };

/// Moves the orbits whose leaders are in `range`, each whole. Orbits are disjoint: shares of the tiles may be
/// moved at the same time. Any alignment.
/// Cost: no allocation; at most 40 KiB of stack.
void move_tile_orbits(const TileOrbits& program, TileRange range, Fetch fetch, std::byte* data);
void move_segment_orbits(const SegmentOrbits& program, TileRange range, Fetch fetch, std::byte* data);

}  // namespace faro::cpu
