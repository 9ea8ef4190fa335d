// Rolls, flips and equal axes that change places in place on a GPU: the passes of plans, every block on the
// memory that is literally one array, arrays that begin anywhere, held to the map element by element.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/plan/plan.hpp"
#include "in_place_kernel_support.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "unit_bytes.hpp"

namespace faro::kernels {
namespace in_place_exchange_test {

using faro::detail::GpuKernel;
using faro::detail::GpuPass;

struct Exchange {
  Permutation permutation;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  std::uint64_t skew = 0;  // of the array, past an address aligned to a sector
};

std::string words(const Exchange& of) {
  return to_text(of.permutation) + ", elements of " + std::to_string(of.element_bytes) + " bytes, batch " +
         std::to_string(of.batch) + ", " + std::to_string(of.skew) + " bytes past a sector";
}

// As the engine launches it.
struct RunKernel {
  const GpuKernel& kernel;
  std::span<std::byte> memory;  // from an aligned address on
  std::uint64_t skew;

  template <typename Params>
  Params params() const {
    Params p = std::get<Params>(kernel.params);
    p.begin = skew;
    return p;
  }
  template <typename... Phases>
  void run(const Phases&... phases) const {
    run_in_place(memory, kernel.shared_bytes,
                 {.blocks = kernel.blocks, .threads = static_cast<std::uint32_t>(kernel.threads)}, phases...);
  }
  template <typename Params, MovedElements... choices>
  void run_as(int unit_bytes, MovedElements as) const {
    const auto p = params<Params>();
    bool found = false;
    faro::detail::by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [&](auto bytes) {
      [[maybe_unused]] constexpr int unit = decltype(bytes)::value;
      const auto load = [&p](auto& m, auto block, auto thread) { load_exchange<unit>(m, p, block, thread); };
      found = ((as == choices
                    ? (run(load, [&p](auto& m, auto block,
                                      auto thread) { store_exchange<unit, choices>(m, p, block, thread); }),
                       true)
                    : false) ||
               ...);
    });
    EXPECT_TRUE(found) << "a kernel that there is not";
  }

