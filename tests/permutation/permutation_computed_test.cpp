// Maps that are computed: Hilbert's curve against Skilling's published loops and its law, HEALPix against the
// places of its pixels on the sphere; their algebra, their text and their tiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/computed.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/computed_map.hpp"
#include "refusal.hpp"

namespace faro {
namespace permutation_computed_test {

using Coordinates = std::vector<std::uint64_t>;

Coordinates coordinates(std::uint64_t x, int d, int b) {
  Coordinates at(static_cast<std::size_t>(d));
  for (int a = d - 1; a >= 0; --a, x >>= b)
    at[static_cast<std::size_t>(a)] = x & ((std::uint64_t{1} << b) - 1);
  return at;
}

// As the paper has it: AxestoTranspose(), and the transposed bits read in turn.
std::uint64_t skilling(Coordinates x, int b) {
  const std::size_t n = x.size();
  const std::uint64_t top = std::uint64_t{1} << (b - 1);
  for (std::uint64_t q = top; q > 1; q >>= 1) {
    const std::uint64_t p = q - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t exchanged = (x[0] ^ x[i]) & p;
      if ((x[i] & q) != 0) {
        x[0] ^= p;
      } else {
        x[0] ^= exchanged;
        x[i] ^= exchanged;
      }
    }
  }
  for (std::size_t i = 1; i < n; ++i) x[i] ^= x[i - 1];
  std::uint64_t flipped = 0;
  for (std::uint64_t q = top; q > 1; q >>= 1)
    if ((x[n - 1] & q) != 0) flipped ^= q - 1;
  std::uint64_t number = 0;
  for (int k = b - 1; k >= 0; --k)
    for (const std::uint64_t each : x) number = number << 1 | ((each ^ flipped) >> k & 1);
  return number;
}

void expect_hilbert(int d, int b) {
  const Permutation map = maps::hilbert(d, b);
  const Permutation undone = inverse(map);
  const std::uint64_t count = element_count(map);
  ASSERT_EQ(count, std::uint64_t{1} << (d * b));
  Coordinates before;
  for (std::uint64_t y = 0; y < count; ++y) {
    const std::uint64_t x = apply(undone, y);
    ASSERT_EQ(apply(map, x), y) << to_text(map) << " at " << x;
    const Coordinates at = coordinates(x, d, b);
    if (b > 0) {
      ASSERT_EQ(skilling(at, b), y) << to_text(map) << " at " << x;
    }
    // Neighbours along the curve are neighbours in the cube.
    std::uint64_t steps = 0;
    for (std::size_t a = 0; a < before.size(); ++a)
      steps += at[a] > before[a] ? at[a] - before[a] : before[a] - at[a];
    ASSERT_EQ(steps, y == 0 ? 0 : 1) << to_text(map) << " at " << y;
    before = at;
  }
}

TEST(Hilbert, IsSkillingsCurveOfEveryShape) {
  for (int d = 1; d <= 14; ++d)
    for (int b = 0; d * b <= 14; ++b) expect_hilbert(d, b);
}

TEST(Hilbert, LargeOnesAtRandom) {
  std::mt19937_64 random(1);
  for (const auto& [d, b] :
       {std::pair(2, 31), {3, 20}, {4, 15}, {5, 12}, {6, 10}, {31, 2}, {62, 1}, {1, 62}}) {
    const Permutation map = maps::hilbert(d, b);
    const Permutation undone = inverse(map);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t x = random() % element_count(map);
      const std::uint64_t y = apply(map, x);
      ASSERT_EQ(y, skilling(coordinates(x, d, b), b)) << to_text(map) << " at " << x;
      ASSERT_EQ(apply(undone, y), x) << to_text(map);
    }
  }
}

TEST(Hilbert, HasItsSimplestForm) {
  for (int d = 1; d <= 6; ++d) {
    EXPECT_TRUE(std::holds_alternative<Affine>(maps::hilbert(d, 1))) << d;
    EXPECT_TRUE(std::holds_alternative<Affine>(maps::hilbert(d, 0))) << d;
    if (d == 1) continue;
    // None beyond is affine, as is known of its index array.
    const Permutation map = maps::hilbert(d, 2);
    const auto* const computed = std::get_if<Computed>(&map);
    ASSERT_NE(computed, nullptr);
    EXPECT_TRUE(std::holds_alternative<Indexed>(normal_form(as_index_array(*computed)))) << d;
    EXPECT_EQ(normal_form(map), map);
  }
  EXPECT_EQ(maps::hilbert(1, 9), Permutation(maps::identity(9)));
}

