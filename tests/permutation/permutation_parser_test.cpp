// The text grammar: what it accepts, what it prints, and the error of every bad text.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "parsed_text_support.hpp"
#include "permutation/text.hpp"

namespace faro {
namespace permutation_parser_test {

using f2::Word;
using parsed_text::parsed;
using parsed_text::refusal;

// A view that is a permutation is one wherever a map may stand.
TEST(ParsePermutation, ViewsThatArePermutations) {
  EXPECT_EQ(parse_permutation("strided(4 4; 1 4; 4 1)"), normal_form(parse_permutation("axes(4 4; 1 0)")));
  EXPECT_EQ(parse_permutation(" compose( strided(16; -1; 1; 15 0), gray(4))"),
            parse_permutation("compose(reverse(4), gray(4))"));
  EXPECT_EQ(parse_permutation("inverse(strided(3 5; 5 1; 1 3))"), parse_permutation("axes(5 3; 1 0)"));
  for (const char* const text :
       {"strided(4 4; 0 1; 4 1)", "compose(strided(3; 2; 1), flip(3))", "strided(2 2; 2 1; 4 1)",
        "strided(4 4; 4 1", "strided", "strided()", "compose(strided(4 4; 1 4; 4 1) gray(4))"}) {
    EXPECT_THROW(parse_permutation(text), Error) << text;
  }
}

TEST(Parser, EveryMapIsTheFunctionOfItsName) {
  EXPECT_EQ(parsed("identity(5)"), maps::identity(5));
  EXPECT_EQ(parsed("bit_reversal(5)"), maps::bit_reversal(5));
  EXPECT_EQ(parsed("reverse(5)"), maps::reverse(5));
  EXPECT_EQ(parsed("xor(5, 0x13)"), maps::xor_mask(5, 0x13));
  EXPECT_EQ(parsed("rotate_bits(5, 2)"), maps::rotate_bits(5, 2));
  EXPECT_EQ(parsed("rotate_bits(5, -12)"), maps::rotate_bits(5, -12));
  EXPECT_EQ(parsed("shuffle(5)"), maps::rotate_bits(5, 1));
  EXPECT_EQ(parsed("swap_bits(5, 1, 4)"), maps::swap_bits(5, 1, 4));
  EXPECT_EQ(parsed("bits(3; 2 0 1)"), maps::permute_bits(std::vector<int>{2, 0, 1}));
  EXPECT_EQ(parsed("gray(5)"), maps::gray(5));
  EXPECT_EQ(parsed("transpose(2, 16)"), maps::transpose(2, 16));
  EXPECT_EQ(parsed("morton(2, 3)"), maps::morton(2, 3));
  EXPECT_EQ(parsed("parm(5, 6)"), maps::parm(5, 6));
  EXPECT_EQ(parsed("affine(2; 0x3 0x1; 0x2)"),
            Affine(f2::Matrix::from_columns(2, std::vector<Word>{3, 1}), 2));
  EXPECT_EQ(parsed("random_bp(9, 7)"), maps::random_bp(9, 7));
  EXPECT_EQ(parsed("random_bpc(9, 7)"), maps::random_bpc(9, 7));
  EXPECT_EQ(parsed("random_bmmc(9, 0xffffffffffffffff)"), maps::random_bmmc(9, ~Word{0}));
  EXPECT_EQ(parsed("compose(gray(5), shuffle(5))"), compose(maps::gray(5), maps::shuffle(5)));
  EXPECT_EQ(parsed("inverse(gray(5))"), maps::gray(5).inverse());
  EXPECT_EQ(parsed("power(gray(5), -3)"), maps::gray(5).power(-3));
  EXPECT_EQ(parsed("circuit(3; x 1; cx 0 2)")(1), 0b111U);
}

TEST(Parser, ComposeAppliesTheSecondFirst) {
  const Affine map = parsed("compose(xor(4, 0x1), rotate_bits(4, 1))");
  EXPECT_EQ(map(0b0001), 0b0011U);
}

TEST(Parser, NumbersInEveryForm) {
  EXPECT_EQ(parsed("xor(20, 1024)"), parsed("xor(0x14, 0x400)"));
  EXPECT_EQ(parsed("xor(20, 2^10)"), parsed("xor(20, 0x400)"));
  EXPECT_EQ(parsed("affine(3; 2^2 2 0x1; 4)"), parsed("affine(3; 0x4 0x2 0x1; 0x4)"));
  EXPECT_EQ(parsed("xor(8, 0xAb)"), parsed("xor(8, 0xaB)"));
  EXPECT_EQ(parsed("identity(2^0)"), maps::identity(1));
  EXPECT_EQ(parsed("rotate_bits(7, -2^63)"), maps::rotate_bits(7, INT64_MIN));
  EXPECT_EQ(parsed("power(gray(9), -9223372036854775808)"), Affine(9));
}

TEST(Parser, WhiteSpaceIsFree) {
  EXPECT_EQ(parsed("  compose ( gray(4)\t,\n xor( 4 ,0x1 ) )\r\n"), parsed("compose(gray(4),xor(4,0x1))"));
  EXPECT_EQ(parsed("bits( 2 ;1   0 )"), parsed("bits(2;1 0)"));
}

TEST(Parser, EmptySizes) {
  const Affine none(0);
  for (const char* text :
       {"affine(0; ; 0x0)", "affine(0;;0)", "identity(0)", "bits(0;)", "circuit(0)", "circuit(0;)",
        "transpose(1, 1)", "morton(7, 0)", "reverse(0)", "random_bmmc(0, 5)", "xor(0, 0)"}) {
    EXPECT_EQ(parsed(text), none) << text;
  }
}

TEST(Parser, BareNamesTakeTheArraysSize) {
  const ParseOptions fixed{.bare_bits = 6};
  EXPECT_EQ(parsed("bit_reversal", fixed), maps::bit_reversal(6));
  EXPECT_EQ(parsed("identity", fixed), maps::identity(6));
  EXPECT_EQ(parsed("reverse", fixed), maps::reverse(6));
  EXPECT_EQ(parsed("shuffle", fixed), maps::shuffle(6));
  EXPECT_EQ(parsed("compose(gray, xor(6, 1))", fixed), parsed("compose(gray(6), xor(6, 1))"));
  EXPECT_EQ(parsed("power(inverse(gray), 3)", fixed), maps::gray(6).power(-3));
  EXPECT_EQ(parsed("gray(4)", fixed), maps::gray(4));
  EXPECT_EQ(refusal("gray").code, ErrorCode::spec);
  EXPECT_EQ(refusal("gray").wanted, "`gray(n)`");
  EXPECT_EQ(refusal("rotate_bits", fixed).wanted, "`rotate_bits(n, k)`");
  EXPECT_EQ(refusal("gray", {.bare_bits = 65}).code, ErrorCode::value);
  EXPECT_EQ(refusal("gray", {.bare_bits = -1}).code, ErrorCode::value);
  EXPECT_EQ(refusal("circuit()", {.bare_bits = 65}).code, ErrorCode::value);
  EXPECT_EQ(refusal("circuit(x 0)", {.bare_bits = -1}).code, ErrorCode::value);
}

// What the array at hand fixes need not be typed.
TEST(Parser, SizesAtHandNeedNotBeTyped) {
  const auto at_hand = [](std::vector<std::uint64_t> shape) {
    ParseOptions options;
    options.shape = std::move(shape);
    return options;
  };
  const std::vector<std::pair<std::string, std::string>> of_64{
      {"swap_bits(1, 4)", "swap_bits(6, 1, 4)"},
      {"xor(0x13)", "xor(6, 0x13)"},
      {"rotate_bits(-2)", "rotate_bits(6, -2)"},
      {"parm(3)", "parm(6, 3)"},
      {"random_bmmc(7)", "random_bmmc(6, 7)"},
      {"bits(5 4 3 2 1 0)", "bits(6; 5 4 3 2 1 0)"},
      {"affine(1 2 4 8 0x10 0x30; 3)", "affine(6; 1 2 4 8 0x10 0x30; 3)"},
      {"circuit(swap 3 5; x 1)", "circuit(6; swap 3 5; x 1)"},
      {"circuit(x 0)", "circuit(6; x 0)"},
      {"morton(2)", "morton(2, 3)"},
      {"compose(xor(1), inverse(gray))", "compose(xor(6, 1), inverse(gray(6)))"},
      {"roll(5)", "roll(64, 5)"},
      {"flip", "flip(64)"},
      {"random(3)", "random(64, 3)"},
      {"aos_to_soa(4)", "aos_to_soa(16, 4)"},
      {"aosoa(4, 8)", "aosoa(16, 4, 8)"},
      // Typed in full they are what they were.
      {"swap_bits(4, 0, 3)", "swap_bits(4, 0, 3)"},
      {"roll(10, 3)", "roll(10, 3)"},
      {"circuit(3; x 1)", "circuit(3; x 1)"},
      {"axes(2 3; 1 0)", "axes(2 3; 1 0)"}};
  for (const auto& [text, in_full] : of_64) {
    EXPECT_EQ(parse_permutation(text, at_hand({64})), parse_permutation(in_full)) << text;
  }
  const std::vector<std::pair<std::string, std::string>> of_boxes{
      {"transpose", "axes(3 5 7; 2 1 0)"}, {"axes(1 2 0)", "axes(3 5 7; 1 2 0)"}, {"flip", "flip(105)"}};
  for (const auto& [text, in_full] : of_boxes) {
    EXPECT_EQ(parse_permutation(text, at_hand({3, 5, 7})), parse_permutation(in_full)) << text;
  }
  EXPECT_EQ(parse_permutation("transpose", at_hand({30, 70})), parse_permutation("transpose(30, 70)"));
  EXPECT_EQ(parse_permutation("aos_to_soa", at_hand({16, 4})), parse_permutation("aos_to_soa(16, 4)"));
  EXPECT_EQ(element_count(parse_permutation("transpose", at_hand({3, 0, 2}))), 0U);
  EXPECT_EQ(parse_permutation("transpose", at_hand({35})), parse_permutation("axes(35; 0)"));
  EXPECT_EQ(element_count(parse_permutation("transpose", at_hand({0}))), 0U);
  EXPECT_EQ(element_count(parse_permutation("transpose", at_hand({}))), 1U);
  EXPECT_EQ(refusal("transpose").code, ErrorCode::spec);
  EXPECT_EQ(refusal("axes(1 0)", at_hand({3, 5, 7})).code, ErrorCode::value);
  EXPECT_EQ(refusal("aos_to_soa(5)", at_hand({64})).code, ErrorCode::value);
  for (const char* const text : {"gray", "bit_reversal", "inverse(gray)", "compose(flip, gray)",
                                 "circuit(x 0)", "swap_bits(3, 20)", "bits(1 0)"}) {
    for (const std::uint64_t count : {12, 0}) {
      const ErrorReport report = refusal(text, at_hand({count}));
      EXPECT_EQ(report.code, ErrorCode::value) << text;
      EXPECT_EQ(report.got, std::to_string(count) + " elements") << text;
      EXPECT_EQ(report.wanted, "a power of two of them") << text;
    }
  }
  for (const char* const text : {"swap_bits(1, 4)", "roll(5)", "bits(1 0)", "circuit(x 0)", "axes(1 0)"}) {
    EXPECT_EQ(refusal(text).code, ErrorCode::spec) << text;
  }
}

TEST(Parser, NamesTheAxes) {
  using Shape = std::vector<std::uint64_t>;
  const auto axes_of = [](const char* text) { return parse_with_axes(text).axes; };
  const auto expect_axes = [&](const char* text, const Shape& shape, const Shape& target) {
    const auto axes = axes_of(text);
    ASSERT_TRUE(axes) << text;
    EXPECT_EQ(axes->shape, shape) << text;
    EXPECT_EQ(axes->target_shape(), target) << text;
  };
  expect_axes("transpose(30, 70)", {30, 70}, {70, 30});
  expect_axes("inverse(transpose(30, 70))", {70, 30}, {30, 70});
  expect_axes("axes(8 2048 32 128; 0 2 1 3)", {8, 2048, 32, 128}, {8, 32, 2048, 128});
  expect_axes("inverse(axes(2 3 5; 1 2 0))", {3, 5, 2}, {2, 3, 5});
  expect_axes("compose(axes(3 5 2; 2 1 0), axes(2 3 5; 1 2 0))", {2, 3, 5}, {2, 5, 3});
  expect_axes("soa_to_aos(5, 3)", {3, 5}, {5, 3});
  expect_axes("axes(1 4; 1 0)", {1, 4}, {4, 1});
  for (const char* const text : {"gray(4)", "compose(gray(4), transpose(4, 4))", "roll(12, 3)",
                                 "power(transpose(4, 4), 2)", "compose(transpose(3, 4), transpose(3, 4))"}) {
    EXPECT_FALSE(axes_of(text)) << text;
  }
}

TEST(Parser, Circuits) {
  const auto simulated = [](Word x) {
    x ^= 1U << 3;                                      // x 3
    x ^= (x & 1) << 5;                                 // cx 0 5
    x = (x & ~Word{6}) | (x & 2) << 1 | (x & 4) >> 1;  // swap 1 2
    x ^= ((x >> 5) & 1) << 0;                          // cx 5 0
    return x;
  };
  const Affine map = parsed("circuit(6; x 3; cx 0 5; swap 1 2; id 4; CX 5 0;)");
  for (Word x = 0; x < 64; ++x) EXPECT_EQ(map(x), simulated(x)) << x;
  EXPECT_EQ(parsed("circuit(4)"), Affine(4));
}

TEST(Parser, RandomCircuitsEqualTheirGatesOneByOne) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const int n = 2 + static_cast<int>(random() % 7);
    std::string text = "circuit(" + std::to_string(n);
    std::vector<Word> image(std::size_t{1} << n);
    for (std::size_t x = 0; x < image.size(); ++x) image[x] = x;
    for (int count = 0; count < 40; ++count) {
      const auto a = static_cast<int>(random() % static_cast<unsigned>(n));
      const auto b = (a + 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1))) % n;
      const auto kind = random() % 3;
      text += kind == 0 ? "; x " : kind == 1 ? "; cx " : "; swap ";
      text += std::to_string(a) + (kind == 0 ? "" : " " + std::to_string(b));
      for (Word& x : image) {
        const Word at_a = (x >> a) & 1;
        const Word at_b = (x >> b) & 1;
        if (kind == 0) x ^= Word{1} << a;
        if (kind == 1 && at_a == 1) x ^= Word{1} << b;
        if (kind == 2 && at_a != at_b) x ^= Word{1} << a | Word{1} << b;
      }
    }
    const Affine map = parsed(text + ")");
    for (std::size_t x = 0; x < image.size(); ++x) ASSERT_EQ(map(x), image[x]) << text << ") at " << x;
  }
}

