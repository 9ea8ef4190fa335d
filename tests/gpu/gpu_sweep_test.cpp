// Seeded random problems of few blocks each: every kernel, width, batch and alignment, small enough for
// compute-sanitizer.
//
//     gpu_test --gtest_filter='GpuSweep.*' --maps=2000 --seed=1
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "faro/kernels/affine_tile_index.hpp"
#include "gpu/gpu_maps.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

using kernels::CompiledTile;
using kernels::kCompiledTileCount;
using kernels::kCompiledTiles;

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kEnoughMaps = 1000;  // from here on every kernel must have been reached

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  /// Below `count`. Steele, Lea and Flood's generator.
  std::uint64_t operator()(std::uint64_t count) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % count;
  }
  int bits(int count) { return static_cast<int>((*this)(static_cast<std::uint64_t>(count))); }

 private:
  std::uint64_t state_;
};

std::uint64_t draw_offset(Draw& draw, std::uint64_t element_bytes) {
  if (draw(4) != 0) return 0;
  return (1 + draw(3)) * std::min<std::uint64_t>(element_bytes, 16);
}

// A tile kernel by number, on one to four of its tiles.
GpuCase draw_tile_case(const Target& device, const CompiledTile& tile, Draw& draw) {
  const kernels::AffineTileShape& shape = tile.shape;
  const int m = shape.tile_bits();
  const auto element_bytes = static_cast<std::uint64_t>(shape.element_bytes());
  GpuCase c{.problem = {.permutation = Affine(0), .element_bytes = element_bytes},
            .target = with_only(device, tile)};
  const int folded = draw(3) == 0 ? 1 + draw.bits(4) : 0;
  const int n = folded > 0 ? m - folded : m + draw.bits(2);
  const std::uint64_t seed = draw(1 << 20);
  switch (draw(4)) {
    case 0:
      c.problem.permutation = maps::random_bmmc(n, seed);
      break;
    case 1:
      c.problem.permutation = maps::random_bpc(n, seed);
      break;
    case 2:
      c.problem.permutation = compose(maps::bit_reversal(n), maps::xor_mask(n, draw(std::uint64_t{1} << n)));
      break;
    default: {
      const int s = std::min(shape.segment_bits, n / 2);
      c.problem.permutation = map_of_rank(n, s, draw.bits(s + 1), seed);
    }
  }
  c.problem.batch = folded > 0 ? (std::uint64_t{1} << folded) + draw(3) : 1 + draw(2);
  c.in_offset = draw_offset(draw, element_bytes);
  c.out_offset = draw_offset(draw, element_bytes);
  return c;
}

// Any small problem, as the planner takes it.
GpuCase draw_any_case(const Target& device, Draw& draw) {
  const std::uint64_t element_bytes = std::uint64_t{1} << draw(13);
  const int most = std::countr_zero(kMostBytes / element_bytes);
  const int n = draw.bits(most + 1);
  const std::vector<Affine> maps = every_kind_of_map(n, draw(1 << 20));
  const std::uint64_t most_arrays = kMostBytes >> (std::countr_zero(element_bytes) + n);
  return {.problem = {.permutation = maps[draw(maps.size())],
                      .element_bytes = element_bytes,
                      .batch = draw(2) == 0 ? 1 : 1 + draw(std::min<std::uint64_t>(most_arrays, 1000))},
          .target = device,
          .in_offset = draw_offset(draw, element_bytes),
          .out_offset = draw_offset(draw, element_bytes)};
}

class GpuSweep : public GpuTest {};

TEST_F(GpuSweep, Maps) {
  const Target device = cuda::target();
  Reached reached;
  for (std::uint64_t i = 0; i < settings().maps; ++i) {
    Draw draw(settings().seed * 1000003 + i);
    const CompiledTile& tile = kCompiledTiles[i / 2 % kCompiledTileCount];
    const bool fits = std::find(device.tiles.begin(), device.tiles.end(), tile) != device.tiles.end();
    GpuCase c = i % 2 == 0 && fits ? draw_tile_case(device, tile, draw) : draw_any_case(device, draw);
    c.seed = draw(1 << 20);
    check(c, &reached);
    if (HasFailure())
      FAIL() << "map " << i << " of --maps=" << settings().maps << " --seed=" << settings().seed;
  }
  if (settings().maps < kEnoughMaps) return;
  for (const CompiledTile& tile : device.tiles) {
    EXPECT_TRUE(reached.contains(tile_name(tile))) << tile_name(tile);
    EXPECT_TRUE(reached.contains(tile_name(tile) + " of several arrays")) << tile_name(tile);
  }
  for (const char* const kernel : {"copy", "segments", "direct", "tail", "unaligned segments"}) {
    EXPECT_TRUE(reached.contains(kernel)) << kernel;
  }
}

}  // namespace
}  // namespace faro::testing
