#include "cli/simulate_shards.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "cli/arguments.hpp"
#include "cli/report.hpp"
#include "shard/topology.hpp"

namespace faro::cli {
namespace {

constexpr std::uint64_t kMostTopologyBytes = std::uint64_t{1} << 20;

detail::Topology read_topology(const std::string& name) {
  for (const std::string_view known : detail::topology_names()) {
    if (name == known) return detail::parse_topology(detail::topology_text(known), name);
  }
  std::ifstream file(name, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::file_size(name, ignored) > kMostTopologyBytes || ignored) {
    fail(ErrorCode::file, "read the topology `" + name + "`", "no small file",
         "flat, islands, or a file of JSON", "docs/guide/shards.md has its fields");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return detail::parse_topology(text, name);
}

// "8" or "8,64,4096".
std::vector<int> read_ranks(const std::string& text) {
  std::vector<int> ranks;
  for (const std::string& word : split(text, ','))
    ranks.push_back(static_cast<int>(parse_number("--ranks", word, 1, kMaxShardRanks)));
  if (ranks.empty())
    fail(ErrorCode::value, "simulate shards", "no --ranks", "a number, or several: 8,64,512");
  return ranks;
}

Json json_of(const detail::ShardSimulation& made) {
  Json json;
  json["ranks"] = made.ranks;
  json["method"] = name(made.method);
  json["ranks_met"] = made.ranks_met;
  json["sent_bytes"] = made.sent_bytes;
  json["most_sent_bytes"] = made.most_sent_bytes;
  json["levels"] = Json::array();
  for (const detail::LevelLoad& level : made.levels) {
    json["levels"].push_back({{"name", level.name},
                              {"bytes", level.bytes},
                              {"busiest_bytes", level.busiest_bytes},
                              {"ms", level.busiest_seconds * 1e3}});
  }
  json["exchange_ms"] = made.exchange_seconds * 1e3;
  json["passes_ms"] = made.passes_seconds * 1e3;
  json["predicted_ms"] = made.seconds() * 1e3;
  return json;
}

std::string table_of(const std::vector<detail::ShardSimulation>& rows) {
  std::string table = fmt::format("{:>7}  {:>7}  {:>7}  {:>10}  {:>11}  {:>9}  {:>9}   {}", "ranks", "method",
                                  "met", "a rank", "exchange ms", "passes ms", "ms",
                                  "each level: all bytes, ms of its busiest group");
  for (const detail::ShardSimulation& row : rows) {
    table += fmt::format("\n{:>7}  {:>7}  {:>7}  {:>10}  {:>11.4g}  {:>9.4g}  {:>9.4g}  ", row.ranks,
                         name(row.method), row.ranks_met, size_text(row.most_sent_bytes),
                         row.exchange_seconds * 1e3, row.passes_seconds * 1e3, row.seconds() * 1e3);
    for (const detail::LevelLoad& level : row.levels)
      table +=
          fmt::format(" {} {}, {:.4g};", level.name, size_text(level.bytes), level.busiest_seconds * 1e3);
    table.pop_back();
  }
  return table;
}

}  // namespace

void simulate_shards(const SimulatedShards& asked) {
  if (asked.spec.empty())
    fail(ErrorCode::usage, "simulate shards", "no --spec", "a permutation",
         "`faro simulate --help` shows how");
  const detail::Topology topology = read_topology(asked.topology.empty() ? "flat" : asked.topology);
  const auto read = parse_spec_with_axes(asked.spec, std::nullopt, Direction::scatter);
  const std::uint64_t width = asked.element_bytes.empty()
                                  ? kUsualElementBytes
                                  : parse_number("--element-bytes", asked.element_bytes, 1, kMaxElementBytes);
  std::vector<detail::ShardSimulation> rows;
  for (const int ranks : read_ranks(asked.ranks.empty() ? "8" : asked.ranks)) {
    const ShardProblem problem =
        shard_problem({.read = read,
                       .problem = {.permutation = read.parsed.permutation, .element_bytes = width},
                       .ranks = ranks},
                      asked.cuts);
    rows.push_back(detail::simulate_shards(problem, topology));
  }
  if (!asked.json) return print(fmt::format("{} over `{}`\n{}", asked.spec, topology.name, table_of(rows)));
  Json json = new_json();
  json["program"] = "shards";
  json["spec"] = asked.spec;
  json["element_bytes"] = width;
  json["topology"] = topology.name;
  json["rows"] = Json::array();
  for (const detail::ShardSimulation& row : rows) json["rows"].push_back(json_of(row));
  print(json);
}

}  // namespace faro::cli
