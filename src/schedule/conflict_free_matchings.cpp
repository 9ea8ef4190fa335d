// The published construction of the conflict-free schedule, by maximum matchings.
#include <algorithm>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"

namespace faro::schedule {
namespace {

constexpr std::uint32_t kNone = 0xffff'ffff;

// The elements that no group has yet, by the bank they are in, ascending; and the matching that grows.
//
//     augmenting      bank u wants right banks 0 and 1, taken by the elements of banks s and t: s or t finds
//     another one     a free bank v, or one whose element can move on, …: all elements of the path move over
class Matcher {
 public:
  Matcher(std::span<const std::uint32_t> permutation, std::uint64_t width)
      : permutation_(permutation),
        width_(static_cast<std::uint32_t>(width)),
        left_(width),
        element_of_(width),
        reached_by_(width) {
    for (std::uint32_t i = 0; i < permutation.size(); ++i) left_[i % width].push_back(i);
  }

  /// One element of every bank, ascending.
  std::vector<std::uint32_t> take_group(std::uint32_t first_bank) {
    std::fill(element_of_.begin(), element_of_.end(), kNone);
    for (std::uint32_t k = 0; k < width_; ++k) augment((first_bank + k) % width_);
    std::vector<std::uint32_t> group = element_of_;
    for (const std::uint32_t element : group) {
      std::vector<std::uint32_t>& bank = left_[element % width_];
      bank.erase(std::lower_bound(bank.begin(), bank.end(), element));
    }
    std::sort(group.begin(), group.end());
    return group;
  }

 private:
  std::uint32_t right(std::uint32_t element) const { return permutation_[element] % width_; }

  // Matches bank `root`, too: the shortest path to a right bank that is free.
  void augment(std::uint32_t root) {
    std::fill(reached_by_.begin(), reached_by_.end(), kNone);
    std::vector<std::uint32_t> waiting{root};
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      for (const std::uint32_t element : left_[waiting[next]]) {
        const std::uint32_t to = right(element);
        if (reached_by_[to] != kNone) continue;
        reached_by_[to] = element;
        if (element_of_[to] == kNone) return flip(root, to);
        waiting.push_back(element_of_[to] % width_);
      }
    }
    FARO_CHECK(false);  // a regular graph has a perfect matching
  }

  void flip(std::uint32_t root, std::uint32_t to) {
    for (;;) {
      const std::uint32_t element = reached_by_[to];
      const std::uint32_t from = element % width_;
      if (from == root) {
        element_of_[to] = element;
        return;
      }
      // `from` gives up the right bank it had to the one that came to it before.
      std::uint32_t given_up = 0;
      while (element_of_[given_up] == kNone || element_of_[given_up] % width_ != from) ++given_up;
      element_of_[to] = element;
      to = given_up;
    }
  }

  std::span<const std::uint32_t> permutation_;
  std::uint32_t width_;
  std::vector<std::vector<std::uint32_t>> left_;
  std::vector<std::uint32_t> element_of_;  // [right bank], of the matching
  std::vector<std::uint32_t> reached_by_;  // [right bank], of the search
};

}  // namespace

ConflictFreeSchedule matched_conflict_free_schedule(std::span<const std::uint32_t> permutation,
                                                    std::uint64_t width) {
  const std::uint64_t n = permutation.size();
  check_permutation(permutation, width);
  ConflictFreeSchedule schedule;
  schedule.source.reserve(n);
  schedule.target.reserve(n);
  Matcher matcher(permutation, n == 0 ? 1 : width);
  for (std::uint64_t group = 0; group < n / width; ++group) {
    for (const std::uint32_t source : matcher.take_group(static_cast<std::uint32_t>(group % width))) {
      schedule.source.push_back(source);
      schedule.target.push_back(permutation[source]);
    }
  }
  return schedule;
}

}  // namespace faro::schedule
