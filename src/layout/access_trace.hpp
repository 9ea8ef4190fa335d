// Accesses that were recorded, from a file.
#pragma once

#include <string>

#include "faro/layout/adviser.hpp"

namespace faro::layout {

/// A line a warp access, an element number a lane.
/// Errors: ErrorCode::value naming the line of an element outside the array, or of more lanes than a warp
/// has; those of machine::read_trace.
AccessSet recorded_access(const SharedArray& array, const std::string& path);

}  // namespace faro::layout
