// How the elements of an array are spread over ranks: whose an index is, and which of its owner's elements.
//
//     16 elements, ShardBits{{2, 3}}     index 5 = 0b0101     rank 0b01, element 0b01 of its part
//     4 x 4 elements, ShardAxis{1}, 4 ranks                   rank 1, element 1
//
// In both the part of a rank has its elements in ascending order of their indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/shards.hpp"
#include "shard/holdings.hpp"

namespace faro::detail {

class Spread {
 public:
  struct Place {
    int rank = 0;
    std::uint64_t element = 0;
  };

  /// Spreads an array of `shape`, slowest axis first. `role` is "in" or "out", for messages. Errors:
  /// ErrorCode::value for a cut that is none of this shape by so many ranks.
  Spread(const ShardCut& cut, std::vector<std::uint64_t> shape, int ranks, const std::string& role);

  std::uint64_t count() const { return count_; }
  int ranks() const { return ranks_; }
  std::uint64_t elements(int rank) const;

  /// Requires: x < count() (unchecked).
  Place place(std::uint64_t x) const;
  /// The index of an element. Law: place(index(p)) == p. Requires: a place that is there (unchecked).
  std::uint64_t index(const Place& place) const;

  /// Whether several ranks may hold an element; place() names the first then.
  bool is_replicated() const { return holdings_ && holdings_->is_replicated(); }
  /// All that hold what the rank holds, ascending: itself, or nobody where it holds nothing.
  std::vector<int> copies(int rank) const;

  /// The same as index bits that are the rank's, where it is: of 2^g ranks and 2^n elements, cut evenly.
  const std::optional<std::vector<int>>& bits() const { return bits_; }

  // Whether there are slabs only.
  bool is_slabs() const { return !starts_.empty(); }
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  std::size_t axis() const { return axis_; }
  /// Where the rank's slab begins along the axis; of ranks(): the axis's extent.
  std::uint64_t start(int rank) const { return starts_[static_cast<std::size_t>(rank)]; }
  /// The axis cut along which all runs of a slab lie together: nothing before it has an extent above 1.
  bool is_blocks() const { return is_slabs() && outer_ <= 1; }
  /// Elements of one place of the axis, in blocks.
  std::uint64_t inner() const { return inner_; }

 private:
  void cut_axis(const ShardAxis& cut, const std::string& role);
  void cut_bits(const ShardBits& cut, const std::string& role);
  void find_bits();

  std::vector<std::uint64_t> shape_;
  int ranks_ = 1;
  std::uint64_t count_ = 0;
  std::size_t axis_ = 0;
  std::uint64_t outer_ = 1;   // product of the extents before the axis
  std::uint64_t inner_ = 1;   // and behind it
  std::uint64_t extent_ = 1;  // of the axis
  std::vector<std::uint64_t> starts_;
  std::optional<std::vector<int>> bits_;
  std::optional<Holdings> holdings_;  // of a distribution
};

/// Both cuts of a permutation of axes, as slabs of these.
struct SlabsOfAxes {
  Spread in;
  Spread out;
};

/// Nothing where a cut is by bits, no axes are named, or a cut goes through axes that brackets join: slabs of
/// an axis (a b) are slabs of a where each holds whole rows of b.
std::optional<SlabsOfAxes> slabs_of_axes(const ShardProblem& problem, const Spread& in, const Spread& out);

}  // namespace faro::detail
