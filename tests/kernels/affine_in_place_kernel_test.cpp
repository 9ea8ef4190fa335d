// The kernels in place, the very phases that a GPU runs, on one array of the counting memory.
//
// Law, for every map, width, batch and shape: data[pi(x)] is what data[x] was, every byte loaded and stored
// once by the block that owns it, congestion 1 in both shared-memory phases, and no sector but the array's
// own.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "in_place_kernel_support.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace affine_in_place_kernel_test {

using layout::InPlaceFactor;
using layout::InPlaceTile;
using machine::AccessCounts;
using machine::MemoryGeometry;

// --- orbits

InPlaceTile single_elements(const Affine& map, std::uint64_t orbit_tiles) {
  return layout::make_in_place_tile(
      {.map = map, .space = f2::Subspace(map.bits()), .orbit_tiles = orbit_tiles}, 0, 0);
}

std::uint64_t order_of(const Affine& map) {
  std::uint64_t order = 1;
  for (Affine power = map; !power.is_identity(); power = compose(power, map)) ++order;
  return order;
}

// Every element once, in the orbit of the one number that owns it, and pairs as the map says.
void expect_orbits(const Affine& map, std::uint64_t batch) {
  const std::uint64_t order = order_of(map);
  const OrderedTile ordered = order_orbits(single_elements(map, order), batch);
  const BlockOrbits& orbits = ordered.orbits;
  const int n = map.bits();
  const auto place = [&](std::uint64_t block) {
    const std::uint64_t array = block >> n;
    return (ordered.tile.block_source(block ^ array << n) ^ ordered.origin) | array << n;
  };
  std::set<std::uint64_t> seen;
  for (std::uint64_t number = 0; number < orbits.numbers(); ++number) {
    const OwnedOrbit orbit = owned_orbit(orbits, number);
    std::uint64_t block = orbit.first;
    for (std::uint32_t j = 0; j < orbit.tiles; ++j) {
      const std::uint64_t x = place(block);
      ASSERT_TRUE(seen.insert(x).second) << "element " << x << " twice";
      const std::uint64_t array = x >> n << n;
      const std::uint64_t next = next_block(orbits, block);
      ASSERT_EQ(place(next), map(x ^ array) ^ array) << "element " << x;
      ASSERT_EQ(ordered.tile.block_target((block ^ array)), map(x ^ array)) << "element " << x;
      block = next;
    }
    ASSERT_EQ(block, orbit.first);
    ASSERT_TRUE(orbit.tiles > 0 || order > 2) << "a block launched in vain";
  }
  ASSERT_EQ(seen.size(), batch << n);
}

TEST(BlockOrbits, EveryMapOfThreeBits) {
  for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{3}}) {
    for (int n = 0; n <= 3; ++n) {
      const std::uint64_t count = std::uint64_t{1} << n;
      for (std::uint64_t code = 0; code < std::uint64_t{1} << n * n; ++code) {
        f2::Matrix a = f2::Matrix::zero(n, n);
        for (int j = 0; j < n; ++j) a.set_column(j, code >> n * j & f2::low_mask(n));
        if (a.rank() != n) continue;
        for (std::uint64_t c = 0; c < count; ++c) expect_orbits({a, c}, batch);
        ASSERT_FALSE(HasFailure()) << describe(Affine(a, 0));
      }
    }
  }
}

// x -> C (involution in normal form) C^-1: any involution of rank w, with or without fixed elements.
Affine random_involution(int n, int w, bool all_move, std::mt19937_64& random) {
  f2::Matrix normal = f2::Matrix::identity(n);
  for (int i = 0; i < w; ++i) normal.set_column(i, f2::unit(i) ^ f2::unit(w + i));
  const Affine base(normal, all_move ? f2::unit(n - 1) : 0);
  const Affine change = random_affine(n, random);
  return compose(change, compose(base, change.inverse()));
}

TEST(BlockOrbits, RandomInvolutions) {
  std::mt19937_64 random(kSeed);
  for (int n = 1; n <= 9; ++n) {
    for (int w = 0; 2 * w <= n; ++w) {
      for (int turn = 0; turn < 4; ++turn) {
        const bool all_move = turn % 2 == 1 && 2 * w < n;
        const Affine map = random_involution(n, w, all_move, random);
        ASSERT_TRUE(map.is_involution());
        expect_orbits(map, turn < 2 ? 1 : 3);
        const OrderedTile ordered = order_orbits(single_elements(map, order_of(map)), 1);
        EXPECT_EQ(ordered.orbits.moved_bits, w);
        EXPECT_EQ(ordered.orbits.kind == OrbitKind::all_swap, all_move);
        ASSERT_FALSE(HasFailure()) << describe(map);
      }
    }
  }
}

