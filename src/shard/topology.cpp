#include "shard/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "faro/error.hpp"
#include "shard/mesh_method.hpp"
#include "shard/traffic.hpp"

namespace faro::detail {
namespace {

using TopologyJson = nlohmann::json;

// Rates out of a GPU: NVLink as NCCL's all-to-all reaches it, a port of 400 Gbit/s, a spine of half its
// leaves.
constexpr std::string_view kIslands = R"({
  "name": "islands",
  "levels": [
    {"name": "NVLink", "ranks": 8, "gb_per_s": 331, "only_inside": true},
    {"name": "rail", "ranks": 256, "gb_per_s": 45},
    {"name": "spine", "ranks": 1048576, "gb_per_s": 45, "oversubscription": 2}
  ],
  "message_us": 5,
  "copy_gb_per_s": 4000
})";
constexpr std::string_view kFlat = R"({
  "name": "flat",
  "levels": [{"name": "switch", "ranks": 1048576, "gb_per_s": 25}],
  "message_us": 5,
  "copy_gb_per_s": 100
})";

class TopologyReader {
 public:
  explicit TopologyReader(const std::string& source)
      : source_(source), operation_("read the topology `" + source + "`") {}

  Topology read(const std::string& text) const {
    const TopologyJson json = TopologyJson::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      fail(ErrorCode::spec, operation_, "no JSON object", "an object with `levels`");
    check_fields(json, {"name", "levels", "message_us", "copy_gb_per_s"});
    Topology made;
    made.name = source_;
    if (json.contains("name")) {
      if (!json["name"].is_string())
        fail(ErrorCode::value, operation_, "a `name` of " + json["name"].dump(), "a word");
      made.name = json["name"];
    }
    made.message_us = number(json, "message_us", made.message_us, 0);
    made.copy_gb_per_s = number(json, "copy_gb_per_s", made.copy_gb_per_s, kLeastRate);
    if (!json.contains("levels") || !json["levels"].is_array() || json["levels"].empty())
      fail(ErrorCode::value, operation_, "no `levels`", "a list of one level or more");
    std::uint64_t below = 1;
    for (const TopologyJson& level : json["levels"]) {
      made.levels.push_back(read_level(level));
      const std::uint64_t ranks = made.levels.back().ranks;
      if (ranks < below || ranks % below != 0) {
        fail(ErrorCode::value, operation_, fmt::format("groups of {} ranks above groups of {}", ranks, below),
             "a multiple of the level below");
      }
      below = ranks;
    }
    return made;
  }

 private:
  static constexpr double kLeastRate = 1e-6;

  TopologyLevel read_level(const TopologyJson& json) const {
    if (!json.is_object()) fail(ErrorCode::value, operation_, "a level that is no object", "an object");
    check_fields(json, {"name", "ranks", "gb_per_s", "oversubscription", "only_inside"});
    TopologyLevel level;
    if (!json.contains("name") || !json["name"].is_string())
      fail(ErrorCode::value, operation_, "a level without a `name`", "a word");
    level.name = json["name"];
    if (!json.contains("ranks") || !json["ranks"].is_number_unsigned() || json["ranks"] == 0 ||
        json["ranks"] > static_cast<std::uint64_t>(kMaxShardRanks)) {
      fail(ErrorCode::value, operation_, "a level `" + level.name + "` without a number of `ranks`",
           fmt::format("1 to {}", kMaxShardRanks));
    }
    level.ranks = json["ranks"];
    if (!json.contains("gb_per_s"))
      fail(ErrorCode::value, operation_, "a level `" + level.name + "` without `gb_per_s`", "a rate");
    level.gb_per_s = number(json, "gb_per_s", 1, kLeastRate);
    level.oversubscription = number(json, "oversubscription", 1, 1);
    if (json.contains("only_inside")) {
      if (!json["only_inside"].is_boolean())
        fail(ErrorCode::value, operation_, "an `only_inside` of another kind", "true or false");
      level.only_inside = json["only_inside"];
    }
    return level;
  }

  double number(const TopologyJson& json, const char* field, double usual, double least) const {
    if (!json.contains(field)) return usual;
    if (!json[field].is_number() || json[field] < least || json[field] > 1e12)
      fail(ErrorCode::value, operation_, fmt::format("a `{}` of {}", field, json[field].dump()),
           fmt::format("a number of {} or more", least));
    return json[field];
  }

  void check_fields(const TopologyJson& json, const std::set<std::string>& known) const {
    for (const auto& item : json.items()) {
      if (!known.contains(item.key()))
        fail(ErrorCode::value, operation_, "the field `" + item.key() + "`",
             fmt::format("{}", fmt::join(known, ", ")));
    }
  }

  std::string source_;
  std::string operation_;
};

