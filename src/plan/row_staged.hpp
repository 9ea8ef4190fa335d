// Short arrays of short rows, moved by way of shared memory (kernels/row_staged.hpp): when, and how many at
// once.
#pragma once

#include "faro/plan/row_plan.hpp"
#include "kernels/row_staged.hpp"

namespace faro::detail {

/// The pass of such a Take or Put, arrays aligned to 16 bytes; its kernel is another where that is not the
/// way: for long arrays and rows, for few of them, and for entries that reach little of an array.
bool go_by_stages(const RowMove& move, const RowLayout& layout, RowPass& pass);

/// What the kernel of such a pass is given.
kernels::StagedShape staged_shape(const RowMove& move, const RowLayout& layout, const RowPass& pass);

}  // namespace faro::detail
