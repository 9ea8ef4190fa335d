// Chooses where units of a transpose lie in shared memory, so that lanes meet in few banks, by counting
// turns.
#pragma once

#include <cstdint>

#include "kernels/axes_lines.hpp"
#include "kernels/axes_skinny.hpp"

namespace faro::kernels {

/// The pitch and the exchange of the fewest bank turns. `pitches`: how many to try.
void choose_lines_banks(AxesLinesParams& params, int unit_bytes, std::uint32_t pitches);

/// The shape, exchanged or not, and the exchange for it.
AxesSkinnyShape choose_skinny_banks(AxesLinesParams& params, AxesSkinnyShape shape);

}  // namespace faro::kernels
