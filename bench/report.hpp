// The tables and the JSON of cpu_bench, and the lines that say where they were measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/rows.hpp"

namespace faro::bench {

/// Where, from what and how the rows were measured.
struct Setting {
  std::string machine;  // processor, threads, instruction set, caches
  double latency_ns = 0;
  double load_before = 0;  // above 0.5 or so somebody else was running, and threads waited for one another
  std::string commit;
  std::string command;
};

/// This machine in one line.
std::string machine_text();

/// Runnable threads over the last minute; 0 where that is not known.
double load_average();

/// How much longer than the better of both ways the chosen one took, as ratios: median, 90th percentile,
/// most.
std::string regret_text(std::vector<double> ratios);

/// Markdown: one line for each (pages, width). "worst" and "median" are over the maps; a share is of the copy
/// that took turns on the same map; a ratio is against the faster of the gather tiles there.
std::string large_table(std::span<const Row> rows);

/// Markdown: one line for each width, faro's speed relative to the faster naive loop over all sizes and maps.
std::string in_cache_table(std::span<const Row> rows);

/// Writes both sections, one object a row. Errors: ErrorCode::file where it cannot be written.
void write_json(const std::string& path, const Setting& setting, std::span<const Row> large,
                std::span<const Row> in_cache);

}  // namespace faro::bench