TEST(Text, CanonicalForms) {
  const std::vector<std::pair<std::string, std::string>> kCases{
      {"xor(5, 0)", "identity(5)"},
      {"xor(5, 0x1f)", "reverse(5)"},
      {"xor(5, 10)", "xor(5, 0xa)"},
      {"transpose(4, 4)", "bits(4; 2 3 0 1)"},
      {"rotate_bits(6, 7)", "shuffle(6)"},
      {"shuffle(2)", "bit_reversal(2)"},
      {"shuffle(1)", "identity(1)"},
      {"affine(2; 1 3; 0)", "gray(2)"},
      {"compose(shuffle(3), xor(3, 2^2))", "affine(3; 0x2 0x4 0x1; 0x1)"},
      {"affine(4; 0x8 0x4 0x6 0X1; 0x2)", ""},
      {"affine(4; 0x8 0x4 0x6 0x1; 0x2)", "affine(4; 0x8 0x4 0x6 0x1; 0x2)"},
      {"reverse(64)", "reverse(64)"},
      {"xor(64, 0xFFFFFFFFFFFFFFFE)", "xor(64, 0xfffffffffffffffe)"},
  };
  for (const auto& [text, canonical] : kCases) {
    if (canonical.empty()) {
      EXPECT_EQ(refusal(text).code, ErrorCode::spec);
    } else {
      EXPECT_EQ(to_text(parse_permutation(text)), canonical) << text;
    }
  }
}

