// Conversions of layouts on an emulated warp, and the least number of shuffles against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "exchange/exchange_steps.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"
#include "swizzle_exchange_support.hpp"

namespace faro::testing {
namespace swizzle_exchange_conversion_test {

using namespace exchange;

bool can_convert(const Layout& a, const Layout& b) {
  const bool is_flat = a.axes.size() == 1 || b.axes.size() == 1;
  bool same = a.lanes.size() == b.lanes.size() && a.warps.size() == b.warps.size();
  if (is_flat) return same && a.element_bits() == b.element_bits();
  same = same && a.axes.size() == b.axes.size();
  for (std::size_t i = 0; same && i < a.axes.size(); ++i) same = a.axes[i].bits == b.axes[i].bits;
  return same;
}

TEST(ExchangeConversion, EveryPairOfNamedLayouts) {
  const auto layouts = all_named_layouts();
  int pairs = 0;
  for (const auto& [from, element] : layouts) {
    for (const auto& [to, other] : layouts) {
      if (element != other || !can_convert(from, to)) continue;
      const Conversion c = convert(from, to, {.element = element, .attempts = 8});
      expect_converts(c);
      EXPECT_TRUE(c.is_proven()) << to_text(c);
      if (HasFatalFailure()) return;
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 130);
}

// Tiles of every width against those of a line, and fragments against each other's transposes.
TEST(ExchangeConversion, NamedLayoutsAndLines) {
  for (const auto& [layout, element] : all_named_layouts()) {
    if (layout.lanes.size() != 5 || !layout.warps.empty()) continue;
    const std::string count = std::to_string(1U << layout.registers.size());
    for (const std::string& line : {"strided(" + count + ")", "contiguous(" + count + ")"}) {
      const Layout other = parse_layout(line, element);
      expect_converts(convert(layout, other, {.element = element, .attempts = 4}));
      expect_converts(convert(other, layout, {.element = element, .attempts = 4}));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ExchangeConversion, DrawnLayoutsOfEveryWidth) {
  std::mt19937_64 random(20261129);
  std::map<std::pair<int, std::size_t>, int> chains;  // of how many steps
  for (int round = 0; round < 400; ++round) {
    const int element = 8 << random() % 4;
    const int registers = static_cast<int>(random() % 5);
    const int lanes = round % 8 == 0 ? static_cast<int>(random() % 7) : 5;
    const Layout from = random_layout(registers, lanes, random);
    const Layout to = random_layout(registers, lanes, random);
    const Conversion c = convert(from, to, {.element = element, .attempts = 4});
    expect_converts(c, random());
    if (HasFatalFailure()) return;
    EXPECT_TRUE(c.is_proven()) << to_text(c) << to_text(from) << "\n" << to_text(to);
    EXPECT_GE(c.program.counts().shuffles, c.bound.any_program);
    ++chains[{element, c.steps.size()}];
  }
  EXPECT_TRUE((chains.count({8, 3}) == 1 && chains.count({32, 1}) == 1));  // both kinds were met
}

// Layouts that hold elements more than once, or lanes that have less than a word.
TEST(ExchangeConversion, CopiesAndHalfWords) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const int element = 8 << random() % 3;
    Layout from = random_layout(static_cast<int>(1 + random() % 3), 5, random);
    Layout to = from;
    for (auto* columns : {&to.registers, &to.lanes}) std::shuffle(columns->begin(), columns->end(), random);
    std::swap(to.registers[0], to.lanes[random() % 5]);
    for (int copies = static_cast<int>(random() % 3); copies > 0; --copies) to.lanes[random() % 5] = 0;
    if (random() % 2 == 0) from.registers.push_back(from.lanes[random() % 5]);
    if (random() % 4 == 0) to.registers.clear();
    const Conversion c = convert(from, to, {.element = element, .attempts = 4});
    expect_converts(c, random());
    if (HasFatalFailure()) return;
  }
}

TEST(ExchangeConversion, KnownCosts) {
  const auto shuffles = [](const char* from, const char* to, int element) {
    const Conversion c =
        convert(parse_layout(from, element), parse_layout(to, element), {.element = element});
    EXPECT_TRUE(c.is_proven());
    return c.program.counts().shuffles;
  };
  // 32 lanes in reverse order of their bits: one word, and no way to have it but to ask for it.
  EXPECT_EQ(shuffles("strided(1)", "matrix(0, 5, 0: 00001 00010 00100 01000 10000)", 32), 1);
  // Bytes of four lanes transposed: three lanes to hear from, in two rounds of one word.
  EXPECT_EQ(shuffles("contiguous(4)",
                     "matrix(2, 5, 0: 0010000 0001000 1000000 0100000 0000100 0000010 0000001)", 8),
            2);
  EXPECT_EQ(shuffles("mma.m16n8.C", "mma.m16n8k8.A", 32), 4);
  EXPECT_EQ(shuffles("mma.m16n8.C", "mma.m16n8k8.A", 16), 0);
  EXPECT_EQ(shuffles("mma.m16n8.C[16x16]", "mma.m16n8k16.A", 16), 0);
  // 8 x 8 halves transposed: every word is made of two lanes' halves, whatever the number of matrices.
  EXPECT_EQ(shuffles("ldmatrix.x1", "ldmatrix.x1.trans", 16), 2);
  EXPECT_EQ(shuffles("ldmatrix.x2", "ldmatrix.x2.trans", 16), 2);
  EXPECT_EQ(shuffles("ldmatrix.x4", "ldmatrix.x4.trans", 16), 4);
}

TEST(ExchangeConversion, Refusals) {
  using test::code_of;
  const auto from = parse_layout("mma.m16n8.C", 32);
  EXPECT_EQ(code_of([&] { convert(from, parse_layout("mma.m16n8k4.A", 32)); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { convert(from, parse_layout("mfma.16x16.C", 32)); }), ErrorCode::value);
  const auto half =
      parse_layout("matrix(2, 5, 0: 1000000 0100000 0010000 0001000 0000100 0000010 0000000)", 32);
  EXPECT_EQ(code_of([&] { convert(half, parse_layout("strided(4)", 32)); }), ErrorCode::value);
  const auto warps = parse_layout("wgmma.m64n8.C", 32);
  Layout exchanged = warps;
  std::swap(exchanged.warps[0], exchanged.warps[1]);
  Layout copies = exchanged;  // in registers
  copies.registers[0] = 0;
  EXPECT_EQ(code_of([&] { convert(warps, copies); }), ErrorCode::unsupported);
  Layout of_amd = parse_layout("trans(mfma.16x16.C)", 32);
  of_amd.warps = {0};
  Layout others = of_amd;
  std::swap(others.warps[0], others.lanes[0]);
  EXPECT_EQ(code_of([&] { convert(of_amd, others); }), ErrorCode::unsupported);
  // Memory that has no room, or an element twice.
  EXPECT_EQ(code_of([&] {
              convert(parse_layout("blocked(16x8, 1x1, 1x1)", 32), parse_layout("mfma.16x16.C", 32));
            }),
            ErrorCode::value);
  EXPECT_EQ(
      code_of([&] { convert(parse_layout("matrix(2, 0, 0: 10 00)", 32), parse_layout("strided(4)", 32)); }),
      ErrorCode::value);
  EXPECT_EQ(code_of([&] {
              convert(parse_layout("blocked(16x16, 1x1, 1x1)", 32), parse_layout("mfma.16x16.C", 32));
            }),
            ErrorCode::unsupported);
}

// --- the bound

// The fewest shuffles from lanes `from` to every other lane map of a small warp, by Dijkstra over all of
// them.
TEST(ExchangeBound, ChainsAgainstAllLaneMaps) {
  for (const auto& [held, lanes] : std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 2}, {1, 2}, {0, 3}}) {
    const int n = held + lanes;
    std::vector<Rows> maps;  // of full rank
    for (f2::Word all = 0; all < f2::unit(n * lanes); ++all) {
      Rows rows;
      for (int j = 0; j < lanes; ++j) rows.push_back(all >> (n * j) & f2::low_mask(n));
      if (f2::Subspace::span(n, rows).dimension() == lanes) maps.push_back(std::move(rows));
    }
    std::vector<int> cost(maps.size(), 1000);
    std::vector<bool> is_done(maps.size(), false);
    cost[0] = 0;
    for (std::size_t turn = 0; turn < maps.size(); ++turn) {
      std::size_t next = maps.size();
      for (std::size_t i = 0; i < maps.size(); ++i)
        if (!is_done[i] && (next == maps.size() || cost[i] < cost[next])) next = i;
      is_done[next] = true;
      for (std::size_t i = 0; i < maps.size(); ++i) {
        if (i == next) continue;
        const int step = direct_shuffles(step_ranks(n, maps[next], maps[i]), held);
        cost[i] = std::min(cost[i], cost[next] + step);
      }
    }
    for (std::size_t i = 0; i < maps.size(); ++i)
      ASSERT_EQ(fewest_shuffles(step_ranks(n, maps[0], maps[i]), held, lanes), cost[i])
          << held << " " << lanes << " map " << i;
  }
}

// A direct step takes as many shuffles as the lane that receives most has words to receive: counted.
TEST(ExchangeBound, DirectStepsAreCounted) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const int held = static_cast<int>(2 + random() % 4);
    const Layout from = random_layout(held, 3, random);
    const Layout to = random_layout(held, 3, random);
    const int n = held + 3;
    const f2::Matrix source = from.matrix().inverse().value() * to.matrix();
    Rows lanes_from;
    Rows lanes_to;
    const f2::Matrix rows = source.transposed();
    for (int j = 0; j < 3; ++j) {
      lanes_from.push_back(rows.column(held + j));
      lanes_to.push_back(f2::unit(held + j));
    }
    int most = 0;
    for (f2::Word lane = 0; lane < 8; ++lane) {
      std::map<f2::Word, int> bytes_from;
      for (f2::Word place = 0; place < f2::unit(held); ++place) {
        const f2::Word sender = source * (place | lane << held) >> held;
        if (sender != lane) ++bytes_from[sender];
      }
      int words = 0;
      for (const auto& [sender, bytes] : bytes_from) words += (bytes + 3) / 4;
      most = std::max(most, words);
    }
    ASSERT_EQ(direct_shuffles(step_ranks(n, lanes_from, lanes_to), held), most) << round;
  }
}

