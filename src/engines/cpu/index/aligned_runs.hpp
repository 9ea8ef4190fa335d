// Runs of the output that begin and end with lines, wherever the output itself begins.
//
//     lines      |        |        |        |        |
//     output         aaaaaabbbbbbccccccddddddeeeeee         rows of 6 elements that lie together
//     runs           000011111111222222223333333344         not one of each row, but one of each line
//
// A line that two boxes write a part of each goes through the caches, is read before, and is written twice.
// NumPy's arrays begin 16 bytes past a line, so that every run of such a box would begin and end with one.
// Here the axes that lie together in the output are one row of bytes, which is cut at lines; a run may begin
// within any of the axes, so where its elements lie in the input is worked out for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/cpu/cpu_workspace.hpp"

namespace faro::cpu {

/// A row of bytes, cut into parts at lines: the first reaches from its beginning past a whole run, and what
/// is left at its end is a part by itself where it is longer than a line.
struct RunCut {
  std::uint64_t head = 0;    // bytes before the first line
  std::uint64_t run = 0;     // whole lines
  std::uint64_t length = 0;  // of the row; at least head + run
  std::uint64_t parts = 0;

  std::uint64_t begin(std::uint64_t part) const { return part == 0 ? 0 : head + part * run; }
  std::uint64_t end(std::uint64_t part) const { return part + 1 == parts ? length : head + (part + 1) * run; }
};

/// The axes of such a row, fastest first: each begins where the one before it ends in the output.
class AlignedRuns {
 public:
  struct Axis {
    std::uint64_t extent = 1;
    std::int64_t in = 0;  // bytes
  };

  /// None.
  AlignedRuns() = default;
  /// Runs of about `run_bytes`. Requires: at least a line.
  AlignedRuns(std::vector<Axis> axes, std::uint64_t element_bytes, std::uint64_t run_bytes)
      : axes_(std::move(axes)) {
    cut_.run = run_bytes / detail::kLineBytes * detail::kLineBytes;
    cut_.length = element_bytes;
    for (const Axis& axis : axes_) cut_.length *= axis.extent;
  }

  bool any() const { return cut_.length >= 2 * (cut_.run + detail::kLineBytes); }

  /// The cut of a row that begins at `out`. Requires: any().
  RunCut cut(const std::byte* out) const {
    RunCut made = cut_;
    made.head = (0 - reinterpret_cast<std::uintptr_t>(out)) % detail::kLineBytes;
    made.parts = (made.length - made.head) / made.run;
    if (made.length - made.head - made.parts * made.run > detail::kLineBytes) ++made.parts;
    return made;
  }

  /// Where elements `first` and on lie in the input, from `first` on: so many of them. Returns where that one
  /// does, from the row's beginning on. Requires: they are of one row.
  std::int64_t places(std::uint64_t first, std::uint64_t count, std::int64_t* to) const {
    std::uint64_t at[kMostAxes];
    std::int64_t source = 0;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      at[a] = first % axes_[a].extent;
      first /= axes_[a].extent;
      source += static_cast<std::int64_t>(at[a]) * axes_[a].in;
    }
    const std::int64_t step = axes_.front().in;
    const std::int64_t before = source;
    for (std::uint64_t i = 0; i < count;) {
      const std::uint64_t alike = std::min(count - i, axes_.front().extent - at[0]);
      std::int64_t place = source - before;
      for (std::uint64_t k = 0; k < alike; ++k, place += step) to[i + k] = place;
      i += alike;
      source -= static_cast<std::int64_t>(at[0]) * step;
      at[0] = 0;
      for (std::size_t a = 1; a < axes_.size(); ++a) {
        source += axes_[a].in;
        if (++at[a] < axes_[a].extent) break;
        source -= static_cast<std::int64_t>(axes_[a].extent) * axes_[a].in;
        at[a] = 0;
      }
    }
    return before;
  }

  static constexpr std::size_t kMostAxes = 48;

 private:
  std::vector<Axis> axes_;
  RunCut cut_;
};

}  // namespace faro::cpu