TEST(Text, RoundTrip) {
  for (int n = 0; n <= 64; ++n) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      for (const Affine& map :
           {maps::random_bp(n, seed), maps::random_bpc(n, seed), maps::random_bmmc(n, seed), maps::gray(n),
            maps::xor_mask(n, maps::random_bpc(n, seed).complement()), maps::identity(n), maps::reverse(n)}) {
        const std::string text = to_text(map);
        EXPECT_EQ(parsed(text), map) << text;
        EXPECT_EQ(parsed("inverse(" + text + ")"), map.inverse()) << text;
        EXPECT_EQ(std::get<Affine>(inverse(Permutation(map))), map.inverse()) << text;
        EXPECT_EQ(to_text(compose(map, map.inverse())), "identity(" + std::to_string(n) + ")") << text;
      }
    }
  }
}

TEST(Text, ElementCount) {
  EXPECT_EQ(element_count(maps::gray(0)), 1U);
  EXPECT_EQ(element_count(maps::gray(63)), Word{1} << 63);
  EXPECT_THROW(element_count(maps::gray(64)), Error);
}

// Word w of struct i, in tiles of `tile` structs, the last with what is left.
TEST(Text, StructsByLoops) {
  for (const std::uint64_t count : {1U, 2U, 5U, 8U, 12U}) {
    for (const std::uint64_t words : {1U, 2U, 3U, 4U}) {
      const std::string sizes = std::to_string(count) + ", " + std::to_string(words);
      const Permutation to_soa = parse_permutation("aos_to_soa(" + sizes + ")");
      const Permutation to_aos = parse_permutation("soa_to_aos(" + sizes + ")");
      for (std::uint64_t i = 0; i < count; ++i) {
        for (std::uint64_t w = 0; w < words; ++w) {
          ASSERT_EQ(apply(to_soa, i * words + w), w * count + i) << sizes;
          ASSERT_EQ(apply(to_aos, w * count + i), i * words + w) << sizes;
        }
      }
      for (std::uint64_t tile = 1; tile <= count + 1; ++tile) {
        const std::string text = "aosoa(" + sizes + ", " + std::to_string(tile) + ")";
        const Permutation map = parse_permutation(text);
        std::uint64_t target = 0;
        for (std::uint64_t first = 0; first < count; first += tile) {
          for (std::uint64_t w = 0; w < words; ++w) {
            for (std::uint64_t i = first; i < std::min(count, first + tile); ++i) {
              ASSERT_EQ(apply(map, i * words + w), target++) << text;
            }
          }
        }
      }
    }
  }
}

