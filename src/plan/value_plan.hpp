// A view whose numbers are changed while they are moved: boxes of its index space, each converted in a core's
// cache.
//
//     input, any strides                                    output, rows that lie together
//        |                                                        ^
//        |  box moved by a plan of its own, as bytes              |  streamed
//        v                                                        |
//     box in the second-level cache, in the output's order -- converted run by run
//
// A run is what lies together in the output. Where the input's numbers lie together along a run too, they are
// converted from where they are, and no box is moved; so is the array that is added. An output whose numbers
// do not lie together is written from a box as well. So every view has every arithmetic, and the second pass
// over a box finds it in the cache.
//
// On a CPU (on_cpu) three kinds of views go another way. What is turned in registers, or is pixels of a few
// channels, and is written past the caches is moved as plain numbers are, and changed on its way from the
// stage to the output (turned). Else,
// where numbers become narrower, runs of the input are converted into a box of the narrower type, in the
// input's order, and a plan moves that past the caches. Rows that need no box, and go past the caches, are
// converted in the input's order, too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "faro/arithmetic.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/problem/target.hpp"

namespace faro::detail {

struct CpuPass;

/// Strides of everything that is read or written, in its own elements; those of coefficients are 0 but on
/// their axis.
struct ValueStrides {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t addend = 0;
  std::int64_t scale = 0;
  std::int64_t offset = 0;
};

struct ValueAxis {
  std::uint64_t extent = 1;
  ValueStrides strides;
  bool whole = false;  // boxes have all of it
};

struct ValuePlan {
  Arithmetic arithmetic;
  std::vector<ValueAxis> axes = {};  // slowest of the output (or input) first; strides of the output above 0
  ValueStrides first = {};           // where index 0 lies
  std::uint64_t count = 0;           // numbers that are moved
  std::vector<std::uint64_t> box = {};  // its extents
  std::size_t run_axes = 0;             // the last axes, along which one side of a box lies together: a run
  bool in_direct = false;               // converted from where they are
  bool addend_direct = false;
  bool out_direct = false;  // converted to where they belong
  bool streamed = false;    // past the caches
  int threads = 1;
  // The pass of numbers as wide as the input's that are changed as they are written; else null.
  std::shared_ptr<const CpuPass> turned = nullptr;

  std::uint64_t run_count() const;  // of a whole box
  std::uint64_t box_count() const;
  std::uint64_t read_bytes() const;
  std::uint64_t written_bytes() const;
  std::string explain() const;
};

/// The first lines of an explanation: what is done, and to how many numbers.
std::string told_arithmetic(const Arithmetic& arithmetic, std::uint64_t numbers, std::uint64_t read_bytes,
                            std::uint64_t written_bytes);

/// Whether numbers are changed part by part, and are floats of at most two widths or bytes that become such:
/// engines do that in registers.
bool stays_in_registers(const Arithmetic& of);

/// Errors: those of check(view) and check(arithmetic, extents); ErrorCode::value for arrays past 2^62 bytes.
ValuePlan make_value_plan(const Strided& view, const Arithmetic& arithmetic, const Target& target);
/// The same of axes with all their strides, `first` where index 0 lies. Requires: no element is met twice in
/// the output, arrays of at most 2^62 bytes (unchecked).
ValuePlan make_value_plan(const std::vector<ValueAxis>& axes, const ValueStrides& first,
                          const Arithmetic& arithmetic, const Target& target);

/// The arithmetic with the output's shape, and factors along its axes. Requires: plan.turned.
Arithmetic of_whole_output(const ValuePlan& plan);

/// The same as a CPU does it best: turned, where what is added lies as the output does and numbers stay in
/// registers, with one factor for all of them, or are rows of a few channels; or with boxes that are
/// converted as they are read, where numbers become narrower, nothing is added, and the input has long runs;
/// or with rows in the input's order; else `plan` itself. For cpu::ValueSweep alone.
ValuePlan on_cpu(ValuePlan plan, const Target& target);

}  // namespace faro::detail
