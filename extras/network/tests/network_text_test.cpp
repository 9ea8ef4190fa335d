// Programs as text: the grammar, round trips, definitions, and every refusal with its place.
// Sanitized: in `make test`, too.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "faro/network/program.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_text_test {

using test::report_of;

using operators::fourier;
using operators::hadamard;
using operators::max_min;
using operators::min_max;
using ::testing::HasSubstr;

constexpr const char* kSort =
    "vcolumn 1 = pairs(min_max); vcolumn n = parm(3; vcolumn (n-1));"
    "merge 0 = id; merge n = parm(2^(n-1); merge (n-1)) . vcolumn n;"
    "sort 0 = id; sort n = merge n . parm(1; sort (n-1)); sort";

TEST(NetworkText, ReadsEveryCombinator) {
  EXPECT_EQ(parse_program("id", 3), identity(3));
  EXPECT_EQ(parse_program("pairs(min_max)", 3), pairs(min_max(), 3));
  EXPECT_EQ(parse_program("pairs(max_min)", 3), pairs(max_min(), 3));
  EXPECT_EQ(parse_program("two(pairs(hadamard))", 3), two(pairs(hadamard(), 2)));
  EXPECT_EQ(parse_program("parm(5; pairs(fourier))", 3), parm(5, pairs(fourier(), 2)));
  EXPECT_EQ(parse_program("parm(0x5;id)", 3), parm(5, identity(2)));
  EXPECT_EQ(parse_program("bmmc(bit_reversal)", 3), bmmc(maps::bit_reversal(3)));
  EXPECT_EQ(parse_program("bmmc(compose(gray(3), xor(3, 4)))", 3),
            bmmc(compose(maps::gray(3), maps::xor_mask(3, 4))));
  EXPECT_EQ(parse_program("bmmc(A = 0x2 0x4 0x1, c = 0x5)", 3),
            parse_program("bmmc(affine(3; 0x2 0x4 0x1; 0x5))", 3));
  EXPECT_EQ(parse_program("bmmc(A = 2 4 1)", 3), bmmc(maps::shuffle(3)));
  const Program f = bmmc(maps::gray(2));
  const Program g = pairs(min_max(), 2);
  EXPECT_EQ(parse_program("bmmc(gray) . pairs(min_max)", 2), f * g);
  EXPECT_EQ(parse_program("compose(bmmc(gray), pairs(min_max))", 2), f * g);
  EXPECT_EQ(parse_program("(bmmc(gray) . pairs(min_max)) . (id)", 2), f * g * identity(2));
  EXPECT_EQ(parse_program("\n two ( id )\t", 2), two(identity(1)));
}

TEST(NetworkText, SizesTravelInwards) {
  EXPECT_EQ(parse_program("two(parm(2^(n-2); bmmc(reverse)))", 4), two(parm(4, bmmc(maps::reverse(2)))));
  EXPECT_EQ(parse_program("bmmc(rotate_bits(n, -1))", 4), bmmc(maps::rotate_bits(4, -1)));
  EXPECT_EQ(parse_program("two(bmmc(xor(n-1, 2^(n-2))))", 4), two(bmmc(maps::xor_mask(3, 4))));
  EXPECT_EQ(parse_program("bmmc(bits(n; n-1 0 1))", 3), parse_program("bmmc(bits(3; 2 0 1))", 3));
  EXPECT_EQ(parse_program("parm((n+2)/2*2-1; id)", 4), parm(5, identity(3)));
}

TEST(NetworkText, TheLibraryIsKnownByName) {
  for (const LibraryEntry& entry : library()) {
    for (const int n : {0, 1, 2, 5}) {
      EXPECT_EQ(parse_program(entry.name, n), entry.make(n)) << entry.name << " --bits " << n;
    }
    EXPECT_EQ(parse_program(std::string("two(") + std::string(entry.name) + " 4)", 5), two(entry.make(4)));
  }
}

TEST(NetworkText, TheLibraryPrintsAndReadsBack) {
  for (const LibraryEntry& entry : library()) {
    for (int n = 0; n <= 9; ++n) {
      const Program program = entry.make(n);
      EXPECT_EQ(parse_program(to_text(program), n), program) << to_text(program);
    }
  }
}

TEST(NetworkText, RandomProgramsPrintAndReadBack) {
  std::mt19937_64 random(2024);
  const std::vector<Operator> ops{min_max(),
                                  max_min(),
                                  hadamard(),
                                  fourier(),
                                  operators::inverse_fourier(),
                                  operators::user("odd", "a += \"b\\\";")};
  for (int i = 0; i < 2000; ++i) {
    const int n = static_cast<int>(random() % 9);
    const Program program = random_program(n, 5, ops, random);
    const std::string text = to_text(program);
    ASSERT_EQ(parse_program(text, n), program) << "--bits " << n << " '" << text << "'";
    ASSERT_EQ(to_text(parse_program(text, n)), text);
  }
}

