// Two ways. `exchanges` does as little as possible at every pass, so that the last pass restores the order,
// if it must. `approaches` looks from the end as well: a chain of exchanges backwards from the final map says
// which order the array had best have after every pass, and each pass, within its tiles, comes as close to it
// as it can, with an eye to the tiles that follow. If the last pass can do the rest within its own tiles, all
// are in place.
#include <algorithm>
#include <optional>
#include <random>
#include <span>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "network/grouping.hpp"

namespace faro::network::detail {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// Calls of `approaches`, each with other choices where several serve.
constexpr std::uint64_t kAttempts = 16;

// A linear map, by the images of independent vectors.
class MapBuilder {
 public:
  explicit MapBuilder(int n) : n_(n), known_(n), reached_(n) {}

  bool knows(Word from) const { return known_.contains(from); }
  bool reaches(Word to) const { return reached_.contains(to); }

  void set(Word from, Word to) {
    FARO_CHECK(known_.insert(from) && reached_.insert(to));
    from_.push_back(from);
    to_.push_back(to);
  }

  /// `from` goes to `to`, whichever of its vectors to which.
  void set_any(const Subspace& from, const Subspace& to) {
    const std::vector<Word> rest = f2::complete(f2::intersection(reached_, to), to);
    auto next = rest.begin();
    for (const Word v : from.basis()) {
      if (knows(v)) continue;
      FARO_CHECK(next != rest.end());
      set(v, *next++);
    }
  }

  Affine take() const {
    const auto inverse = Matrix::from_columns(n_, from_).inverse();
    FARO_CHECK(inverse.has_value());
    return {Matrix::from_columns(n_, to_) * *inverse, 0};
  }

