// Axes that threads turn in registers (kernels/axes_registers.hpp): how much a thread has, and which.
#pragma once

#include <optional>

#include "layout/unit_axes.hpp"
#include "plan/gpu/axes_forms.hpp"

namespace faro::detail {

inline constexpr double kAnyPrice = 4;

/// The cheapest of them, of those that take less than `least` of a copy's time. Nothing where vectors do not
/// divide both fastest axes, or units have 16 bytes. Requires: axes in the widest units, read forwards.
std::optional<AxesRegisters> cheapest_registers(const layout::AxisMap& wide, double least);

}  // namespace faro::detail
