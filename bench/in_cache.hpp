// Arrays of 2^4 to 2^20 elements, where a plan's fixed cost shows: faro beside the naive loop.
#pragma once

#include <vector>

#include "bench/options.hpp"
#include "bench/rows.hpp"

namespace faro::bench {

/// Rows "faro" and "naive" (one thread), and "naive, all threads" where the array is large enough for the
/// library's loop to use them, by turns, for the first map of each family. A row's time includes the call:
/// the loop's tables of n words, faro's checks of its arguments. Below 2^8 elements that is most of it.
/// Errors: ErrorCode::verification where a result is wrong.
std::vector<Row> measure_in_cache(const Options& options);

}  // namespace faro::bench
