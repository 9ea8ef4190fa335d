// What a plan in place says about itself, in the words and numbers that its text and its JSON share.
#pragma once

#include <cstdint>
#include <string>

#include "faro/plan/plan.hpp"

namespace faro::detail {

bool is_in_place(const Plan& plan);

/// Tiles of one array that are permuted within themselves: those that `next` leaves where they are.
std::uint64_t resting_tiles(const layout::InPlaceTile& tile);

/// "2^13 tiles: 2^12 pairs change places"
std::string orbits_text(const Pass& pass);

/// Why the array is swept as often as it is: a sentence without a full stop.
std::string in_place_sweeps_text(const Plan& plan);

/// Why passes()[index] is of its kind: one sentence without a full stop.
std::string in_place_reason(const Plan& plan, std::size_t index);

}  // namespace faro::detail
