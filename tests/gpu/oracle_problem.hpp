// A problem in the form that the device's oracle takes: the matrix by rows.
#pragma once

#include <variant>

#include "faro/plan/plan.hpp"
#include "gpu/device_oracle.hpp"

namespace faro::testing {

inline OracleProblem oracle_problem(const Problem& problem) {
  const auto& map = std::get<Affine>(problem.permutation);
  OracleProblem result{.map = {}, .element_bytes = problem.element_bytes, .batch = problem.batch};
  result.map.bits = map.bits();
  result.map.complement = map.complement();
  const f2::Matrix rows = map.matrix().transposed();
  for (int i = 0; i < map.bits(); ++i) result.map.row[i] = rows.column(i);
  return result;
}

}  // namespace faro::testing