TEST(Hilbert, RefusesWhatNoIndexHolds) {
  for (const auto& [d, b] :
       {std::pair(0, 2), {-1, 2}, {2, -1}, {2, 32}, {63, 1}, {1, 63}, {1 << 30, 1 << 30}}) {
    const ErrorReport report = test::report_of([d = d, b = b] { maps::hilbert(d, b); });
    EXPECT_EQ(report.code, ErrorCode::value);
    EXPECT_NE(report.got.find("d = " + std::to_string(d)), std::string::npos) << report.got;
  }
}

// A pixel's centre by the projection of the sphere onto the plane of its twelve squares: its latitude, which
// grows with `height`, and its longitude.
struct Centre {
  double height = 0;
  double longitude = 0;
};

Centre centre_of(std::uint64_t nested, int k) {
  const double side = std::exp2(k);
  std::uint64_t bits_x = 0;
  std::uint64_t bits_y = 0;
  for (int i = 0; i < k; ++i) {
    bits_x |= (nested >> (2 * i) & 1) << i;
    bits_y |= (nested >> (2 * i + 1) & 1) << i;
  }
  constexpr double kEighth = std::numbers::pi / 4;
  const auto diamond = static_cast<int>(nested >> (2 * k));
  const double right = (static_cast<double>(bits_x) + 0.5) / side;
  const double left = (static_cast<double>(bits_y) + 0.5) / side;
  const double row = 1 - diamond / 4;
  const double column = 2 * (diamond % 4) + (diamond / 4 == 1 ? 0 : 1);
  const double x = kEighth * (column + right - left);
  const double y = kEighth * (row + right + left - 1);
  double longitude = x;
  if (std::abs(y) > kEighth) {
    const double narrow = 2 - std::abs(y) / kEighth;  // of a polar triangle at this height
    const double middle = kEighth * (2 * std::floor(x / (2 * kEighth)) + 1);
    longitude = middle + (x - middle) / narrow;
  }
  return {.height = y, .longitude = longitude < 0 ? longitude + 8 * kEighth : longitude};
}

TEST(Healpix, RingsAreByLatitudeAndLongitude) {
  for (int k = 0; k <= 6; ++k) {
    const Permutation map = maps::healpix(k);
    const std::uint64_t count = element_count(map);
    ASSERT_EQ(count, std::uint64_t{12} << (2 * k));
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::sort(order.begin(), order.end(), [k](std::uint64_t a, std::uint64_t b) {
      constexpr double kSame = 1e-9;
      const Centre of_a = centre_of(a, k);
      const Centre of_b = centre_of(b, k);
      if (std::abs(of_a.height - of_b.height) > kSame) return of_a.height > of_b.height;
      return of_a.longitude < of_b.longitude;
    });
    for (std::uint64_t ring = 0; ring < count; ++ring) {
      ASSERT_EQ(apply(map, order[ring]), ring) << to_text(map) << " at " << order[ring];
      ASSERT_EQ(apply(inverse(map), ring), order[ring]) << to_text(map) << " at " << ring;
    }
  }
}

TEST(Healpix, KnownPixels) {
  // healpy.nest2ring(2, range(12)), and of larger sides single ones.
  constexpr std::uint64_t kFirst[] = {13, 5, 4, 0, 15, 7, 6, 1, 17, 9, 8, 2};
  for (std::uint64_t x = 0; x < std::size(kFirst); ++x) EXPECT_EQ(apply(maps::healpix(1), x), kFirst[x]);
}

TEST(Healpix, LargeOnesAreBijections) {
  std::mt19937_64 random(1);
  for (const int k : {10, 18, 25, 29}) {
    const Permutation map = maps::healpix(k);
    const Permutation undone = inverse(map);
    const std::uint64_t count = element_count(map);
    for (int i = 0; i < 20000; ++i) {
      // The ends of rings near the poles and around the belt's borders, too.
      std::uint64_t y = i % 2 == 0 ? random() % count : random() % 64 + (i % 4 == 1 ? 0 : count - 64);
      if (i % 8 == 3) y = (std::uint64_t{2} << (2 * k)) - (std::uint64_t{2} << k) + random() % 64 - 32;
      ASSERT_EQ(apply(map, apply(undone, y)), y) << to_text(map) << " at " << y;
      const std::uint64_t x = random() % count;
      ASSERT_LT(apply(map, x), count);
      ASSERT_EQ(apply(undone, apply(map, x)), x) << to_text(map) << " at " << x;
    }
  }
}

TEST(Healpix, RefusesWhatNoIndexHolds) {
  for (const int k : {-1, 30, 1000}) EXPECT_EQ(test::code_of([k] { maps::healpix(k); }), ErrorCode::value);
  EXPECT_EQ(maps::healpix(0), Permutation(maps::roll(12, 0)));
}

