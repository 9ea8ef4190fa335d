// The entries of Indexed::random, all at once or, where memory does not hold them, some buckets at a time.
//
//     bucket b     all i whose hash begins with the bits of b, in an order drawn from the seed and b
//     entries      those of bucket 0, of bucket 1, ...
#pragma once

#include <cstdint>
#include <vector>

namespace faro::detail {

class RandomEntries {
 public:
  RandomEntries(std::uint64_t count, std::uint64_t seed);

  /// Buckets of 2^15 to 2^16 elements on the mean, but one of all where these are fewer.
  std::uint64_t buckets() const { return std::uint64_t{1} << bits_; }
  /// The entries of buckets first .. end - 1, as words that hold count - 1: of 32 or 64 bits.
  /// Cost: hashes every element twice, whichever buckets are asked for.
  template <typename Word>
  std::vector<Word> of_buckets(std::uint64_t first, std::uint64_t end) const;

 private:
  std::uint64_t count_;
  std::uint64_t seed_;
  int bits_;
};

}  // namespace faro::detail
