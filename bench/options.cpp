#include "bench/options.hpp"

namespace faro::bench {

const char* const kUsage =
    R"(cpu_bench: faro on the CPU beside the rung below it, the naive loop and a plain copy

  --bytes SIZE     bytes of each array, a power of two: 256MiB, 1GiB, 2^30     (default 1GiB)
  --widths LIST    element widths in bytes                                     (default 1,2,4,8,16)
  --maps LIST      maps of each family; absent families are left out
                                       (default bit_reversal,transpose,random_bpc=8,random_bmmc=16)
  --pages KIND     small, huge or both                                         (default both)
  --rounds COUNT   turns of every contestant on every map                      (default 3)
  --no-in-cache    leave out the section on small arrays
  --quick          --bytes 256MiB --widths 4 --maps bit_reversal,transpose,random_bpc=2,random_bmmc=2 --rounds 5
  --json FILE      every row to FILE
  --help

The default takes 15 to 20 minutes on two cores and memory for two arrays; --quick takes under a minute and a half.
Progress is on standard error, the tables on standard output.
)";

namespace {

// Below, a thread would have too few tiles of the baseline's larger shapes.
constexpr std::uint64_t kLeastBytes = std::uint64_t{16} << 20;
constexpr int kMostRounds = 1000;

std::vector<io::PageKind> parse_pages(const Argument& argument) {
  if (argument.text == "both") return {io::PageKind::base, io::PageKind::huge};
  if (argument.text == "small") return {io::PageKind::base};
  if (argument.text == "huge") return {io::PageKind::huge};
  refuse(argument, "small, huge or both");
}

void make_quick(Options& options) {
  options.bytes = std::uint64_t{256} << 20;
  options.widths = {4};
  options.maps = {.random_bpc = 2, .random_bmmc = 2};
  options.rounds = 5;
}

}  // namespace

Options parse_options(const CommandLine& line) {
  Options options;
  options.command = line.text();
  // --quick first: what is said beside it holds, wherever it stands.
  if (line.has("--quick")) make_quick(options);
  if (line.has("--no-in-cache")) options.in_cache = false;
  line.read({{"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, kLeastBytes); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--maps", [&](const Argument& a) { options.maps = parse_maps(a); }},
             {"--pages", [&](const Argument& a) { options.pages = parse_pages(a); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, kMostRounds); }},
             {"--json", [&](const Argument& a) { options.json_file = a.text; }}},
            {"--quick", "--no-in-cache"});
  return options;
}

const char* name(io::PageKind pages) { return pages == io::PageKind::huge ? "huge" : "small"; }

}  // namespace faro::bench