 private:
  int n_;
  Subspace known_;
  Subspace reached_;
  std::vector<Word> from_;
  std::vector<Word> to_;
};

// The involution that exchanges S and `segment` and moves nothing out of a coset of their sum.
Affine exchange(const Subspace& segment) {
  const int n = segment.ambient_dimension();
  const Subspace low = Subspace::low(n, segment.dimension());
  const Subspace meet = f2::intersection(low, segment);
  MapBuilder map(n);
  for (const Word v : meet.basis()) map.set(v, v);
  const std::vector<Word> of_low = f2::complete(meet, low);
  const std::vector<Word> of_segment = f2::complete(meet, segment);
  for (std::size_t i = 0; i < of_low.size(); ++i) {
    map.set(of_segment[i], of_low[i]);
    map.set(of_low[i], of_segment[i]);
  }
  const Subspace rest = f2::complement(f2::sum(low, segment));
  for (const Word v : rest.basis()) map.set(v, v);
  return map.take();
}

Subspace image(const Affine& map, const Subspace& space) { return f2::image(map.matrix(), space); }

std::vector<Affine> exchanges(const std::vector<Group>& groups, const Affine& final_map) {
  std::vector<Affine> maps;
  Affine address(final_map.bits());
  for (std::size_t k = 0; k + 1 < groups.size(); ++k) {
    maps.push_back(exchange(image(address, groups[k].segment)));
    address = compose(maps.back(), address);
  }
  maps.push_back(compose(final_map, address.inverse()));
  return maps;
}

// {x : map(x) ^ x in tile}, for a linear map.
Subspace kept(const Affine& map, const Subspace& tile) {
  const int n = map.bits();
  Matrix moved = Matrix::zero(n, n);
  for (int i = 0; i < n; ++i) moved.set_column(i, tile.reduce(map(f2::unit(i)) ^ f2::unit(i)));
  return Subspace::span(n, moved.kernel());
}

// What may be taken off x now so that the tiles that follow can take off the rest: members t of tiles[0] with
// x ^ t in the sum of tiles[1] .. tiles[j], j as small as can be; they differ by members of `slack`. 0 where
// there are none.
struct Share {
  Word first = 0;
  Subspace slack;
};

Share share_of(Word x, std::span<const Subspace> tiles) {
  const Subspace& now = tiles.front();
  const std::vector<Word> own(now.basis().begin(), now.basis().end());
  Subspace later(now.ambient_dimension());
  for (const Subspace& tile : tiles.subspan(1)) {
    later = f2::sum(later, tile);
    std::vector<Word> vectors = own;
    for (const Word v : f2::complete(now, later)) vectors.push_back(v);
    const auto parts = Matrix::from_columns(now.ambient_dimension(), vectors).solve(x);
    if (!parts) continue;
    // The vectors of `later` that complete `now` are members of `later`, so what they leave of x is in `now`.
    return {.first = f2::combine(own.data(), *parts & f2::low_mask(now.dimension())),
            .slack = f2::intersection(now, later)};
  }
  return {.first = 0, .slack = Subspace(now.ambient_dimension())};
}

// A map that keeps the cosets of tiles[0], carries `segment` to S, and agrees with `wish`, which carries
// `segment` to S as well, wherever `wish` keeps those cosets itself. What it cannot grant it leaves to the
// tiles that follow.
Affine approach(const Affine& wish, std::span<const Subspace> tiles, const Subspace& segment,
                std::mt19937_64& random) {
  const Subspace& tile = tiles.front();
  const int n = wish.bits();
  const Subspace granted = kept(wish, tile);
  MapBuilder map(n);
  const auto grant = [&](const Subspace& space) {
    for (const Word v : space.basis()) {
      if (!map.knows(v)) map.set(v, wish(v));
    }
  };
  grant(f2::intersection(granted, segment));
  map.set_any(segment, Subspace::low(n, segment.dimension()));
  grant(f2::intersection(granted, tile));
  const auto leave = [&](Word x) {
    if (map.knows(x)) return;
    const Share share = share_of(x ^ wish(x), tiles);
    const Word to = x ^ share.first;
    if (!map.reaches(to)) return map.set(x, to);
    const auto slack = share.slack.basis();
    const std::uint64_t start = random();
    for (std::size_t i = 0; i < slack.size(); ++i) {
      const Word other = to ^ slack[(start + i) % slack.size()];
      if (!map.reaches(other)) return map.set(x, other);
    }
  };
  for (const Word x : tile.basis()) leave(x);
  map.set_any(tile, tile);
  grant(granted);
  for (int i = 0; i < n; ++i) leave(f2::unit(i));
  return map.take();
}

std::optional<std::vector<Affine>> approaches(const std::vector<Group>& groups, const Affine& final_map,
                                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t count = groups.size();
  // wishes[k]: from an index in the input to its best address after pass k.
  std::vector<Affine> wishes(count, Affine(final_map.matrix(), 0));
  for (std::size_t k = count - 1; k-- > 0;) {
    wishes[k] = compose(exchange(image(wishes[k + 1], groups[k].segment)), wishes[k + 1]);
  }
  std::vector<Affine> maps;
  Affine address(final_map.bits());
  for (std::size_t k = 0; k + 1 < count; ++k) {
    std::vector<Subspace> tiles;
    for (std::size_t i = k; i < count; ++i) tiles.push_back(image(address, groups[i].tile));
    maps.push_back(
        approach(compose(wishes[k], address.inverse()), tiles, image(address, groups[k].segment), random));
    address = compose(maps.back(), address);
  }
  maps.push_back(compose(final_map, address.inverse()));
  if (!keeps_cosets(maps.back(), image(address, groups.back().tile))) return std::nullopt;
  return maps;
}

}  // namespace

bool keeps_cosets(const Affine& map, const Subspace& tile) {
  const Matrix moved = map.matrix() + Matrix::identity(map.bits());
  const auto columns = moved.column_span();
  return tile.contains(map.complement()) &&
         std::all_of(columns.begin(), columns.end(), [&](Word column) { return tile.contains(column); });
}

std::vector<Affine> choose_maps(const std::vector<Group>& groups, const Affine& final_map,
                                Placement placement) {
  FARO_CHECK(!groups.empty());
  std::vector<Affine> maps = exchanges(groups, final_map);
  const Affine before = compose(maps.back().inverse(), final_map);
  const bool done = keeps_cosets(maps.back(), image(before, groups.back().tile));
  if (done || placement == Placement::out_of_place) return maps;
  for (std::uint64_t seed = 0; seed < kAttempts; ++seed) {
    if (auto in_place = approaches(groups, final_map, seed)) return *std::move(in_place);
  }
  return maps;
}

}  // namespace faro::network::detail