TEST(Text, FormsThatAreNotAffine) {
  const std::vector<std::pair<std::string, std::string>> kCases{
      {"transpose(3, 5)", "transpose(3, 5)"},
      {"transpose(1, 5)", "axes(5; 0)"},
      {"transpose(4, 8)", "bits(5; 2 3 4 0 1)"},
      {"axes(4 8; 1 0)", "axes(4 8; 1 0)"},
      {"axes(3 1 5; 2 1 0)", "transpose(3, 5)"},
      {"axes(;)", "axes(1; 0)"},
      {"axes(0; 0)", "axes(0; 0)"},
      {"transpose(0, 3)", "axes(0; 0)"},
      {"transpose(4, 0)", "axes(0; 0)"},
      {"transpose(0, 0)", "axes(0; 0)"},
      {"aos_to_soa(5, 3)", "transpose(5, 3)"},
      {"soa_to_aos(5, 3)", "transpose(3, 5)"},
      {"aos_to_soa(8, 4)", "bits(5; 3 4 0 1 2)"},
      {"aos_to_soa(7, 1)", "axes(7; 0)"},
      {"aos_to_soa(0, 3)", "axes(0; 0)"},
      {"aosoa(6, 3, 2)", "axes(3 2 3; 0 2 1)"},
      {"aosoa(6, 3, 1)", "axes(18; 0)"},
      {"aosoa(6, 3, 6)", "transpose(6, 3)"},
      {"aosoa(6, 3, 100)", "transpose(6, 3)"},
      {"aosoa(8, 4, 2)", "bits(5; 1 2 0 3 4)"},
      {"aosoa(3, 2, 2)", "aosoa(3, 2, 2)"},
      {"inverse(aosoa(3, 0x2, 2))", "inverse(aosoa(3, 2, 2))"},
      {"aosoa(0, 2, 2)", "axes(0; 0)"},
      {"inverse(aos_to_soa(5, 3))", "transpose(3, 5)"},
      {"roll(10, -13)", "roll(10, 7)"},
      {"roll(0, 5)", "roll(0, 0)"},
      {"flip(2^20)", "flip(1048576)"},
      {"compose(flip(5), roll(5, 1))", "compose(roll(5, 4), flip(5))"},
      {"inverse(roll(5, 1))", "roll(5, 4)"},
      {"power(roll(5, 1), -7)", "roll(5, 3)"},
      {"indices()", "indices()"},
      {"inverse(indices(2 0 1))", "indices(1 2 0)"},
      {"compose(indices(2 0 1), flip(3))", "indices(1 0 2)"},
      {"random(0x3, 2^2)", "random(3, 4)"},
      {"inverse(random(3, 4))", "inverse(random(3, 4))"},
      {"compose(random(100, 1), power(random(100, 2), 2))",
       "compose(random(100, 1), power(random(100, 2), 2))"},
      {"compose(roll(16, 8), gray(4))", "affine(4; 0x1 0x3 0x6 0xc; 0x8)"},
      {"compose(roll(16, 0), gray(4))", "gray(4)"},
  };
  for (const auto& [text, canonical] : kCases) {
    const Permutation map = parse_permutation(text);
    EXPECT_EQ(to_text(map), canonical) << text;
    EXPECT_EQ(parse_permutation(to_text(map)), map) << text;
    EXPECT_EQ(inverse(inverse(map)), map) << text;
  }
}

