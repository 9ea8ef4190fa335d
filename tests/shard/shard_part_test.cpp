// Passes over a part whose output lies in several arrays: the kernels' phases over plain memory, every rank's
// part, against the places that the definition gives; slices one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "faro/permutation/affine.hpp"
#include "faro/shards.hpp"
#include "kernels/affine_segments.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "plan/gpu/part_pass.hpp"
#include "shard/device_shards.hpp"
#include "shard/methods.hpp"

namespace faro {
namespace shard_part_test {

using detail::PartPass;
using detail::PartProblem;
using kernels::CompiledTile;
using kernels::kCompiledTileCount;
using kernels::kCompiledTiles;

// Several outputs, one behind the other, and a tile.
struct HostParts {
  const std::byte* in;
  kernels::PartArrays arrays;
  std::vector<std::byte> shared;

  template <int bytes>
  device::Packet<bytes> load_global(int /*buffer*/, std::uint64_t offset) const {
    return load<bytes>(in + offset);
  }
  template <int bytes>
  void store_global(int /*buffer*/, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    std::memcpy(arrays.array[offset >> arrays.array_bytes_bits] + offset, &packet, bytes);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) const {
    return load<bytes>(shared.data() + address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    std::memcpy(shared.data() + address, &packet, bytes);
  }

 private:
  template <int bytes>
  static device::Packet<bytes> load(const std::byte* from) {
    device::Packet<bytes> packet;
    std::memcpy(&packet, from, bytes);
    return packet;
  }
};

template <int index>
void run_tile(const PartPass& pass, HostParts& memory, std::uint64_t block) {
  constexpr CompiledTile tile = kCompiledTiles[index];
  if constexpr (kernels::moves_parts(tile)) {
    if (*pass.tile != tile) return;
    using Params = std::conditional_t<tile.blocked, kernels::AffineBlockedParams, kernels::AffineTileParams>;
    const auto& params = std::get<Params>(pass.params);
    for (std::uint32_t t = 0; t < tile.shape.threads(); ++t)
      kernels::load_tile<tile.shape>(memory, params, block, t);
    for (std::uint32_t t = 0; t < tile.shape.threads(); ++t)
      kernels::store_tile<tile.shape>(memory, params, block, t);
  }
}

template <std::size_t... index>
void run_tiles(const PartPass& pass, HostParts& memory, std::uint64_t block,
               std::index_sequence<index...> /*all*/) {
  (run_tile<int{index}>(pass, memory, block), ...);
}

void run_block(const PartPass& pass, HostParts& memory, std::uint64_t block) {
  if (pass.tile) return run_tiles(pass, memory, block, std::make_index_sequence<kCompiledTileCount>());
  const auto& params = std::get<kernels::AffineSegmentsParams>(pass.params);
  for (std::uint32_t t = 0; t < kernels::kSegmentsThreads; ++t) {
    switch (pass.vector_bytes) {
      case 1:
        kernels::move_vector<1>(memory, params, block, t);
        break;
      case 2:
        kernels::move_vector<2>(memory, params, block, t);
        break;
      case 4:
        kernels::move_vector<4>(memory, params, block, t);
        break;
      case 8:
        kernels::move_vector<8>(memory, params, block, t);
        break;
      default:
        kernels::move_vector<16>(memory, params, block, t);
    }
  }
}

Target gpu() {
  Target target;
  target.engine = Engine::cuda;
  target.banks = 32;
  target.tiles.assign(std::begin(kCompiledTiles), std::end(kCompiledTiles));
  return target;
}

// All parts one behind the other on both sides: element x holds bytes that tell it.
struct Whole {
  int unit_bits;
  std::vector<std::byte> in;
  std::vector<std::byte> out;