// A step that moves lanes besides never loses against chains of steps that do not: so the planner's chains
// suffice.
TEST(ExchangeBound, FullStepsAreAsGood) {
  std::mt19937_64 random(5);
  for (int held = 0; held <= 9; ++held)
    for (int lanes = 1; lanes <= 6; ++lanes)
      for (int k = 0; k <= std::min(held, lanes); ++k)
        for (int rho = k; rho <= lanes; ++rho) {
          const int fewest = fewest_shuffles({k, rho}, held, lanes);
          // Lane maps of these ranks: k rows are exchanged for others, and rho - k more are mixed.
          Rows from;
          Rows to;
          for (int j = 0; j < lanes; ++j) {
            to.push_back(f2::unit(held + j));
            from.push_back(j < k ? f2::unit(j) ^ f2::unit(held + j) : f2::unit(held + j));
          }
          for (int j = k; j < rho; ++j) {
            const int other = j + 1 < lanes ? j + 1 : j - 1;
            if (other >= 0 && other != j) from[static_cast<std::size_t>(j)] ^= f2::unit(held + other);
          }
          const StepRanks ranks = step_ranks(held + lanes, from, to);
          if (f2::Subspace::span(held + lanes, from).dimension() != lanes) continue;
          if (ranks.k != k || ranks.rho != rho) continue;
          const auto chains = cheapest_chains(held + lanes, from, to, held, random);
          ASSERT_FALSE(chains.empty()) << held << " " << lanes << " " << k << " " << rho << " " << fewest;
        }
}

