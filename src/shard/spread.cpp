#include "shard/spread.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "faro/error.hpp"

namespace faro::detail {
namespace {

// The bits of `mask` of x, together; and back.
std::uint64_t gather_bits(std::uint64_t x, std::uint64_t mask) {
  std::uint64_t packed = 0;
  for (int at = 0; mask != 0; mask &= mask - 1, ++at) packed |= ((x >> std::countr_zero(mask)) & 1) << at;
  return packed;
}
std::uint64_t scatter_bits(std::uint64_t packed, std::uint64_t mask) {
  std::uint64_t x = 0;
  for (; mask != 0; mask &= mask - 1, packed >>= 1) x |= (packed & 1) << std::countr_zero(mask);
  return x;
}

std::uint64_t mask_of(const std::vector<int>& bits) {
  std::uint64_t mask = 0;
  for (const int bit : bits) mask |= f2::unit(bit);
  return mask;
}

std::vector<std::uint64_t> even_extents(std::uint64_t extent, int ranks) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  std::vector<std::uint64_t> extents(parts, extent / parts);
  for (std::uint64_t rank = 0; rank < extent % parts; ++rank) ++extents[rank];
  return extents;
}

// A cut of an array whose axes are taken apart, as one of the first of those that the axis is made of.
std::optional<Spread> as_finer(const Spread& cut, const std::vector<std::uint64_t>& finer, const char* role) {
  if (cut.shape() == finer) return cut;
  if (cut.count() == 0) return std::nullopt;  // which extents belong to an axis of none, nothing says
  const std::uint64_t extent = cut.start(cut.ranks());
  const auto begin = cut.shape().begin();
  const std::uint64_t before = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(cut.axis()),
                                               std::uint64_t{1}, std::multiplies<>());
  std::size_t first = 0;
  for (std::uint64_t reached = 1; first < finer.size() && reached < before; ++first) reached *= finer[first];
  while (first < finer.size() && finer[first] == 1 && extent > 1) ++first;
  if (first == finer.size() || extent % finer[first] != 0) return std::nullopt;
  const std::uint64_t rows = extent / finer[first];
  ShardAxis axis{.axis = static_cast<int>(first), .extents = {}};
  for (int rank = 0; rank < cut.ranks(); ++rank) {
    const std::uint64_t places = cut.start(rank + 1) - cut.start(rank);
    if (rows == 0 || places % rows != 0) return std::nullopt;
    axis.extents.push_back(places / rows);
  }
  return Spread(axis, finer, cut.ranks(), role);
}

}  // namespace

std::optional<SlabsOfAxes> slabs_of_axes(const ShardProblem& problem, const Spread& in, const Spread& out) {
  if (!problem.axes || !in.is_slabs() || !out.is_slabs()) return std::nullopt;
  auto finer_in = as_finer(in, problem.axes->shape, "in");
  auto finer_out = as_finer(out, problem.axes->target_shape(), "out");
  if (!finer_in || !finer_out) return std::nullopt;
  return SlabsOfAxes{.in = std::move(*finer_in), .out = std::move(*finer_out)};
}

Spread::Spread(const ShardCut& cut, std::vector<std::uint64_t> shape, int ranks, const std::string& role)
    : shape_(std::move(shape)), ranks_(ranks) {
  if (shape_.empty()) shape_ = {1};
  count_ = std::accumulate(shape_.begin(), shape_.end(), std::uint64_t{1}, std::multiplies<>());
  if (const auto* const axis = std::get_if<ShardAxis>(&cut)) {
    cut_axis(*axis, role);
    find_bits();
  } else if (const auto* const distribution = std::get_if<Distribution>(&cut)) {
    holdings_.emplace(*distribution, shape_, ranks, role);
    bits_ = holdings_->bits(ranks);
  } else {
    cut_bits(std::get<ShardBits>(cut), role);
  }
}

void Spread::cut_axis(const ShardAxis& cut, const std::string& role) {
  const std::string operation = "cut the " + role + "put into shards";
  if (cut.axis < 0 || static_cast<std::size_t>(cut.axis) >= shape_.size()) {
    fail(ErrorCode::value, operation, fmt::format("axis {}", cut.axis),
         fmt::format("0 to {}, an axis of shape {}", shape_.size() - 1, fmt::join(shape_, "x")));
  }
  axis_ = static_cast<std::size_t>(cut.axis);
  extent_ = shape_[axis_];
  const auto at = shape_.begin() + cut.axis;
  outer_ = std::accumulate(shape_.begin(), at, std::uint64_t{1}, std::multiplies<>());
  inner_ = std::accumulate(at + 1, shape_.end(), std::uint64_t{1}, std::multiplies<>());
  const std::vector<std::uint64_t> extents =
      cut.extents.empty() ? even_extents(extent_, ranks_) : cut.extents;
  if (extents.size() != static_cast<std::size_t>(ranks_)) {
    fail(ErrorCode::value, operation, fmt::format("{} extents", extents.size()),
         fmt::format("{}, one for each rank", ranks_));
  }
  starts_ = {0};
  for (const std::uint64_t extent : extents) {
    if (extent > extent_ - starts_.back()) break;
    starts_.push_back(starts_.back() + extent);
  }
  if (starts_.size() != extents.size() + 1 || starts_.back() != extent_) {
    fail(ErrorCode::value, operation, fmt::format("slabs of {}", fmt::join(extents, ", ")),
         fmt::format("extents whose sum is {}, that of axis {}", extent_, axis_));
  }
}

