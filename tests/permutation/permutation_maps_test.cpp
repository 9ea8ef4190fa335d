// The named maps: the papers' matrices, each map against the loop that its English definition gives, and the
// laws.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/catalogue.hpp"
#include "refusal.hpp"

namespace faro {
namespace permutation_maps_test {

using test::expect_refused;

using f2::Word;

// Compares with the oracle on every index; a failure prints the map's text.
void expect_map(const Affine& map, int n, const std::function<Word(Word)>& oracle) {
  ASSERT_EQ(map.bits(), n) << to_text(map);
  for (Word x = 0; x < Word{1} << n; ++x) {
    ASSERT_EQ(map(x), oracle(x)) << to_text(map) << " at x = " << x;
  }
}

// Rows y0..y(n-1), each with columns x0..x(n-1), as the papers print matrices.
Affine from_rows(const std::vector<std::string>& rows, Word complement) {
  const int n = static_cast<int>(rows.size());
  f2::Matrix a = f2::Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) {
    Word column = 0;
    for (int i = 0; i < n; ++i) {
      if (rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == '1') column |= f2::unit(i);
    }
    a.set_column(j, column);
  }
  return {a, complement};
}

// `count` bits of x from bit `from`.
Word field(Word x, int from, int count) { return (x >> from) & f2::low_mask(count); }

// Bouverot-Dupuis and Sheeran's examples for n = 4.
TEST(PaperMatrices, Transpose) {
  const Affine map = maps::transpose(4, 4);
  EXPECT_EQ(map, from_rows({"0010", "0001", "1000", "0100"}, 0));
  EXPECT_EQ(map(6), 9U);
}

TEST(PaperMatrices, BitReversal) {
  const Affine map = maps::bit_reversal(4);
  EXPECT_EQ(map, from_rows({"0001", "0010", "0100", "1000"}, 0));
  EXPECT_EQ(map(7), 14U);
  EXPECT_TRUE(map.is_involution());
}

TEST(PaperMatrices, ArrayReversal) {
  EXPECT_EQ(maps::reverse(4), from_rows({"1000", "0100", "0010", "0001"}, 0xf));
}

TEST(PaperMatrices, Parm) {
  EXPECT_EQ(maps::parm(4, 0b0011), from_rows({"0100", "0010", "0001", "1100"}, 0));
  const Affine figure_14 = maps::parm(3, 0b110);
  EXPECT_EQ(figure_14, from_rows({"100", "001", "011"}, 0));
  constexpr Word kTable[8] = {0, 1, 4, 5, 6, 7, 2, 3};  // 4 * sub-array + sub-index
  for (Word x = 0; x < 8; ++x) EXPECT_EQ(figure_14(x), kTable[x]) << x;
}

TEST(PaperMatrices, CyclicShift) { EXPECT_EQ(maps::rotate_bits(5, -1)(0b11001), 0b11100U); }

TEST(PaperMatrices, OnlyPowersOfTwoTranspose) {
  EXPECT_EQ(maps::transpose(16, 8).bits(), 7);
  expect_refused(ErrorCode::unsupported, [] { maps::transpose(7, 5); });
}

class EverySmallSize : public ::testing::TestWithParam<int> {};

TEST_P(EverySmallSize, MapsOfTheSizeAlone) {
  const int n = GetParam();
  const Word size = Word{1} << n;
  expect_map(maps::identity(n), n, [](Word x) { return x; });
  expect_map(maps::reverse(n), n, [&](Word x) { return size - 1 - x; });
  expect_map(maps::gray(n), n, [](Word x) { return x ^ (x >> 1); });
  expect_map(maps::bit_reversal(n), n, [&](Word x) {
    Word y = 0;
    for (int i = 0; i < n; ++i) y = 2 * y + ((x >> i) & 1);
    return y;
  });
  // Cards of the lower half go to the even places, those of the upper half between them.
  const Word half = size / 2;
  expect_map(maps::shuffle(n), n, [&](Word x) { return n == 0 ? 0 : x < half ? 2 * x : 2 * (x - half) + 1; });
}

TEST_P(EverySmallSize, Xor) {
  const int n = GetParam();
  for (Word mask = 0; mask < Word{1} << n; mask += 5) {
    expect_map(maps::xor_mask(n, mask), n, [&](Word x) { return x ^ mask; });
  }
}

TEST_P(EverySmallSize, RotateBits) {
  const int n = GetParam();
  for (std::int64_t k = -2 * n - 1; k <= 2 * n + 1; ++k) {
    expect_map(maps::rotate_bits(n, k), n, [&](Word x) {
      Word y = 0;
      for (int i = 0; i < n; ++i) {
        const auto to = static_cast<int>(((i + k) % n + n) % n);
        y += ((x >> i) & 1) << to;
      }
      return y;
    });
  }
}

TEST_P(EverySmallSize, SwapBits) {
  const int n = GetParam();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      expect_map(maps::swap_bits(n, i, j), n, [&](Word x) {
        const Word a = (x >> i) & 1;
        const Word b = (x >> j) & 1;
        const Word others = x & ~(f2::unit(i) | f2::unit(j));
        return others | a << j | b << i;
      });
    }
  }
}