TEST(BlockOrbits, RefuseWhatTheyCannotCount) {
  const InPlaceTile tile = single_elements(maps::bit_reversal(4), 2);
  EXPECT_EQ(code_of([&] { static_cast<void>(order_orbits(tile, 0)); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { static_cast<void>(order_orbits(tile, std::uint64_t{1} << 60)); }),
            ErrorCode::unsupported);
}

// --- tiles

struct Reached {
  int passes = 0;
  int pairs = 0;
  int single = 0;
  int long_orbits = 0;
  int blocked = 0;
  int two_passes = 0;
  int shifted_origin = 0;
};

template <AffineTileShape shape>
void run_factor(const InPlaceFactor& factor, std::uint64_t batch, std::span<std::byte> data, Reached& reached,
                bool& fitted) {
  const InPlaceTile tile = layout::make_in_place_tile(factor, shape.segment_bits, shape.row_bits);
  fitted = fits(tile.tile, shape);
  if (!fitted) return;
  AccessCounts counts;
  bool blocked = false;
  if constexpr (is_valid_blocked(shape)) {
    blocked = fits_blocked(tile.tile, shape);
    if (blocked) counts = run_orbits<shape>(data, make_blocked_in_place_params(tile, shape, batch));
  }
  if (!blocked) counts = run_orbits<shape>(data, make_affine_in_place_params(tile, shape, batch));
  // Two groups of fewer threads than a warp share its accesses, and then its banks.
  if (shape.threads() >= MemoryGeometry{}.warp_size || tile.orbit_tiles == 1) {
    expect_conflict_free_segments(counts, shape, data.size(), MemoryGeometry{});
  }
  EXPECT_EQ(counts.global_loads.bytes, data.size());
  EXPECT_EQ(counts.global_stores.bytes, data.size());
  ++reached.passes;
  if (blocked) ++reached.blocked;
  ++(tile.orbit_tiles == 1 ? reached.single : tile.orbit_tiles == 2 ? reached.pairs : reached.long_orbits);
  if (order_orbits(tile, batch).origin != 0) ++reached.shifted_origin;
}

template <AffineTileShape shape>
void run_shape(const Affine& map, std::uint64_t batch, int most_tiles, std::mt19937_64& random,
               Reached& reached) {
  const int room = f2::leading_bit(static_cast<f2::Word>(most_tiles));
  const std::vector<InPlaceFactor> factors =
      layout::factor_in_place(map, {.segment_bits = shape.segment_bits,
                                    .capacity_bits = shape.tile_bits() + room,
                                    .max_orbit_tiles = static_cast<std::uint64_t>(most_tiles),
                                    .tile_bits_max = shape.tile_bits()});
  const auto element_bytes = static_cast<std::size_t>(shape.element_bytes());
  InPlaceArray array(batch * element_bytes << map.bits(), random);
  for (const InPlaceFactor& factor : factors) {
    bool fitted = true;
    ASSERT_NO_THROW(run_factor<shape>(factor, batch, array.data(), reached, fitted));
    if (!fitted) return;
  }
  if (factors.size() > 1) ++reached.two_passes;
  expect_permuted_in_place(map, element_bytes, array);
}

// --- the sweep

using TinyShapes = Shapes<AffineTileShape{2, 0, 1, 0, 0}, AffineTileShape{2, 1, 1, 0, 1},
                          AffineTileShape{0, 1, 1, 0, 0}, AffineTileShape{4, 0, 2, 0, 1}>;

TEST(AffineInPlaceKernel, EveryMapOfThreeBits) {
  std::mt19937_64 random(kSeed);
  TinyShapes::for_each([&]<AffineTileShape shape>() {
    Reached reached;
    for (int n = shape.tile_bits(); n <= 3; ++n) {
      for (std::uint64_t code = 0; code < std::uint64_t{1} << n * n; ++code) {
        f2::Matrix a = f2::Matrix::zero(n, n);
        for (int j = 0; j < n; ++j) a.set_column(j, code >> n * j & f2::low_mask(n));
        if (a.rank() != n) continue;
        for (std::uint64_t c = 0; c < std::uint64_t{1} << n; ++c) {
          run_shape<shape>({a, c}, 1 + c % 3, 1 << code % 3, random, reached);
          if (HasFailure()) FAIL() << describe(Affine(a, c)) << ", " << describe(shape);
        }
      }
    }
    EXPECT_GT(reached.pairs, 10) << describe(shape);
    EXPECT_GT(reached.single, 10) << describe(shape);
  });
}

// Each matrix with one complement, each complement with many.
TEST(AffineInPlaceKernel, EveryMatrixOfFourBits) {
  constexpr AffineTileShape shape{2, 1, 2, 0, 2};
  std::mt19937_64 random(kSeed);
  Reached reached;
  int matrices = 0;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << 16; ++code) {
    f2::Matrix a = f2::Matrix::zero(4, 4);
    for (int j = 0; j < 4; ++j) a.set_column(j, code >> 4 * j & 15);
    if (a.rank() != 4) continue;
    ++matrices;
    const std::uint64_t c = (code ^ code >> 7) & 15;
    run_shape<shape>({a, c}, 1, 1 << matrices % 2, random, reached);
    if (HasFailure()) FAIL() << describe(Affine(a, c));
  }
  EXPECT_EQ(matrices, 20160);
  EXPECT_GT(reached.two_passes, 1000);
}

