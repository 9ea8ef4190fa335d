// The runs of a box, in bytes, and whether they are whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contains.hpp"
#include "layout/cache_box.hpp"
#include "plan/cpu/cpu_workspace.hpp"

namespace faro::detail {

inline std::uint64_t bytes_of(const layout::CacheBox& box, const std::vector<std::size_t>& axes) {
  std::uint64_t bytes = box.element_bytes;
  for (const std::size_t axis : axes) bytes *= box.extent[axis];
  return bytes;
}

inline std::vector<std::size_t> written_axes(const layout::CacheBox& box) {
  std::vector<std::size_t> run = box.out_run();
  run.resize(box.out_contiguous());
  return run;
}

// What is written of a box at a time, and whether that is whole lines where the output begins at one.
inline bool writes_lines(const layout::CacheBox& box, const std::vector<std::size_t>& run) {
  bool whole = bytes_of(box, run) % kLineBytes == 0;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
    whole =
        whole && (contains(run, axis) || static_cast<std::uint64_t>(box.axes[axis].out) % kLineBytes == 0);
  return whole;
}

// Whether the output's rows lie in the input backwards, an element after the other.
inline bool reads_rows_backwards(const layout::CacheBox& box) {
  const auto width = static_cast<std::int64_t>(box.element_bytes);
  return !box.axes.empty() && box.axes.front().in == -width && box.axes.front().out == width;
}

// What moves by itself where elements go one by one: an element, or such a row.
inline std::uint64_t bytes_one_by_one(const layout::CacheBox& box) {
  return reads_rows_backwards(box) ? box.element_bytes * box.axes.front().extent : box.element_bytes;
}

}  // namespace faro::detail