TEST_P(EverySmallSize, PermuteBits) {
  const int n = GetParam();
  std::vector<int> to(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) to[static_cast<std::size_t>(i)] = i;
  // All permutations of few bits, a run of them of more.
  for (int count = 0; count < 200; ++count) {
    expect_map(maps::permute_bits(to), n, [&](Word x) {
      Word y = 0;
      for (int i = 0; i < n; ++i) y += ((x >> i) & 1) << to[static_cast<std::size_t>(i)];
      return y;
    });
    if (!std::next_permutation(to.begin(), to.end())) break;
  }
}

TEST_P(EverySmallSize, Transpose) {
  const int n = GetParam();
  for (int row_bits = 0; row_bits <= n; ++row_bits) {
    const Word rows = Word{1} << row_bits;
    const Word columns = Word{1} << (n - row_bits);
    expect_map(maps::transpose(rows, columns), n, [&](Word x) { return x % columns * rows + x / columns; });
  }
}

TEST_P(EverySmallSize, Morton) {
  const int n = GetParam();
  for (int d = 1; d <= std::max(n, 3); ++d) {
    if (n % d != 0) continue;
    const int b = n / d;
    expect_map(maps::morton(d, b), n, [&](Word x) {
      Word y = 0;
      for (int axis = 0; axis < d; ++axis) {
        const Word coordinate = field(x, (d - 1 - axis) * b, b);
        for (int k = 0; k < b; ++k) y |= ((coordinate >> k) & 1) << (k * d + (d - 1 - axis));
      }
      return y;
    });
  }
}

TEST_P(EverySmallSize, Parm) {
  const int n = std::min(GetParam(), 6);
  for (Word mask = 1; mask < Word{1} << n; ++mask) {
    // The stable partition that the combinator is: even parity first, each part in order.
    std::vector<Word> place(std::size_t{1} << n);
    Word next = 0;
    for (const bool odd : {false, true}) {
      for (Word x = 0; x < Word{1} << n; ++x) {
        if (f2::parity(x & mask) == odd) place[x] = next++;
      }
    }
    const Affine map = maps::parm(n, mask);
    expect_map(map, n, [&](Word x) { return place[x]; });
    // And the published form: the parity on top, x without the mask's lowest bit below.
    const int low = f2::trailing_bit(mask);
    expect_map(map, n, [&](Word x) {
      const Word rest = field(x, 0, low) | (x >> (low + 1)) << low;
      return rest | (f2::parity(x & mask) ? Word{1} << (n - 1) : 0);
    });
  }
}

TEST_P(EverySmallSize, RandomMapsAreOfTheirClass) {
  const int n = GetParam();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Affine bp = maps::random_bp(n, seed);
    const Affine bpc = maps::random_bpc(n, seed);
    const Affine bmmc = maps::random_bmmc(n, seed);
    EXPECT_LE(bp.classify(), AffineClass::bp) << to_text(bp);
    EXPECT_EQ(bpc.matrix(), bp.matrix()) << to_text(bpc);
    EXPECT_EQ(bmmc.matrix().rank(), n) << to_text(bmmc);
    EXPECT_EQ(compose(bmmc, bmmc.inverse()), Affine(n)) << to_text(bmmc);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EverySmallSize, ::testing::Range(0, 11));

// The generator is part of the grammar: these texts mean the same for ever, everywhere. The values were
// computed by an independent program, which holds the span of the columns as a set.
TEST(RandomMaps, GoldenValues) {
  EXPECT_EQ(to_text(maps::random_bp(6, 42)), "bits(6; 4 3 0 2 5 1)");
  EXPECT_EQ(to_text(maps::random_bp(10, 0)), "bits(10; 6 3 2 9 8 1 4 7 0 5)");
  EXPECT_EQ(to_text(maps::random_bpc(6, 42)), "affine(6; 0x10 0x8 0x1 0x4 0x20 0x2; 0x6)");
  EXPECT_EQ(to_text(maps::random_bmmc(6, 42)), "affine(6; 0x15 0x3 0x12 0x14 0x32 0x1d; 0x24)");
  // The first output of SplitMix64 from 0, as its authors' code gives it.
  EXPECT_EQ(maps::random_bmmc(64, 0).matrix().column(0), 0xe220a8397b1dcdafU);
}

TEST(RandomMaps, EveryMatrixOfTwoBitsOccurs) {
  std::vector<int> count(6);
  std::vector<Affine> seen;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Affine map(maps::random_bmmc(2, seed).matrix(), 0);
    const auto at = std::find(seen.begin(), seen.end(), map);
    if (at == seen.end()) {
      ASSERT_LT(seen.size(), 6U);
      count[seen.size()] = 1;
      seen.push_back(map);
    } else {
      ++count[static_cast<std::size_t>(at - seen.begin())];
    }
  }
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_GT(*std::min_element(count.begin(), count.end()), 60);
}