std::uint64_t total(const std::vector<std::uint64_t>& elements) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : elements) sum += each;
  return sum;
}

// What the links of a level carry out of each rank: what leaves the group below, and with only_inside not
// what leaves the group itself.
std::vector<std::uint64_t> carried(const TopologyLevel& level, const std::vector<std::uint64_t>& beyond_below,
                                   const std::vector<std::uint64_t>& beyond_group) {
  if (!level.only_inside) return beyond_below;
  std::vector<std::uint64_t> inside;
  for (std::size_t rank = 0; rank < beyond_below.size(); ++rank)
    inside.push_back(beyond_below[rank] - beyond_group[rank]);
  return inside;
}

// The load of the group below whose ranks carry most, for as many links as it has.
struct Busiest {
  std::uint64_t elements = 0;
  double per_rank = 0;
};
Busiest busiest(const std::vector<std::uint64_t>& by_rank, std::uint64_t group) {
  Busiest most;
  for (std::size_t first = 0; first < by_rank.size(); first += group) {
    const std::size_t end = std::min<std::size_t>(first + group, by_rank.size());
    std::uint64_t sum = 0;
    for (std::size_t rank = first; rank < end; ++rank) sum += by_rank[rank];
    const double per_rank = static_cast<double>(sum) / static_cast<double>(end - first);
    if (per_rank > most.per_rank) most = {.elements = sum, .per_rank = per_rank};
  }
  return most;
}

}  // namespace

std::vector<std::string_view> topology_names() { return {"flat", "islands"}; }

std::string topology_text(std::string_view name) {
  if (name == "flat") return std::string(kFlat);
  if (name == "islands") return std::string(kIslands);
  fail(ErrorCode::value, "find the topology", "`" + std::string(name) + "`", "flat or islands");
}

Topology parse_topology(const std::string& text, const std::string& source) {
  return TopologyReader(source).read(text);
}

ShardSimulation simulate_shards(const ShardProblem& asked, const Topology& topology) {
  ShardProblem problem = asked;
  if (problem.shards.island == 0 && topology.levels.size() > 1)
    problem.shards.island = static_cast<int>(topology.levels.front().ranks);
  const auto ranks = static_cast<std::uint64_t>(problem.shards.ranks);
  if (ranks > topology.levels.back().ranks) {
    fail(ErrorCode::value, "simulate shards", fmt::format("{} ranks", ranks),
         fmt::format("at most {}, which level `{}` joins", topology.levels.back().ranks,
                     topology.levels.back().name));
  }
  std::vector<std::uint64_t> sizes{1};
  for (const TopologyLevel& level : topology.levels) sizes.push_back(level.ranks);
  const auto [out, in] = crossing_elements(problem, sizes);
  const std::uint64_t width = problem.element_bytes;
  // What is told of one rank is told of the first that sends most: rank 0 may send nothing.
  const auto busy = std::max_element(out[0].begin(), out[0].end()) - out[0].begin();
  ShardProblem of_busy = problem;
  of_busy.shards.rank = static_cast<int>(busy);
  const ShardPlan plan(of_busy);

  ShardSimulation made;
  made.ranks = problem.shards.ranks;
  made.method = plan.method();
  made.ranks_met = plan.ranks_met();
  made.sent_bytes = total(out[0]) * width;
  made.most_sent_bytes = *std::max_element(out[0].begin(), out[0].end()) * width;
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    const TopologyLevel& level = topology.levels[i];
    if (i > 0 && topology.levels[i - 1].ranks >= ranks) break;  // nothing meets there
    const auto sent = carried(level, out[i], out[i + 1]);
    const Busiest sends = busiest(sent, sizes[i]);
    const Busiest receives = busiest(carried(level, in[i], in[i + 1]), sizes[i]);
    const Busiest& most = sends.per_rank >= receives.per_rank ? sends : receives;
    const double seconds =
        most.per_rank * static_cast<double>(width) * level.oversubscription / (level.gb_per_s * 1e9);
    made.levels.push_back({.name = level.name,
                           .bytes = total(sent) * width,
                           .busiest_bytes = most.elements * width,
                           .busiest_seconds = seconds});
    made.exchange_seconds = std::max(made.exchange_seconds, seconds);
  }
  made.exchange_seconds += static_cast<double>(made.ranks_met) * topology.message_us * 1e-6;
  const auto pass = [&](const ShardPass& each, std::uint64_t bytes) {
    return each.is_nothing() ? 0 : 2 * static_cast<double>(bytes) / (topology.copy_gb_per_s * 1e9);
  };
  made.passes_seconds = pass(plan.pack(), plan.packed_bytes()) + pass(plan.unpack(), plan.out_bytes());
  return made;
}

}  // namespace faro::detail
