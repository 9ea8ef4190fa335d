#include "bench/gpu/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/arguments.hpp"
#include "faro/kernels/in_place_tiles.hpp"

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
  --tile NUMBER    in place with one kernel of faro/kernels/in_place_tiles.hpp, by its place in the list
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

std::vector<std::uint64_t> parse_sizes(const std::string& option, std::string_view text,
                                       std::uint64_t least) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view part : split(text)) sizes.push_back(parse_bytes(option, part, least));
  return sizes;
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

std::size_t parse_tile(const std::string& option, const std::string& text) {
  const std::uint64_t number = parse_count(option, text);
  if (number >= kernels::kInPlaceTileCount)
    refuse_option(option, text, fmt::format("a number below {}", kernels::kInPlaceTileCount));
  return number;
}

bool has(const std::vector<std::string>& arguments, const char* option) {
  return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  options.command = "gpu_bench";
  for (const std::string& argument : arguments) options.command += " " + argument;
  // --quick first: what is said beside it holds, wherever it stands.
  const bool quick = has(arguments, "--quick");
  if (quick) make_quick(options);
  if (has(arguments, "--ladder")) make_ladder(options, quick);
  if (has(arguments, "--in-place")) make_in_place(options, quick);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) refuse_option(option, "nothing", "a value");
      return arguments[++i];
    };
    if (option == "--bytes") {
      options.bytes = parse_sizes(option, value(), kLeastBytes);
    } else if (option == "--widths") {
      options.widths = parse_widths(option, value());
    } else if (option == "--maps") {
      options.maps = parse_maps(option, value());
    } else if (option == "--rounds") {
      options.rounds = static_cast<int>(std::clamp<std::uint64_t>(parse_count(option, value()), 1, 1000));
    } else if (option == "--small") {
      const std::string& sizes = value();
      options.small_bytes.clear();
      if (sizes != "none") options.small_bytes = parse_sizes(option, sizes, kLeastSmallBytes);
      for (const std::uint64_t bytes : options.small_bytes) {
        if (bytes > kMostSmallBytes)
          refuse_option(option, sizes, "sizes up to " + size_text(kMostSmallBytes));
      }
    } else if (option == "--out") {
      const std::string& file = value();
      if (!file.ends_with(".md") && !file.ends_with(".json"))
        refuse_option(option, file, "FILE.md or FILE.json");
      options.out_files.push_back(file);
    } else if (option == "--tile") {
      options.tile = parse_tile(option, value());
    } else if (option == "--help") {
      options.help = true;
    } else if (option != "--quick" && option != "--ladder" && option != "--in-place") {
      refuse_option("gpu_bench", option, "an option");
    }
  }
  return options;
}

}  // namespace faro::bench::gpu
