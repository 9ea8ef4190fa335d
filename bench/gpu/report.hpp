// The tables and the JSON of gpu_bench.
#pragma once

#include <string>

#include "bench/gpu/rows.hpp"
#include "bench/gpu/setting.hpp"

namespace faro::bench::gpu {

// Markdown. A share is of the cudaMemcpy that took turns on the same map; worst, median and best are over the
// maps.

/// One line a width: the shares of faro and its rivals.
std::string share_table(const Rows& rows);
/// The maps where faro is furthest behind, three of each width.
std::string worst_table(const Rows& rows);
/// The maps that need no tile.
std::string beside_table(const Rows& rows);
/// One line for each size and width: microseconds a call, and faro's beyond a copy's.
std::string small_table(const Rows& rows);

/// faro's worst of every size: shares, and for small arrays microseconds beyond the copy kernel. A column a
/// width.
std::string summary_table(const Rows& large, const Rows& small);

/// One object a row. Errors: ErrorCode::file where it cannot be written.
void write_json(const std::string& path, const Setting& setting, const Rows& large, const Rows& small);

}  // namespace faro::bench::gpu
