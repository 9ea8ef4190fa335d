#include "schedule/check_places.hpp"

#include <algorithm>
#include <vector>

#include "faro/error.hpp"
#include "schedule/parallel.hpp"

namespace faro::schedule {
namespace {

// The first of `places` that is not below their number or has come before; their number if none is.
std::uint64_t first_fault(std::span<const std::uint16_t> places, std::vector<std::uint8_t>& taken) {
  std::fill_n(taken.begin(), places.size(), std::uint8_t{0});
  for (std::uint64_t i = 0; i < places.size(); ++i) {
    const std::uint16_t place = places[i];
    if (place >= places.size() || taken[place] != 0) return i;
    taken[place] = 1;
  }
  return places.size();
}

}  // namespace

void check_places(std::span<const std::uint16_t> places, std::uint64_t group, const std::string& where,
                  int threads) {
  const std::uint64_t groups = (places.size() + group - 1) / group;
  const std::uint64_t largest = std::min<std::uint64_t>(group, places.size());
  std::vector<std::vector<std::uint8_t>> taken(static_cast<std::size_t>(threads),
                                               std::vector<std::uint8_t>(largest));
  const auto members = [&](std::uint64_t g) {
    return places.subspan(g * group, std::min<std::uint64_t>(group, places.size() - g * group));
  };
  const auto is_fine = [&](std::uint64_t g, int thread) {
    return first_fault(members(g), taken[static_cast<std::size_t>(thread)]) == members(g).size();
  };
  const auto failing = first_failing(groups, threads, is_fine);
  if (!failing) return;
  const std::uint64_t i = first_fault(members(*failing), taken.front());
  const std::uint16_t place = members(*failing)[i];
  const std::string size = std::to_string(members(*failing).size());
  fail(ErrorCode::value, "check a schedule",
       where + " " + std::to_string(*failing) + ": place " + std::to_string(place) + " for element " +
           std::to_string(i) + (place < members(*failing).size() ? ", a second time" : ""),
       "each of the " + size + " places once");
}

}  // namespace faro::schedule