  Whole(int bits, int unit) : unit_bits(unit), in(std::size_t{1} << (bits + unit)), out(in.size()) {
    std::mt19937_64 random(7);
    for (std::byte& byte : in) byte = static_cast<std::byte>(random());
  }
  bool holds(std::uint64_t y, std::uint64_t x) const {
    return std::memcmp(&out[y << unit_bits], &in[x << unit_bits], std::size_t{1} << unit_bits) == 0;
  }
};

HostParts parts_of(Whole& whole, const PartProblem& of, const PartPass& pass) {
  HostParts memory{.in = whole.in.data() + (of.rank << (of.local_bits + of.unit_bits)),
                   .arrays = {},
                   .shared = std::vector<std::byte>(pass.shared_bytes)};
  memory.arrays.array_bytes_bits = pass.array_bytes_bits;
  for (auto& array : memory.arrays.array) array = whole.out.data();  // array k is where its places are
  return memory;
}

void expect_parts(const Affine& map, int local_bits, int unit_bits, bool tiles) {
  Whole whole(map.bits(), unit_bits);
  const int ranks = 1 << (map.bits() - local_bits);
  for (int rank = 0; rank < ranks; ++rank) {
    const PartProblem of{
        .map = map, .local_bits = local_bits, .rank = static_cast<f2::Word>(rank), .unit_bits = unit_bits};
    const auto pass = tiles ? make_part_pass(of, gpu()) : make_unit_part_pass(of);
    ASSERT_TRUE(pass.has_value());
    HostParts memory = parts_of(whole, of, *pass);
    for (std::uint64_t block = 0; block < pass->blocks; ++block) run_block(*pass, memory, block);
  }
  for (std::uint64_t x = 0; x < std::uint64_t{1} << map.bits(); ++x) ASSERT_TRUE(whole.holds(map(x), x)) << x;
}

// By tiles where the kernels' segments come from one rank, by units always; every width, 1 to 8 ranks.
TEST(ShardPart, PlacesOfAllRanks) {
  std::mt19937_64 random(3);
  int by_tiles = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const int unit_bits = trial % 5;
    const int g = trial / 5 % 4;
    const int n = (unit_bits < 2 ? 17 - unit_bits : 14) + g;
    const int m = n - g;
    const Affine small = maps::random_bmmc(9 + g, random());
    expect_parts(small, 9, unit_bits, false);
    // An exchange of rank bits with local ones, behind any map of the local bits, is one pass.
    Affine exchange(n);
    for (int i = 0; i < g; ++i) exchange = compose(maps::swap_bits(n, m - 3 * (g - i), m + i), exchange);
    const Affine local = trial % 2 == 0 ? maps::random_bpc(m, random()) : maps::random_bmmc(m, random());
    const Affine both = compose(exchange, direct_sum(local, Affine(g)));
    const Affine flipped = compose(maps::xor_mask(n, random() & f2::low_mask(n)), both);
    const int s = 8 - unit_bits;
    if (!detail::keeps_segments_local(flipped, m, s)) continue;
    const PartProblem of{.map = flipped, .local_bits = m, .rank = 0, .unit_bits = unit_bits};
    if (!make_part_pass(of, gpu())) continue;
    expect_parts(flipped, m, unit_bits, true);
    ++by_tiles;
  }
  EXPECT_GT(by_tiles, 20);
}

// What plans call their stores: places of the outputs, or of what is unpacked.
TEST(ShardPart, StoresOfPlans) {
  std::mt19937_64 random(11);
  int two_passes = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const int g = 1 + trial % 3;
    const int n = 13 + g;
    ShardProblem problem{
        .permutation = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random()),
        .element_bytes = 4,
        .shards = {.ranks = 1 << g}};
    const ShardPlan plan(problem);
    ASSERT_TRUE(plan.stores().map.has_value());
    if (!plan.stores().to_output) ++two_passes;
    const PartProblem of{.map = *plan.stores().map, .local_bits = n - g, .rank = 0, .unit_bits = 2};
    EXPECT_TRUE(make_part_pass(of, gpu()).has_value()) << plan.explain();
  }
  EXPECT_GT(two_passes, 5);
}

// Slices of packing: each writes the places of its own slice of every message, and only those.
TEST(ShardPart, GroupsOfSlices) {
  for (int bits = 0; bits <= 4; ++bits) {
    for (const bool short_ends : {false, true}) {
      const std::vector<detail::SliceGroup> groups = detail::slice_groups(bits, short_ends);
      std::uint64_t next = 0;
      for (const detail::SliceGroup& group : groups) {
        EXPECT_EQ(group.first, next);
        EXPECT_GT(group.count, 0U);
        next += group.count;
      }
      EXPECT_EQ(next, std::uint64_t{1} << bits);
      const bool in_eighths = short_ends && bits >= 3;
      EXPECT_EQ(groups.size(), in_eighths ? 4U : next);
      // The first is packed before anything is sent, the last unpacked after everything.
      EXPECT_EQ(groups.front().count, in_eighths ? next / 8 : 1);
      EXPECT_EQ(groups.back().count, in_eighths ? next / 8 : 1);
    }
  }
}

