// Rows moved by a row plan (faro/plan/row_plan.hpp), on all cores.
#pragma once

#include <cstddef>

#include "faro/plan/row_plan.hpp"

namespace faro::cpu {

/// Moves the rows of two arrays of plan.in_bytes() and plan.out_bytes(). Entries are checked again, block by
/// block. Requires: no overlap (unchecked). Errors: ErrorCode::value for an entry that names no row, the first
/// of them where they were not checked before, after rows may have been written; std::bad_alloc where there is no workspace.
void run_rows(const RowPlan& plan, const std::byte* in, std::byte* out);

}  // namespace faro::cpu
