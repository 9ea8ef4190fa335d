// One sweep from a source to a sink, within memory for one region at a time.
//
//     region of the output     [ 256 x 64 x 512 ]          a union of the sink's boxes
//     1. all threads           load each of the source's boxes that it needs, move their elements into the region
//     2. all threads           gather each of the sink's boxes from the region, store it
//
// Elements move by the CPU engine's plans of strided views, or of arithmetic where the types differ, one plan
// for each form of box that comes up.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "faro/arithmetic.hpp"
#include "store/box.hpp"
#include "store/element_type.hpp"
#include "store/region_journal.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// Which of the input's axes each of the output's is, and whether it runs backwards.
struct AxisChoice {
  std::vector<std::size_t> from;
  std::vector<bool> flipped;

  static AxisChoice identity(std::size_t rank) { return {c_order(rank), std::vector<bool>(rank, false)}; }
  /// The output's extents, of the input's.
  Shape extents(const Shape& in) const;
  /// The input's extents, of the output's.
  Shape extents_back(const Shape& out) const;
  /// The input's box that becomes one of the output's, and the other way round. `shape`: of the output.
  Box back(const Box& out, const Shape& shape) const;
  Box forth(const Box& in, const Shape& shape) const;
};

/// Sums over places and values, of what was read and of what was stored and read back: equal where every
/// element is where it belongs.
struct Sums {
  std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint64_t> stored{0};
};

/// Called with bytes that are done, by any thread; false ends the run.
using Advance = std::function<bool(std::uint64_t bytes)>;

struct SweepJob {
  const Source& source;
  Sink& sink;
  Shape shape;  // of the output
  AxisChoice axes;
  ElementType type;                           // of the output
  std::optional<Arithmetic> arithmetic = {};  // where the input's differs
  Shape region;                               // extents
  int threads = 1;
  std::byte* memory = nullptr;  // of a region
  Sums* read = nullptr;         // sums that are wanted
  Sums* stored = nullptr;
  std::optional<Arithmetic> sums_arithmetic = {};  // of the whole run
  Advance advance = {};
  RegionJournal* journal = nullptr;  // of what is finished, where a later run may go on
  std::function<void()> sync = {};   // brings what the sink stored to the disk, for that
  std::uint64_t* resumed = nullptr;  // regions that are found to be there are added
};

/// Half a sweep each: a region of the output into `job.memory`, in C order, and from there to the sink.
void load_region(const SweepJob& job, const Box& region);
void store_region(const SweepJob& job, const Box& region);

/// Of an element's place and bytes, for Sums.
std::uint64_t element_sum(std::uint64_t place, const std::byte* element, std::uint64_t bytes);

/// Regions that the journal says an earlier run finished are read back and compared by their checksums; where
/// one is another, the sweep begins anew. Returns false where it was ended. Errors: those of both sides.
bool sweep(const SweepJob& job);

}  // namespace faro::store