TEST(NetworkText, UsersOperatorsCarryTheirText) {
  const Program program = parse_program(R"(pairs(step "a += b; /* \"x\" */"))", 2);
  EXPECT_EQ(program.op().kind, OperatorKind::user);
  EXPECT_EQ(program.op().name, "step");
  EXPECT_EQ(program.op().text, "a += b; /* \"x\" */");
  EXPECT_EQ(to_text(program), R"(pairs(step "a += b; /* \"x\" */"))");
}

TEST(NetworkText, TheRecurrencesOfThePaperAreTheLibrarys) {
  for (int n = 1; n <= 10; ++n) {
    expect_same_effect(parse_program(kSort, n), sort(n), kSort);
    if (HasFailure()) return;
  }
  EXPECT_EQ(parse_program(kSort, 0), identity(0));
}

TEST(NetworkText, DefinitionsComeInAnyOrderAndCoverTheLibrary) {
  const char* const text =
      "even n = parm(1; odd (n-1)); odd 0 = id; odd n = two(even (n-1)); even 0 = id; even";
  EXPECT_EQ(parse_program(text, 3), parm(1, two(parm(1, identity(0)))));
  EXPECT_EQ(parse_program("sort n = id; sort", 3), identity(3));
  EXPECT_EQ(parse_program("f(1) = id; f(k) = parm(2^(k-1); f(k-1)); f(n)", 3), parm(4, parm(2, identity(1))));
  EXPECT_EQ(parse_program("f 3 = pairs(min_max); f m = id; two(f) . f", 4),
            two(pairs(min_max(), 3)) * identity(4));
}

TEST(NetworkText, FilesHoldProgramsWithRemarks) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("faro_network_text_test." + std::to_string(getpid()));
  std::ofstream(path) << "# a column\nf 1 = pairs(min_max);  # base\nf n = parm(3; f (n-1));\nf\n";
  EXPECT_EQ(parse_program("@" + path.string(), 4), vcolumn(4));
  EXPECT_EQ(parse_program("@\"" + path.string() + "\"", 4), vcolumn(4));
  std::filesystem::remove(path);
  EXPECT_EQ(report_of([&] { parse_program("@" + path.string(), 4); }).code, ErrorCode::file);
  EXPECT_EQ(report_of([] { parse_program("@", 4); }).code, ErrorCode::spec);
}

struct Refused {
  const char* text;
  int n;
  ErrorCode code;
  const char* operation;  // part of it
  const char* got;        // part of it
  const char* hint;       // part of wanted or remedy
};

