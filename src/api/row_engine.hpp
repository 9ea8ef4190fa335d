// Which engine moves rows.
#pragma once

#include "faro/permutation/take.hpp"
#include "faro/problem/target.hpp"

namespace faro::detail {

/// `automatic`: cuda for entries in a device's memory. Errors: ErrorCode::value for such entries and engine
/// cpu.
Engine engine_of_rows(const RowMove& move, Engine asked);

}  // namespace faro::detail
