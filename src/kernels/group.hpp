// Many arrays in one launch: a block looks up which array it is of, and does what the array's own kernel
// would have it do.
//
//     launch of boxes      block   0    1    2    3    4                one entry a block
//                          array   2    2    0    0    1                heavy ones first
//                          its     0    1    0    1    0                its block among the array's own
//                          params  p2   p2   p0   p0   p0               those of equal arrays are one
//     launch of elements   warp    0    1    2    3    4    5           one entry a warp: no barriers
//
// So a family is one kernel, whatever its arrays' shapes and widths: what a kernel of one array is compiled
// for is here the entry's kind, by which all threads of a block, or of a warp, branch alike. Addresses are
// read from a list of all arrays, so that a graph may be replayed with others; skews, which depend on them,
// are in the parameters, so that others lie as far past a multiple of 32 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "faro/device/memory.hpp"
#include "faro/kernels/affine_tile_index.hpp"
#include "kernels/affine_segments.hpp"
#include "kernels/axes_box.hpp"
#include "kernels/axes_elements.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/axes_view_rows.hpp"
#include "kernels/group_table.hpp"

namespace faro::kernels {

/// A kernel of its own: one launch has the arrays of one family.
struct GroupFamily {
  enum class Kind { boxes, elements, vectors, tiles, values };
  Kind kind = Kind::boxes;
  CompiledTile tile = {};   // of tiles
  std::size_t changes = 0;  // of values: which kernel (group_values.hpp), one for each kind of arithmetic

  friend constexpr bool operator==(const GroupFamily&, const GroupFamily&) = default;
};
constexpr const char* name(GroupFamily::Kind kind) noexcept {
  constexpr const char* names[] = {"boxes", "elements", "vectors", "tiles", "values"};
  return names[static_cast<int>(kind)];
}

/// Calls use(std::integral_constant<std::size_t, kind>()) for a kind from `first` on and below `count`.
template <std::size_t count, std::size_t first = 0, typename Use>
constexpr void with_group_kind(std::uint32_t kind, const Use& use) {
  if constexpr (first < count) {
    if (kind == first) return use(std::integral_constant<std::size_t, first>());
    with_group_kind<count, first + 1>(kind, use);
  }
}

// --- elements: small arrays, by warps

inline constexpr std::size_t kGroupWidths = 5;  // units of 1, 2, 4, 8 and 16 bytes
inline constexpr std::uint32_t kGroupWarpLanes = 32;
inline constexpr std::uint32_t kGroupWarps = kAxesElementsThreads / kGroupWarpLanes;  // of a block

/// The whole work of a lane, which has one unit.
template <std::size_t kind, device::Memory Memory>
constexpr void move_group_elements(Memory& memory, const AxesElementsParams& params, std::uint32_t warp,
                                   std::uint32_t lane) {
  move_axes_elements<1 << kind, 1>(memory, params, warp / kGroupWarps,
                                   warp % kGroupWarps * kGroupWarpLanes + lane);
}

// --- vectors: what lies together on both sides, a block of 256 threads without shared memory

inline constexpr std::size_t kGroupViewRows = kGroupWidths;
inline constexpr std::size_t kGroupSegments = kGroupViewRows + std::size(kViewRowsShapes);
inline constexpr std::size_t kGroupVectorKinds = kGroupSegments + kGroupWidths;
inline constexpr int kGroupVectorThreads = 256;
static_assert(kGroupVectorThreads == kAxesRowsThreads && kGroupVectorThreads == kViewRowsThreads &&
              kGroupVectorThreads == kSegmentsThreads);

/// Of which kernel such a kind is: AxesRowsParams, ViewRowsParams or AffineSegmentsParams, and what it moves
/// at a time.
template <std::size_t kind>
struct GroupVectors {
  static constexpr bool kRows = kind < kGroupViewRows;
  static constexpr bool kViewRows = !kRows && kind < kGroupSegments;
  static constexpr int unit_bytes() {
    if constexpr (kRows) {
      return 1 << kind;
    } else if constexpr (kViewRows) {
      return kViewRowsShapes[kind - kGroupViewRows].access_bytes;
    } else {
      return 1 << (kind - kGroupSegments);
    }
  }
};

/// The whole work of a thread.
template <std::size_t kind, device::Memory Memory>
constexpr void move_group_vectors(Memory& memory, const std::byte* params, const GroupBlock& of,
                                  std::uint32_t thread) {
  using Kind = GroupVectors<kind>;
  if constexpr (Kind::kRows) {
    move_axes_rows<Kind::unit_bytes()>(memory, group_params<AxesRowsParams>(params, of), of.block, thread);
  } else if constexpr (Kind::kViewRows) {
    constexpr ViewRowsShape shape = kViewRowsShapes[kind - kGroupViewRows];
    move_view_rows<shape>(memory, group_params<ViewRowsParams>(params, of), of.block, thread);
  } else {
    move_vector<Kind::unit_bytes()>(memory, group_params<AffineSegmentsParams>(params, of), of.block, thread);
  }
}

// --- boxes: those of 256 threads, the first of kBoxShapes

constexpr std::size_t group_box_shapes() {
  std::size_t count = 0;
  while (count < std::size(kBoxShapes) && kBoxShapes[count].threads == kBoxThreads) ++count;
  return count;
}
inline constexpr std::size_t kGroupBoxes = group_box_shapes();

}  // namespace faro::kernels
