// Ragged rows on the host, with what there is to know of them worked out once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/permutation/route.hpp"

namespace faro::cpu {

/// Segments that are taken: where each lies in the input and begins in the output, worked out
/// once. The entries are not read again.
class SegmentMoves {
 public:
  /// Errors: those of faro::taken_offsets.   Cost: a sweep of both lists.
  SegmentMoves(const Segments& segments, const RowNumbers& from);

  /// Where they begin in the output, one more than there are.
  const std::vector<std::uint64_t>& begins() const { return begins_; }
  /// Elements that the offsets speak of: an input has at least so many.
  std::uint64_t least_elements() const { return least_elements_; }

  /// Requires: arrays of at least least_elements() and begins().back() elements that do not overlap
  /// (unchecked).
  void run(const std::byte* in, std::byte* out, int threads) const;

 private:
  std::uint64_t element_bytes_;
  std::uint64_t least_elements_ = 0;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> sources_;  // elements of the input, where each begins
};

}  // namespace faro::cpu