const char* const kTexts[] = {"hilbert(2, 3)",  "hilbert(3, 2)",       "hilbert(5, 2)",
                              "healpix(1)",     "healpix(3)",          "inverse(hilbert(2, 3))",
                              "hilbert(2, 31)", "inverse(healpix(29))"};

TEST(Computed, TextIsReadBack) {
  for (const char* const text : kTexts) {
    const Permutation map = parse_permutation(text);
    ASSERT_TRUE(std::holds_alternative<Computed>(map)) << text;
    EXPECT_EQ(to_text(map), text);
    EXPECT_EQ(parse_permutation(to_text(map)), map);
    EXPECT_EQ(inverse(inverse(map)), map);
    EXPECT_NE(inverse(map), map);
    EXPECT_EQ(normal_form(map), map);
    EXPECT_FALSE(affine_form(map)) << text;
  }
}

TEST(Computed, WhatAnArrayAtHandFixesMayBeLeftOut) {
  const auto at_hand = [](const char* text, std::vector<std::uint64_t> shape) {
    return to_text(parse_permutation(text, {.bare_bits = {}, .shape = std::move(shape)}));
  };
  EXPECT_EQ(at_hand("hilbert", {8, 8}), "hilbert(2, 3)");
  EXPECT_EQ(at_hand("hilbert", {4, 4, 4}), "hilbert(3, 2)");
  EXPECT_EQ(at_hand("hilbert(2)", {64}), "hilbert(2, 3)");
  EXPECT_EQ(at_hand("inverse(hilbert)", {8, 8}), "inverse(hilbert(2, 3))");
  EXPECT_EQ(at_hand("healpix", {768}), "healpix(3)");
  EXPECT_EQ(at_hand("healpix(3)", {768}), "healpix(3)");
  EXPECT_EQ(at_hand("sequency", {16}), "sequency(4)");
  EXPECT_EQ(at_hand("sequency(dyadic)", {16}), to_text(inverse(Permutation(maps::gray(4)))));
  EXPECT_EQ(to_text(parse_permutation("hilbert(2)", {.bare_bits = 6})), "hilbert(2, 3)");
  for (const auto& [text, shape] : {std::pair<const char*, std::vector<std::uint64_t>>("hilbert", {8, 4}),
                                    {"hilbert", {6, 6}},
                                    {"healpix", {24}},
                                    {"healpix", {13}},
                                    {"healpix", {}}}) {
    EXPECT_EQ(test::code_of([&, text = text, shape = shape] { at_hand(text, shape); }), ErrorCode::value)
        << text;
  }
  for (const char* const text :
       {"hilbert", "healpix", "hilbert(2)", "hilbert(2,", "healpix(1, 2)", "sequency(4, grey)"})
    EXPECT_EQ(test::code_of([text] { parse_permutation(text); }), ErrorCode::spec) << text;
  const std::string misspelt = test::message_of(ErrorCode::spec, [] { parse_permutation("hilber(2, 3)"); });
  EXPECT_NE(misspelt.find("did you mean `hilbert`"), std::string::npos) << misspelt;
}

TEST(Computed, ComposesAsAnIndexArrayAndWithItsInverseToNothing) {
  for (const char* const text : {"hilbert(2, 3)", "hilbert(5, 2)", "healpix(2)"}) {
    const Permutation map = parse_permutation(text);
    const std::uint64_t count = element_count(map);
    EXPECT_EQ(to_text(normal_form(compose(map, inverse(map)))), to_text(normal_form(maps::roll(count, 0))))
        << text;
    EXPECT_EQ(compose(map, maps::roll(count, 0)), map);
    EXPECT_EQ(power(map, 1), map);
    EXPECT_EQ(power(map, -1), inverse(map));
    const Permutation rolled = compose(map, maps::roll(count, 3));
    const Permutation before = compose(maps::flip(count), map);
    const Permutation twice = power(map, 2);
    const Permutation back = power(map, -3);
    for (std::uint64_t x = 0; x < count; ++x) {
      ASSERT_EQ(apply(rolled, x), apply(map, (x + 3) % count)) << text;
      ASSERT_EQ(apply(before, x), count - 1 - apply(map, x)) << text;
      ASSERT_EQ(apply(twice, x), apply(map, apply(map, x))) << text;
      ASSERT_EQ(apply(back, apply(map, apply(map, apply(map, x)))), x) << text;
    }
    EXPECT_EQ(parse_permutation(to_text(rolled)), rolled);
  }
}

