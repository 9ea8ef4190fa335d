// The shared memory that layouts are made for.
#pragma once

#include "faro/device/memory_geometry.hpp"

namespace faro::layout {

inline constexpr device::MemoryGeometry kGeometry;

}  // namespace faro::layout
