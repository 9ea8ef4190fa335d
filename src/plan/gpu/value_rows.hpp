// Rows that are taken or put with arithmetic by a GPU (kernels/row_values.hpp): which kernel, and how many
// numbers its vectors have.
#pragma once

#include <string>

#include "faro/plan/row_plan.hpp"
#include "plan/gpu/value_boxes.hpp"
#include "plan/row_values.hpp"

namespace faro::detail {

struct ValueRows {
  int numbers = 1;  // of a vector, of which a row and all addresses are multiples
  RowPass pass;     // its vectors have the bytes of the input's

  /// Of a vector, in the wider type.
  int vector_bytes_of(const RowValues& of) const;
  /// Vectors of a part of a row, where rows are taken part by part; else 0.
  std::uint64_t slice_vectors(const RowValues& of) const;
};

/// For arrays of some alignment. Requires: engine cuda, a Take or Put, something to move (unchecked).
ValueRows make_value_rows(const RowValues& of, const ValueAlignment& alignment = {});

/// The launches in lines, as RowPlan has them.
std::string told_value_rows(const RowValues& of);

}  // namespace faro::detail
