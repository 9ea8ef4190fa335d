#include "bench/maps.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/arguments.hpp"
#include "faro/f2/bits.hpp"

namespace faro::bench {

MapCounts parse_maps(const std::string& option, std::string_view text) {
  MapCounts counts{.bit_reversal = 0, .transpose = 0, .random_bpc = 0, .random_bmmc = 0};
  for (const std::string_view part : split(text)) {
    const std::size_t equals = part.find('=');
    const std::string_view family = part.substr(0, equals);
    const std::uint64_t count =
        equals == std::string_view::npos ? 1 : parse_count(option, part.substr(equals + 1));
    if (count > 1000) refuse_option(option, part, "at most 1000 maps of a family");
    if (family == "bit_reversal") {
      counts.bit_reversal = 1;
    } else if (family == "transpose") {
      counts.transpose = 1;
    } else if (family == "random_bpc") {
      counts.random_bpc = static_cast<int>(count);
    } else if (family == "random_bmmc") {
      counts.random_bmmc = static_cast<int>(count);
    } else {
      refuse_option(option, part, "bit_reversal, transpose, random_bpc=COUNT or random_bmmc=COUNT");
    }
  }
  return counts;
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

}  // namespace faro::bench
