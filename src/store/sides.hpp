// The two sides of a sweep over stores: who gives parts of an array, and who takes them.
//
//     Source    boxes(region)  ->  load(box)            a chunk is decoded whole, a run of bytes read in rows
//     Sink      boxes(region)  ->  room(box), store()   a chunk is encoded whole, a run of bytes written in rows
//
// A sweep (sweep.hpp) knows nothing else of formats. All functions but cost() may be called by many threads
// at once; each thread has a Workspace of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/box.hpp"
#include "store/element_type.hpp"

namespace faro::store {

using Bytes = std::vector<std::byte>;

/// Where a box belongs in memory: its first element, and how far it is from each to the next, in elements.
struct Destination {
  std::byte* first = nullptr;  // null: nowhere that a source may write to
  Strides strides = {};
};

/// What a thread keeps from one box to the next.
struct Workspace {
  Bytes loaded;                  // elements of a source's box
  Bytes made;                    // elements for a sink's box
  Bytes stored;                  // as they are in a file
  Bytes between;                 // of codecs
  Destination destination = {};  // of the box that is loaded next, as the source has its axes

  /// Room for `bytes` of elements that lie in such strides, none between them: where they belong if they lie
  /// so there, which saves a move; else `loaded`.
  std::span<std::byte> room_for(const Shape& extents, const Strides& strides, std::uint64_t bytes);
};

/// Elements in memory: the first of a box, and how far it is from each to the next, in elements.
struct Loaded {
  const std::byte* first = nullptr;
  Strides strides;
};

/// What reading or writing takes, in bytes of a plain file that would take as long.
using Cost = double;

/// Bytes that take as long as a request for none.
inline constexpr std::uint64_t kRequestBytes = std::uint64_t{8} << 10;

class Source {
 public:
  virtual ~Source() = default;

  /// Boxes that together are the region, each loaded by itself.
  virtual std::vector<Box> boxes(const Box& region) const = 0;
  /// Stays valid until the workspace is used again. Bytes are in this machine's order. Errors:
  /// ErrorCode::file.
  virtual Loaded load(const Box& box, Workspace& workspace) const = 0;
  /// Of a sweep over the whole array in regions that begin at multiples of these extents.
  virtual Cost cost(const Shape& region) const = 0;
  /// Of a workspace, at most, for boxes of such regions.
  virtual std::uint64_t workspace_bytes(const Shape& region) const = 0;
  /// Where regions begin that load nothing twice.
  virtual Shape unit() const = 0;
  /// What tells what is read from another, and from itself after a change. Empty: it cannot change.
  virtual std::string identity() const { return {}; }
};

/// How the elements of a box lie in the buffer that store() is given.
struct Room {
  std::uint64_t bytes = 0;
  Strides strides;         // in elements; the box's first element is the buffer's
  bool has_rests = false;  // what the box does not reach is the fill value
};

class Sink {
 public:
  virtual ~Sink() = default;

  /// Regions are unions of boxes of these extents, cut by the array's end.
  virtual Shape unit() const = 0;
  virtual std::vector<Box> boxes(const Box& region) const = 0;
  virtual Room room(const Box& box) const = 0;
  /// Of the fill value, as many bytes as an element. Empty: zeros.
  virtual const Bytes& fill() const = 0;
  /// `elements` of room(box).bytes, which this may change. Errors: ErrorCode::file.
  virtual void store(const Box& box, std::span<std::byte> elements, Workspace& workspace) = 0;
  /// The same elements as store() wrote them, read back, in the room of the box. Requires: stored before, and
  /// before finish().
  virtual void read_back(const Box& box, std::span<std::byte> elements, Workspace& workspace) const = 0;
  virtual Cost cost(const Shape& region) const = 0;
  virtual std::uint64_t workspace_bytes(const Shape& region) const = 0;
  /// Whether what is stored can be read back by a later process as it is, without what is still in memory.
  virtual bool is_settled() const { return true; }
  /// All is stored: what describes it is written. Errors: ErrorCode::file.
  virtual void finish() {}
};

inline std::span<std::byte> Workspace::room_for(const Shape& extents, const Strides& strides,
                                                std::uint64_t bytes) {
  bool is_there = destination.first != nullptr;
  for (std::size_t a = 0; a < extents.size() && is_there; ++a)
    is_there = extents[a] == 1 || strides[a] == destination.strides[a];
  if (is_there) return {destination.first, bytes};
  loaded.resize(bytes);
  return loaded;
}

}  // namespace faro::store
