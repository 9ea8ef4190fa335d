#include "shard/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "faro/error.hpp"
#include "shard/mesh_method.hpp"
#include "shard/methods.hpp"
#include "shard/spread.hpp"

namespace faro::detail {
namespace {

using f2::Word;
using Counts = std::vector<std::vector<std::uint64_t>>;

// The group of a rank: from its first rank to one past its last.
struct RankGroup {
  int first = 0;
  int end = 0;
};
RankGroup group_of(int rank, std::uint64_t size, int ranks) {
  const std::uint64_t first = static_cast<std::uint64_t>(rank) / size * size;
  return {.first = static_cast<int>(first),
          .end = static_cast<int>(std::min<std::uint64_t>(first + size, static_cast<std::uint64_t>(ranks)))};
}

// Messages go to Q v ^ A22 d ^ c. Those to ranks with one's own bits above the group's are a coset, or none.
class AffineTraffic {
 public:
  AffineTraffic(const Affine& standard, int rank_bits)
      : g_(rank_bits), m_(standard.bits() - rank_bits), image_(rank_bits) {
    const f2::Matrix& a = standard.matrix();
    for (int j = 0; j < m_; ++j) image_.insert(a.block(m_, 0, g_, m_).column(j));
    a22_ = a.block(m_, m_, g_, g_);
    complement_ = m_ >= f2::kMaxDimension ? 0 : standard.complement() >> m_;
  }

  std::vector<std::uint64_t> leaving(std::uint64_t size) const {
    const std::uint64_t ranks = std::uint64_t{1} << g_;
    const std::uint64_t part = std::uint64_t{1} << m_;
    if (size >= ranks) return std::vector<std::uint64_t>(ranks, 0);
    std::vector<std::uint64_t> left(ranks);
    if (!std::has_single_bit(size)) {
      require_few_messages();
      for (std::uint64_t rank = 0; rank < ranks; ++rank) left[rank] = counted(rank, size);
      return left;
    }
    const int group_bits = std::countr_zero(size);
    f2::Subspace above(g_ - group_bits);
    for (const Word vector : image_.basis()) above.insert(vector >> group_bits);
    const std::uint64_t stays = part >> above.dimension();
    for (std::uint64_t rank = 0; rank < ranks; ++rank)
      left[rank] = part - (above.contains((base(rank) ^ rank) >> group_bits) ? stays : 0);
    return left;
  }

 private:
  Word base(Word rank) const { return (a22_ * rank) ^ complement_; }

  void require_few_messages() const {
    constexpr int kMostBits = 30;
    if (g_ + image_.dimension() <= kMostBits) return;
    fail(ErrorCode::unsupported, "count messages",
         fmt::format("2^{} messages between groups of any size", g_ + image_.dimension()), "at most 2^30",
         "groups of 2^k ranks are counted by linear algebra");
  }

  std::uint64_t counted(std::uint64_t rank, std::uint64_t size) const {
    const std::uint64_t message = (std::uint64_t{1} << m_) >> image_.dimension();
    std::uint64_t left = 0;
    for (std::uint64_t v = 0; v < std::uint64_t{1} << image_.dimension(); ++v) {
      const Word to = f2::combine(image_.basis().data(), v) ^ base(rank);
      if (to / size != rank / size) left += message;
    }
    return left;
  }

