#include "schedule/conflict_free_chunk.hpp"

#include <algorithm>
#include <numeric>

namespace faro::schedule {

void ConflictFreePlaces::reorder(std::span<std::uint16_t> places, std::span<const std::uint16_t> starts,
                                 int lanes) {
  const auto size = static_cast<std::uint32_t>(places.size());
  lanes_ = static_cast<std::uint32_t>(lanes);
  starts_.assign(starts.begin(), starts.end());
  starts_.push_back(size);
  const auto runs = static_cast<std::uint32_t>(starts.size());
  const std::uint32_t warps = (size + lanes_ - 1) / lanes_;

  std::vector<std::uint16_t> run_at(size);
  for (std::uint32_t run = 0; run < runs; ++run) {
    std::fill(run_at.begin() + starts_[run], run_at.begin() + starts_[run + 1],
              static_cast<std::uint16_t>(run));
  }
  run_of_.resize(size);
  warp_of_.resize(size);
  bank_of_.resize(size);
  side_.resize(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    run_of_[i] = run_at[places[i]];
    warp_of_[i] = static_cast<std::uint16_t>(i / lanes_);
  }
  for (auto& counts : on_side_) counts.assign(warps, 0);
  reached_by_.resize(warps);
  warp_before_.resize(warps);
  warp_seen_.assign(warps, 0);
  run_seen_.assign(runs, 0);
  search_ = 0;

  std::vector<std::uint32_t> elements(size);
  std::iota(elements.begin(), elements.end(), 0U);
  halve(elements, 0, lanes_);

  // In each run, the places of a bank to the elements of that bank, both in order.
  std::vector<std::uint32_t> next(std::size_t{runs} * lanes_);
  for (std::uint32_t run = 0; run < runs; ++run) {
    for (std::uint32_t bank = 0; bank < lanes_; ++bank) {
      next[run * lanes_ + bank] = starts_[run] + (bank + lanes_ - starts_[run] % lanes_) % lanes_;
    }
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    std::uint32_t& place = next[run_of_[i] * lanes_ + bank_of_[i]];
    places[i] = static_cast<std::uint16_t>(place);
    place += lanes_;
  }
}

void ConflictFreePlaces::halve(std::span<std::uint32_t> elements, std::uint32_t first_bank,
                               std::uint32_t banks) {
  if (banks == 1) {
    for (const std::uint32_t i : elements) bank_of_[i] = static_cast<std::uint16_t>(first_bank);
    return;
  }
  const std::uint32_t half = banks / 2;
  const auto warps = static_cast<std::uint32_t>(warp_seen_.size());
  group(elements, run_of_, static_cast<std::uint32_t>(run_seen_.size()), by_run_);
  group(elements, warp_of_, warps, by_warp_);
  start_greedily(elements, first_bank, half);
  for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{1}}) {
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      while (on_side_[side][warp] > half && mend(warp, side, half)) {
      }
    }
  }
  const auto middle =
      std::stable_partition(elements.begin(), elements.end(), [&](std::uint32_t i) { return side_[i] == 0; });
  const auto left = static_cast<std::size_t>(middle - elements.begin());
  halve(elements.first(left), first_bank, half);
  halve(elements.subspan(left), first_bank + half, half);
}

// Every run sends as many elements to the left as it has places there: those of the warps that have fewest
// there until now.
void ConflictFreePlaces::start_greedily(std::span<const std::uint32_t> elements, std::uint32_t first_bank,
                                        std::uint32_t half) {
  for (auto& counts : on_side_) std::fill(counts.begin(), counts.end(), 0U);
  for (const std::uint32_t i : elements) side_[i] = 1;
  std::vector<std::uint32_t> members;
  for (std::uint32_t run = 0; run + 1 < by_run_.begin.size(); ++run) {
    members.assign(by_run_.elements.begin() + by_run_.begin[run],
                   by_run_.elements.begin() + by_run_.begin[run + 1]);
    // More on the right than on the left: wants the left.
    std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto wish = [&](std::uint32_t i) {
        return static_cast<int>(on_side_[0][warp_of_[i]]) - static_cast<int>(on_side_[1][warp_of_[i]]);
      };
      return wish(a) < wish(b);
    });
    const std::uint32_t left = places_in(run, first_bank, half);
    for (std::uint32_t k = 0; k < members.size(); ++k) {
      side_[members[k]] = k < left ? 0 : 1;
      ++on_side_[side_[members[k]]][warp_of_[members[k]]];
    }
  }
}

// Takes one element of `warp` from `side`, along a path of exchanges. Returns whether there was one.
bool ConflictFreePlaces::mend(std::uint32_t warp, std::uint8_t side, std::uint32_t half) {
  const std::uint8_t other = side ^ 1U;
  ++search_;
  queue_.assign(1, warp);
  warp_seen_[warp] = search_;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t from = queue_[head];
    for (std::uint32_t k = by_warp_.begin[from]; k < by_warp_.begin[from + 1]; ++k) {
      const std::uint32_t gives = by_warp_.elements[k];
      const std::uint32_t run = run_of_[gives];
      if (side_[gives] != side || run_seen_[run] == search_) continue;
      run_seen_[run] = search_;
      for (std::uint32_t j = by_run_.begin[run]; j < by_run_.begin[run + 1]; ++j) {
        const std::uint32_t takes = by_run_.elements[j];
        const std::uint32_t to = warp_of_[takes];
        if (side_[takes] != other || warp_seen_[to] == search_) continue;
        warp_seen_[to] = search_;
        reached_by_[to] = {.gives = gives, .takes = takes};
        warp_before_[to] = from;
        if (on_side_[side][to] >= half) {
          queue_.push_back(to);
          continue;
        }
        --on_side_[side][warp];
        ++on_side_[other][warp];
        ++on_side_[side][to];
        --on_side_[other][to];
        for (std::uint32_t at = to; at != warp; at = warp_before_[at]) {
          side_[reached_by_[at].gives] = other;
          side_[reached_by_[at].takes] = side;
        }
        return true;
      }
    }
  }
  return false;
}

void ConflictFreePlaces::group(std::span<const std::uint32_t> elements,
                               const std::vector<std::uint16_t>& node_of, std::uint32_t nodes,
                               Node& into) const {
  into.begin.assign(nodes + std::size_t{1}, 0);
  into.elements.resize(elements.size());
  for (const std::uint32_t i : elements) ++into.begin[node_of[i] + std::size_t{1}];
  std::partial_sum(into.begin.begin(), into.begin.end(), into.begin.begin());
  std::vector<std::uint32_t> next(into.begin.begin(), into.begin.end() - 1);
  for (const std::uint32_t i : elements) into.elements[next[node_of[i]]++] = i;
}

std::uint32_t ConflictFreePlaces::places_in(std::uint32_t run, std::uint32_t first_bank,
                                            std::uint32_t banks) const {
  // Places below `end` in those banks.
  const auto below = [&](std::uint32_t end) {
    const std::uint32_t rest = end % lanes_;
    const std::uint32_t in_rest = rest <= first_bank ? 0 : std::min(rest - first_bank, banks);
    return end / lanes_ * banks + in_rest;
  };
  return below(starts_[run + 1]) - below(starts_[run]);
}

}  // namespace faro::schedule
