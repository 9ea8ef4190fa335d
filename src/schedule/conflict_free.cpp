#include "faro/schedule/conflict_free.hpp"

#include <string>

#include "faro/error.hpp"
#include "schedule/edge_colouring.hpp"

namespace faro::schedule {
void check_permutation(std::span<const std::uint32_t> permutation) {
  std::vector<bool> taken(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const std::uint32_t target = permutation[i];
    const std::string got = std::to_string(target) + " at place " + std::to_string(i);
    if (target >= taken.size())
      fail(ErrorCode::value, "schedule a permutation", got, "a number below " + std::to_string(taken.size()));
    if (taken[target])
      fail(ErrorCode::value, "schedule a permutation", got + ", a second time", "every number once");
    taken[target] = true;
  }
}

void check_permutation(std::span<const std::uint32_t> permutation, std::uint64_t banks) {
  if (banks == 0 || permutation.size() % banks != 0) {
    fail(ErrorCode::value, "schedule a permutation",
         std::to_string(permutation.size()) + " elements over " + std::to_string(banks) + " banks",
         "a number of banks that divides the elements");
  }
  check_permutation(permutation);
}

ConflictFreeSchedule conflict_free_schedule(std::span<const std::uint32_t> permutation, std::uint64_t width) {
  const std::uint64_t n = permutation.size();
  check_permutation(permutation, width);
  std::vector<std::uint32_t> from_bank(n);
  std::vector<std::uint32_t> to_bank(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    from_bank[i] = static_cast<std::uint32_t>(i % width);
    to_bank[i] = static_cast<std::uint32_t>(permutation[i] % width);
  }
  const EdgeColouring colouring =
      colour_regular_edges({.left_nodes = width, .right_nodes = width, .left = from_bank, .right = to_bank});
  ConflictFreeSchedule schedule{.source = std::vector<std::uint32_t>(n),
                                .target = std::vector<std::uint32_t>(n)};
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t place = colouring.colour[i] * width + from_bank[i];
    schedule.source[place] = static_cast<std::uint32_t>(i);
    schedule.target[place] = permutation[i];
  }
  return schedule;
}

}  // namespace faro::schedule
