// The places of one chunk, dealt out so that a warp's elements lie in different banks.
//
//     banks 0 … w - 1       halved: each run's elements go left or right, as many as it has places there,
//     banks 0 … w/2 - 1     and each warp's as evenly as possible; then each half again, to single banks
//     banks 0 … w/4 - 1
//
// A halving starts from a greedy one and is mended by paths: a warp with too many on the left gives one to
// the right in exchange, within the same run, with another warp, until a warp with too few is reached.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace faro::schedule {

/// Keeps its tables from chunk to chunk; one a thread.
class ConflictFreePlaces {
 public:
  /// Chooses anew which of its run's places each element has. `places` says where element i of the chunk
  /// goes, `starts` where runs begin. Requires: places are a permutation, `lanes` a power of two (unchecked).
  void reorder(std::span<std::uint16_t> places, std::span<const std::uint16_t> starts, int lanes);

 private:
  struct Node {
    std::vector<std::uint32_t> begin;     // of the elements of node k in `elements`; one more than nodes
    std::vector<std::uint32_t> elements;  // node by node
  };
  struct Step {
    std::uint32_t gives = 0;  // an element of the warp before
    std::uint32_t takes = 0;  // of the warp reached
  };

  void halve(std::span<std::uint32_t> elements, std::uint32_t first_bank, std::uint32_t banks);
  void start_greedily(std::span<const std::uint32_t> elements, std::uint32_t first_bank, std::uint32_t half);
  bool mend(std::uint32_t warp, std::uint8_t side, std::uint32_t half);
  void group(std::span<const std::uint32_t> elements, const std::vector<std::uint16_t>& node_of,
             std::uint32_t nodes, Node& into) const;
  /// Places of run r in banks first .. first + banks - 1.
  std::uint32_t places_in(std::uint32_t run, std::uint32_t first_bank, std::uint32_t banks) const;

  std::uint32_t lanes_ = 0;
  std::vector<std::uint32_t> starts_;      // of runs; one more than runs
  std::vector<std::uint16_t> run_of_;      // of elements
  std::vector<std::uint16_t> warp_of_;     // of elements
  std::vector<std::uint16_t> bank_of_;     // of elements, when done
  std::vector<std::uint8_t> side_;         // of elements: 0 left, 1 right
  std::vector<std::uint32_t> on_side_[2];  // of warps: elements there
  Node by_run_;
  Node by_warp_;
  std::vector<std::uint32_t> queue_;        // warps reached
  std::vector<Step> reached_by_;            // of warps
  std::vector<std::uint32_t> warp_before_;  // of warps
  std::vector<std::uint32_t> warp_seen_;    // search that has reached it
  std::vector<std::uint32_t> run_seen_;
  std::uint32_t search_ = 0;
};

}  // namespace faro::schedule