TEST(Parser, IndexArraysCanBeLimited) {
  const ParseOptions limited{.bare_bits = {}, .direction = Direction::scatter, .most_index_elements = 100};
  EXPECT_EQ(element_count(parse_permutation("random(100, 1)", limited)), 100U);
  EXPECT_EQ(element_count(parse_permutation("compose(roll(2^40, 1), flip(2^40))", limited)), Word{1} << 40);
  for (const char* text :
       {"random(101, 1)", "compose(transpose(3, 40), roll(120, 1))", "power(transpose(3, 40), 2)"}) {
    const ErrorReport report = refusal(text, limited);
    EXPECT_EQ(report.code, ErrorCode::value) << text;
    EXPECT_EQ(report.wanted, "at most 100") << text;
  }
  // All arrays of a text together, made or read.
  EXPECT_EQ(element_count(parse_permutation("compose(random(33, 1), random(33, 2))", limited)), 33U);
  const ErrorReport report = refusal("compose(random(40, 1), random(40, 2))", limited);
  EXPECT_EQ(report.got, "an index array of 40 elements, after others of 80");
  EXPECT_EQ(report.wanted, "at most 100 in all");
}

struct BadText {
  const char* text;
  ErrorCode code;
  const char* got;     // a part of it
  const char* remedy;  // a part of it, or empty
};

