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
//
// Neighbouring entries are of one kind, so that a multiprocessor finds its instructions in its cache. Where
// there are boxes enough for every multiprocessor, a block moves some of an array's, one after another: what
// depends on the thread alone is worked out once, and where each box is has been by the host.
//
// Parameters of a kernel of one array are constants; here they lie in memory, which takes as long to answer
// as the array itself, step by step. So there are three places for them (GroupFamily::Params):
//
//     listed     read where they lie: parameters of many blocks are in the first-level cache
//     held       copied to shared memory at first, in one step: planes, stretches and wholes, of few blocks
//     constant   of the launch, as of one array: much that is equal, whose kernel needs many of them
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
#include "kernels/axes_ragged_box.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/axes_skinny.hpp"
#include "kernels/axes_turned.hpp"
#include "kernels/axes_view_rows.hpp"
#include "kernels/axes_whole.hpp"
#include "kernels/group_table.hpp"

namespace faro::kernels {

/// A kernel of its own: one launch has the arrays of one family.
struct GroupFamily {
  enum class Kind { boxes, elements, vectors, planes, stretches, wholes, tiles, values };
  enum class Params { listed, held, constant };
  Kind kind = Kind::boxes;
  Params params = Params::listed;
  CompiledTile tile = {};   // of tiles
  std::size_t changes = 0;  // of values: which kernel (group_values.hpp), one for each kind of arithmetic

  friend constexpr bool operator==(const GroupFamily&, const GroupFamily&) = default;
};
constexpr const char* name(GroupFamily::Kind kind) noexcept {
  constexpr const char* names[] = {"boxes",     "elements", "vectors", "planes",
                                   "stretches", "wholes",   "tiles",   "values"};
  return names[static_cast<int>(kind)];
}

/// Calls use(std::integral_constant<std::size_t, kind>()) for a kind from `first` on and below `behind`, by
/// as few comparisons as halving takes.
template <std::size_t behind, std::size_t first = 0, typename Use>
constexpr void with_group_kind(std::uint32_t kind, const Use& use) {
  if constexpr (behind - first == 1) {
    use(std::integral_constant<std::size_t, first>());
  } else {
    constexpr std::size_t middle = (first + behind) / 2;
    if (kind < middle) return with_group_kind<middle, first>(kind, use);
    with_group_kind<behind, middle>(kind, use);
  }
}

// --- elements: small arrays, by warps

inline constexpr std::size_t kGroupWidths = 5;  // units of 1, 2, 4, 8 and 16 bytes
inline constexpr std::uint32_t kGroupWarpLanes = 32;
inline constexpr std::uint32_t kGroupWarps = kAxesElementsThreads / kGroupWarpLanes;  // of a block

inline constexpr std::size_t kGroupElements = 2 * kGroupWidths;  // a lane has one, then up to 32 bytes
constexpr std::uint32_t group_elements_kind(std::uint32_t log2_bytes, int units) {
  return log2_bytes + (units > 1 ? std::uint32_t{kGroupWidths} : 0);
}

/// The whole work of a lane.
template <std::size_t kind, device::Memory Memory>
constexpr void move_group_elements(Memory& memory, const AxesElementsParams& params, std::uint32_t warp,
                                   std::uint32_t lane) {
  constexpr int bytes = 1 << kind % kGroupWidths;
  constexpr int units = kind < kGroupWidths ? 1 : most_elements_units(bytes);
  move_axes_elements<bytes, units>(memory, params, warp / kGroupWarps,
                                   warp % kGroupWarps * kGroupWarpLanes + lane);
}

// --- vectors: what lies together on both sides, a block of 256 threads without shared memory

inline constexpr std::size_t kGroupViewRows = kGroupWidths;
inline constexpr std::size_t kGroupSegments = kGroupViewRows + std::size(kViewRowsShapes);
inline constexpr std::size_t kGroupCopies = kGroupSegments + kGroupWidths;  // rows without axes
inline constexpr std::size_t kGroupVectorKinds = kGroupCopies + kGroupWidths;
inline constexpr std::uint32_t kGroupCopyVectors = 4;  // of a thread
inline constexpr int kGroupVectorThreads = 256;
static_assert(kGroupVectorThreads == kAxesRowsThreads && kGroupVectorThreads == kViewRowsThreads &&
              kGroupVectorThreads == kSegmentsThreads);

/// Of which kernel such a kind is: AxesRowsParams, ViewRowsParams or AffineSegmentsParams, and what it moves
/// at a time.
template <std::size_t kind>
struct GroupVectors {
  static constexpr bool kCopies = kind >= kGroupCopies;
  static constexpr bool kRows = kind < kGroupViewRows;
  static constexpr bool kViewRows = !kRows && kind < kGroupSegments;
  static constexpr int unit_bytes() {
    if constexpr (kCopies) {
      return 1 << (kind - kGroupCopies);
    } else if constexpr (kRows) {
      return 1 << kind;
    } else if constexpr (kViewRows) {
      return kViewRowsShapes[kind - kGroupViewRows].access_bytes;
    } else {
      return 1 << (kind - kGroupSegments);
    }
  }
};

/// What a thread copies where all that its block reads and writes is the arrays' own. `from`: the vector
/// where the block's input begins; `joins`: it begins `by` bytes later.
template <int unit_bytes, bool joins, device::Memory Memory>
constexpr void copy_inner_vectors(Memory& memory, std::uint64_t from, std::uint64_t to, std::uint32_t by,
                                  std::uint32_t thread) {
  constexpr std::uint64_t step = std::uint64_t{kGroupVectorThreads} * kMovedBytes;
  from += std::uint64_t{thread} * kMovedBytes;
  to += std::uint64_t{thread} * kMovedBytes;
  device::Packet<kMovedBytes> read[kGroupCopyVectors];
  device::Packet<kMovedBytes> next[kGroupCopyVectors];
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kGroupCopyVectors; ++k) {
    read[k] = memory.template load_global<kMovedBytes>(device::kInput, from + k * step);
    if constexpr (joins)
      next[k] = memory.template load_global<kMovedBytes>(device::kInput, from + k * step + kMovedBytes);
  }
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kGroupCopyVectors; ++k) {
    if constexpr (joins) read[k] = join<unit_bytes>(read[k], next[k], by);
    memory.template store_global<kMovedBytes>(device::kOutput, to + k * step, read[k]);
  }
}

