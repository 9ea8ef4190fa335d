#include "programs/progressions.hpp"

#include <algorithm>
#include <numeric>

namespace faro::programs {

ProgressionStages::ProgressionStages(machine::MachineKind kind, std::uint64_t width)
    : kind_(kind), width_(width), in_bank_(kind == machine::MachineKind::dmm ? width : 0) {}

std::uint64_t ProgressionStages::operator()(std::span<const Progression> progressions) {
  return kind_ == machine::MachineKind::dmm ? banks(progressions) : groups(progressions);
}

std::uint64_t ProgressionStages::banks(std::span<const Progression> progressions) {
  if (progressions.size() == 1) {
    const std::uint64_t visited = width_ / std::gcd(progressions[0].step, width_);
    return (progressions[0].count + visited - 1) / visited;
  }
  std::fill(in_bank_.begin(), in_bank_.end(), 0);
  for (const Progression& p : progressions) {
    const std::uint64_t visited = width_ / std::gcd(p.step, width_);
    std::uint64_t bank = p.first % width_;
    for (std::uint64_t i = 0; i < std::min(visited, p.count); ++i) {
      in_bank_[bank] += (p.count - i + visited - 1) / visited;
      bank = (bank + p.step) % width_;
    }
  }
  return *std::max_element(in_bank_.begin(), in_bank_.end());
}

std::uint64_t ProgressionStages::groups(std::span<const Progression> progressions) {
  intervals_.clear();
  for (const Progression& p : progressions) {
    if (p.step <= width_) {
      intervals_.push_back({p.first / width_, p.last() / width_});
      continue;
    }
    for (std::uint64_t i = 0; i < p.count; ++i) {
      const std::uint64_t group = (p.first + i * p.step) / width_;
      intervals_.push_back({group, group});
    }
  }
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Groups& a, const Groups& b) { return a.first < b.first; });
  std::uint64_t count = 0;
  std::uint64_t next = 0;  // the first group not counted
  for (const Groups& interval : intervals_) {
    const std::uint64_t first = std::max(interval.first, next);
    if (interval.last < first) continue;
    count += interval.last - first + 1;
    next = interval.last + 1;
  }
  return count;
}

}  // namespace faro::programs
