// What the benchmarks of arithmetic measure: a view, and what becomes of its numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/arithmetic.hpp"
#include "faro/permutation/strided.hpp"
#include "permutation/axis_map.hpp"

namespace faro::bench {

struct ArithmeticWork {
  std::string text;
  Strided view;
  Arithmetic arithmetic;
};

/// Axis i of the result is axis order[i] of a dense array.
inline Strided permuted(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  return detail::as_strided(detail::permuted(shape, detail::dense_strides(shape), order));
}

}  // namespace faro::bench
