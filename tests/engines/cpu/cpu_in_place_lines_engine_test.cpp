// Tiles in place in registers of a whole line, emulated: what AVX-512 runs, tested on any machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "cpu_in_place_support.hpp"
#include "engines/cpu/in_place/tiles-inl.hpp"

namespace faro::testing {
namespace cpu_in_place_lines_engine_test {

// Sixty-four bytes that know the operations of register_line-inl.hpp's WideLine, one lane after another.
template <std::size_t kLaneBytes>
struct EmulatedLine {
  static constexpr std::size_t kTiles = 1;
  static constexpr std::size_t kBytes = 64;
  static constexpr int kRoundBits = 4;
  static constexpr std::size_t kLanes = kBytes / kLaneBytes;
  static constexpr int kMaxBits = std::countr_zero(kLanes);
  struct Line {
    std::byte bytes[kBytes];
  };
  using Choice = std::uint64_t;

  static Line Load(const std::byte* from) {
    Line line;
    std::memcpy(line.bytes, from, kBytes);
    return line;
  }
  static void Store(Line line, std::byte* to) { std::memcpy(to, line.bytes, kBytes); }
  static void Stream(Line line, std::byte* to) { Store(line, to); }
  static Line LoadIndex(const cpu::RegisterImage& image) { return Load(image.bytes); }
  static Line SetIndex(std::uint8_t value) {
    Line line{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) line.bytes[lane * kLaneBytes] = std::byte{value};
    return line;
  }
  static Line Xor(Line a, Line b) {
    for (std::size_t i = 0; i < kBytes; ++i) a.bytes[i] ^= b.bytes[i];
    return a;
  }
  static Line Permute(Line line, Line index) {
    Line result;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto from = static_cast<std::size_t>(index.bytes[lane * kLaneBytes]) % kLanes;
      std::memcpy(result.bytes + lane * kLaneBytes, line.bytes + from * kLaneBytes, kLaneBytes);
    }
    return result;
  }
  static Choice LoadChoice(const cpu::ExchangeLanes& lanes) { return lanes.mask; }
  static Line Choose(Choice choice, Line chosen, Line other) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if ((choice >> lane & 1) == 0) continue;
      std::memcpy(other.bytes + lane * kLaneBytes, chosen.bytes + lane * kLaneBytes, kLaneBytes);
    }
    return other;
  }
};

void move_wide(const cpu::TileOrbits& p, cpu::TileRange range, cpu::Fetch fetch, std::byte* data) {
  switch (p.tile.unit_bytes) {
    case 1:
      return cpu::HWY_NAMESPACE::MoveTiles<EmulatedLine<1>>(p, range, fetch, data);
    case 2:
      return cpu::HWY_NAMESPACE::MoveTiles<EmulatedLine<2>>(p, range, fetch, data);
    case 4:
      return cpu::HWY_NAMESPACE::MoveTiles<EmulatedLine<4>>(p, range, fetch, data);
    default:
      return cpu::HWY_NAMESPACE::MoveTiles<EmulatedLine<8>>(p, range, fetch, data);
  }
}

// The tiles of every pass in shares cut at every kind of place.
void check_wide(const Affine& map, std::uint64_t width, std::uint64_t segment_bytes_max, Reached& reached) {
  const Problem problem{
      .permutation = map, .element_bytes = width, .batch = 3, .placement = Placement::in_place};
  Target target = test_target(64, Stores::streamed);
  target.segment_bytes_max = segment_bytes_max;
  const Plan plan(problem, target);
  Arrays arrays(plan.array_bytes(), 0, width, width);
  std::copy_n(arrays.in(), arrays.bytes(), arrays.out());
  SplitMix64 random{width};
  for (const Pass& pass : plan.passes()) {
    if (pass.kind != PassKind::tile) return;
    const cpu::TileOrbits program(pass, width, 64);
    reached.insert("exchange " + std::to_string(program.tile.exchange_bits));
    if (pass.orbits->orbit_tiles == 1)
      reached.insert(program.tile.micro_sources.size() == 1 ? "one micro tile" : "buffered");
    if (pass.orbits->orbit_tiles == 2) reached.insert("pairs");
    if (pass.orbits->orbit_tiles > 2) reached.insert("orbits");
    for (std::uint64_t begin = 0; begin < program.orbits.tiles();) {
      const std::uint64_t end = std::min(program.orbits.tiles(), begin + 1 + random() % 40);
      move_wide(program, {begin, end}, random() % 2 == 0 ? cpu::Fetch::ahead : cpu::Fetch::none,
                arrays.out());
      begin = end;
    }
  }
  const auto wrong = find_mismatch(problem, arrays.in(), arrays.out(), 1);
  EXPECT_FALSE(wrong) << to_text(*wrong) << "\n  " << describe(problem);
  EXPECT_TRUE(arrays.guards_intact()) << describe(problem);
}

TEST(CpuInPlace, WholeLinesInRegistersOnAnyMachine) {
  Reached reached;
  for (std::uint64_t width = 1; width <= 16; width *= 2) {
    for (const int n : {10, 12, 14}) {
      for (const std::uint64_t segment : {64U, 256U}) {
        for (std::uint64_t seed = 1; seed <= (kInstrumented ? 3U : 10U); ++seed)
          check_wide(random_map(n, seed), width, segment, reached);
        check_wide(maps::bit_reversal(n), width, segment, reached);
        check_wide(maps::swap_bits(n, 0, n - 1), width, segment, reached);
        check_wide(map_of_rank(n, 6, 2, 1), width, segment, reached);
        if (HasFailure()) return;
      }
    }
  }
  for (const char* const branch :
       {"exchange 0", "exchange 1", "exchange 2", "exchange 3", "exchange 4", "exchange 5", "exchange 6",
        "buffered", "one micro tile", "pairs", "orbits"}) {
    EXPECT_TRUE(reached.contains(branch)) << branch;
  }
}

}  // namespace cpu_in_place_lines_engine_test
}  // namespace faro::testing
