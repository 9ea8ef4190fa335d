// What a plan says about itself, in the words and numbers that its text, its JSON and its drawing share.
#pragma once

#include <cstdint>
#include <string>

#include "faro/plan/plan.hpp"
#include "size_text.hpp"

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

/// "0x1f"
std::string hex(f2::Word word);

// What a plan in place says about itself, in the words and numbers that its text and its JSON share.

bool is_in_place(const Plan& plan);

/// Tiles of one array that are permuted within themselves: those that `next` leaves where they are.
std::uint64_t resting_tiles(const layout::InPlaceTile& tile);

/// "2^13 tiles: 2^12 pairs change places"
std::string orbits_text(const Pass& pass);

/// Why the array is swept as often as it is: a sentence without a full stop.
std::string in_place_sweeps_text(const Plan& plan);

/// Why passes()[index] is of its kind: one sentence without a full stop.
std::string in_place_reason(const Plan& plan, std::size_t index);

// The number of the schema of docs/guide/json.md.

/// It grows when a key changes its meaning or goes away.
inline constexpr int kJsonSchema = 1;

}  // namespace faro::detail
