// Where what is measured and compiled is kept for later processes.
#pragma once

#include <filesystem>
#include <optional>

namespace faro::detail {

/// $FARO_CACHE, else $XDG_CACHE_HOME/faro, else ~/.cache/faro, whether or not it is there; nothing where none
/// of these is set.
std::optional<std::filesystem::path> cache_folder();

}  // namespace faro::detail