  void operator()(const faro::detail::ReversalKernel& k) const {
    run_as<ReversalParams, MovedElements::units, MovedElements::several>(k.unit_bytes, k.as);
  }
  void operator()(const faro::detail::CyclicWholeKernel& k) const {
    run_as<CyclicWholeParams, MovedElements::in_order, MovedElements::units, MovedElements::several>(
        k.unit_bytes, k.as);
  }
  void operator()(const faro::detail::SquaresKernel& k) const {
    run_as<SquaresParams, MovedElements::units, MovedElements::several>(
        k.unit_bytes, k.several_units ? MovedElements::several : MovedElements::units);
  }
  template <typename Other>
  void operator()(const Other& /*of another family*/) const {
    ADD_FAILURE() << "another kernel";
  }
};

// The number of passes; 0 where the plan is not of exchanges.
std::size_t check(const Exchange& of) {
  SCOPED_TRACE(words(of));
  const Plan plan({.permutation = of.permutation,
                   .element_bytes = of.element_bytes,
                   .batch = of.batch,
                   .placement = Placement::in_place},
                  cuda::target_of_capability(9, 0));
  EXPECT_EQ(plan.workspace_bytes(), 0U);
  const std::uint64_t bytes = plan.array_bytes();
  std::mt19937_64 random(bytes + of.skew);
  std::vector<std::byte> memory(of.skew + bytes + kGuardBytes, kPoison);
  for (std::uint64_t i = 0; i < bytes; ++i) memory[of.skew + i] = static_cast<std::byte>(random());
  const std::vector<std::byte> before = memory;
  for (const Pass& pass : plan.passes()) {
    const std::vector<GpuKernel>& kernels = pass.gpu->kernels;
    const auto found = std::find_if(kernels.begin(), kernels.end() - 1,
                                    [&](const GpuKernel& k) { return of.skew % k.in_alignment == 0; });
    EXPECT_EQ(of.skew % found->in_alignment, 0U);
    std::visit(RunKernel{*found, memory, of.skew}, found->id);
    if (::testing::Test::HasFailure()) return 0;
  }
  const std::uint64_t count = element_count(of.permutation);
  for (std::uint64_t x = 0; x < count * of.batch; ++x) {
    const std::uint64_t y = x / count * count + faro::apply(of.permutation, x % count);
    EXPECT_EQ(std::memcmp(&before[of.skew + x * of.element_bytes], &memory[of.skew + y * of.element_bytes],
                          of.element_bytes),
              0)
        << "element " << x;
    if (::testing::Test::HasFailure()) return 0;
  }
  EXPECT_TRUE(
      std::equal(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(of.skew), before.begin()));
  EXPECT_TRUE(
      std::all_of(memory.end() - kGuardBytes, memory.end(), [](std::byte b) { return b == kPoison; }));
  EXPECT_FALSE(plan.explain().empty());
  EXPECT_NE(plan.explain_json().find("in_place"), std::string::npos);
  return plan.passes().size();
}

// Where an array of such elements may begin.
std::uint64_t some_skew(std::uint64_t element_bytes, std::mt19937_64& random) {
  const std::uint64_t unit = std::min<std::uint64_t>(element_bytes & (~element_bytes + 1), 16);
  return random() % 3 == 0 ? 0 : random() % (32 / unit) * unit;
}

TEST(InPlaceExchange, EveryRollAndFlipOfFewElements) {
  std::mt19937_64 random(1);
  for (std::uint64_t count = 2; count <= 13; ++count) {
    for (std::uint64_t shift = 0; shift < count; ++shift) {
      for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 20U}) {
        const bool power = (width & (width - 1)) == 0;
        const Cyclic flip{.count = count, .shift = shift, .reversed = true};
        if (!power || !affine_form(flip)) check({flip, width, 1 + random() % 5, some_skew(width, random)});
        const Cyclic roll{.count = count, .shift = shift};
        if (shift > 0 && (!power || !affine_form(roll)))
          check({roll, width, 1 + random() % 5, some_skew(width, random)});
        if (HasFailure()) return;
      }
    }
  }
}

TEST(InPlaceExchange, LongRollsAndFlips) {
  std::mt19937_64 random(2);
  for (const std::uint64_t width : {1U, 2U, 3U, 4U, 6U, 8U, 16U, 24U, 100U, 5000U, 40000U}) {
    if (width > 4096) continue;
    const std::uint64_t count = 110001 / width + 2;
    check({maps::flip(count), width, 1, some_skew(width, random)});
    EXPECT_EQ(check({maps::roll(count, static_cast<std::int64_t>(count / 3 + 1)), width, 1,
                     some_skew(width, random)}),
              2U);
    check({Cyclic{.count = count, .shift = count / 5, .reversed = true}, width, 2, some_skew(width, random)});
    check({maps::roll(count / 2, 5), width, 2, some_skew(width, random)});
    if (HasFailure()) return;
  }
}

TEST(InPlaceExchange, RollsAndFlipsOfAxes) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 150; ++trial) {
    const std::size_t rank = 1 + random() % 4;
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
    std::vector<Cyclic> moves;
    for (std::size_t a = 0; a < rank; ++a) {
      const std::uint64_t most = trial % 5 == 0 ? 50 : 9;
      shape.push_back(1 + random() % most);
      order.push_back(static_cast<int>(a));
      moves.push_back({.count = shape[a], .shift = random() % shape[a], .reversed = random() % 3 == 0});
    }
    const std::vector<std::uint64_t> widths{1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 1000, 4096};
    const std::uint64_t width = widths[random() % (trial % 5 == 0 ? 6 : widths.size())];
    const CyclicAxes axes(shape, order, moves);
    if (axes.count() * width > 300000) continue;
    const Permutation normal = normal_form(Permutation(axes));
    if (affine_form(normal) || std::holds_alternative<Axes>(normal)) continue;  // by other passes
    check({normal, width, 1 + random() % 3, some_skew(width, random)});
    if (HasFailure()) return;
  }
}

