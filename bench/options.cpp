#include "bench/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

#include "faro/error.hpp"
#include "faro/f2/bits.hpp"
#include "faro/permutation/maps.hpp"

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

[[noreturn]] void refuse(const std::string& option, std::string_view got, const std::string& wanted) {
  throw Error({.code = ErrorCode::usage,
               .operation = option,
               .got = "`" + std::string(got) + "`",
               .wanted = wanted,
               .remedy = "cpu_bench --help lists the options"});
}

std::uint64_t parse_count(const std::string& option, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(option, text, "a number");
  return value;
}

std::uint64_t parse_bytes(const std::string& option, std::string_view text) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;
  std::uint64_t bytes = 0;
  if (text.starts_with("2^")) {
    const std::uint64_t exponent = parse_count(option, text.substr(2));
    bytes = exponent <= 40 ? std::uint64_t{1} << exponent : 0;
  } else {
    int shift = 0;
    for (const auto& [unit, unit_shift] : {std::pair{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}) {
      if (!text.ends_with(unit)) continue;
      shift = unit_shift;
      text.remove_suffix(3);
      break;
    }
    const std::uint64_t count = parse_count(option, text);
    bytes = count <= kLargest >> shift ? count << shift : 0;
  }
  // Below 16 MiB a thread would have too few tiles of the baseline's larger shapes.
  if (!std::has_single_bit(bytes) || bytes < std::uint64_t{16} << 20) {
    refuse(option, text, "a power of two, 16MiB to 2^40");
  }
  return bytes;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::uint64_t> parse_widths(const std::string& option, std::string_view text) {
  std::vector<std::uint64_t> widths;
  for (const std::string_view part : split(text)) {
    const std::uint64_t width = parse_count(option, part);
    if (!std::has_single_bit(width) || width > 16) refuse(option, part, "1, 2, 4, 8 or 16");
    widths.push_back(width);
  }
  return widths;
}

MapCounts parse_maps(const std::string& option, std::string_view text) {
  MapCounts counts{.bit_reversal = 0, .transpose = 0, .random_bpc = 0, .random_bmmc = 0};
  for (const std::string_view part : split(text)) {
    const std::size_t equals = part.find('=');
    const std::string_view family = part.substr(0, equals);
    const std::uint64_t count =
        equals == std::string_view::npos ? 1 : parse_count(option, part.substr(equals + 1));
    if (count > 1000) refuse(option, part, "at most 1000 maps of a family");
    if (family == "bit_reversal") {
      counts.bit_reversal = 1;
    } else if (family == "transpose") {
      counts.transpose = 1;
    } else if (family == "random_bpc") {
      counts.random_bpc = static_cast<int>(count);
    } else if (family == "random_bmmc") {
      counts.random_bmmc = static_cast<int>(count);
    } else {
      refuse(option, part, "bit_reversal, transpose, random_bpc=COUNT or random_bmmc=COUNT");
    }
  }
  return counts;
}

std::vector<io::PageKind> parse_pages(const std::string& option, std::string_view text) {
  if (text == "both") return {io::PageKind::base, io::PageKind::huge};
  if (text == "small") return {io::PageKind::base};
  if (text == "huge") return {io::PageKind::huge};
  refuse(option, text, "small, huge or both");
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
      if (i + 1 == arguments.size()) refuse(option, "nothing", "a value");
      return arguments[++i];
    };
    if (option == "--bytes") {
      options.bytes = parse_bytes(option, value());
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
      refuse("cpu_bench", option, "an option");
    }
  }
  return options;
}

std::vector<NamedMap> make_maps(const MapCounts& counts, int n) {
  std::vector<NamedMap> maps;
  const auto add = [&](std::string spec, bool timed_naively) {
    const Permutation permutation = parse_permutation(spec);
    maps.push_back(
        {.spec = std::move(spec), .map = std::get<Affine>(permutation), .timed_naively = timed_naively});
  };
  if (counts.bit_reversal > 0) add(fmt::format("bit_reversal({})", n), true);
  if (counts.transpose > 0) {
    add(fmt::format("transpose({}, {})", f2::unit(n / 2), f2::unit(n - n / 2)), true);
  }
  for (int seed = 1; seed <= counts.random_bpc; ++seed)
    add(fmt::format("random_bpc({}, {})", n, seed), false);
  for (int seed = 1; seed <= counts.random_bmmc; ++seed)
    add(fmt::format("random_bmmc({}, {})", n, seed), false);
  return maps;
}

const char* name(io::PageKind pages) { return pages == io::PageKind::huge ? "huge" : "small"; }

}  // namespace faro::bench
