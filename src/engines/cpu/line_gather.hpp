// Elements of a line and more, gathered into a run of the output.
//
//     places:   0   1920   3840   5760  ...        elements of 320 bytes
//     output:   |  0  |  1  |  2  |  3  | ...      5 lines each, streamed from where they are
//
// Where they are no whole lines, or the output begins between two, a run is put together in a stage first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu/plane_transpose.hpp"

namespace faro::cpu {

struct LineGather {
  const std::byte* from = nullptr;
  const std::int64_t* places = nullptr;  // bytes from there
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;     // of an element, at least a line
  std::byte* to = nullptr;     // any alignment
  std::byte* stage = nullptr;  // aligned to a line: all elements and two lines
};

/// to[i] = from[places[i]], past the caches but for what is no whole line; rows are fetched meanwhile.
void gather_lines(const LineGather& gather, RowTraffic& rows);

}  // namespace faro::cpu
