// What plans of every kind say, word for word, as tests/golden/explain.txt has it. Predicted times, which
// follow the measured curves, are written as #. FARO_UPDATE_GOLDEN=1 writes the file anew: read what git says
// of it before it is kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "faro/engines/cuda.hpp"
#include "faro/plan/plan.hpp"

namespace faro {
namespace plan_golden_test {

struct Case {
  const char* spec;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  Placement placement = Placement::out_of_place;
};

constexpr Case kCases[] = {{"identity(20)"},
                           {"bit_reversal(20)"},
                           {"random_bmmc(24, 1)"},
                           {"xor(20, 0xff000)"},
                           {"bit_reversal(18)", 32},
                           {"reverse(5)", 4, 1000003},
                           {"gray(10)", 4, 0},
                           {"bit_reversal(4)"},
                           {"axes(12345 6789; 1 0)"},
                           {"axes(48 28 28 28 48; 4 3 2 1 0)"},
                           {"axes(60 50 40; 2 1 0; 0 7 0; 1)", 12},
                           {"roll(100003, 5)", 2, 3},
                           {"multiply(50000, 7)", 8},
                           {"hilbert(2, 9)"},
                           {"random(70000, 3)", 4, 2},
                           {"strided(300 400; -400 1; 512 1; 119600 0)"},
                           {"bit_reversal(24)", 4, 1, Placement::in_place},
                           {"random_bmmc(24, 1)", 4, 1, Placement::in_place},
                           {"circuit(24; x 3; cx 0 19; swap 1 22)", 4, 1, Placement::in_place},
                           {"bit_reversal(6)", 4, 13, Placement::in_place},
                           {"transpose(1000, 3000)", 4, 1, Placement::in_place},
                           {"axes(20011 53653; 1 0)", 4, 1, Placement::in_place},
                           {"roll(100003, 5)", 2, 3, Placement::in_place}};

std::string words(const Case& asked, const Target& target) {
  const std::string spec = asked.spec;
  if (spec.starts_with("strided")) {
    return Plan({.element_bytes = asked.element_bytes, .view = parse_strided(spec)}, target).explain();
  }
  return Plan({.permutation = parse_permutation(spec),
               .element_bytes = asked.element_bytes,
               .batch = asked.batch,
               .placement = asked.placement},
              target)
      .explain();
}

std::string without_times(const std::string& text) {
  static const std::regex times(R"([0-9][0-9.e+-]*( ms| us| GB/s| times as long))");
  return std::regex_replace(text, times, "#$1");
}

std::string words_of_all() {
  Target cpu;
  cpu.threads = 2;
  cpu.name = "2 threads";
  std::string all;
  for (const Target& target : {cpu, cuda::target_of_capability(9, 0)}) {
    for (const Case& each : kCases) all += without_times(words(each, target)) + "\n";
  }
  return all;
}

TEST(PlanGolden, WordsAreThoseOfTheFile) {
  const auto path = std::filesystem::path(FARO_SOURCE_DIR) / "tests" / "golden" / "explain.txt";
  const std::string said = words_of_all();
  if (std::getenv("FARO_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << said;
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << path;
  EXPECT_EQ(said, std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace plan_golden_test
}  // namespace faro
