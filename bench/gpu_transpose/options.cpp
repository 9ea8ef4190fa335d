#include "bench/gpu_transpose/options.hpp"

#include <algorithm>
#include <string_view>

#include "bench/arguments.hpp"

namespace faro::bench::gpu {

const char* const kTransposeUsage =
    R"(gpu_transpose_bench: transpositions of any shape on a GPU, in place and out of place, beside cudaMemcpy

  --bytes COUNT    bytes of every array, a power of two                        (default 4GiB)
  --random COUNT   shapes of the group random                                  (default 200)
  --seed NUMBER    of those                                                    (default 1)
  --groups LIST    of random,odd,prime,multiple,square,skinny,widths,batches   (default all)
  --rounds COUNT   turns of the transposition and the copy on every shape      (default 3)
  --only HOW       in_place or out_of_place                                    (default both, in place first)
  --out FILE       the tables, in Markdown
  --help

The default takes about a minute on an H200 and 11 GiB of device memory. Every shape is on standard error before it
runs; its row is on standard output, and in the file, as soon as it is measured. A shape that fails has its error in its
row, the others are measured all the same, and the exit status is 1.
)";

namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

std::vector<std::string> parse_groups(const std::string& option, const std::string& text) {
  std::vector<std::string> groups;
  for (const std::string_view part : split(text)) {
    const bool known = std::find(kShapeGroups.begin(), kShapeGroups.end(), part) != kShapeGroups.end();
    if (!known) refuse_option(option, part, "groups that --help lists");
    groups.emplace_back(part);
  }
  return groups;
}

}  // namespace

TransposeOptions parse_transpose_options(int count, const char* const* words) {
  TransposeOptions options;
  const std::vector<std::string> arguments(words + 1, words + count);
  options.command = "gpu_transpose_bench";
  for (const std::string& argument : arguments) options.command += " " + argument;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) refuse_option(option, "nothing", "a value");
      return arguments[++i];
    };
    if (option == "--bytes") {
      options.shapes.bytes = parse_bytes(option, value(), kLeastBytes);
    } else if (option == "--random") {
      options.shapes.random = parse_count(option, value());
    } else if (option == "--seed") {
      options.shapes.seed = parse_count(option, value());
    } else if (option == "--groups") {
      options.groups = parse_groups(option, value());
    } else if (option == "--rounds") {
      options.rounds = std::clamp<std::uint64_t>(parse_count(option, value()), 1, 1000);
    } else if (option == "--only") {
      const std::string& how = value();
      if (how != "in_place" && how != "out_of_place") refuse_option(option, how, "in_place or out_of_place");
      options.in_place = how == "in_place";
      options.out_of_place = how == "out_of_place";
    } else if (option == "--out") {
      options.out = value();
    } else if (option == "--help") {
      options.help = true;
    } else {
      refuse_option("gpu_transpose_bench", option, "an option");
    }
  }
  return options;
}

}  // namespace faro::bench::gpu
