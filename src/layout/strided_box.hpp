// The box of a permutation of axes, or of any strided view: what a block moves through shared memory.
//
//     axes, fastest of the output first: an extent, a stride in the input, a stride in the output, in units
//
//     axes(48 28 28 28 48; 4 3 2 1 0)      box   2 of axis 3 and all 48 of axis 4: runs of 96 in the input,
//                                                2 of axis 1 and all 48 of axis 0: runs of 96 in the output
//
// The input's run goes along its fastest axes, the last of them in part (axis p); the output's run likewise
// (axis q); the box is the product of both. Only p and q are cut. Both are the slowest of their run, and of
// the other side's rows, so whatever is left of a box at an end of the array is a prefix on every side.
// Which p, which q and how much of them box_choice.hpp finds.
//
// In shared memory every part of the box, an axis or some of its digits, has a step of its own (box_banks.cpp
// chooses the pads between them), and a place is the sum of digits times steps on both sides.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/unit_axes.hpp"

namespace faro::layout {

/// For units of 4 bytes and more: boxes of which two fit a multiprocessor have longer runs.
inline constexpr std::uint32_t kTwoFitBytes = 88 << 10;

struct BoxLimits {
  bool vectors = true;                // whether arrays are aligned to 16 bytes; else to a unit
  bool ragged = true;                 // whether rows may be moved by vectors that they begin between
  bool triples = true;                // whether three units that stay together may be moved as one
  std::uint32_t threads = 256;        // of a block
  std::uint32_t large_threads = 512;  // of boxes of units of 4 bytes and more, moved by vectors, beyond:
  std::uint32_t large_bytes = 30 << 10;
  std::uint32_t large_ragged_bytes = 48 << 10;
  std::uint32_t most_bytes = 55 << 10;     // of a box in shared memory, with pads
  std::uint32_t ragged_bytes = 64 << 10;   // of a ragged box, with its list of places, without pads
  std::uint32_t ragged_shared = 72 << 10;  // of the same, with pads
  std::uint32_t best_bytes = 32 << 10;     // what boxes are wanted to have
  std::uint32_t least_bytes = 0;           // smaller ones only where there are no others; 0: a sixth of those
  std::uint32_t many_boxes = 132 * 6;      // what keeps all multiprocessors busy

  /// Boxes of either kind may have so many bytes, and a quarter more with pads.
  constexpr void allow(std::uint32_t bytes) {
    most_bytes = ragged_bytes = bytes;
    ragged_shared = bytes * 5 / 4;
  }
};

/// Digits of an index within the box, of one axis.
struct BoxPart {
  int axis = 0;
  std::uint32_t extent = 1;
  std::uint32_t step = 1;     // of the axis's coordinate
  bool pad = false;           // whether there may be one before it
  std::uint32_t gap = 0;      // words that are left free before it
  std::uint32_t residue = 0;  // of its step in shared memory
  std::uint32_t modulus = 1;  // a power of two
  std::uint32_t place = 0;    // its step in shared memory, in words
};

/// One side's walk through the box.
struct BoxWalk {
  std::vector<int> run;     // axes, fastest first
  std::vector<int> rest;    // in the order in which groups of lanes take them as rows
  std::uint32_t units = 1;  // of a run
  int vector = 1;           // units of an access
  int spread = 1;  // accesses of a thread in each row: of single units, and where a warp has whole rows
  std::uint32_t pieces = 1;      // that a ragged row is stored in, by a warp each
  std::uint32_t lead = 0;        // units by which a ragged row may begin past where lanes do
  std::uint32_t pairs = 1;       // lanes come in multiples of so many: those of a warp's row
  std::uint64_t contiguous = 1;  // units that lie together
  std::uint64_t alignment = 0;   // all that lies together begins at multiples of so many units; 0: of all

  /// Lanes of a row.
  std::uint32_t slots() const;
};

struct StridedBox {
  std::vector<StridedAxis> axes;
  int unit_bytes = 4;
  std::vector<std::uint32_t> extent;  // of the box, by axis
  int p = 0;                          // the axes that may be cut; equal: the same one
  int q = 0;
  BoxWalk in;
  BoxWalk out;
  int words = 1;                // units of a word of shared memory, along the input's fastest axis
  bool clean = false;           // whether the input's vectors lie along one axis
  bool ragged = false;          // whether rows begin between vectors
  int triples = 1;              // of a ragged box: 3 where so many units stay together
  std::uint32_t halo = 0;       // units after a ragged run of the output that its last sector takes
  std::uint32_t halo_rows = 0;  // of the input, that those are in
  std::size_t chain = 0;        // axes with several boxes each, along which runs of the output follow on
  std::uint32_t threads = 256;  // of a block
  std::uint32_t near = 1;       // the output's rows that neighbouring lanes take
  std::vector<BoxPart> parts;   // in the order in which they lie in shared memory, smallest steps first
  std::uint32_t shared_words = 0;
  // Whether rows lie as far past a sector as in the input, which begins boxes at vectors between sectors,
  // too.
  bool skewed = false;
  double cost = 0;        // of a byte that is moved, in those of a copy
  double congestion = 1;  // of shared memory, counted on a sample of warps

  std::uint64_t boxes() const;
  std::uint64_t units() const;  // of a whole box
  bool cut(int axis) const;
  int word_bytes() const { return unit_bytes * words; }
  /// Words of shared memory for rows of the halo, behind all others.
  std::uint32_t halo_words() const;
  /// Words of a vector of the input.
  std::uint32_t grain() const;
  /// The parts of one axis, fastest digit first.
  std::vector<BoxPart> parts_of(int axis) const;
};

}  // namespace faro::layout