/// A row without axes, wherever it begins on both sides: four vectors of output a thread, whose input is on
/// its way before the first is joined; what the row's ends cut goes unit by unit.
template <int unit_bytes, device::Memory Memory>
constexpr void copy_group_vectors(Memory& memory, const AxesRowsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  const std::uint64_t first =
      (p.first_vector + block * kGroupCopyVectors * kGroupVectorThreads + thread) * kMovedBytes;
  constexpr std::uint64_t step = std::uint64_t{kGroupVectorThreads} * kMovedBytes;
  const auto from = [&](std::uint64_t y) { return p.in.begin + (y - p.out.begin); };
  const std::uint64_t begin = first - std::uint64_t{thread} * kMovedBytes;
  const std::uint64_t end = begin + kGroupCopyVectors * step;
  if (begin >= p.out.begin && end <= p.out.end) {
    const VectorPair all(from(begin));
    const std::uint64_t behind = all.first + (end - begin) + (all.by != 0 ? kMovedBytes : 0);
    if (all.first >= p.in.begin && behind <= p.in.end) {
      if (all.by == 0) return copy_inner_vectors<unit_bytes, false>(memory, all.first, begin, 0, thread);
      return copy_inner_vectors<unit_bytes, true>(memory, all.first, begin, all.by, thread);
    }
  }
  device::Packet<kMovedBytes> read[kGroupCopyVectors];
  device::Packet<kMovedBytes> next[kGroupCopyVectors];
  bool joins[kGroupCopyVectors];
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kGroupCopyVectors; ++k) {
    const std::uint64_t y = first + k * step;
    const VectorPair pair(from(y));
    joins[k] = y >= p.out.begin && y + kMovedBytes <= p.out.end && pair.within(p.in);
    next[k] = {};
    if (!joins[k]) continue;
    read[k] = memory.template load_global<kMovedBytes>(device::kInput, pair.first);
    if (pair.by != 0)
      next[k] = memory.template load_global<kMovedBytes>(device::kInput, pair.first + kMovedBytes);
  }
  const VectorPair pair(from(first));  // as far past a vector as the others
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kGroupCopyVectors; ++k) {
    if (joins[k]) {
      memory.template store_global<kMovedBytes>(device::kOutput, first + k * step,
                                                join<unit_bytes>(read[k], next[k], pair.by));
    }
  }
  FARO_NO_UNROLL
  for (std::uint32_t k = 0; k < kGroupCopyVectors; ++k) {
    const std::uint64_t at = first + k * step;
    const bool whole = at >= p.out.begin && at + kMovedBytes <= p.out.end;
    if (whole && VectorPair(from(at)).within(p.in)) continue;
    FARO_NO_UNROLL
    for (std::uint64_t y = at; y < at + kMovedBytes; y += unit_bytes) {
      if (y < p.out.begin || y >= p.out.end) continue;
      memory.template store_global<unit_bytes>(
          device::kOutput, y, memory.template load_global<unit_bytes>(device::kInput, from(y)));
    }
  }
}