TEST(Parser, BadTexts) {
  const BadText kCases[] = {
      {"", ErrorCode::spec, "an empty text", "faro maps"},
      {"   ", ErrorCode::spec, "the end of the text", "faro maps"},
      {"grya(4)", ErrorCode::spec, "unknown map `grya` at character 1", "did you mean `gray`?"},
      {"Gray(4)", ErrorCode::spec, "unknown map `Gray`", "did you mean `gray`?"},
      {"bit-reversal(4)", ErrorCode::spec, "unknown map `bit-reversal`", "did you mean `bit_reversal`?"},
      {"bitrev(4)", ErrorCode::spec, "unknown map `bitrev`", "did you mean `bit_reversal`?"},
      {"compose(gray(4), shufle(4))", ErrorCode::spec, "`shufle` at character 18", "did you mean `shuffle`?"},
      {"frobnicate(4)", ErrorCode::spec, "unknown map `frobnicate`", "faro maps"},
      {"gray", ErrorCode::spec, "`gray` without its number of index bits", "array fixes n"},
      {"xor", ErrorCode::spec, "`xor` without arguments", "xor(4, 0xa)"},
      {"gray()", ErrorCode::spec, "`)` at character 6", ""},
      {"gray(4, 5)", ErrorCode::spec, "`,` at character 7", ""},
      {"gray(4", ErrorCode::spec, "the end of the text", ""},
      {"gray(4))", ErrorCode::spec, "`)` at character 8", ""},
      {"gray(4) gray(4)", ErrorCode::spec, "`gray` at character 9", ""},
      {"gray(-4)", ErrorCode::spec, "`-` at character 6", ""},
      {"gray(4.0)", ErrorCode::spec, "`.` at character 7", ""},
      {"gray(0x)", ErrorCode::spec, "`0x` at character 6", "decimal, 0x... or 2^k"},
      {"gray(3^2)", ErrorCode::spec, "`3^2` at character 6", "decimal, 0x... or 2^k"},
      {"gray(12ab)", ErrorCode::spec, "`12ab` at character 6", "decimal, 0x... or 2^k"},
      {"gray(2^)", ErrorCode::spec, "`2^` at character 6", "decimal, 0x... or 2^k"},
      {"gray(65)", ErrorCode::value, "n = `65` at character 6", ""},
      {"gray(2^64)", ErrorCode::value, "`2^64` at character 6", ""},
      {"gray(18446744073709551616)", ErrorCode::value, "`18446744073709551616`", ""},
      {"gray(0x10000000000000000)", ErrorCode::value, "`0x10000000000000000`", ""},
      {"rotate_bits(4)", ErrorCode::spec, "`)` at character 14", ""},
      {"rotate_bits(4, 2^63)", ErrorCode::value, "`2^63`", ""},
      {"rotate_bits(4, 1, 2)", ErrorCode::spec, "`,` at character 17", ""},
      {"xor(4, 0x10)", ErrorCode::value, "a mask with bit 4 set", ""},
      {"swap_bits(4, 1, 4)", ErrorCode::value, "bit 4", ""},
      {"swap_bits(4, 1, 5000000000)", ErrorCode::value, "`5000000000`", ""},
      {"bits(3; 0 1)", ErrorCode::spec, "2 positions", ""},
      {"bits(3; 0 1 2 0)", ErrorCode::spec, "4 positions", ""},
      {"bits(3; 0 1 1)", ErrorCode::value, "position 1 twice", ""},
      {"bits(3; 0 1 3)", ErrorCode::value, "position 3", ""},
      {"bits(3; 0, 1, 2)", ErrorCode::spec, "`,` at character 10", ""},
      {"bits(3, 0 1 2)", ErrorCode::spec, "`,` at character 7", ""},
      {"transpose(2^40, 2^40)", ErrorCode::value, "1099511627776 x 1099511627776", ""},
      {"transpose(2^39, 3)", ErrorCode::value, "a product of extents past 2^40", ""},
      {"roll(5)", ErrorCode::spec, "`)` at character 7", ""},
      {"roll(2^41, 1)", ErrorCode::value, "2199023255552 elements", ""},
      {"roll(5, 2^63)", ErrorCode::value, "`2^63`", ""},
      {"flip()", ErrorCode::spec, "`)` at character 6", ""},
      {"flip", ErrorCode::spec, "`flip` without arguments", "flip(5)"},
      {"aos_to_soa(5)", ErrorCode::spec, "`)` at character 13", ""},
      {"aos_to_soa(5, 0)", ErrorCode::value, "structs of 0 words", ""},
      {"aos_to_soa(2^39, 3)", ErrorCode::value, "2^40", ""},
      {"soa_to_aos(5, 0)", ErrorCode::value, "structs of 0 words", ""},
      {"aosoa(5, 3)", ErrorCode::spec, "`)` at character 11", ""},
      {"aosoa(5, 3, 0)", ErrorCode::value, "tiles of 0 structs", ""},
      {"aosoa(2^39, 5, 3)", ErrorCode::value, "2^40", ""},
      {"aos_to_so(5, 3)", ErrorCode::spec, "`aos_to_so`", "did you mean `aos_to_soa`?"},
      {"axes(2 3 4)", ErrorCode::spec, "`)` at character 11", ""},
      {"axes(2 3 4; 0 1)", ErrorCode::value, "2 axes in the order of 3 extents", ""},
      {"axes(2 3; 0 0)", ErrorCode::value, "axis 0 twice", ""},
      {"axes(2 3; 0 2)", ErrorCode::value, "axis 2", ""},
      {"axes(2 3; 0 2^40)", ErrorCode::value, "axis 1099511627776", ""},
      {"axes(2, 3; 0 1)", ErrorCode::spec, "`,` at character 7", ""},
      {"axes(2^30 2^30; 1 0)", ErrorCode::value, "a product of extents past 2^40", ""},
      {"indices(0 0)", ErrorCode::value, "entry 1 is 0, as is entry 0; 1 is missing", ""},
      {"indices(0 2)", ErrorCode::value, "entry 1 is 2", ""},
      {"indices(0, 1)", ErrorCode::spec, "`,` at character 10", ""},
      {"indices(of 100 elements)", ErrorCode::spec, "`of` at character 9", ""},
      {"random(5)", ErrorCode::spec, "`)` at character 9", ""},
      {"random(2^40, 1)", ErrorCode::value, "which needs 8 TiB of memory", "more memory"},
      {"random(2^40, 2^64)", ErrorCode::value, "`2^64`", ""},
      {"random(2^41, 1)", ErrorCode::value, "2^41 elements", ""},
      {"compose(roll(7, 1), roll(8, 1))", ErrorCode::value, "permutations of 7 and 8 elements", ""},
      {"compose(gray(64), roll(8, 1))", ErrorCode::value, "64 index bits", ""},
      {"scatter(3)", ErrorCode::spec, "`3` at character 9", ""},
      {"scatter(@a.json)", ErrorCode::spec, "`@` at character 9", ""},
      {"gather(@nothing/here.npy)", ErrorCode::file, "", ""},
      {"gather", ErrorCode::spec, "`gather` without arguments", ""},
      {"morton(0, 4)", ErrorCode::value, "d = 0", ""},
      {"morton(9, 8)", ErrorCode::value, "72 bits", ""},
      {"parm(4, 0)", ErrorCode::value, "a mask of zero", ""},
      {"affine(2; 1 1; 0)", ErrorCode::value, "columns 0, 1 add up to zero", ""},
      {"affine(3; 1 0 4; 0)", ErrorCode::value, "column 1 is zero", ""},
      {"affine(2; 1 4; 0)", ErrorCode::value, "column 1 with bit 2 set", ""},
      {"affine(2; 1 2; 4)", ErrorCode::value, "a complement with bit 2 set", ""},
      {"affine(2; 1 2)", ErrorCode::spec, "`)` at character 14", ""},
      {"affine(2; 1; 0)", ErrorCode::spec, "1 columns", ""},
      {"compose(gray(3), gray(4))", ErrorCode::value, "maps of 3 and 4 bits", ""},
      {"compose(gray(3))", ErrorCode::spec, "`)` at character 16", ""},
      {"inverse(3)", ErrorCode::spec, "`3` at character 9", ""},
      {"power(gray(3), x)", ErrorCode::spec, "`x` at character 16", ""},
      {"circuit(4; swp 1 2)", ErrorCode::spec, "unknown gate `swp` at character 12", "did you mean `swap`?"},
      {"circuit(4; cnot 1 2)", ErrorCode::spec, "unknown gate `cnot`", "did you mean `cx`?"},
      {"circuit(4; h 1)", ErrorCode::spec, "unknown gate `h`", "no affine map"},
      {"circuit(4; ccx 1 2 3)", ErrorCode::spec, "unknown gate `ccx`", "no affine map"},
      {"circuit(4; cx 1 1)", ErrorCode::value, "on qubit 1 twice", ""},
      {"circuit(4; x 4)", ErrorCode::value, "qubit `4` at character 14", ""},
      {"circuit(4; x)", ErrorCode::spec, "`)` at character 13", ""},
      {"circuit(4; x 1 2)", ErrorCode::spec, "`2` at character 16", ""},
      {"circuit(4 x 1)", ErrorCode::spec, "`x` at character 11", ""},
      {"\xc3\xa9(4)", ErrorCode::spec, "`\xc3\xa9` at character 1", ""},
      {"gray(\xff)", ErrorCode::spec, "`\\xff` at character 6", ""},
      {"@", ErrorCode::spec, "the end of the text", ""},
      {"@\"\"", ErrorCode::spec, "an empty file's name", ""},
      {"@\"a.json", ErrorCode::spec, "the end of the text", ""},
      {"@nothing/here.qasm", ErrorCode::file, "No such file", ""},
      {"@nothing/here.npy", ErrorCode::file, "", ""},
      {"@notes.txt", ErrorCode::spec, "unknown kind", ""},
  };
  for (const BadText& bad : kCases) {
    SCOPED_TRACE(bad.text);
    const ErrorReport report = refusal(bad.text);
    EXPECT_EQ(name(report.code), name(bad.code)) << report.got;
    EXPECT_NE(report.got.find(bad.got), std::string::npos) << report.got;
    EXPECT_NE(report.remedy.find(bad.remedy), std::string::npos) << report.remedy;
    EXPECT_FALSE(report.wanted.empty());
  }
}

