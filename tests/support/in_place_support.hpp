// What the tests of factoring in place share: maps, a pass carried out literally, and the theorems' numbers
// from their definitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "faro/f2/matrix.hpp"
#include "faro/layout/tile.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::layout {

inline Affine random_affine(int n, std::mt19937_64& random) { return maps::random_bmmc(n, random()); }

inline Affine random_bit_permutation(int n, std::mt19937_64& random) { return maps::random_bpc(n, random()); }

/// `gates` CNOTs and a random complement. Requires: n >= 2.
inline Affine random_sparse(int n, int gates, std::mt19937_64& random) {
  f2::Matrix a = f2::Matrix::identity(n);
  const auto below = [&](int k) { return static_cast<int>(random() % static_cast<std::uint64_t>(k)); };
  for (int g = 0; g < gates; ++g) {
    const int from = below(n);
    const int to = (from + 1 + below(n - 1)) % n;
    for (int j = 0; j < n; ++j) {
      if (a.at(from, j)) a.set_column(j, a.column(j) ^ f2::unit(to));
    }
  }
  return {a, random() & f2::low_mask(n)};
}

/// Multiplication by x modulo p, on coefficients: one cyclic block.
inline f2::Matrix companion(f2::Word p) {
  const int d = f2::leading_bit(p);
  f2::Matrix a = f2::Matrix::zero(d, d);
  for (int j = 0; j + 1 < d; ++j) a.set_column(j, f2::unit(j + 1));
  a.set_column(d - 1, p ^ f2::unit(d));
  return a;
}

/// Multiplication by x modulo every one of these, side by side.
inline Affine companions(const std::vector<f2::Word>& polynomials) {
  Affine map(0);
  for (const f2::Word p : polynomials) map = direct_sum(map, Affine(companion(p), 0));
  return map;
}

/// The same map in another basis.
inline Affine shuffled_basis(const Affine& map, std::mt19937_64& random) {
  const Affine change = random_affine(map.bits(), random);
  return compose(change, compose(map, change.inverse()));
}

inline std::string describe(const Affine& map, const InPlaceOptions& options) {
  std::string text = "n " + std::to_string(map.bits()) + ", columns";
  for (const f2::Word c : map.matrix().column_span()) text += " " + std::to_string(c);
  return text + ", complement " + std::to_string(map.complement()) + ", s " +
         std::to_string(options.segment_bits) + ", capacity " + std::to_string(options.capacity_bits) +
         ", orbits to " + std::to_string(options.max_orbit_tiles);
}

/// An array with guards around it that is permuted pass by pass, as blocks would: each loads the tiles of one
/// orbit, waits, and writes them; what it writes must be what it has loaded, and nobody else's.
class LiteralArray {
 public:
  explicit LiteralArray(int n) : bits_(n), cells_(f2::unit(n) + 2 * kGuard, kPoison) {
    for (f2::Word x = 0; x < f2::unit(n); ++x) cells_[kGuard + x] = x;
  }

  /// One pass. Gives what went wrong, if anything did.
  std::optional<std::string> run(const InPlaceTile& pass, std::uint64_t most_elements) {
    std::vector<bool> touched(f2::unit(bits_), false);
    const Tile& tile = pass.tile;
    const f2::Word segment = f2::low_mask(tile.segment_bits);
    const f2::Word places = f2::unit(tile.tile_bits());
    for (f2::Word leader = 0; leader < f2::unit(tile.block_bits()); ++leader) {
      std::vector<f2::Word> orbit = {leader};
      for (f2::Word b = pass.next(leader); b != leader; b = pass.next(b)) orbit.push_back(b);
      if (*std::min_element(orbit.begin(), orbit.end()) != leader) continue;
      if (orbit.size() > pass.orbit_tiles) return "an orbit longer than it says";
      if (orbit.size() * places > most_elements) return "an orbit that does not fit the capacity";
      loaded_.clear();
      owned_.clear();
      for (const f2::Word b : orbit) {
        for (f2::Word place = 0; place < places; ++place) {
          const f2::Word row = place >> tile.segment_bits;
          const f2::Word x = (tile.block_source(b) ^ tile.source_row(row)) | (place & segment);
          if (touched[x]) return "an element read by two blocks";
          touched[x] = true;
          owned_.push_back(x);
          loaded_.push_back(cells_[kGuard + x]);
        }
      }
      std::sort(owned_.begin(), owned_.end());
      std::size_t k = 0;
      for (const f2::Word b : orbit) {
        const f2::Word target = tile.block_target(b);
        for (f2::Word place = 0; place < places; ++place, ++k) {
          const f2::Word there = tile.local * place ^ (target & segment);
          const f2::Word row = there >> tile.segment_bits;
          const f2::Word y = ((target & ~segment) ^ tile.target_row(row)) | (there & segment);
          if (!std::binary_search(owned_.begin(), owned_.end(), y)) return "a write to another block's tile";
          cells_[kGuard + y] = loaded_[k];
        }
      }
    }
    if (std::find(touched.begin(), touched.end(), false) != touched.end()) return "an element left out";
    return std::nullopt;
  }

  /// The oracle: element x is where the map sends it, and the guards are whole.
  std::optional<std::string> check(const Affine& map) const {
    for (f2::Word x = 0; x < f2::unit(bits_); ++x) {
      if (cells_[kGuard + map(x)] != x) return "element " + std::to_string(x) + " is elsewhere";
    }
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (cells_[i] != kPoison || cells_[cells_.size() - 1 - i] != kPoison) return "a guard is overwritten";
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kGuard = 8;
  static constexpr f2::Word kPoison = ~f2::Word{0};

  int bits_;
  std::vector<f2::Word> cells_;
  std::vector<f2::Word> loaded_;
  std::vector<f2::Word> owned_;
};

/// The factors carried out one after another on one array.
inline std::optional<std::string> run_literally(const Affine& map, const std::vector<InPlaceFactor>& factors,
                                                const InPlaceOptions& options, int min_row_bits = 0) {
  LiteralArray array(map.bits());
  for (const InPlaceFactor& factor : factors) {
    const InPlaceTile pass = make_in_place_tile(factor, options.segment_bits, min_row_bits);
    // Padding may hold more than the capacity, which then does not count.
    const std::uint64_t most = min_row_bits > 0 ? ~f2::Word{0} : f2::unit(options.capacity_bits);
    if (auto wrong = array.run(pass, most)) return wrong;
  }
  return array.check(map);
}

/// The most elements that one block must hold if the map is one pass: a block that owns a segment owns all
/// segments that its elements go to, and so on. By walking all elements.
inline std::uint64_t largest_component(const Affine& map, int segment_bits) {
  const f2::Word count = f2::unit(map.bits());
  std::vector<f2::Word> parent(count >> segment_bits);
  std::iota(parent.begin(), parent.end(), f2::Word{0});
  const auto root = [&](f2::Word segment) {
    while (parent[segment] != segment) segment = parent[segment] = parent[parent[segment]];
    return segment;
  };
  for (f2::Word x = 0; x < count; ++x) parent[root(x >> segment_bits)] = root(map(x) >> segment_bits);
  std::vector<std::uint64_t> size(parent.size(), 0);
  std::uint64_t most = 0;
  for (f2::Word s = 0; s < parent.size(); ++s) most = std::max(most, ++size[root(s)]);
  return most << segment_bits;
}

}  // namespace faro::layout
