#include "kernels/shared_permutation_params.hpp"

#include <algorithm>
#include <string>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"

namespace faro::kernels {
namespace {

constexpr std::uint64_t kVectorBytes = 16;

std::uint64_t whole_vectors(std::uint64_t bytes) {
  return (bytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
}

// The schedule of elements of 4 bytes, without idle slots.
schedule::SharedSchedule full_schedule(std::span<const std::uint32_t> permutation) {
  schedule::SharedSchedule schedule = schedule::shared_schedule(permutation, 4);
  if (schedule.idle_slots() != 0) {
    fail(ErrorCode::value, "list a permutation for a kernel",
         std::to_string(permutation.size()) + " elements",
         "a multiple of " + std::to_string(schedule.rule.period()));
  }
  return schedule;
}

}  // namespace

std::vector<std::uint32_t> permutation_lists(std::span<const std::uint32_t> permutation, PermuteWay way) {
  schedule::check_permutation(permutation);
  std::vector<std::uint32_t> list(permutation.begin(), permutation.end());
  switch (way) {
    case PermuteWay::copy:
      return {};
    case PermuteWay::d_designated:
      return list;
    case PermuteWay::s_designated:
      for (std::uint32_t i = 0; i < permutation.size(); ++i) list[permutation[i]] = i;
      return list;
    case PermuteWay::conflict_free: {
      const schedule::SharedSchedule schedule = full_schedule(permutation);
      list = schedule.source;
      list.insert(list.end(), schedule.target.begin(), schedule.target.end());
      return list;
    }
    case PermuteWay::packed:
    case PermuteWay::held:
      return schedule::pack(full_schedule(permutation), kPermuteIndexBits).words;
  }
  return {};
}

std::optional<TeamParams> make_team_params(const schedule::PackedSchedule& packed, int element_bytes,
                                           std::uint64_t shared_bytes, std::uint32_t most_threads) {
  constexpr std::uint32_t warp_size = 32;
  constexpr std::uint32_t most_teams = 8;
  constexpr std::uint64_t most_bytes_of_a_warp = 4096;
  constexpr std::uint64_t most_bytes_of_a_small_block = 32'768;
  constexpr std::uint32_t small_block = 256;
  const std::uint64_t array_bytes = packed.count * static_cast<std::uint64_t>(element_bytes);
  if (2 * array_bytes + packed.bytes() > shared_bytes) return std::nullopt;
  TeamParams params{.lists = packed.at(0),
                    .list_words = static_cast<std::uint32_t>(packed.words.size()),
                    .tile_bytes = static_cast<std::uint32_t>(whole_vectors(array_bytes)),
                    .team_threads = most_threads,
                    .teams = 1,
                    .arrays = 0,
                    .wide = false};
  if (array_bytes <= most_bytes_of_a_warp) {
    params.team_threads = warp_size;
    params.teams = std::clamp(most_threads / warp_size, 1U, most_teams);
  } else if (array_bytes <= most_bytes_of_a_small_block) {
    params.team_threads = std::min(most_threads, small_block);
  }
  while (params.teams > 1 && team_shared_bytes(params) > shared_bytes) --params.teams;
  if (team_shared_bytes(params) > shared_bytes) return std::nullopt;
  return params;
}

}  // namespace faro::kernels
