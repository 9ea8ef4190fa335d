// What a work takes that is shared out in pieces, by those that one thread has done.
#pragma once

#include <algorithm>
#include <cstdint>

namespace faro::detail {

/// What a work takes undisturbed, in microseconds, by those of its pieces that one thread has done. Pieces
/// are not alike, for the last may be a part of one, and the first may be in the caches; one that took much
/// longer than the shortest was disturbed.
class PieceTimes {
 public:
  void add(std::int64_t us) {
    constexpr std::int64_t kMostUnlike = 4;
    shortest_us_ = count_ == 0 ? us : std::min(shortest_us_, us);
    sum_us_ += std::min(us, kMostUnlike * std::max<std::int64_t>(1, shortest_us_));
    ++count_;
  }
  bool any() const { return count_ > 0; }
  std::int64_t shortest_us() const { return shortest_us_; }
  std::int64_t all_us(std::uint64_t pieces) const {
    return any() ? sum_us_ * static_cast<std::int64_t>(pieces) / count_ : 0;
  }

 private:
  std::int64_t count_ = 0;
  std::int64_t sum_us_ = 0;
  std::int64_t shortest_us_ = 0;
};

}  // namespace faro::detail