using SweptShapes =
    Shapes<AffineTileShape{0, 4, 4, 4, 2}, AffineTileShape{0, 6, 6, 4, 6}, AffineTileShape{0, 5, 5, 0, 5},
           AffineTileShape{1, 4, 4, 3, 3}, AffineTileShape{1, 5, 5, 3, 5}, AffineTileShape{1, 3, 3, 0, 5},
           AffineTileShape{2, 2, 2, 2, 2}, AffineTileShape{2, 3, 4, 2, 5}, AffineTileShape{2, 5, 5, 2, 6},
           AffineTileShape{2, 3, 3, 0, 5}, AffineTileShape{3, 3, 3, 1, 5}, AffineTileShape{3, 4, 4, 0, 6},
           AffineTileShape{4, 2, 2, 0, 3}, AffineTileShape{4, 4, 4, 0, 7}>;

// Eight blocks of x^3 + x + 1 would be 24 bits; two of them are enough to have no mirror image.
Affine adversarial(int n, std::mt19937_64& random) {
  f2::Matrix a = f2::Matrix::identity(n);
  for (int i = 0; i + 3 <= n; i += 3) {
    a.set_column(i, f2::unit(i + 1));
    a.set_column(i + 1, f2::unit(i + 2));
    a.set_column(i + 2, f2::unit(i) ^ f2::unit(i + 1));
  }
  return {a, random() & f2::low_mask(n)};
}

std::vector<Affine> swept_maps(int n, int s, std::mt19937_64& random) {
  std::vector<Affine> maps = {random_affine(n, random),
                              random_bpc(n, random),
                              random_bpc(n, random),
                              Affine(f2::reversal(n), random() & f2::low_mask(n)),
                              Affine(f2::reversal(n), 0),
                              maps::xor_mask(n, random() & f2::low_mask(n)),
                              random_involution(n, n / 2, false, random),
                              random_involution(n, n / 3, true, random),
                              adversarial(n, random),
                              fixing_low_bits(n, 2, random),
                              maps::swap_bits(n, 0, n - 1)};
  if (s < n) maps.push_back(of_rank(n, s, std::min(1, n - s), random));
  return maps;
}

TEST(AffineInPlaceKernel, RandomMapsOfEveryWidthAndShape) {
  std::mt19937_64 random(kSeed);
  Reached all;
  int turn = 0;
  SweptShapes::for_each([&]<AffineTileShape shape>() {
    Reached reached;
    for (int n = shape.tile_bits(); n <= std::min(13, shape.tile_bits() + 4); ++n) {
      for (const Affine& map : swept_maps(n, shape.segment_bits, random)) {
        ++turn;
        run_shape<shape>(map, n > 10 ? 1 : 1 + static_cast<std::uint64_t>(turn) % 3, 1 << turn % 3, random,
                         reached);
        if (HasFailure()) FAIL() << describe(map) << ", " << describe(shape) << ", seed " << kSeed;
      }
    }
    EXPECT_GT(reached.pairs, 0) << describe(shape);
    EXPECT_GT(reached.single, 0) << describe(shape);
    all.long_orbits += reached.long_orbits;
    all.blocked += reached.blocked;
    all.two_passes += reached.two_passes;
    all.shifted_origin += reached.shifted_origin;
  });
  EXPECT_GT(all.long_orbits, 0);
  EXPECT_GT(all.blocked, 0);
  EXPECT_GT(all.two_passes, 20);
  EXPECT_GT(all.shifted_origin, 5);
}

