#include "bench/gpu/options.hpp"

#include <algorithm>

#include "kernels/in_place_tiles.hpp"

namespace faro::bench::gpu {

const char* const kUsage =
    R"(gpu_bench: faro on a GPU beside cudaMemcpy, copy kernels and the naive kernel

  --bytes LIST     bytes of each array, powers of two                          (default 4GiB,1GiB,64MiB)
  --widths LIST    element widths in bytes                                     (default 1,2,4,8,16)
  --maps LIST      maps of each family; absent families are left out
                                       (default bit_reversal,transpose,random_bpc=8,random_bmmc=16)
  --rounds COUNT   turns of every contestant on every map                      (default 15)
  --small LIST     sizes whose calls are timed in graphs, or none              (default 4KiB,16KiB,64KiB,256KiB,1MiB)
  --quick          --bytes 1GiB,64MiB --widths 1,4 --maps bit_reversal,transpose,random_bpc=2,random_bmmc=2
                   --rounds 5 --small 4KiB,1MiB
  --ladder         instead of all that: the kernels that `faro emit` writes, rung by rung; --bytes 4GiB --widths 4
                   --maps bit_reversal,transpose,random_bpc=5,random_bmmc=5, and as many random BPs as BPCs;
                   NVRTC has to be where the loader, CUDA_HOME or FARO_NVRTC finds it
  --in-place       instead of all that: affine maps in place, one pass and two; --bytes 4GiB
                   --maps bit_reversal,transpose,random_bpc=8,random_bmmc=8 (transpose: swaps, gates and reversal, too)
  --tile NUMBER    in place with one kernel of kernels/in_place_tiles.hpp, by its place in the list
  --out FILE       the tables to FILE.md, or every row to FILE.json; may be given twice
  --help

The default takes two to four minutes on an H200 and twice the largest array of device memory; --quick takes seconds.
Progress is on standard error, the tables on standard output.
)";

namespace {

// Below, a launch is all that is measured: that is what --small is for.
constexpr std::uint64_t kLeastBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kLeastSmallBytes = std::uint64_t{1} << 10;
constexpr std::uint64_t kMostSmallBytes = std::uint64_t{16} << 20;
constexpr int kMostRounds = 1000;

std::vector<std::uint64_t> parse_sizes(const Argument& argument, std::uint64_t least) {
  std::vector<std::uint64_t> sizes;
  for (const Argument& part : split(argument)) sizes.push_back(parse_bytes(part, least));
  return sizes;
}

std::vector<std::uint64_t> parse_small_sizes(const Argument& argument) {
  if (argument.text == "none") return {};
  const std::vector<std::uint64_t> sizes = parse_sizes(argument, kLeastSmallBytes);
  const bool are_small =
      std::all_of(sizes.begin(), sizes.end(), [](std::uint64_t bytes) { return bytes <= kMostSmallBytes; });
  if (!are_small) refuse(argument, "sizes up to " + size_text(kMostSmallBytes));
  return sizes;
}

std::string parse_out(const Argument& argument) {
  if (argument.text.ends_with(".md") || argument.text.ends_with(".json")) return std::string(argument.text);
  refuse(argument, "FILE.md or FILE.json");
}

void make_quick(Options& options) {
  options.bytes = {std::uint64_t{1} << 30, std::uint64_t{64} << 20};
  options.widths = {1, 4};
  options.small_bytes = {4 << 10, 1 << 20};
  options.maps = {.random_bpc = 2, .random_bmmc = 2};
  options.rounds = 5;
}

// Arrays of 2^30 elements, as published; --quick takes a quarter of that.
void make_ladder(Options& options, bool quick) {
  const int maps = quick ? 2 : 5;
  options.ladder = true;
  options.bytes = {std::uint64_t{quick ? 1U : 4U} << 30};
  options.widths = {4};
  options.small_bytes.clear();
  options.maps = {.random_bpc = maps, .random_bmmc = maps};
}

void make_in_place(Options& options, bool quick) {
  const int maps = quick ? 2 : 8;
  options.in_place = true;
  options.bytes = {std::uint64_t{quick ? 1U : 4U} << 30};
  options.small_bytes.clear();
  options.maps = {.random_bpc = maps, .random_bmmc = maps};
}

}  // namespace

Options parse_options(const CommandLine& line) {
  constexpr int most_tile = kernels::kInPlaceTileCount - 1;
  Options options;
  options.command = line.text();
  // --quick first: what is said beside it holds, wherever it stands.
  const bool quick = line.has("--quick");
  if (quick) make_quick(options);
  if (line.has("--ladder")) make_ladder(options, quick);
  if (line.has("--in-place")) make_in_place(options, quick);
  line.read({{"--bytes", [&](const Argument& a) { options.bytes = parse_sizes(a, kLeastBytes); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--maps", [&](const Argument& a) { options.maps = parse_maps(a); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, kMostRounds); }},
             {"--small", [&](const Argument& a) { options.small_bytes = parse_small_sizes(a); }},
             {"--out", [&](const Argument& a) { options.out_files.push_back(parse_out(a)); }},
             {"--tile", [&](const Argument& a) { options.tile = parse_int(a, 0, most_tile); }}},
            {"--quick", "--ladder", "--in-place"});
  return options;
}

}  // namespace faro::bench::gpu
