// Tiles of affine maps whose numbers change on their way, run by a block that is emulated, against one loop
// over all numbers; and the shapes that are chosen for arrays of any alignment.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "block_emulator.hpp"
#include "engine_support.hpp"
#include "faro/faro.hpp"
#include "faro/layout/tile.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/value_tile.hpp"
#include "number_support.hpp"
#include "plan/gpu/value_tiles.hpp"

namespace faro::value_tile_test {

using kernels::BrainHalf;
using kernels::Identity;
using kernels::NumberProgram;
using kernels::ProgramStep;
using testing::SplitMix64;

template <typename T>
std::vector<T> numbers(std::uint64_t count, SplitMix64& random) {
  std::vector<T> made(count);
  for (T& x : made)
    x = kernels::stored<T>(static_cast<float>(static_cast<int>(random() % 512) - 256) / 8, {});
  return made;
}

template <typename T>
std::vector<std::byte> bytes(const std::vector<T>& of) {
  std::vector<std::byte> all(of.size() * sizeof(T));
  std::memcpy(all.data(), of.data(), all.size());
  return all;
}

constexpr float kScale = 1.5F;
constexpr float kOffset = -3;
constexpr float kBeta = 0.25F;

// Where factors differ along an axis of the output: scales of indices beside each other, offsets of
// neighbours that are kInner apart.
constexpr std::uint64_t kScales = 5;
constexpr std::uint64_t kInner = 3;
constexpr std::uint64_t kOffsets = 7;

// A shape's numbers: segments, rows, vectors, threads. Counts those that hold a tile of the map.
template <typename Program, bool kRounds, int kS, int kR, int kV, int kT, bool kAlong>
void expect_tiles(const Affine& map, std::uint64_t arrays, SplitMix64& random, int& held) {
  using From = typename Program::From;
  using To = typename Program::To;
  using Kernel = kernels::MoveValueTiles<Program, kRounds, kS, kR, kV, kT, kAlong>;
  const layout::Tile tile = layout::make_tile(map, {.segment_bits = kS, .min_row_bits = kR});
  if (!kernels::fits(tile, Kernel::kShape)) return;
  ++held;
  const std::uint64_t count = arrays << map.bits();
  const std::vector<From> in = numbers<From>(count, random);
  const std::vector<To> other = numbers<To>(count, random);
  // Between guards, at a vector's alignment.
  std::vector<To> room(count + 32, kernels::stored<To>(77.0F, {}));
  auto* const target =
      reinterpret_cast<To*>((reinterpret_cast<std::uintptr_t>(room.data() + 8) + 15) / 16 * 16);
  Kernel kernel;
  kernel.p = kernels::make_affine_tile_params(tile, Kernel::kShape, arrays);
  kernel.in = in.data();
  kernel.out = target;
  kernel.addend = other.data();
  using Computed = typename Program::Computed;
  const auto give = [](kernels::ValueFactor& factor, float x) {
    const auto value = static_cast<Computed>(x);
    std::memcpy(factor.bytes, &value, sizeof value);
  };
  give(kernel.factors.scale.one, kScale);
  give(kernel.factors.offset.one, kOffset);
  give(kernel.factors.beta, kBeta);
  std::vector<Computed> scales(kAlong ? kScales : 1, static_cast<Computed>(kScale));
  std::vector<Computed> offsets(kAlong ? kOffsets : 1, static_cast<Computed>(kOffset));
  if constexpr (kAlong) {
    for (std::size_t i = 0; i < kScales; ++i) scales[i] = static_cast<Computed>(i + 1);
    for (std::size_t i = 0; i < kOffsets; ++i) offsets[i] = static_cast<Computed>(i) - 2;
    kernel.factors.scale.table = scales.data();
    kernel.factors.scale.extent = device::Division64(kScales);
    kernel.factors.offset.table = random() % 3 == 0 ? nullptr : offsets.data();
    if (kernel.factors.offset.table == nullptr) offsets = {static_cast<Computed>(kOffset)};
    kernel.factors.offset.inner = device::Division64(kInner);
    kernel.factors.offset.extent = device::Division64(kOffsets);
  }
  testing::emulate(kernel, {.order = static_cast<testing::Order>(random() % 3)});

  std::vector<To> wanted(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t array = i >> map.bits() << map.bits();
    const std::uint64_t place = array + map(i - array);
    Computed x = Program::widened(in[i]);
    if constexpr (Program::kHasScale) x = x * scales[place % scales.size()];
    if constexpr (Program::kHasOffset) x = x + offsets[place / kInner % offsets.size()];
    if constexpr (Program::kHasAddend)
      x = x + Program::widened_addend(other[place]) * static_cast<Computed>(kBeta);
    wanted[place] = Program::rounded(x);
  }
  const std::vector<To> got(target, target + count);
  ASSERT_EQ(bytes(got), bytes(wanted));
  const To guard = kernels::stored<To>(77.0F, {});
  for (const To* at = room.data(); at < room.data() + room.size(); ++at) {
    const bool outside = at < target || at >= target + count;
    ASSERT_TRUE(!outside || std::memcmp(at, &guard, sizeof guard) == 0);
  }
}

template <typename Program, bool kRounds, bool kAlong = false>
void expect_map(const Affine& map, std::uint64_t arrays, SplitMix64& random, int& held) {
  expect_tiles<Program, kRounds, 4, 4, 2, 5, kAlong>(map, arrays, random, held);
  expect_tiles<Program, kRounds, 4, 3, 1, 5, kAlong>(map, arrays, random, held);
  expect_tiles<Program, kRounds, 3, 3, 0, 5, kAlong>(map, arrays, random, held);
}

TEST(ValueTiles, AffineMapsOfEveryDirection) {
  const int rounds = testing::kInstrumented ? 6 : 40;
  int held = 0;
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{static_cast<std::uint64_t>(i) * 977 + 5};
    const int bits = 6 + static_cast<int>(random() % 6);
    const Affine map = i % 4 == 0   ? maps::bit_reversal(bits)
                       : i % 4 == 1 ? Affine(bits)
                                    : maps::random_bmmc(bits, random());
    const std::uint64_t arrays = 1 + random() % 3;
    SCOPED_TRACE(std::to_string(i) + ", " + std::to_string(bits) + " bits");
    constexpr unsigned kLinear = ProgramStep::scale | ProgramStep::offset;
    expect_map<NumberProgram<float, BrainHalf, float>, true>(map, arrays, random, held);
    expect_map<NumberProgram<BrainHalf, float, float, Identity, kLinear>, false>(map, arrays, random, held);
    expect_map<NumberProgram<std::uint8_t, float, float, Identity, ProgramStep::offset>, false>(map, arrays,
                                                                                                random, held);
    expect_map<NumberProgram<double, float, double, Identity, kLinear>, true>(map, arrays, random, held);
    expect_map<NumberProgram<float, float, float, Identity, kLinear, float>, false>(map, arrays, random,
                                                                                    held);
    expect_map<NumberProgram<float, BrainHalf, float, Identity, 0, BrainHalf>, false>(map, arrays, random,
                                                                                      held);
    expect_map<NumberProgram<std::uint8_t, float, float, Identity, kLinear>, false, true>(map, arrays, random,
                                                                                          held);
    expect_map<NumberProgram<float, BrainHalf, float, Identity, kLinear, BrainHalf>, false, true>(
        map, arrays, random, held);
  }
  EXPECT_GT(held, 6 * rounds);
}

