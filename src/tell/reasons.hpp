// Why a plan is as it is: the sentences and the numbers in them that its text, its JSON and its drawing
// share.
#pragma once

#include <cstdint>
#include <string>

#include "faro/json_schema.hpp"
#include "faro/plan/plan.hpp"

namespace faro::detail {

/// The problem's map, on elements.
const Affine& element_map(const Plan& plan);

/// How often every array is read and written: 1, or 0 for an empty batch; in place, of the arrays that are
/// not left over.
int sweeps(const Plan& plan);

/// What the published method takes for the same map: 2 for a general BMMC, else 1.
/// Source: Bouverot-Dupuis and Sheeran 2023, A = (U R)(R L P), two tiled maps.
int literature_sweeps(const Plan& plan);

/// Why passes()[index] is of its kind: one sentence without a full stop.
std::string reason(const Plan& plan, std::size_t index);

// For a plan in place.

bool is_in_place(const Plan& plan);

/// Tiles of one array that are permuted within themselves: those that `next` leaves where they are.
std::uint64_t resting_tiles(const layout::InPlaceTile& tile);

/// "2^13 tiles: 2^12 pairs change places"
std::string orbits_text(const Pass& pass, std::uint64_t resting_tiles);

/// Why arrays of so many bytes are swept so often: a sentence without a full stop.
std::string in_place_sweeps_text(int sweeps, std::uint64_t bytes);

/// Why passes()[index] is of its kind: one sentence without a full stop.
std::string in_place_reason(const Plan& plan, std::size_t index);

/// Why plan.way() serves: a sentence without a full stop.
std::string method_reason(const Plan& plan);

}  // namespace faro::detail
