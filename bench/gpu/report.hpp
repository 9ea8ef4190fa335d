// The tables and the JSON of gpu_bench, and the lines that say where they were measured.
#pragma once

#include <string>

#include "bench/gpu/rows.hpp"

namespace faro::bench::gpu {

/// Where, from what and how the rows were measured.
struct Setting {
  std::string device;   // "NVIDIA H200, compute capability 9.0, 132 multiprocessors, 139 GiB, 50 MiB of L2"
  std::string driver;   // "580.159.04, for CUDA 13.0"
  std::string runtime;  // of CUDA, "13.0"
  std::string date;
  std::string commit;
  std::string command;
};

/// Of the current device and of now. Errors: ErrorCode::device.
Setting make_setting(const std::string& command);

/// Markdown: setting, as a table.
std::string setting_table(const Setting& setting);

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

/// One object a row. Errors of both: ErrorCode::file where it cannot be written.
void write_json(const std::string& path, const Setting& setting, const Rows& large, const Rows& small);
void write_text(const std::string& path, const std::string& text);

}  // namespace faro::bench::gpu