TEST(ShardPart, SlicesHoldWhatTheyShould) {
  std::mt19937_64 random(5);
  int sliced = 0;
  for (int trial = 0; trial < 24; ++trial) {
    const int n = 17;
    const int m = 15;
    const Affine map = trial % 3 == 0   ? maps::random_bpc(n, random())
                       : trial % 3 == 1 ? maps::random_bmmc(n, random())
                                        : maps::transpose(256, 512);
    const detail::ShardPassing made =
        detail::affine_passing(map, {.in = {15, 16}, .out = {15, 16}}, 1, {.segment_bits = 6});
    if (made.slice_bits == 0 || made.pack.is_nothing()) continue;
    const int k = std::min(made.slice_bits, 2);
    const int w_bits = m - *made.rho;
    const auto& pack = std::get<Affine>(*made.pack.permutation);
    PartProblem of{
        .map = made.arrivals ? *made.arrivals : *made.places, .local_bits = m, .rank = 1, .unit_bits = 2};
    for (int i = w_bits - k; i < w_bits; ++i) {
      f2::Word mask = 0;
      for (int j = 0; j < m; ++j) {
        if (f2::bit(pack.matrix().column(j), i)) mask |= f2::unit(j);
      }
      of.slice_masks.push_back(mask);
      of.slice_sources.push_back(pack.inverse_matrix().column(i));
    }
    const auto pass = make_part_pass(of, gpu());
    if (!pass) continue;
    ++sliced;
    const std::uint64_t moved = pack.complement() >> (w_bits - k) & f2::low_mask(k);
    Whole whole(n, 2);
    for (std::uint64_t slice = 0; slice < pass->slices(); ++slice) {
      std::fill(whole.out.begin(), whole.out.end(), std::byte{0});
      HostParts memory = parts_of(whole, of, *pass);
      const std::uint64_t blocks = pass->blocks >> pass->slice_bits;
      for (std::uint64_t b = 0; b < blocks; ++b) run_block(*pass, memory, slice * blocks + b);
      for (std::uint64_t l = 0; l < std::uint64_t{1} << m; ++l) {
        const std::uint64_t x = l | std::uint64_t{1} << m;
        const std::uint64_t y = of.map(x);
        const bool is_of_slice = (y >> (w_bits - k) & f2::low_mask(k)) == (slice ^ moved);
        ASSERT_EQ(whole.holds(y, x), is_of_slice) << "trial " << trial << ", element " << l;
      }
    }
  }
  EXPECT_GT(sliced, 4);
}

// What a slice is told apart by need not be bits: maps without structure have slices, too, of both passes.
TEST(ShardPart, MapsWithoutStructureHaveSlices) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 12; ++trial) {
    const int g = 1 + trial % 3;
    const int n = 28 + trial % 4;
    const int m = n - g;
    std::vector<int> rank_bits;
    for (int i = m; i < n; ++i) rank_bits.push_back(i);
    const Affine map = maps::random_bmmc(n, random());
    const detail::ShardPassing made =
        detail::affine_passing(map, {.in = rank_bits, .out = rank_bits}, 0, {.segment_bits = 6});
    ASSERT_TRUE(made.arrivals);
    ASSERT_EQ(made.slice_bits, 4);
    const int w_bits = m - *made.rho;
    const auto& pack = std::get<Affine>(*made.pack.permutation);
    const auto& unpack = std::get<Affine>(*made.unpack.permutation);
    PartProblem packing{.map = *made.arrivals, .local_bits = m, .rank = 0, .unit_bits = 2};
    PartProblem unpacking{.map = unpack, .local_bits = m, .rank = 0, .unit_bits = 2};
    for (int i = w_bits - made.slice_bits; i < w_bits; ++i) {
      packing.slice_masks.push_back(pack.matrix().transposed().column(i));
      packing.slice_sources.push_back(pack.inverse_matrix().column(i));
      unpacking.slice_masks.push_back(f2::unit(i));
      unpacking.slice_sources.push_back(f2::unit(i));
    }
    EXPECT_TRUE(make_part_pass(packing, gpu())) << to_text(map);
    EXPECT_TRUE(make_part_pass(unpacking, gpu())) << to_text(map);
  }
}

// A random map of each part before an exchange, or behind it, is one pass, without slices. In two passes it
// has them, and the two plans of a rank agree in what is sent to whom.
TEST(ShardPart, TwoPassesForSlices) {
  const int n = 29;
  const int m = 27;
  const Affine random = direct_sum(maps::random_bmmc(m, 7), Affine(n - m));
  const Affine exchange = maps::swap_bits(n, m - 1, m);
  for (const Affine& map : {compose(exchange, random), compose(random, exchange)}) {
    ShardProblem problem{.permutation = map, .element_bytes = 4, .shards = {.ranks = 4, .rank = 1}};
    const ShardPlan one(problem);
    EXPECT_NE(one.pack().is_nothing(), one.unpack().is_nothing());
    EXPECT_EQ(one.slice_bits(), 0);
    problem.slices_even_by_two_passes = true;
    const ShardPlan two(problem);
    EXPECT_FALSE(two.pack().is_nothing() || two.unpack().is_nothing());
    EXPECT_EQ(two.slice_bits(), 4);
    EXPECT_EQ(one.sent_bytes(), two.sent_bytes());
    EXPECT_EQ(one.ranks_met(), two.ranks_met());
  }
}

}  // namespace shard_part_test
}  // namespace faro
