// What measured choice has found (PlanOptions::measure): kept in a file, shown, taken from others.
//
//     faro::plan(problem, {.measure = true})     the first time: tries the few best ways, keeps the winner
//     faro::plan(problem, {.measure = true})     from then on, in every process: reads it
//
// An entry belongs to a problem, a machine and a version of faro, so that entries of many machines may lie in
// one file. It is kept in $FARO_CACHE, else $XDG_CACHE_HOME/faro, else ~/.cache/faro, as wisdom.json
// (docs/guide/json.md, "wisdom").
//
// Source: the word and the idea are FFTW's (Frigo and Johnson, The design and implementation of FFTW3, 2005).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace faro::wisdom {

/// Where it is kept; nothing without any of the three folders.
std::optional<std::filesystem::path> path();

/// All entries that are kept, as JSON. Errors: ErrorCode::file for a file that cannot be read as such.
std::string to_json();

/// Takes entries as to_json() wrote them; of the same problem, machine and version the faster stays. Returns
/// how many are new or faster. Errors: ErrorCode::file for any other text, of which `name` tells where it is
/// from, and where the file cannot be read or written; nothing is changed then.
std::size_t merge(const std::string& json, const std::string& name);

/// Forgets all. Returns how many there were. Errors: ErrorCode::file.
std::size_t forget();

}  // namespace faro::wisdom
