// The box of a permutation of axes on a CPU: long enough along what is contiguous in the input, and along
// what is contiguous in the output, that both sides see runs of several cache lines.
//
//     axes(100 100 100; 2 0 1)      input's runs    axis 2      box 1 x 64 x 64: read as 64 runs of 64,
//                                   output's runs   axis 1      written as 64 runs of 64 the other way
//
// An innermost axis that stays innermost is part of the element; elements that are long then need no box.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/permutation/axes.hpp"

namespace faro::layout {

struct AxesBox {
  std::vector<std::uint64_t> shape;   // of the input, slowest axis first, without one that joins the element
  std::vector<int> order;             // of the output: the input's axes
  std::uint64_t element_bytes = 1;    // with the axis that joined it
  std::vector<std::uint64_t> extent;  // of the box, by the input's axes; of long elements none

  /// Whether elements are moved by themselves.
  bool is_of_long_elements() const;
  /// Of the box; 0 without one.
  std::uint64_t elements() const;
};

/// The longest runs whose box the first-level cache holds.
AxesBox choose_axes_box(const Axes& axes, std::uint64_t element_bytes);

}  // namespace faro::layout
