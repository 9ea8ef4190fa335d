// Links between ranks, and the time that an exchange takes over them.
//
// A topology is a list of levels, from the ranks up. A level joins groups of the level below into groups of
// `ranks` consecutive ranks. What two ranks send each other meets at the lowest level whose group holds both:
//
//     spine                 [                 64                 ]
//     rail          [      16      ]   ...                               a group's links up: as many as it
//     has NVLink     [ 8 ]  [ 8 ]                                            ranks, over the oversubscription
//
// A level's links carry what meets there, and what meets above; those that are `only_inside`, as NVLink
// between the GPUs of a host, carry only what meets there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faro/shards.hpp"

namespace faro::detail {

struct TopologyLevel {
  std::string name;
  std::uint64_t ranks = 1;      // of a group
  double gb_per_s = 1;          // of the links of one rank, each way
  double oversubscription = 1;  // a group below shares its links so many times
  bool only_inside = false;
};

struct Topology {
  std::string name;
  std::vector<TopologyLevel> levels;
  double message_us = 5;
  double copy_gb_per_s = 10;  // of a rank's own copy, read and written
};

/// "flat" and "islands", which are built in.
std::vector<std::string_view> topology_names();
/// The text of a built-in one: JSON, as a file has it.
std::string topology_text(std::string_view name);

/// Reads JSON (docs/guide/shards.md has the fields). `source` is for messages. Errors: ErrorCode::spec for
/// what is no JSON; ErrorCode::value for fields that are missing, unknown or out of range, and for groups
/// that do not hold whole groups of the level below.
Topology parse_topology(const std::string& text, const std::string& source);

/// What one level carries.
struct LevelLoad {
  std::string name;
  std::uint64_t bytes = 0;          // over all its links, out of groups below
  std::uint64_t busiest_bytes = 0;  // of the group below that sends or receives most
  double busiest_seconds = 0;
};

struct ShardSimulation {
  int ranks = 1;
  ShardMethod method = ShardMethod::affine;
  std::uint64_t ranks_met = 0;        // by the rank that sends most
  std::uint64_t sent_bytes = 0;       // by all ranks together
  std::uint64_t most_sent_bytes = 0;  // by one
  std::vector<LevelLoad> levels;
  double exchange_seconds = 0;  // of the busiest level, and the messages' own time
  double passes_seconds = 0;    // packing and unpacking, of the rank that sends most
  double seconds() const { return exchange_seconds + passes_seconds; }
};

/// Where the problem tells no islands, they are the lowest level's groups, if there are others above. Errors:
/// those of crossing_elements(); ErrorCode::value for more ranks than the highest level joins.
ShardSimulation simulate_shards(const ShardProblem& asked, const Topology& topology);

}  // namespace faro::detail