// --- through shared memory

void expect_one_to_one(const SharedExchange& s, const std::vector<f2::Word>& address) {
  std::set<f2::Word> addresses;
  for (f2::Word place = 0; place < f2::unit(static_cast<int>(address.size())); ++place)
    addresses.insert(f2::combine(address.data(), place));
  EXPECT_EQ(addresses.size(), static_cast<std::size_t>(s.bytes));
  EXPECT_EQ(*addresses.rbegin() + 1, addresses.size());
}

TEST(ExchangeShared, AddressesAreOneToOneAndFreeOfConflicts) {
  std::mt19937_64 random(17);
  std::set<int> widths;
  for (int round = 0; round < 80; ++round) {
    const int element = 8 << random() % 4;
    const int registers = static_cast<int>(2 + random() % 4);
    const Layout from = random_layout(registers, 5, random);
    Layout to = random_layout(registers, 5, random);
    if (round % 2 == 0) {
      to = from;
      std::shuffle(to.lanes.begin(), to.lanes.end(), random);
      std::swap(to.lanes[random() % 5], to.registers.back());
    }
    const Conversion c = convert(from, to, {.element = element, .attempts = 1});
    ASSERT_TRUE(c.shared.has_value());
    const SharedExchange& s = *c.shared;
    for (const SharedSide* side : {&s.store, &s.load})
      if (side->kind == AccessKind::plain) widths.insert(side->bytes);
    expect_one_to_one(s, s.store.address);
    EXPECT_EQ(s.store.wavefronts, s.store.least_wavefronts) << to_text(c) << to_text(from) << to_text(to);
    EXPECT_EQ(s.load.wavefronts, s.load.least_wavefronts) << to_text(c) << to_text(from) << to_text(to);
  }
  EXPECT_TRUE(widths.count(1) == 1 && widths.count(4) == 1 && widths.count(16) == 1);
}

