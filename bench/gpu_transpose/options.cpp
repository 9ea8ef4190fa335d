#include "bench/gpu_transpose/options.hpp"

#include <algorithm>

namespace faro::bench::gpu {

const char* const kTransposeUsage =
    R"(gpu_transpose_bench: transpositions of any shape on a GPU, in place and out of place, beside cudaMemcpy

  --bytes COUNT    bytes of every array, a power of two                        (default 4GiB)
  --random COUNT   shapes of the group random                                  (default 200)
  --seed NUMBER    of those                                                    (default 1)
  --groups LIST    of random,narrow,odd,prime,multiple,square,skinny,widths,
                   batches                                                     (default all)
  --rounds COUNT   turns of the transposition and the copy on every shape      (default 3)
  --only HOW       in_place or out_of_place                                    (default both, in place first)
  --out FILE       the tables, in Markdown
  --help

Shapes of the group narrow have a shorter side of 32 to 999, a quarter of the bytes, and widths of 1 to 16 bytes; they are
always the same 40. The default takes about a minute on an H200 and 11 GiB of device memory. Every shape is on standard error before it
runs; its row is on standard output, and in the file, as soon as it is measured. A shape that fails has its error in its
row, the others are measured all the same, and the exit status is 1.
)";

namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

std::vector<std::string> parse_groups(const Argument& argument) {
  std::vector<std::string> groups;
  for (const Argument& part : split(argument)) {
    const bool known = std::find(kShapeGroups.begin(), kShapeGroups.end(), part.text) != kShapeGroups.end();
    if (!known) refuse(part, "groups that --help lists");
    groups.emplace_back(part.text);
  }
  return groups;
}

void parse_only(const Argument& how, TransposeOptions& options) {
  options.in_place = how.text == "in_place";
  options.out_of_place = how.text == "out_of_place";
  if (!options.in_place && !options.out_of_place) refuse(how, "in_place or out_of_place");
}

}  // namespace

TransposeOptions parse_transpose_options(const CommandLine& line) {
  TransposeOptions options{{.rounds = 3}};
  options.read(line,
               {{"--bytes", [&](const Argument& a) { options.shapes.bytes = parse_bytes(a, kLeastBytes); }},
                {"--random", [&](const Argument& a) { options.shapes.random = parse_count(a); }},
                {"--seed", [&](const Argument& a) { options.shapes.seed = parse_count(a); }},
                {"--groups", [&](const Argument& a) { options.groups = parse_groups(a); }},
                {"--only", [&](const Argument& a) { parse_only(a, options); }}});
  return options;
}

}  // namespace faro::bench::gpu