  int g_;
  int m_;
  f2::Subspace image_;
  f2::Matrix a22_;
  Word complement_ = 0;
};

// By the elements that a rank's slab shares with the slabs of a group, which lie together.
template <typename Shared>
Counts by_ranges(const Spread& in, std::span<const std::uint64_t> sizes, const Shared& shared) {
  Counts counts;
  for (const std::uint64_t size : sizes) {
    std::vector<std::uint64_t>& left = counts.emplace_back();
    for (int rank = 0; rank < in.ranks(); ++rank)
      left.push_back(in.elements(rank) - shared(rank, group_of(rank, size, in.ranks())));
  }
  return counts;
}

std::uint64_t overlap(std::uint64_t a_begin, std::uint64_t a_end, std::uint64_t b_begin,
                      std::uint64_t b_end) {
  const std::uint64_t begin = std::max(a_begin, b_begin);
  const std::uint64_t end = std::min(a_end, b_end);
  return begin < end ? end - begin : 0;
}

Counts slab_traffic(const std::vector<int>& order, const Spread& in, const Spread& out,
                    std::span<const std::uint64_t> sizes) {
  const std::uint64_t count = in.count();
  if (count == 0)
    return Counts(sizes.size(), std::vector<std::uint64_t>(static_cast<std::size_t>(in.ranks()), 0));
  const auto cut_axis = static_cast<std::size_t>(order[out.axis()]);
  const std::uint64_t extent = in.shape()[in.axis()];
  return by_ranges(in, sizes, [&](int rank, RankGroup group) {
    const std::uint64_t begin = out.start(group.first);
    const std::uint64_t end = out.start(group.end);
    if (cut_axis == in.axis())
      return overlap(in.start(rank), in.start(rank + 1), begin, end) * (count / extent);
    const std::uint64_t other = in.shape()[cut_axis];
    return (in.start(rank + 1) - in.start(rank)) * (end - begin) * (count / extent / other);
  });
}

// Copies are counted where a plan reads them from, and what is passed on where it is.
CrossingElements looked_up(const ShardProblem& problem, const Spread& in, const Spread& out,
                           std::span<const std::uint64_t> sizes) {
  CrossingElements made = no_crossings(in.ranks(), sizes);
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  const Permutation quick =
      indexed == nullptr ? problem.permutation : Permutation(indexed->redirected(Direction::scatter));
  // By the first ranks that hold an element before and after.
  std::map<std::pair<int, int>, std::uint64_t> elements;
  for (std::uint64_t x = 0; x < in.count(); ++x)
    ++elements[{in.place(x).rank, out.place(faro::apply(quick, x)).rank}];
  for (const auto& [ends, count] : elements) {
    const std::vector<int> sources = in.copies(ends.first);
    const std::vector<int> targets = out.copies(ends.second);
    for (const int to : targets) {
      const ElementRoute route = element_route({to, std::max(1, problem.shards.island)}, {sources, targets});
      add_crossing(
          made, sizes,
          {.from = route.receiver == to ? route.sender : route.receiver, .to = to, .elements = count});
    }
  }
  return made;
}

Counts leaving_elements(const ShardProblem& problem, std::span<const std::uint64_t> group_sizes) {
  const ShardPlan plan(problem);
  const int ranks = problem.shards.ranks;
  const Spread in(problem.shards.in, problem.in_shape(), ranks, "in");
  const Spread out(problem.shards.out, problem.out_shape(), ranks, "out");
  if (plan.method() == ShardMethod::affine) {
    const ShardRankBits bits{.in = *in.bits(), .out = *out.bits()};
    const Affine standard = standard_form(*affine_form(normal_form(problem.permutation)), bits);
    const AffineTraffic traffic(standard, static_cast<int>(bits.in.size()));
    Counts counts;
    for (const std::uint64_t size : group_sizes) counts.push_back(traffic.leaving(size));
    return counts;
  }
  if (const auto slabs = plan.method() == ShardMethod::slabs ? slabs_of_axes(problem, in, out) : std::nullopt)
    return slab_traffic(problem.axes->order, slabs->in, slabs->out, group_sizes);
  if (const auto redistribution = redistribution_of(problem))
    return crossing_elements(*redistribution, group_sizes).sent;
  return looked_up(problem, in, out, group_sizes).sent;
}

}  // namespace

CrossingElements crossing_elements(const ShardProblem& problem, std::span<const std::uint64_t> group_sizes) {
  const ShardPlan plan(problem);  // refuses what is none, and names the method
  const bool is_of_meshes = std::holds_alternative<Distribution>(problem.shards.in) ||
                            std::holds_alternative<Distribution>(problem.shards.out);
  // Ranks of a mesh know the islands and copies; of other cuts, what ranks hear is what the inverse sends.
  if (is_of_meshes) {
    if (const auto redistribution = redistribution_of(problem))
      return crossing_elements(*redistribution, group_sizes);
  }
  if (plan.method() == ShardMethod::indices) {
    const Spread in(problem.shards.in, problem.in_shape(), problem.shards.ranks, "in");
    const Spread out(problem.shards.out, problem.out_shape(), problem.shards.ranks, "out");
    return looked_up(problem, in, out, group_sizes);
  }
  return {.sent = leaving_elements(problem, group_sizes),
          .heard = leaving_elements(inverse_of(problem), group_sizes)};
}

ShardProblem inverse_of(const ShardProblem& problem) {
  ShardProblem turned = problem;
  turned.permutation = inverse(problem.permutation);
  turned.shards.in = problem.shards.out;
  turned.shards.out = problem.shards.in;
  if (problem.axes) turned.axes = problem.axes->inverse();
  if (problem.shapes) turned.shapes = {.before = problem.shapes->after, .after = problem.shapes->before};
  return turned;
}

}  // namespace faro::detail
