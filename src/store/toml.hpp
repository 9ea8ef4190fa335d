// TOML as JSON: rules that are written by hand (checkpoint_rules.hpp).
#pragma once

#include <string>
#include <string_view>

#include "store/json.hpp"

namespace faro::store {

/// Errors: ErrorCode::file, naming the line; for what JSON has not, dates and infinite numbers, and more than
/// 64 levels; ErrorCode::unsupported in a build without the library.
Json json_of_toml(std::string_view text, const std::string& operation);

}  // namespace faro::store