TEST(Maps, LargestSize) {
  EXPECT_EQ(maps::reverse(64)(0), ~Word{0});
  EXPECT_EQ(maps::bit_reversal(64)(1), Word{1} << 63);
  EXPECT_EQ(maps::rotate_bits(64, std::numeric_limits<std::int64_t>::min()), Affine(64));
  EXPECT_EQ(maps::transpose(Word{1} << 63, 2).bits(), 64);
  EXPECT_EQ(maps::morton(1, 64), Affine(64));
  EXPECT_EQ(maps::morton(64, 1).bits(), 64);
  EXPECT_EQ(maps::parm(64, Word{1} << 63), Affine(64));
  EXPECT_EQ(maps::random_bmmc(64, 1).matrix().rank(), 64);
}

TEST(Maps, RefuseWhatIsNoMap) {
  for (const int n : {-1, 65}) {
    for (const MapEntry& entry : catalogue()) {
      if (entry.of_bits != nullptr) expect_refused(ErrorCode::value, [&] { entry.of_bits(n); });
    }
    expect_refused(ErrorCode::value, [&] { maps::xor_mask(n, 0); });
    expect_refused(ErrorCode::value, [&] { maps::rotate_bits(n, 1); });
    expect_refused(ErrorCode::value, [&] { maps::swap_bits(n, 0, 0); });
    expect_refused(ErrorCode::value, [&] { maps::parm(n, 1); });
    expect_refused(ErrorCode::value, [&] { maps::random_bp(n, 1); });
    expect_refused(ErrorCode::value, [&] { maps::random_bpc(n, 1); });
    expect_refused(ErrorCode::value, [&] { maps::random_bmmc(n, 1); });
  }
  expect_refused(ErrorCode::value, [] { maps::xor_mask(4, 0x10); });
  expect_refused(ErrorCode::value, [] { maps::swap_bits(4, 0, 4); });
  expect_refused(ErrorCode::value, [] { maps::swap_bits(0, 0, 0); });
  expect_refused(ErrorCode::value, [] { maps::permute_bits(std::vector<int>{0, 0}); });
  expect_refused(ErrorCode::value, [] { maps::permute_bits(std::vector<int>{0, 2}); });
  expect_refused(ErrorCode::value, [] { maps::permute_bits(std::vector<int>(65)); });
  expect_refused(ErrorCode::value, [] { maps::transpose(0, 4); });
  expect_refused(ErrorCode::value, [] { maps::transpose(Word{1} << 63, 4); });
  expect_refused(ErrorCode::value, [] { maps::morton(0, 4); });
  expect_refused(ErrorCode::value, [] { maps::morton(5, 13); });
  expect_refused(ErrorCode::value, [] { maps::morton(2, -1); });
  expect_refused(ErrorCode::value, [] { maps::parm(4, 0); });
  expect_refused(ErrorCode::value, [] { maps::parm(4, 0x10); });
}

TEST(Catalogue, EveryEntryIsComplete) {
  for (const MapEntry& entry : catalogue()) {
    SCOPED_TRACE(entry.name);
    EXPECT_EQ(find_map(entry.name), &entry);
    EXPECT_TRUE(entry.syntax.starts_with(entry.name));
    EXPECT_FALSE(entry.meaning.empty());
    const Permutation example = parse_permutation(entry.example);
    if (element_count(example) > 52) {
      EXPECT_TRUE(affine_form(example).has_value());  // tiles of weights: their bits are shown
    }
    if (std::holds_alternative<Affine>(example)) {
      EXPECT_EQ(element_count(example), 16U);
    }
    if (entry.is_file()) continue;
    EXPECT_TRUE(entry.example.starts_with(std::string(entry.name) + "("));
    // The command's map is in single quotes.
    const std::string command(entry.command);
    const std::size_t open = command.find('\'');
    const std::string spec = command.substr(open + 1, command.rfind('\'') - open - 1);
    EXPECT_NO_THROW(parse_permutation(spec)) << spec;
  }
  EXPECT_EQ(find_map("grey"), nullptr);
}

TEST(Catalogue, PicturesOfBitsAndOfLetters) {
  EXPECT_EQ(picture(maps::gray(2)), "y1  y0\nx1  x0^x1");
  EXPECT_EQ(picture(maps::roll(5, 2)), "in   a b c d e\nout  d e a b c");
  EXPECT_EQ(picture(maps::flip(0)), "in  \nout ");
}

TEST(Catalogue, DocumentationShowsEveryMap) {
  const auto page = std::filesystem::path(FARO_SOURCE_DIR) / "docs" / "guide" / "maps.md";
  std::ifstream file(page);
  if (!file) GTEST_SKIP() << page << " is not where this test was built";
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  for (const MapEntry& entry : catalogue()) {
    for (const std::string_view part : {entry.syntax, entry.meaning, entry.example, entry.command}) {
      EXPECT_NE(text.find(part), std::string::npos) << "docs/guide/maps.md lacks: " << part;
    }
    std::istringstream lines(picture(entry));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_NE(text.find("  " + line + "\n"), std::string::npos) << "docs/guide/maps.md lacks: " << line;
    }
  }
}

}  // namespace permutation_maps_test
}  // namespace faro
