// Elements of whole lines, each of which goes to lines of its own: nothing is put together in a stage.
//
//     input:   | a0 a1 |  gap  | b0 b1 |  gap  | c0 c1 | ...      elements of two lines
//     output:  | a0 a1 | b0 b1 | c0 c1 | ...                      or as far apart as the output wants them
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::cpu {

/// Elements of whole lines, from some bytes apart to others apart, past the caches, while as many others are
/// fetched, as far apart as those that are read: with `gap` bytes before the first of them and `gaps` before
/// each other. `broken`: the input has gaps that are not fetched. An element may be a row that is reversed,
/// end for end, of elements of `turned_bytes` (1, 2, 4 or 8) each; 0: it is none.
struct WholeElements {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;  // aligned to a line, as all others are
  const std::byte* fetched = nullptr;
  std::uint64_t gap = 0;
  std::uint64_t gaps = 0;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // of an element
  bool broken = false;
  std::uint64_t turned_bytes = 0;
};
void stream_elements(const WholeElements& elements);

}  // namespace faro::cpu
