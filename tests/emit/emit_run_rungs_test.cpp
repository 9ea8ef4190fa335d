// Every rung's text, run on the CPU: the permutation is the oracle's, the traffic is the predicted one and
// obeys the rung's law (emitted_check.hpp).
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "emitted/emitted_check.hpp"
#include "faro/permutation/affine.hpp"
#include "plan_support.hpp"

namespace faro::testing {
namespace emit_run_rungs_test {

using emit::Options;
using emit::Rung;

constexpr std::uint64_t kSeed = 77;
constexpr Rung kRungs[] = {Rung::naive, Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass};
constexpr Rung kPublished[] = {Rung::tile, Rung::banks, Rung::iters};
const std::vector<std::string> kWidths = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint4"};

// Options of a rung; nothing of f(in[x]) is here.
Options options_of(Rung rung, const std::string& element = "uint32_t", int tile_bits = 0) {
  Options options;
  options.rung = rung;
  options.element = element;
  options.tile_bits = tile_bits;
  return options;
}

std::vector<Affine> bit_permutations(int n) {
  std::vector<Affine> list;
  std::vector<int> to(static_cast<std::size_t>(n));
  std::iota(to.begin(), to.end(), 0);
  do {
    list.push_back(maps::permute_bits(to));
  } while (std::next_permutation(to.begin(), to.end()));
  return list;
}

// A random map whose rows are columns of the low bits, for tiles of 2^t: a bit permutation, then invertible
// maps of the low t bits and of the others, and any shear of the low bits by the high ones.
Affine random_tiled(int n, int t, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  f2::Matrix shear = f2::Matrix::identity(n);
  for (int j = t; j < n; ++j) shear.set_column(j, f2::unit(j) ^ (random() & f2::low_mask(t)));
  const Affine blocks = direct_sum(maps::random_bmmc(t, seed + 1), maps::random_bmmc(n - t, seed + 2));
  return compose(Affine(shear, random() & f2::low_mask(n)), compose(blocks, maps::random_bp(n, seed + 3)));
}

TEST(EmittedRungs, EveryBitPermutationOfUpToFourBits) {
  EmittedBatch batch;
  for (int n = 0; n <= 4; ++n) {
    std::uint64_t number = 0;
    for (const Affine& permutation : bit_permutations(n)) {
      const Affine map(permutation.matrix(), ++number * 5 & f2::low_mask(n));
      for (const Rung rung : kRungs) {
        const bool takes_tile = std::count(std::begin(kPublished), std::end(kPublished), rung) != 0;
        const int tile_bits = takes_tile && n >= 1 ? 1 + static_cast<int>(number % 2) : 0;
        batch.add({.map = map, .options = options_of(rung, "uint32_t", std::min(tile_bits, n))});
      }
    }
  }
  const EmittedTally& tally = batch.check();
  EXPECT_EQ(tally.runs.at("naive"), 34);
  EXPECT_EQ(tally.runs.at("two-pass"), 34);
  EXPECT_EQ(tally.runs.at("one-pass"), 34);
}

TEST(EmittedRungs, EveryMatrixOfThreeBits) {
  EmittedBatch batch;
  std::mt19937_64 random(kSeed);
  for (f2::Word code = 0; code < 512; ++code) {
    f2::Matrix a = f2::Matrix::zero(3, 3);
    for (int j = 0; j < 3; ++j) a.set_column(j, code >> 3 * j & 7);
    if (a.rank() != 3) continue;
    const Rung rung = code % 3 == 0 ? Rung::naive : code % 3 == 1 ? Rung::two_pass : Rung::one_pass;
    batch.add({.map = Affine(a, random() & 7), .options = options_of(rung)});
  }
  EXPECT_EQ(batch.size(), 168U);
  batch.check();
}

TEST(EmittedRungs, RandomBitPermutationsOfEveryWidth) {
  EmittedBatch batch;
  std::uint64_t seed = kSeed;
  for (const std::string& element : kWidths) {
    for (const int n : {10, 11, 12, 13}) {
      for (const Rung rung : kRungs) {
        const Affine map = n == 12 ? maps::bit_reversal(n) : maps::random_bpc(n, ++seed);
        Options options = options_of(rung, element);
        options.iteration_bits = n % 4;
        EXPECT_TRUE(batch.add({.map = map, .options = options}))
            << emit::name(rung) << ' ' << element << ' ' << n;
      }
    }
  }
  const EmittedTally& tally = batch.check();
  EXPECT_GT(tally.congestions.size(), 3U);
  EXPECT_GT(tally.overlaps.size(), 3U);
  EXPECT_EQ(*tally.congestions.rbegin(), 32);
}

TEST(EmittedRungs, TilesOfEverySize) {
  EmittedBatch batch;
  std::uint64_t seed = 1000;
  for (int t = 1; t <= 5; ++t) {
    for (const Rung rung : kPublished) {
      for (const int over : {0, t - 1}) {
        // Bits 0 .. t - over - 1 change place with those from 7 on.
        std::vector<int> to(13);
        std::iota(to.begin(), to.end(), 0);
        for (int j = 0; j < t - over; ++j)
          std::swap(to[static_cast<std::size_t>(j)], to[static_cast<std::size_t>(7 + j)]);
        const Affine map = compose(maps::xor_mask(13, ++seed), maps::permute_bits(to));
        Options options = options_of(rung, "uint32_t", t);
        options.iteration_bits = 1 + t % 3;
        EXPECT_TRUE(batch.add({.map = map, .options = options})) << t;
      }
    }
  }
  const EmittedTally& tally = batch.check();
  EXPECT_EQ(tally.overlaps, (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(tally.tiles_a_block, (std::set<std::uint64_t>{2, 4, 8}));
}

TEST(EmittedRungs, SegmentsOfEverySize) {
  EmittedBatch batch;
  std::uint64_t seed = 2000;
  for (const std::string& element : kWidths) {
    for (int s = 1; s <= 8; ++s) {
      for (const Rung rung : {Rung::two_pass, Rung::one_pass}) {
        batch.add({.map = maps::random_bmmc(11, ++seed), .options = options_of(rung, element, s)});
      }
    }
  }
  EXPECT_GE(batch.size(), 60U);
  batch.check();
}

// The tile rung pays for bit reversal with the whole congestion, and the others with none.
TEST(EmittedRungs, BitReversalPaysTheWholeCongestion) {
  EmittedBatch batch;
  batch.add({.map = maps::bit_reversal(12), .options = options_of(Rung::tile)});
  EXPECT_EQ(batch.check().congestions, std::set<int>{32});
}

TEST(EmittedRungs, TiledMaps) {
  EmittedBatch batch;
  for (const std::string& element : kWidths) {
    const int t = element == "uint64_t" ? 4 : element == "uint4" ? 3 : 5;
    for (const Rung rung : kPublished) {
      const Affine map = random_tiled(11, t, kSeed + static_cast<std::uint64_t>(t) + batch.size());
      EXPECT_EQ(static_cast<int>(map.classify(t)), static_cast<int>(AffineClass::tiled));
      EXPECT_TRUE(batch.add({.map = map, .options = options_of(rung, element)}))
          << emit::name(rung) << element;
    }
  }
  batch.check();
}

TEST(EmittedRungs, AnyMapOfEveryWidth) {
  EmittedBatch batch;
  std::uint64_t seed = 500;
  for (const std::string& element : kWidths) {
    for (int n = 0; n <= 14; n += n < 8 ? 2 : 3) {
      for (const Rung rung : {Rung::naive, Rung::two_pass, Rung::one_pass}) {
        EXPECT_TRUE(batch.add({.map = maps::random_bmmc(n, ++seed), .options = options_of(rung, element)}));
      }
    }
  }
  batch.check();
}

TEST(EmittedRungs, RandomOptions) {
  std::mt19937_64 random(kSeed);
  EmittedBatch batch;
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  for (int trial = 0; trial < 120; ++trial) {
    const int n = below(14);
    Options options = options_of(kRungs[below(6)], kWidths[random() % kWidths.size()]);
    if (below(2) == 0) options.tile_bits = std::min(n, below(7));
    options.iteration_bits = below(6);
    options.turned_rows = below(4) != 0;
    const bool any_map = std::count(std::begin(kPublished), std::end(kPublished), options.rung) == 0;
    const int s = below(n + 1);
    const Affine map = !any_map        ? maps::random_bpc(n, random())
                       : below(2) == 0 ? maps::random_bmmc(n, random())
                                       : map_of_rank(n, s, below(std::min(s, n - s) + 1), random());
    batch.add({.map = map, .options = options});
  }
  EXPECT_GE(batch.size(), 110U);
  batch.check();
}

// A judge that lets everything pass would be worthless: each of these alterations has to be found.
TEST(EmittedRungs, AlteredTextIsFound) {
  struct Alteration {
    Rung rung;
    const char* what;
    const char* by;
  };
  constexpr Alteration alterations[] = {
      {Rung::naive, "  out[y", "  out[1 ^ y"},
      {Rung::tile, "__syncthreads();", ""},
      {Rung::tile, "tile[loaded", "tile[1 ^ loaded"},
      {Rung::banks, "in[source", "in[32 ^ source"},
      {Rung::iters, "__syncthreads();", "if (threadIdx.y != 0) __syncthreads();"},
      {Rung::two_pass, "vector.at[3] = tile[", "vector.at[3] = tile[2 ^ "},
      {Rung::one_pass, "vector.at[1] = tile[", "vector.at[1] = tile[1 ^ "},
  };
  EmittedLibrary library;
  std::vector<emit::Source> sources;
  const Affine map = maps::bit_reversal(15);
  for (const Alteration& a : alterations) {
    Options options = options_of(a.rung);
    options.name = "k" + std::to_string(sources.size());
    emit::Source source = emit::emit(map, options);
    const std::size_t at = source.text.find(a.what);
    ASSERT_NE(at, std::string::npos) << emit::name(a.rung) << ": " << a.what << '\n' << source.text;
    source.text.replace(at, std::string(a.what).size(), a.by);
    library.add(options.name, source);
    sources.push_back(std::move(source));
  }
  library.build();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::byte> in(std::size_t{4} << map.bits());
    for (std::size_t b = 0; b < in.size(); ++b) in[b] = static_cast<std::byte>(b >> b % 4 * 8);
    std::vector<std::byte> out(in.size());
    bool found = false;
    try {
      for (const emit::Kernel& kernel : sources[i].kernels) {
        const machine::AccessCounts counts = run_counted(library, kernel, in, out);
        found = found || !(counts == kernel.predicted);
        for (std::uint64_t x = 0; x < std::uint64_t{1} << map.bits(); ++x) {
          found = found || std::memcmp(&in[4 * x], &out[4 * kernel.map(x)], 4) != 0;
        }
        in = out;
      }
    } catch (const std::exception&) {
      found = true;
    }
    EXPECT_TRUE(found) << emit::name(alterations[i].rung) << ": " << alterations[i].by;
  }
  // What is right but slow is found by its counts.
  const emit::Source tile = emit::emit(map, options_of(Rung::tile));
  const emit::Source banks = emit::emit(map, options_of(Rung::banks));
  EXPECT_NE(tile.kernels[0].predicted, banks.kernels[0].predicted);
}

TEST(EmittedRungs, EveryNamedMap) {
  EmittedBatch batch;
  for (const int n : {1, 2, 5, 9, 12}) {
    for (const Affine& map : maps_of(n, kSeed)) {
      for (const Rung rung : kRungs) {
        const bool general = map.classify() == AffineClass::bmmc;
        const bool added = batch.add({.map = map, .options = options_of(rung)});
        EXPECT_TRUE(added || general) << emit::name(rung) << ' ' << to_text(Permutation(map));
      }
    }
  }
  const EmittedTally& tally = batch.check();
  EXPECT_GT(tally.refused.at("tile"), 0);
  EXPECT_EQ(tally.refused.at("tile"), tally.refused.at("banks"));
  EXPECT_EQ(tally.refused.at("tile"), tally.refused.at("iters"));
  EXPECT_EQ(tally.refused.count("naive") + tally.refused.count("two-pass") + tally.refused.count("one-pass"),
            0U);
}

}  // namespace emit_run_rungs_test
}  // namespace faro::testing
