#include "faro/swizzle/examples.hpp"

#include <algorithm>
#include <array>

#include "faro/error.hpp"
#include "faro/suggest.hpp"

namespace faro::swizzle {
namespace {

struct Entry {
  ExampleName name;
  Example (*make)(const ExampleOptions&);
};

constexpr std::array<Entry, 10> kEntries{{
    {{.name = "stencil-1d", .summary = "mean of three neighbours"}, stencil_1d},
    {{.name = "conv-1d", .summary = "convolution with three weights"}, conv_1d},
    {{.name = "conv-2d", .summary = "convolution with 3 x 3 or 7 x 7 weights", .default_words = 7}, conv_2d},
    {{.name = "poly-32", .summary = "product of two polynomials of W coefficients over GF(2)"}, poly_32},
    {{.name = "poly-64", .summary = "product of two polynomials of 2 W coefficients over GF(2)"}, poly_64},
    {{.name = "load-only", .summary = "the offset and the size of what a stencil's warp must load"},
     load_only},
    {{.name = "aos-sum", .summary = "sum of each struct's words", .default_words = 3}, aos_sum},
    {{.name = "aos-crc",
      .summary = "structs to lanes: permute registers, shuffle, permute registers",
      .default_words = 3},
     aos_crc},
    {{.name = "aos-rcr",
      .summary = "structs to lanes: rotated loads, permute registers, rotated stores; no shuffle",
      .default_words = 3},
     aos_rcr},
    {{.name = "transpose",
      .summary = "a matrix of any side through a smaller tile in shared memory",
      .default_words = 5},
     shared_transpose},
}};

constexpr auto kNames = [] {
  std::array<ExampleName, kEntries.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kEntries[i].name;
  return names;
}();

}  // namespace

std::span<const ExampleName> example_names() { return kNames; }

Example make_example(std::string_view name, const ExampleOptions& options) {
  const auto* const entry =
      std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& e) { return e.name.name == name; });
  if (entry != kEntries.end()) return entry->make(options);
  std::array<std::string_view, kEntries.size()> names{};
  std::transform(kNames.begin(), kNames.end(), names.begin(), [](const ExampleName& e) { return e.name; });
  const std::string suggestion = did_you_mean(name, names);
  fail(ErrorCode::value, "find the example", "`" + std::string(name) + "`", "a name of `faro synth --list`",
       suggestion);
}

void require_emittable(const Example& example, const EmissionOptions& options) {
  require_emittable(example.sketch, options);
  const bool all_shuffle = std::all_of(
      example.known.begin(), example.known.end(),
      [&](const KnownSolution& known) { return cost_of(example.sketch, known.valuation).shuffles > 0; });
  if (all_shuffle && !example.known.empty()) require_shuffles(example.sketch);
}

}  // namespace faro::swizzle
