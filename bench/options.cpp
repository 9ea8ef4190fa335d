#include "bench/options.hpp"

#include <algorithm>
#include <string_view>

#include "bench/arguments.hpp"

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

std::vector<io::PageKind> parse_pages(const std::string& option, std::string_view text) {
  if (text == "both") return {io::PageKind::base, io::PageKind::huge};
  if (text == "small") return {io::PageKind::base};
  if (text == "huge") return {io::PageKind::huge};
  refuse_option(option, text, "small, huge or both");
}

void make_quick(Options& options) {
  options.bytes = std::uint64_t{256} << 20;
  options.widths = {4};
  options.maps = {.random_bpc = 2, .random_bmmc = 2};
  options.rounds = 5;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  options.command = "cpu_bench";
  for (const std::string& argument : arguments) options.command += " " + argument;
  // --quick first: what is said beside it holds, wherever it stands.
  if (std::find(arguments.begin(), arguments.end(), "--quick") != arguments.end()) make_quick(options);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) refuse_option(option, "nothing", "a value");
      return arguments[++i];
    };
    if (option == "--bytes") {
      options.bytes = parse_bytes(option, value(), kLeastBytes);
    } else if (option == "--widths") {
      options.widths = parse_widths(option, value());
    } else if (option == "--maps") {
      options.maps = parse_maps(option, value());
    } else if (option == "--pages") {
      options.pages = parse_pages(option, value());
    } else if (option == "--rounds") {
      options.rounds = static_cast<int>(std::clamp<std::uint64_t>(parse_count(option, value()), 1, 1000));
    } else if (option == "--no-in-cache") {
      options.in_cache = false;
    } else if (option == "--json") {
      options.json_file = value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option != "--quick") {
      refuse_option("cpu_bench", option, "an option");
    }
  }
  return options;
}

const char* name(io::PageKind pages) { return pages == io::PageKind::huge ? "huge" : "small"; }

}  // namespace faro::bench