/// The whole work of a thread.
template <std::size_t kind, device::Memory Memory>
constexpr void move_group_vectors(Memory& memory, const std::byte* params, const GroupBlock& of,
                                  std::uint32_t thread) {
  using Kind = GroupVectors<kind>;
  if constexpr (Kind::kCopies) {
    copy_group_vectors<Kind::unit_bytes()>(memory, group_params<AxesRowsParams>(params, of), of.block,
                                           thread);
  } else if constexpr (Kind::kRows) {
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
inline constexpr std::uint64_t kMostGroupBoxes = 2;  // of a block

/// A thread's part of a block's boxes: load(memory, box), and behind a barrier store(memory, box).
template <BoxShape shape>
struct GroupBoxThread {
  const AxesBoxParams& p;
  std::uint32_t thread;
  BoxReader<shape> reader;

  constexpr GroupBoxThread(const AxesBoxParams& params, std::uint32_t number)
      : p(params), thread(number), reader(box_reader<shape>(params, number)) {}

  template <device::Memory Memory>
  constexpr void load(Memory& memory, const RaggedBox& box) const {
    load_box<shape>(memory, p, reader, box.origin());
  }
  constexpr BoxWriter<shape> writer() const { return {p, thread}; }
  template <device::Memory Memory>
  constexpr void store(Memory& memory, const RaggedBox& box, const BoxWriter<shape>& by) const {
    store_box<shape>(memory, p, by, thread, box.origin());
  }
};
template <BoxShape shape>
requires(shape.ragged) struct GroupBoxThread<shape> {
  const AxesBoxParams& p;
  std::uint32_t thread;

  struct Writer {};
  template <device::Memory Memory>
  constexpr void load(Memory& memory, const RaggedBox& box) const {
    load_ragged_box<shape>(memory, p, box, thread);
  }
  constexpr Writer writer() const { return {}; }
  template <device::Memory Memory>
  constexpr void store(Memory& memory, const RaggedBox& box, const Writer& /*by*/) const {
    store_ragged_box<shape>(memory, p, box, thread);
  }
};

// --- wholes: small arrays that follow one another in each

inline constexpr std::size_t kGroupWholes = kGroupWidths;

// --- planes: those of 288 threads; stretches of few rows or columns: those that need no more registers

inline constexpr int kGroupPlaneThreads = 288;

struct GroupPlane {
  AxesPlaneShape shape;
  bool turned = false;
  bool aligned = false;  // to vectors; turned, to words

  friend constexpr bool operator==(const GroupPlane&, const GroupPlane&) = default;
};
// Calls use(plane) for each that is chosen: turned ones, and others at vectors.
template <typename Use>
constexpr void each_group_plane(const Use& use) {
  for (const AxesPlaneShape& shape : kAxesTurnedShapes) {
    if (shape.threads != kGroupPlaneThreads) continue;
    use(GroupPlane{shape, true, true});
    if (shape.unit_bytes < 4) use(GroupPlane{shape, true, false});
  }
  for (const AxesPlaneShape& shape : kAxesPlaneShapes) {
    if (shape.unit_bytes > 1) use(GroupPlane{shape, false, true});
  }
}
inline constexpr std::size_t kGroupPlanes = [] {
  std::size_t count = 0;
  each_group_plane([&](const GroupPlane& /*plane*/) { ++count; });
  return count;
}();
/// The number of such a kernel; kGroupPlanes where groups do not have it.
constexpr std::uint32_t group_plane_kind(const GroupPlane& wanted) {
  std::uint32_t number = 0;
  std::uint32_t found = kGroupPlanes;
  each_group_plane([&](const GroupPlane& plane) {
    if (plane == wanted) found = number;
    ++number;
  });
  return found;
}
constexpr GroupPlane group_plane(std::size_t kind) {
  std::size_t number = 0;
  GroupPlane found;
  each_group_plane([&](const GroupPlane& plane) {
    if (number++ == kind) found = plane;
  });
  return found;
}

/// The number of the turned shape that groups have among those of its width.
constexpr int group_turned_shape(int unit_bytes) {
  int number = 0;
  for (const AxesPlaneShape& shape : kAxesTurnedShapes) {
    if (shape.unit_bytes != unit_bytes) continue;
    if (shape.threads == kGroupPlaneThreads) break;
    ++number;
  }
  return number;
}

inline constexpr int kGroupFewVectors = 4;  // rows or columns that go by vectors
inline constexpr std::size_t kGroupStretches =
    kAxesWordShapes + 4 * (kGroupFewVectors - kLeastFewVectors + 1);

/// Both phases of a plane's tile, or of a stretch: kernel.load(memory) and, behind a barrier, .store(memory).
template <std::size_t kind>
struct GroupPlaneTile {
  static constexpr GroupPlane kPlane = group_plane(kind);

  template <device::Memory Memory>
  static constexpr void load(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                             std::uint32_t thread) {
    if constexpr (kPlane.turned) {
      load_axes_turned<kPlane.shape, kPlane.aligned>(memory, p, tile, thread);
    } else {
      load_axes_plane<kPlane.shape, kPlane.aligned>(memory, p, tile, thread);
    }
  }
  template <device::Memory Memory>
  static constexpr void store(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                              std::uint32_t thread) {
    if constexpr (kPlane.turned) {
      store_axes_turned<kPlane.shape>(memory, p, tile, thread);
    } else {
      store_axes_plane<kPlane.shape>(memory, p, tile, thread);
    }
  }
};
template <std::size_t kind>
struct GroupStretchTile {
  static constexpr AxesSkinnyShape kShape = axes_skinny_shape(static_cast<int>(kind));

  template <device::Memory Memory>
  static constexpr void load(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                             std::uint32_t thread) {
    load_axes_skinny<kShape>(memory, p, tile, thread);
  }
  template <device::Memory Memory>
  static constexpr void store(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                              std::uint32_t thread) {
    store_axes_skinny<kShape>(memory, p, tile, thread);
  }
};

}  // namespace faro::kernels
