// The shared memory that layouts are made for.
#pragma once

#include "faro/machine/memory_geometry.hpp"

namespace faro::layout {

inline constexpr machine::MemoryGeometry kGeometry;

}  // namespace faro::layout