TEST(Computed, IndexArraysSayTheSame) {
  for (const char* const text : {"hilbert(2, 7)", "hilbert(3, 4)", "hilbert(4, 3)", "hilbert(5, 2)",
                                 "hilbert(7, 2)", "healpix(1)", "healpix(6)"}) {
    for (const Permutation& map : {parse_permutation(text), inverse(parse_permutation(text))}) {
      const auto& computed = std::get<Computed>(map);
      const Indexed array = as_index_array(computed);
      EXPECT_EQ(array.label(), computed.text());
      const Indexed scatter = array.redirected(Direction::scatter);
      for (std::uint64_t x = 0; x < computed.count(); ++x)
        ASSERT_EQ(scatter.entry(x), computed(x)) << to_text(map) << " at " << x;
    }
  }
}

// Every tile, of every size: an order within it and runs that say what preimages or images say.
TEST(Computed, TilesSayTheSameAsPlaces) {
  for (const char* const text :
       {"hilbert(2, 5)", "hilbert(3, 3)", "hilbert(4, 3)", "healpix(2)", "healpix(5)"}) {
    const Permutation permutation = parse_permutation(text);
    const detail::ComputedMap& map = std::get<Computed>(permutation).map();
    std::uint64_t last = 0;
    for (std::uint64_t most = 1; most <= std::uint64_t{1} << 16; most *= 2) {
      const auto tiles = map.tiles(most);
      if (tiles == nullptr || tiles->sizes().tile == last) continue;
      const detail::ComputedTiles::Sizes& sizes = tiles->sizes();
      last = sizes.tile;
      ASSERT_LE(sizes.buffer, most) << text;
      ASSERT_EQ(map.count() % sizes.tile, 0U) << text;
      std::vector<detail::ComputedRun> runs(sizes.runs);
      std::vector<detail::ComputedLeaf> leaves(tiles->leaves());
      for (std::uint64_t number = 0; number < map.count() / sizes.tile; ++number) {
        const std::size_t found = tiles->tile(number, runs, leaves);
        std::vector<std::uint64_t> buffer(sizes.buffer, map.count());
        std::uint64_t filled = 0;
        for (std::size_t i = 0; i < found; ++i) {
          filled += runs[i].elements;
          for (std::uint64_t k = 0; k < runs[i].elements; ++k) buffer.at(runs[i].at + k) = runs[i].place + k;
        }
        ASSERT_EQ(filled, sizes.tile) << text;
        for (std::uint64_t k = 0; k < sizes.tile; ++k) {
          const detail::ComputedLeaf& leaf = leaves[k / sizes.leaf];
          const std::uint64_t place = buffer.at(leaf.at + tiles->order(leaf.order)[k % sizes.leaf]);
          const std::uint64_t ordered = number * sizes.tile + k;
          ASSERT_EQ(place, map.ordered_side() == detail::ComputedSide::output ? map.preimage(ordered)
                                                                              : map.image(ordered))
              << text << ", tiles of " << sizes.tile << ", element " << ordered;
        }
      }
    }
    EXPECT_GT(last, 1U) << text;
  }
  const Permutation of_five = maps::hilbert(5, 2);
  EXPECT_EQ(std::get<Computed>(of_five).map().tiles(1 << 16), nullptr);
}

// Row x of a Walsh-Hadamard transform of 2^n elements has the signs of parity(x & t).
std::uint64_t sign_changes(std::uint64_t row, int n) {
  std::uint64_t changes = 0;
  for (std::uint64_t t = 1; t < std::uint64_t{1} << n; ++t)
    changes += (std::popcount(row & t) ^ std::popcount(row & (t - 1))) & 1;
  return changes;
}

TEST(Sequency, CountsSignChanges) {
  for (int n = 0; n <= 9; ++n) {
    const Affine natural = maps::sequency(n);
    const Affine dyadic = maps::sequency_of_dyadic(n);
    const Affine to_dyadic = maps::bit_reversal(n);  // row x of the one is row bit_reversal(x) of the other
    for (std::uint64_t row = 0; row < std::uint64_t{1} << n; ++row) {
      ASSERT_EQ(natural(row), sign_changes(row, n)) << n << " bits, row " << row;
      ASSERT_EQ(dyadic(to_dyadic(row)), sign_changes(row, n)) << n << " bits, row " << row;
    }
    const std::string size = std::to_string(n);
    for (const char* const order : {"", ", hadamard", ", natural"})
      EXPECT_EQ(parse_permutation("sequency(" + size + order + ")"), Permutation(natural));
    for (const char* const order : {", dyadic", ", paley"})
      EXPECT_EQ(parse_permutation("sequency(" + size + order + ")"), Permutation(dyadic));
    EXPECT_EQ(parse_permutation(to_text(natural)), Permutation(natural));
    if (n > 1) {
      EXPECT_EQ(to_text(natural), "sequency(" + size + ")");
    }
  }
}

}  // namespace permutation_computed_test
}  // namespace faro
