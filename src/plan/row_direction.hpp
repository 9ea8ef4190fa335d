// The direction in which kernels of rows move what a Take or a Put moves.
#pragma once

#include <variant>

#include "faro/permutation/take.hpp"
#include "kernels/row_vectors.hpp"

namespace faro::detail {

inline kernels::RowDirection direction_of(const RowMove& move) {
  return std::holds_alternative<Take>(move) ? kernels::RowDirection::take : kernels::RowDirection::put;
}

}  // namespace faro::detail