TEST(Parser, ErrorsQuoteTheTextInOneLine) {
  EXPECT_EQ(refusal("xor(4, 0x10)").operation, "parse `xor(4, 0x10)`: xor");
  EXPECT_EQ(refusal("gray(4, 5)").wanted, "`)` as in `gray(n)`");
  EXPECT_EQ(refusal("gray(\n\x01)").operation, "parse `gray(\\x0a\\x01)`");
  const std::string long_text = "gray(" + std::string(5000, '9') + ")";
  EXPECT_LT(refusal(long_text).operation.size(), 100U);
  EXPECT_LT(refusal(long_text).got.size(), 100U);
}

TEST(Parser, NestingIsLimited) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "inverse(";
    text += "gray(4)";
    return text + std::string(static_cast<std::size_t>(depth), ')');
  };
  EXPECT_EQ(parsed(nested(90)), maps::gray(4));
  EXPECT_EQ(refusal(nested(100'000)).code, ErrorCode::spec);
  // Side by side is not nested.
  std::string chain = "gray(4)";
  for (int i = 0; i < 60; ++i) chain = "compose(gray(4), " + chain + ")";
  EXPECT_EQ(parsed(chain), maps::gray(4).power(61));
}

}  // namespace permutation_parser_test
}  // namespace faro