// Whatever the map, types and alignments: a tile of the map, a kernel that can be compiled, vectors that
// arrays are aligned to.
TEST(ValueTiles, ShapesFitMapsAndArrays) {
  for (std::uint64_t i = 0; i < 600; ++i) {
    SplitMix64 random{i * 31 + 7};
    const int bits = 1 + static_cast<int>(random() % 26);
    const Affine map = i % 3 == 0 ? maps::bit_reversal(bits) : maps::random_bmmc(bits, random());
    Arithmetic of{.from = static_cast<Number>(random() % kNumbers),
                  .to = static_cast<Number>(random() % kNumbers)};
    if (random() % 3 == 0) of.addend = Addend{.number = static_cast<Number>(random() % kNumbers)};
    if (random() % 3 == 0) of.offset = {.values = {1, 2}, .axis = 0};
    SCOPED_TRACE(std::to_string(bits) + " bits, " + to_text(of));
    const auto plan = detail::make_value_tile_plan(map, 1 + random() % 5, of);
    if (!plan) {
      EXPECT_LT(bits, 8);
      continue;
    }
    const auto drawn = [&](Number number) {
      return std::max(bytes_of(number), std::uint64_t{1} << random() % 5);
    };
    const detail::ValueAlignment alignment{
        .in = drawn(of.from), .out = drawn(of.to), .addend = of.addend ? drawn(of.addend->number) : 16};
    const detail::ValueTiles tiles = detail::make_value_tiles(*plan, alignment);
    ASSERT_TRUE(kernels::is_valid(tiles.shape));
    ASSERT_LE(tiles.shape.iterations(), 16);
    ASSERT_LE(tiles.shape.tile_bytes(), 1 << 16);
    ASSERT_EQ(tiles.params.blocks() << tiles.shape.tile_bits(), plan->count());
    const auto vector = static_cast<std::uint64_t>(tiles.shape.components());
    EXPECT_EQ(alignment.in % std::min<std::uint64_t>(16, vector * bytes_of(of.from)), 0U);
    EXPECT_EQ(alignment.out % std::min<std::uint64_t>(16, vector * bytes_of(of.to)), 0U);
    EXPECT_LE(vector * bytes_of(of.from), 16U);
    EXPECT_LE(vector * bytes_of(of.to), 16U);
  }
}

}  // namespace faro::value_tile_test
