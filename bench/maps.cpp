#include "bench/maps.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/arguments.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::bench {
namespace {

constexpr int kMostMaps = 1000;  // of a family

}  // namespace

MapCounts parse_maps(const Argument& argument) {
  MapCounts counts{.bit_reversal = 0, .transpose = 0, .random_bpc = 0, .random_bmmc = 0};
  for (const Argument& part : split(argument)) {
    const std::size_t equals = part.text.find('=');
    const std::string_view family = part.text.substr(0, equals);
    const bool is_counted = equals != std::string_view::npos;
    const int count = is_counted ? parse_int({part.option, part.text.substr(equals + 1)}, 0, kMostMaps) : 1;
    if (family == "bit_reversal") {
      counts.bit_reversal = 1;
    } else if (family == "transpose") {
      counts.transpose = 1;
    } else if (family == "random_bpc") {
      counts.random_bpc = count;
    } else if (family == "random_bmmc") {
      counts.random_bmmc = count;
    } else {
      refuse(part, "bit_reversal, transpose, random_bpc=COUNT or random_bmmc=COUNT");
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
