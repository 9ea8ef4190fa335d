// Elements gathered into a run of the output.
//
//     places:   0   1920   3840   5760  ...        elements of 320 bytes
//     output:   |  0  |  1  |  2  |  3  | ...      5 lines each, streamed from where they are
//
// Where they are no whole lines, or the output begins between two, a run is put together in a stage first.
// Elements of less than a line are moved in vectors where the input has them in order:
//
//     backwards              input   a b c d e f g h        output   h g f e d c b a
//     every second, fourth   input   a . b . c . d .        output   a b c d
//     one, again and again   input   a                      output   a a a a
//     short blocks reversed  input   a b c  d e f  g h i    output   c b a  f e d  i h g
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/cpu/plane_transpose.hpp"

namespace faro::cpu {

struct LineGather {
  const std::byte* from = nullptr;
  const std::int64_t* places = nullptr;  // bytes from there
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // of an element
  // For elements of a line and more, with a stage: bytes of the first and of the last one that are not moved.
  std::uint64_t skipped = 0;
  std::uint64_t left_out = 0;
  std::byte* to = nullptr;     // any alignment
  std::byte* stage = nullptr;  // aligned to a line: all elements and two lines; null: through the caches

  // Elements of less than a line: so many of them are `step` bytes apart, then others; 1: each has a place of
  // its own.
  std::uint64_t segment = 1;
  std::int64_t step = 0;
  // Such a segment is blocks side by side, each of so many elements end for end; 0: it is none. `turned`:
  // where bytes of a vector of such blocks come from, turned_blocks().
  std::uint64_t block = 0;
  const std::uint8_t* turned = nullptr;
};

/// Bytes of a block that vectors turn.
inline constexpr std::uint64_t kMostBlockBytes = 16;

/// For each byte of a vector which byte it comes from, where it holds as many blocks as it can, each of so
/// many elements end for end. Requires: a block of at most a vector (unchecked).
std::array<std::uint8_t, kMostBlockBytes> turned_blocks(std::uint64_t block, std::uint64_t element_bytes);

/// to[i] = from[places[i]], past the caches, if there is a stage, but for what is no whole line; rows are
/// fetched meanwhile.
void gather_lines(const LineGather& gather, RowTraffic& rows);

}  // namespace faro::cpu
