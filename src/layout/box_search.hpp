// What the search for a box (box_choice.cpp) shares with the parts of it that are files of their own: boxes
// whose rows begin anywhere (ragged_box.cpp), what a box costs (box_price.cpp), and where it lies in shared
// memory (box_banks.cpp).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "contains.hpp"
#include "layout/strided_box.hpp"

namespace faro::layout::detail {

inline constexpr std::uint32_t kBoxSector = 32;
inline constexpr std::uint32_t kBoxVector = 16;

inline std::uint64_t magnitude(std::int64_t stride) { return static_cast<std::uint64_t>(std::llabs(stride)); }
using faro::detail::contains;
inline std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

// What all boxes of a problem have in common.
struct BoxSearch {
  const std::vector<StridedAxis>& axes;
  int unit_bytes;
  const BoxLimits& limits;
  std::vector<int> in_order = {};  // axes by their strides; those of stride 0, which move nowhere, last
  std::vector<int> out_order = {};
  std::size_t in_moving = 0;
  std::uint64_t least_bytes = 0;  // of a box worth a look: of large arrays

  std::uint32_t bytes(std::uint64_t units) const {
    return static_cast<std::uint32_t>(units * static_cast<unsigned>(unit_bytes));
  }
  std::uint64_t bytes64(std::uint64_t units) const { return units * static_cast<unsigned>(unit_bytes); }
};

/// Bytes of shared memory, about, for the list of places of a ragged box, whose entries of single bytes are
/// there twice, and those of three units once (kernels/axes_ragged_box.hpp).
inline std::uint64_t ragged_list_bytes(const StridedBox& box) {
  if (box.triples > 1) return std::uint64_t{2} * (box.out.units / static_cast<unsigned>(box.triples));
  return (box.unit_bytes == 1 ? 4 : 2) * std::uint64_t{box.out.units};
}

/// Bytes of a box of triples, of which five then fit a multiprocessor: their threads have 48 registers.
inline constexpr std::uint32_t kTriplesMost = 44 << 10;

/// Whether vectors of the arrays, whatever rows they belong to, serve a box better than vectors of its rows,
/// which were chosen.
bool suits_ragged(const BoxSearch& search, const StridedBox& box);

/// Three where so many units of 1 or 2 bytes stay together within the box, side by side on both sides; else
/// one.
int triples_of(const BoxSearch& search, const StridedBox& box);

/// Makes a box ragged: its vectors, its halo, its lanes, and its parts.
void make_ragged(StridedBox& box);

/// What sectors cost that runs of the output share: at the ends of runs, or of chains of them, those are
/// written in parts, and elsewhere a halo is read.
double shared_sectors_price(const StridedBox& box);

/// Sets the cost of a box that has all but its places in shared memory.
void price(const BoxSearch& search, StridedBox& box);

/// What the lanes cost that meet in banks, of a box that is laid out.
double price_of_turns(const StridedBox& box);

/// Fills in the places of all parts, shared_words and congestion. False where the box then is
/// larger than `most_words`.
bool lay_out(StridedBox& box, std::uint32_t most_words);

}  // namespace faro::layout::detail
