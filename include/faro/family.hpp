// A plan for a family of shapes: rank, order, width and some extents are fixed, the others come with each
// call.
//
//     #include <faro/family.hpp>
//
//     // tokens x 8 heads x 128 to heads x tokens x 128, of at most 8192 tokens
//     const faro::ShapeFamily move({.extents = {faro::up_to(8192), faro::exactly(8), faro::exactly(128)},
//                              .order = {1, 0, 2}, .element_bytes = 2});
//     move.run({{777}}, in, out);                              // planned in about a microsecond, and run
//     move.run_on_device(tokens, in, out, stream);             // as many as lie in the device's memory by then
//
// A plan (faro/faro.hpp) tries hundreds of ways for its one shape, which takes up to a millisecond; a family
// decides by arithmetic on the call's extents. On a CPU its way is an ordinary plan's of a view, on a GPU it
// is where an ordinary plan's would be one that needs no trials: rows that stay, planes, small arrays; else
// boxes of its own (src/kernels/axes_family.hpp), which are slower. So there a shape that comes again, or is
// captured in a graph, is planned as any other, once.
//
// Extents in a device's memory are read by the kernel itself: nothing is planned on the host, nothing waits,
// and a graph that was captured is replayed with other extents.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "faro/problem/family_map.hpp"

namespace faro {

/// Cheap to move; every const member may be called from many threads at once.
class ShapeFamily {
 public:
  /// Errors: ErrorCode::value for what is no order, no axis or no list of the axes' length, for more than 16
  /// axes, elements of no or more than 4096 bytes, and for strides of which two elements of the largest
  /// output meet; ErrorCode::unsupported for fixed extents, or strides, of more than 2^40 elements;
  /// ErrorCode::device for an engine that this build or machine has not. Engine automatic is the CPU's. Of
  /// the options engine, threads and device count.   Cost: microseconds; the first of engine cuda starts the
  /// driver.
  explicit ShapeFamily(const FamilyMap& map, const PlanOptions& options = {});
  ShapeFamily(ShapeFamily&&) noexcept;
  ShapeFamily& operator=(ShapeFamily&&) noexcept;
  ~ShapeFamily();

  /// Moves an array whose free extents are `extents`, in the order of the axes. Engine cpu returns when the
  /// result is there; engine cuda queues on `stream`, a launch, or two for each axis that is rolled. Any
  /// alignment on a CPU; on a GPU to min(element, 16) bytes, or to the widest power of two that divides it.
  /// Requires: arrays of in_bytes() and out_bytes() (unchecked). Errors: ErrorCode::value for another number
  /// of extents, one past its most, null arrays, arrays that overlap and memory that the engine cannot
  /// access; nothing is written then.   Cost: 1 to 2 us of planning, none where the last call had the same
  /// extents; on a GPU up to a millisecond, once, for the second call of a shape that takes a search. The
  /// last 64 such shapes are kept.
  void run(std::span<const std::uint64_t> extents, const void* in, void* out, Stream stream = {},
           const FamilyStrides& strides = {}) const;

  /// The same with extents that are read when the kernel runs. An extent below 0 or past its most moves
  /// nothing. Requires: arrays that hold what the extents say by then, and do not overlap (unchecked).
  /// Errors: also ErrorCode::unsupported of engine cpu, and where the largest array has more than 2^40
  /// elements; ErrorCode::value for extents that the device cannot read. Cost: no planning, no
  /// synchronisation; as many blocks as the largest array has, or fill the device.
  void run_on_device(const DeviceExtents& extents, const void* in, void* out, Stream stream = {}) const;

  /// The shape of a call's output. Errors: as run().
  std::vector<std::uint64_t> out_shape(std::span<const std::uint64_t> extents) const;
  /// Bytes that a call reaches on each side; 0 of arrays without elements. Errors: as run().
  std::uint64_t in_bytes(std::span<const std::uint64_t> extents) const;
  std::uint64_t out_bytes(std::span<const std::uint64_t> extents) const;

  /// How a call would be moved, in a line: "planes", "rows", "boxes", … of engine cuda; boxes and what is
  /// done with them of engine cpu. Errors: as run().
  std::string explain(std::span<const std::uint64_t> extents) const;

  const FamilyMap& map() const;
  Engine engine() const;
  /// How many extents a call has.
  std::size_t free_extents() const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace faro
