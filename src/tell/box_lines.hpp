// The box or the tile of a pass, in JSON and in the lines of an explanation (box_facts.hpp, tile_facts.hpp).
#pragma once

#include <nlohmann/json.hpp>

#include "faro/problem/pass.hpp"
#include "tell/margin_text.hpp"

namespace faro::detail {

/// The same for programs, as `box`, or as `plane_tile` where planes go by tiles; nothing for passes without
/// one.
void add_box_json(nlohmann::ordered_json& json, const Pass& pass);

/// Lines `  box`, or `  tile` where planes go by tiles, and `  runs`; of rows that stay whole `  runs` alone.
void add_box(MarginText& text, const Pass& pass);

}  // namespace faro::detail
