// The lines that a pass on a CPU moves, as JSON (docs/guide/json.md).
#pragma once

#include <nlohmann/json.hpp>

#include "plan/cpu/cpu_workspace.hpp"
#include "tell/counts/line_counts.hpp"

namespace faro::detail {

/// Adds `lines`, `counted` and `bounded`.
inline void add_lines(nlohmann::ordered_json& json, const LineCounts& counts, std::uint64_t bytes_read,
                      std::uint64_t bytes_written) {
  const auto side = [](const SideLines& lines, std::uint64_t bytes) {
    return nlohmann::ordered_json{
        {"runs", lines.runs}, {"lines", lines.lines}, {"over_least", lines_over_least(lines, bytes)}};
  };
  json["lines"] = {{"bytes", kLineBytes},
                   {"read", side(counts.read, bytes_read)},
                   {"written", side(counts.written, bytes_written)},
                   {"tables", counts.tables}};
  json["counted"] = counts.counted;
  json["bounded"] = counts.bounded;
}

}  // namespace faro::detail