// --- segments that change places

template <int width_bits, int segment_bits>
void check_swaps(const Affine& map, std::uint64_t batch, std::mt19937_64& random) {
  ASSERT_TRUE(swaps_segments(map, segment_bits));
  const int n = map.bits();
  const InPlaceTile tile = layout::make_in_place_tile(
      {.map = map, .space = f2::Subspace::low(n, segment_bits), .orbit_tiles = 2}, segment_bits, 0);
  constexpr int element_bytes = 1 << width_bits;
  {
    InPlaceArray array(batch * element_bytes << n, random);
    const auto params = make_affine_swap_params(tile, map, width_bits, 4 - width_bits, batch);
    AccessCounts counts;
    ASSERT_NO_THROW(counts = run_swaps<16>(array.data(), params));
    EXPECT_EQ(counts.global_loads.bytes, counts.global_stores.bytes);
    EXPECT_LE(counts.global_loads.bytes, array.data().size());
    expect_permuted_in_place(map, element_bytes, array);
  }
  InPlaceArray array(batch * element_bytes << n, random);
  ASSERT_NO_THROW(
      run_swaps<element_bytes>(array.data(), make_affine_swap_params(tile, map, width_bits, 0, batch)));
  expect_permuted_in_place(map, element_bytes, array);
}

// An involution of segments, with shifts of their columns that go with it: a(x) = a(next(x)).
Affine swap_with_shifts(int n, int s, bool all_move, std::mt19937_64& random) {
  const int high = n - s;
  const Affine segments = random_involution(
      high, 1 + static_cast<int>(random() % static_cast<std::uint64_t>(high / 2)), all_move, random);
  f2::Matrix a = f2::Matrix::identity(n);
  for (int j = 0; j < high; ++j) a.set_column(s + j, segments.matrix().column(j) << s);
  const Affine plain(a, segments.complement() << s);
  f2::Matrix shift = f2::Matrix::identity(n);
  for (int j = s; j < n; ++j) shift.set_column(j, f2::unit(j) ^ (random() & f2::low_mask(s)));
  const Affine shear(shift, 0);
  return compose(shear, compose(plain, shear.inverse()));
}

template <int width_bits>
void sweep_swaps(std::mt19937_64& random) {
  constexpr int s = 8 - width_bits;
  for (int n = s + 2; n <= s + 6; ++n) {
    for (int turn = 0; turn < 6; ++turn) {
      const Affine map = swap_with_shifts(n, s, turn % 2 == 1 && n > s + 2, random);
      check_swaps<width_bits, s>(map, 1 + static_cast<std::uint64_t>(turn) % 3, random);
      if (::testing::Test::HasFailure()) FAIL() << describe(map) << ", width " << (1 << width_bits);
    }
    const f2::Word mask = random() & f2::low_mask(n);
    check_swaps<width_bits, s>(maps::xor_mask(n, mask), 2, random);
    check_swaps<width_bits, s>(maps::swap_bits(n, s, n - 1), 1, random);
    if (::testing::Test::HasFailure()) FAIL() << "mask " << mask << ", width " << (1 << width_bits);
  }
}

TEST(AffineSwaps, EveryWidth) {
  std::mt19937_64 random(kSeed);
  sweep_swaps<0>(random);
  sweep_swaps<1>(random);
  sweep_swaps<2>(random);
  sweep_swaps<3>(random);
  sweep_swaps<4>(random);
}

TEST(AffineSwaps, WhatStaysIsNotRead) {
  std::mt19937_64 random(kSeed);
  // Half of the segments have equal top bits.
  const Affine map = maps::swap_bits(12, 10, 11);
  const InPlaceTile tile =
      layout::make_in_place_tile({.map = map, .space = f2::Subspace::low(12, 6), .orbit_tiles = 2}, 6, 0);
  InPlaceArray array(4 << 12, random);
  const AccessCounts counts = run_swaps<16>(array.data(), make_affine_swap_params(tile, map, 2, 2, 1));
  EXPECT_EQ(counts.global_loads.bytes, array.data().size() / 2);
  EXPECT_EQ(counts.global_loads.sectors, array.data().size() / 2 / 32);
  EXPECT_EQ(counts.global_stores.sectors, array.data().size() / 2 / 32);
}