// Transposed halves: 2 bytes an access, or matrices.
TEST(ExchangeShared, MatricesWhereTheyAreCheaper) {
  const Layout from = parse_layout("ldmatrix.x4", 16);
  const Layout to = parse_layout("ldmatrix.x4.trans", 16);
  const auto shared = [&](int capability) {
    return *convert(from, to, {.element = 16, .capability = capability}).shared;
  };
  EXPECT_EQ(shared(90).load.text(false), "1 ldmatrix.x4.trans");
  EXPECT_EQ(shared(90).load.wavefronts, 4);
  EXPECT_EQ(shared(75).load.kind, AccessKind::matrix_transposed);
  EXPECT_EQ(shared(75).store.kind, AccessKind::plain);
  EXPECT_EQ(shared(70).load.kind, AccessKind::plain);
  EXPECT_EQ(shared(70).load.bytes, 2);
  EXPECT_LT(shared(90).turns, shared(70).turns);
}

TEST(ExchangeShared, BetweenWarps) {
  std::mt19937_64 random(23);
  int crossings = 0;
  for (int round = 0; round < 60; ++round) {
    const int element = 8 << random() % 3;
    const auto [from, to] = random_block_layouts(random);
    const Conversion c = convert(from, to, {.element = element, .attempts = 1});
    if (c.has_program()) continue;
    ++crossings;
    ASSERT_TRUE(c.shared.has_value());
    expect_one_to_one(*c.shared, c.shared->store.address);
    EXPECT_EQ(c.shared->store.wavefronts, c.shared->store.least_wavefronts) << to_text(c);
    EXPECT_EQ(c.shared->load.wavefronts, c.shared->load.least_wavefronts) << to_text(c);
    EXPECT_TRUE(c.is_shared_cheaper());
  }
  EXPECT_GT(crossings, 30);
}

// The swizzles of TMA, byte by byte, and what reaches them without a conflict.
TEST(ExchangeMemory, SwizzlesOfTma) {
  for (const int span : {32, 64, 128}) {
    for (const int element : {8, 16, 32, 64}) {
      const int bytes = element / 8;
      const int columns = 2 * span / bytes;
      const Layout layout =
          parse_layout("tma." + std::to_string(span) + "B(16x" + std::to_string(columns) + ")", element);
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < columns; ++column) {
          const int in_box = column * bytes % span;
          const int byte = column * bytes / span * 16 * span + row * span + in_box;
          const int swizzled = byte ^ (byte >> 3 & (span - 16));
          ASSERT_EQ(layout.element(static_cast<f2::Word>(swizzled / bytes), 0),
                    static_cast<f2::Word>(row * columns + column));
        }
    }
  }
  // CuTe's name of the same.
  const Layout cute = parse_layout("shared(Swizzle<3,3,3> o (64,64):(64,1))", 16);
  EXPECT_EQ(cute.registers, parse_layout("tma.128B(64x64)", 16).registers);
  const auto access = [](const char* memory, const char* fragment) {
    const Conversion c = convert(parse_layout(memory, 16), parse_layout(fragment, 16), {.element = 16});
    return std::pair(c.shared->load.text(false), c.shared->load.wavefronts);
  };
  using Told = std::pair<std::string, int>;
  EXPECT_EQ(access("tma.128B(64x64)", "mma.m16n8k16.A[64x64]"), Told("16 ldmatrix.x4", 64));
  EXPECT_EQ(access("tma.128B(64x64)", "mma.m16n8k16.B[64x64]"), Told("16 ldmatrix.x4.trans", 64));
  // Rows of 128 bytes as they are: the eight rows of a matrix begin in the same banks.
  EXPECT_EQ(access("blocked(64x64, 1x1, 1x1)", "mma.m16n8k16.A[64x64]"), Told("16 ldmatrix.x4", 512));
}

}  // namespace swizzle_exchange_conversion_test
}  // namespace faro::testing
