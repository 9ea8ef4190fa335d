// What the adviser's tests share: requests from text, and the one obvious count that every cost is held
// against.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "faro/layout/adviser.hpp"

namespace faro::layout {

inline AdviceRequest request_of(std::uint64_t rows, std::uint64_t columns, std::uint64_t bytes,
                                const std::string& accesses, std::uint64_t seed = 0) {
  AdviceRequest request{.array = make_shared_array(rows, columns, bytes), .accesses = {}, .seed = seed};
  for (const std::string& access : split_accesses(accesses)) {
    request.accesses.push_back(parse_access(request.array, access));
  }
  return request;
}

inline std::string command_of(const AdviceRequest& request) {
  std::string text = "faro layout --rows " + std::to_string(request.array.rows) + " --columns " +
                     std::to_string(request.array.columns) + " --element-bytes " +
                     std::to_string(request.array.element_bytes);
  for (const AccessSet& set : request.accesses) text += " --access '" + set.text + "'";
  return text + " --seed " + std::to_string(request.seed);
}

// --- the obvious count: every byte of every lane, 4, 8 or 16 bytes a lane in 1, 2 or 4 parts of the warp

struct Counted {
  std::size_t worst = 0;
  std::size_t turns = 0;
  std::size_t phases = 0;
};

inline Counted obvious_count(const AccessSet& set, const Placement& placement) {
  const Index columns = placement.array.columns;
  const Index bytes = placement.array.element_bytes;
  const std::size_t lane_bytes = std::size_t{set.vector_elements} * bytes;
  const std::size_t lanes = lane_bytes <= 4 ? 32 : (lane_bytes == 8 ? 16 : 8);
  Counted counted;
  for (const std::vector<Index>& warp : set.warps) {
    for (std::size_t first = 0; first < warp.size(); first += lanes) {
      std::map<Index, std::set<Index>> words_of_bank;
      for (std::size_t lane = first; lane < warp.size() && lane < first + lanes; ++lane) {
        if (warp[lane] == AccessSet::kIdle) continue;
        for (Index x = warp[lane]; x < warp[lane] + set.vector_elements; ++x) {
          for (Index byte = 0; byte < bytes; ++byte) {
            const Index word = (placement(x / columns, x % columns) * bytes + byte) / 4;
            words_of_bank[word % 32].insert(word);
          }
        }
      }
      std::size_t congestion = 0;
      for (const auto& [bank, words] : words_of_bank) congestion = std::max(congestion, words.size());
      counted.worst = std::max(counted.worst, congestion);
      counted.turns += congestion;
      counted.phases += words_of_bank.empty() ? 0 : 1;
    }
  }
  return counted;
}

inline void expect_sound(const Candidate& candidate, const AdviceRequest& request) {
  const Placement& placement = candidate.placement;
  const SharedArray& array = request.array;
  SCOPED_TRACE(placement.name());
  std::vector<bool> taken(placement.size());
  for (Index i = 0; i < array.rows; ++i) {
    for (Index j = 0; j < array.columns; ++j) {
      const Index address = placement(i, j);
      ASSERT_LT(address, taken.size()) << i << ", " << j;
      ASSERT_FALSE(taken[address]) << i << ", " << j;
      taken[address] = true;
    }
  }
  EXPECT_EQ(candidate.extra_bytes,
            (placement.size() - array.elements()) * std::uint64_t{array.element_bytes});
  EXPECT_LE(placement.size() * std::uint64_t{array.element_bytes}, kMaxSharedBytes);
  for (std::size_t k = 0; k < request.accesses.size(); ++k) {
    const AccessSet& set = request.accesses[k];
    SCOPED_TRACE(set.text);
    for (const std::vector<Index>& warp : set.warps) {
      for (const Index x : warp) {
        if (x == AccessSet::kIdle) continue;
        const Index address = placement(x / array.columns, x % array.columns);
        ASSERT_EQ(address % set.vector_elements, 0U);
        for (Index c = 1; c < set.vector_elements; ++c) {
          ASSERT_EQ(placement((x + c) / array.columns, (x + c) % array.columns), address + c)
              << "a torn vector";
        }
      }
    }
    const Counted counted = obvious_count(set, placement);
    const AccessCost& cost = candidate.costs[k];
    if (placement.kind == PlacementKind::rap) {
      EXPECT_LE(counted.worst, cost.worst) << "one of the seeds is this one";
      if (!cost.holds_always) continue;
    }
    EXPECT_EQ(counted.worst, cost.worst);
    if (counted.phases == 0) continue;
    EXPECT_DOUBLE_EQ(cost.mean, static_cast<double>(counted.turns) / static_cast<double>(counted.phases));
    EXPECT_DOUBLE_EQ(cost.wavefronts,
                     static_cast<double>(counted.turns) / static_cast<double>(set.warps.size()));
  }
}

}  // namespace faro::layout
