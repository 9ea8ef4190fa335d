// Runs of places that two ranks share along an axis, and where each of them has these.
//
//     source, blocks of 2 over 2 ranks     0 0 1 1 0 0 1 1 0 0 1 1     rank 0 has  0 1 4 5 8 9
//     target, blocks of 3 over 2 ranks     0 0 0 1 1 1 0 0 0 1 1 1     rank 1 has  3 4 5 9 10 11
//                                                                     both        4 5, 9
//
// Both patterns repeat, together after the least common multiple of their periods. So what is shared is a few
// runs that repeat, found in one common period: never a list of places.
#pragma once

#include <cstdint>
#include <vector>

namespace faro::detail {

/// Runs of a digit, with where their places lie along the axis of a rank's part: `local` of the first,
/// `step` from place to place, `local_stride` from run to run.
struct LocalRuns {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
  std::uint64_t stride = 0;
  std::int64_t local = 0;
  std::int64_t step = 1;
  std::int64_t local_stride = 0;

  std::uint64_t start(std::uint64_t k) const { return begin + k * stride; }
  std::int64_t local_start(std::uint64_t k) const {
    return local + static_cast<std::int64_t>(k) * local_stride;
  }
};

/// The same places counted from the other end of a digit of `extent`.
LocalRuns flipped(const LocalRuns& runs, std::uint64_t extent);
/// Each place moved on by `shift`, modulo `extent`: up to three. Requires: shift < extent.
std::vector<LocalRuns> rolled(const LocalRuns& runs, std::uint64_t shift, std::uint64_t extent);

/// Where one side has shared runs.
struct SideOfRuns {
  std::int64_t local = 0;
  std::int64_t step = 1;
  std::int64_t local_stride = 0;

  friend bool operator==(const SideOfRuns&, const SideOfRuns&) = default;
};
struct SharedRuns {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
  std::uint64_t stride = 0;
  SideOfRuns source;
  SideOfRuns target;
};

/// What both have, ascending by the beginnings of the first of each, in as few as can easily be found.
std::vector<SharedRuns> shared_runs(const LocalRuns& source, const LocalRuns& target);

}  // namespace faro::detail