TEST(InPlaceExchange, LongRowsInParts) {
  std::mt19937_64 random(4);
  const CyclicAxes axes({5, 9001}, {0, 1}, {{.count = 5, .shift = 4, .reversed = true}, {.count = 9001}});
  for (const std::uint64_t width : {1U, 3U, 4U, 8U}) {
    check({axes, width, 1, some_skew(width, random)});
    if (HasFailure()) return;
  }
}

Axes exchanged(std::uint64_t arrays, std::uint64_t side, std::uint64_t between, std::uint64_t parts) {
  return Axes({arrays, side, between, side, parts}, {0, 3, 2, 1, 4});
}

TEST(InPlaceExchange, EverySmallSquare) {
  std::mt19937_64 random(5);
  for (std::uint64_t side = 2; side <= 12; ++side) {
    for (const std::uint64_t between : {2U, 3U, 7U, 40U}) {
      for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 17U, 32U, 48U}) {
        const Permutation axes = normal_form(Permutation(exchanged(1 + random() % 3, side, between, 1)));
        if (affine_form(axes) && (width & (width - 1)) == 0) continue;
        EXPECT_EQ(check({axes, width, 1 + random() % 2, some_skew(width, random)}), 1U);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(InPlaceExchange, SquaresOfSeveralTiles) {
  std::mt19937_64 random(6);
  struct Case {
    std::uint64_t side, between, parts, width;
  };
  for (const Case& each : std::vector<Case>{{200, 1, 1, 1},
                                            {301, 1, 1, 1},
                                            {131, 3, 1, 1},
                                            {149, 1, 1, 2},
                                            {97, 5, 1, 2},
                                            {300, 1, 1, 2},
                                            {257, 1, 1, 4},
                                            {130, 2, 1, 4},
                                            {65, 3, 1, 4},
                                            {79, 1, 1, 8},
                                            {70, 2, 1, 12},
                                            {67, 1, 1, 16},
                                            {35, 2, 3, 8},
                                            {41, 2, 5, 4},
                                            {23, 2, 1, 100},
                                            {7, 3, 1, 1000},
                                            {5, 2, 3, 4096},
                                            {4, 1, 7, 3001},
                                            {3, 2, 5, 4095}}) {
    const Permutation axes =
        normal_form(Permutation(exchanged(1 + random() % 2, each.side, each.between, each.parts)));
    check({axes, each.width, 1, 0});
    check({axes, each.width, 1, some_skew(each.width, random)});
    if (HasFailure()) {
      ADD_FAILURE() << each.side << " " << each.between << " " << each.parts << " " << each.width;
      return;
    }
  }
}

// Every pair of tiles of every small triangle once.
TEST(InPlaceExchange, TilesAreFoldedIntoARectangle) {
  for (std::uint64_t tiles = 1; tiles <= 40; ++tiles) {
    const SquaresParams p = make_squares_params({.side = 2 * tiles, .between = 1, .element_bytes = 4}, 2);
    ASSERT_EQ(p.tiles, tiles);
    ASSERT_EQ(p.pairs.divisor(), tiles * (tiles + 1) / 2);
    std::vector<int> met(tiles * tiles, 0);
    for (std::uint64_t pair = 0; pair < p.pairs.divisor(); ++pair) {
      const TilePlaces places = tile_places(p, pair);
      ASSERT_LE(places.row, places.column);
      ASSERT_LT(places.column, tiles);
      ++met[places.row * tiles + places.column];
    }
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(met.begin(), met.end(), 1)), p.pairs.divisor());
  }
}

}  // namespace in_place_exchange_test
}  // namespace faro::kernels