TEST(NetworkText, EveryRefusalSaysWhereAndWhy) {
  constexpr ErrorCode kSpec = ErrorCode::spec;
  constexpr ErrorCode kValue = ErrorCode::value;
  const std::vector<Refused> cases{
      {"", 3, kSpec, "parse the program ``", "an empty text", "a program such as"},
      {"two(", 3, kSpec, "parse", "the end of the text", "a program such as"},
      {"two(id", 3, kSpec, "parse", "the end of the text", "`)`"},
      {"id id", 3, kSpec, "parse", "`id` at character 4", "`.` or the end"},
      {"parm(; id)", 3, kSpec, "parse", "`;` at character 6", "a number"},
      {"parm(3, id)", 3, kSpec, "parse", "`,` at character 7", "`;`"},
      {"parm(3; id; id)", 3, kSpec, "parse", "`;` at character 11", "`)`"},
      {"srot", 3, kSpec, "parse", "unknown program `srot` at character 1", "did you mean `sort`?"},
      {"two(prm(3; id))", 3, kSpec, "parse", "`;`", "`)`"},
      {"pairs(minmax)", 3, kValue, "pairs(minmax)", "minmax", "min_max"},
      {"pairs(3)", 3, kSpec, "parse", "`3` at character 7", "an operator such as"},
      {"pairs(x \"a", 3, kSpec, "parse", "without its end", "closing"},
      {"f 1 = id; f n = two(f n-1); f", 3, kSpec, "parse", "`-` at character 24", "parentheses"},
      {"f n = id", 3, kSpec, "parse", "the end of the text", "`;`"},
      {"f n = id;", 3, kSpec, "parse", "the end of the text", "the program itself"},
      {"f n = id; f m = id; f", 3, kSpec, "parse", "a second definition of `f m` at character 11", "one"},
      {"parm n = id; id", 3, kSpec, "parse", "`parm` at character 1", "a word of the language"},
      {"parm(12ab; id)", 3, kSpec, "parse", "`12ab` at character 6", "a number"},
      {"parm(0; id)", 3, kValue, "network `parm(0; id)`", "a mask of zero", "1 to 2^3 - 1"},
      {"two(parm(n-3; id))", 3, kValue, "network `parm(n-3; id)`", "a mask of zero", "1 to 2^2 - 1"},
      {"parm(8; id)", 3, kValue, "network `parm(8; id)`", "the mask 0x8", "below 2^3"},
      {"parm(n-4; id)", 3, kValue, "parse", "`n-4` at n = 3 is below zero", "0 to 2^64"},
      {"parm(2^70; id)", 3, kValue, "parse", "`2^70` is too large", "2^64"},
      {"parm(n/0; id)", 3, kValue, "parse", "`n/0` at n = 3 is a division by zero", ""},
      {"parm(m; id)", 3, kValue, "parse", "`m` at character 6", "size variable `n`"},
      {"f k = parm(n; id); f", 3, kValue, "parse", "`n` at character 12", "size variable `k`"},
      {"two(two(id))", 1, kValue, "network `two(id)`", "one element", "two elements"},
      {"pairs(min_max)", 0, kValue, "network `pairs(min_max)`", "one element", "two elements"},
      {"f n = parm(1; f (n-1)); f", 3, kValue, "network `parm(1; f (n-1))` in `f 0`", "one element",
       "base case, such as `f 0 = id`"},
      {"f 1 = id; f 3 = two(f 2); f", 3, kValue, "network `f 2` in `f 3`", "no case", "`f 2 = ...`"},
      {"f n = g n; g n = f n; f", 3, kValue, "network `f n` in `g 3`",
       "a recursion without end: `f 3` calls `g 3` calls `f 3`", "a smaller array"},
      {"f n = two(f n); f", 3, kValue, "network `f n` in `f 3`", "`f 3` on an array of 2^2 elements",
       "`f 2`"},
      {"two(sort 3)", 3, kValue, "network `sort 3`", "`sort 3` on an array of 2^2 elements", "`sort 2`"},
      {"two(bmmc(gray(3)))", 3, kValue, "network `bmmc(gray(3))`", "a map of 2^3 elements on", "2^2"},
      {"bmmc(grey)", 3, kSpec, "network `bmmc(grey)`: parse `grey`", "unknown map", "gray"},
      {"bmmc(affine(2; 1 1; 0))", 2, kValue, "network `bmmc(affine(2; 1 1; 0))`", "", ""},
      {"bmmc(A = 1 1)", 2, kValue, "network `bmmc(A = 1 1)`", "", ""},
      {"bmmc(A = 1 2, d = 1)", 2, kSpec, "parse", "`d` at character 15", "`c = complement`"},
      {"bmmc()", 2, kSpec, "parse", "`)` at character 6", "a map such as"},
      {"two(\xff)", 2, kSpec, "parse", "\\xff", "a program such as"}};
  for (const Refused& refused : cases) {
    const ErrorReport report = report_of([&] { parse_program(refused.text, refused.n); });
    EXPECT_EQ(report.code, refused.code) << refused.text;
    EXPECT_THAT(report.operation, HasSubstr(refused.operation)) << refused.text;
    EXPECT_THAT(report.got, HasSubstr(refused.got)) << refused.text;
    EXPECT_THAT(report.wanted + "; " + report.remedy, HasSubstr(refused.hint)) << refused.text;
  }
}

TEST(NetworkText, DeepAndDoublingTextsAreRefused) {
  const std::string deep = std::string(1000, '(') + "id" + std::string(1000, ')');
  EXPECT_EQ(report_of([&] { parse_program(deep, 3); }).code, ErrorCode::spec);
  const std::string sums = "parm(" + std::string(1000, '(') + "1" + std::string(1000, ')') + "; id)";
  EXPECT_EQ(report_of([&] { parse_program(sums, 3); }).code, ErrorCode::spec);
  const char* const doubling = "f 0 = id; f n = two(f (n-1)) . two(f (n-1)); f";
  EXPECT_EQ(parse_program(doubling, 10).leaves(), 1024U);
  EXPECT_EQ(report_of([&] { parse_program(doubling, 40); }).code, ErrorCode::value);
  std::string chain = "f0 n = id;";
  for (int i = 1; i < 3000; ++i) {
    chain += "f" + std::to_string(i) + " n = f" + std::to_string(i - 1) + ";";
  }
  EXPECT_EQ(report_of([&] { parse_program(chain + "f2999", 3); }).code, ErrorCode::value);
}

// Whatever is cut off or changed, there is a program or a named refusal.
TEST(NetworkText, DamagedTextsNeverGetFurtherThanARefusal) {
  std::mt19937_64 random(7);
  const std::string alphabet = "()=;.,^+-*/ \"@#n1230xabpmids_\\";
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = kSort;
    for (std::uint64_t edits = random() % 4; edits > 0; --edits) {
      const std::size_t place = random() % text.size();
      const std::uint64_t kind = random() % 3;
      if (kind == 0) text.erase(place, 1 + random() % 5);
      if (kind == 1) text[place] = alphabet[random() % alphabet.size()];
      if (kind == 2) text.insert(place, 1, alphabet[random() % alphabet.size()]);
      if (text.empty()) text = "x";
    }
    try {
      read += parse_program(text, 5).bits() == 5 ? 1 : 0;
    } catch (const Error& error) {
      ASSERT_NE(error.code(), ErrorCode::internal) << text;
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace network_text_test
}  // namespace faro::network