void Spread::cut_bits(const ShardBits& cut, const std::string& role) {
  const std::string operation = "cut the " + role + "put into shards";
  const int n = std::has_single_bit(count_) ? std::countr_zero(count_) : -1;
  if (n < 0) {
    fail(ErrorCode::value, operation, fmt::format("index bits of {} elements", count_),
         "2^n elements, whose indices have bits", "a cut of an axis takes any number");
  }
  if (cut.bits.size() >= 31 || (std::size_t{1} << cut.bits.size()) != static_cast<std::size_t>(ranks_)) {
    fail(ErrorCode::value, operation, fmt::format("{} bits for {} ranks", cut.bits.size(), ranks_),
         "g bits for 2^g ranks");
  }
  std::uint64_t seen = 0;
  for (const int bit : cut.bits) {
    if (bit < 0 || bit >= n || f2::bit(seen, bit)) {
      fail(ErrorCode::value, operation, fmt::format("bits {}", fmt::join(cut.bits, " ")),
           fmt::format("different bits of an index of {} bits", n));
    }
    seen |= f2::unit(bit);
  }
  bits_ = cut.bits;
}

// Slabs of powers of two are bits of the index.
void Spread::find_bits() {
  const auto ranks = static_cast<std::uint64_t>(ranks_);
  if (!std::has_single_bit(count_) || !std::has_single_bit(ranks) || extent_ < ranks) return;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (start(rank) != static_cast<std::uint64_t>(rank) * (extent_ / ranks)) return;
  }
  const int g = std::countr_zero(ranks);
  const int first = std::countr_zero(inner_) + std::countr_zero(extent_) - g;
  std::vector<int> bits(static_cast<std::size_t>(g));
  std::iota(bits.begin(), bits.end(), first);
  bits_ = std::move(bits);
}

std::uint64_t Spread::elements(int rank) const {
  if (holdings_) {
    const std::optional<Cell> cell = holdings_->cell_of(rank);
    return cell ? holdings_->part_elements(*cell) : 0;
  }
  if (!is_slabs()) return count_ >> bits_->size();
  return outer_ * (start(rank + 1) - start(rank)) * inner_;
}

std::vector<int> Spread::copies(int rank) const {
  if (!holdings_) return {rank};
  std::vector<int> all;
  if (const std::optional<Cell> cell = holdings_->cell_of(rank)) {
    for (std::uint64_t i = 0; i < holdings_->copies(*cell); ++i) all.push_back(holdings_->copy(*cell, i));
  }
  return all;
}

Spread::Place Spread::place(std::uint64_t x) const {
  if (holdings_) {
    const Holdings::Place at = holdings_->place(x);
    return {.rank = at.rank, .element = at.element};
  }
  if (!is_slabs()) {
    int rank = 0;
    for (std::size_t i = 0; i < bits_->size(); ++i) rank |= static_cast<int>((x >> (*bits_)[i]) & 1) << i;
    return {.rank = rank, .element = gather_bits(x, (count_ - 1) & ~mask_of(*bits_))};
  }
  const std::uint64_t inner = x % inner_;
  const std::uint64_t at = x / inner_ % extent_;
  const std::uint64_t outer = x / inner_ / extent_;
  // The last rank that begins there: those before it are empty.
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  const auto rank = static_cast<int>(next - starts_.begin()) - 1;
  const std::uint64_t length = start(rank + 1) - start(rank);
  return {.rank = rank, .element = (outer * length + (at - start(rank))) * inner_ + inner};
}

std::uint64_t Spread::index(const Place& place) const {
  if (holdings_) return holdings_->index(*holdings_->cell_of(place.rank), place.element);
  if (!is_slabs()) {
    std::uint64_t x = scatter_bits(place.element, (count_ - 1) & ~mask_of(*bits_));
    for (std::size_t i = 0; i < bits_->size(); ++i) {
      if ((place.rank >> i & 1) != 0) x |= f2::unit((*bits_)[i]);
    }
    return x;
  }
  const std::uint64_t length = start(place.rank + 1) - start(place.rank);
  const std::uint64_t inner = place.element % inner_;
  const std::uint64_t at = place.element / inner_ % length + start(place.rank);
  const std::uint64_t outer = place.element / inner_ / length;
  return (outer * extent_ + at) * inner_ + inner;
}

}  // namespace faro::detail
