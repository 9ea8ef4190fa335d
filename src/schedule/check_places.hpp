// Lists of places: a permutation within every group of so many.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace faro::schedule {

/// Whether places[g group + i] are, for each g, the numbers below the group's size; the last group may be
/// short. `where` names a group in messages: "level 0, chunk". Errors: ErrorCode::value naming the first
/// place that is out of range or taken. Requires: group > 0, at most 2^16 (unchecked). Cost: one sweep, by
/// all threads.
void check_places(std::span<const std::uint16_t> places, std::uint64_t group, const std::string& where,
                  int threads);

}  // namespace faro::schedule