// The 256-byte segments that a block moves, and where they go: four and four side by side on both sides.
TEST(AffineSwaps, WhatABlockMovesLiesSideBySide) {
  constexpr int segment_bits = 8;
  for (int turn = 0; turn < 20; ++turn) {
    const int n = 20 + turn % 3;
    const Affine both = compose(maps::swap_bits(n, 8, 13 + turn % 7), maps::swap_bits(n, 9, 11 + turn % 2));
    const AffineSwapParams params = make_affine_swap_params(
        layout::make_in_place_tile(
            {.map = both, .space = f2::Subspace::low(n, segment_bits), .orbit_tiles = 2}, segment_bits, 0),
        both, 0, 4, 1);
    const auto spans = [&](const std::uint64_t(&thread)[kSwapThreadBits],
                           const std::uint64_t(&pair)[kSwapPairBits]) {
      f2::Subspace space(n);
      for (const std::uint64_t v : thread) space.insert(v);
      for (const std::uint64_t v : pair) space.insert(v);
      return space;
    };
    const f2::Subspace run = f2::Subspace::low(n, segment_bits + 2);
    EXPECT_EQ(f2::sum(spans(params.thread_source, params.pair_source), f2::Subspace::low(n, 4)).dimension(),
              4 + kSwapThreadBits + kSwapPairBits);
    for (const auto& space :
         {spans(params.thread_source, params.pair_source), spans(params.thread_target, params.pair_target)}) {
      EXPECT_EQ(f2::intersection(f2::sum(space, f2::Subspace::low(n, 4)), run), run) << describe(both);
    }
  }
}

TEST(AffineSwaps, RefuseMapsThatAreMore) {
  const Affine map = maps::bit_reversal(10);
  const InPlaceTile tile =
      layout::make_in_place_tile({.map = map, .space = f2::Subspace(10), .orbit_tiles = 2}, 0, 0);
  EXPECT_TRUE(swaps_segments(map, 0));
  EXPECT_FALSE(swaps_segments(map, 1));
  const Affine cycle = maps::swap_bits(10, 4, 5);
  EXPECT_FALSE(swaps_segments(compose(cycle, maps::swap_bits(10, 5, 6)), 4));
  EXPECT_EQ(
      code_of([&] {
        static_cast<void>(make_affine_swap_params(tile, compose(map, maps::swap_bits(10, 3, 5)), 2, 0, 1));
      }),
      ErrorCode::unsupported);
}

// --- small arrays

TEST(AffineSmallInPlace, EveryMapOfThreeBitsAndRandomOnes) {
  std::mt19937_64 random(kSeed);
  for (int n = 0; n <= 9; ++n) {
    for (int turn = 0; turn < 12; ++turn) {
      const Affine map = turn % 2 == 0 || n == 0 ? random_affine(n, random) : random_bpc(n, random);
      const std::uint64_t batch = 1 + random() % 40;
      {
        InPlaceArray array(batch << n, random);
        ASSERT_NO_THROW(run_small<1>(array.data(), make_affine_small_params(map, 0, 5, batch)));
        expect_permuted_in_place(map, 1, array);
      }
      InPlaceArray array(batch * 8 << n, random);
      ASSERT_NO_THROW(run_small<8>(array.data(), make_affine_small_params(map, 3, 7, batch)));
      expect_permuted_in_place(map, 8, array);
      ASSERT_FALSE(HasFailure()) << describe(map) << ", batch " << batch;
    }
  }
}

TEST(AffineSmallInPlace, RefusesLargeArraysAndNone) {
  EXPECT_EQ(
      code_of([] { static_cast<void>(make_affine_small_params(Affine(kSmallIndexBits + 1), 0, 4, 1)); }),
      ErrorCode::unsupported);
  EXPECT_EQ(code_of([] { static_cast<void>(make_affine_small_params(Affine(3), 0, 4, 0)); }),
            ErrorCode::value);
}

}  // namespace affine_in_place_kernel_test
}  // namespace faro::kernels
