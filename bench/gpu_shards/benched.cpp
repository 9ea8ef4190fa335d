#include "bench/gpu_shards/benched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "faro/error.hpp"

namespace faro::bench::gpu {
namespace {

// An index array has so many elements on each device: the host sorts their places beforehand.
constexpr int kIndexBits = 27;

// A network has two arrays more, for each way that is compared.
constexpr int kSortBits = 29;

SourceOf source_of(const Affine& map) {
  const Affine back = map.inverse();
  SourceOf made{.kind = SourceOf::Kind::affine, .bits = map.bits(), .complement = back.complement()};
  for (int j = 0; j < map.bits(); ++j) made.column[j] = back.matrix().column(j);
  return made;
}

Benched of_map(const std::string& kind, const std::string& name, const Affine& map) {
  return {.kind = kind,
          .name = name,
          .problem = {.permutation = map, .element_bytes = 4, .shards = {}},
          .source = source_of(map)};
}

Benched transposed(const std::string& kind, std::uint64_t rows, std::uint64_t columns, int ranks) {
  Benched made{.kind = kind,
               .name = fmt::format("transpose({}, {}) in slabs", rows, columns),
               .problem = {.permutation = Axes({rows, columns}, {1, 0}),
                           .element_bytes = 4,
                           .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{0}, .out = ShardAxis{0}},
                           .axes = NamedAxes{.shape = {rows, columns}, .order = {1, 0}}}};
  made.source = {.kind = SourceOf::Kind::transposition, .rows = rows, .columns = columns};
  return made;
}

// `count` of the ranks' bits, from the lowest on, and local bits from `bit` on.
Affine exchange(int n, int m, int bit, int count) {
  Affine map(n);
  for (int i = 0; i < count; ++i) map = compose(maps::swap_bits(n, bit + i, m + i), map);
  return map;
}

}  // namespace

Benched make_benched(const std::string& name, int ranks, int log_bytes) {
  const int g = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
  const int m = log_bytes - 2;
  const int n = m + g;
  const bool takes_any_ranks = name == "transpose" || name == "slabs";
  if (!takes_any_ranks && !std::has_single_bit(static_cast<unsigned>(ranks)))
    fail(ErrorCode::usage, "gpu_shards_bench", fmt::format("{} on {} devices", name, ranks),
         "2^g devices; transpose and slabs take any number");
  if (name == "exchange30")
    return of_map(name, "swap of the rank's bit and the top local bit", exchange(n, m, m - 1, 1));
  if (name == "exchange20")
    return of_map(name, "swap of the rank's bit and local bit 20", exchange(n, m, 20, 1));
  if (name == "exchange8")
    return of_map(name, "swap of the rank's bit and local bit 8", exchange(n, m, 8, 1));
  if (name == "exchange20two") {
    if (g < 2) fail(ErrorCode::usage, "gpu_shards_bench", name + " on two devices", "four or more");
    return of_map(name, "swap of two of the ranks' bits and local bits 20 and 21", exchange(n, m, 20, 2));
  }
  if (name == "exchange20all")
    return of_map(name, fmt::format("swap of the ranks' bits and local bits from 20 on, rank {}", g),
                  exchange(n, m, 20, g));
  if (name == "local") {
    // Rank 1, one pass: any map of each part, behind an exchange with a bit of it.
    return of_map(name, "random affine map, rank 1, one pass",
                  compose(maps::swap_bits(n, m - 1, m), direct_sum(maps::random_bmmc(m, 7), Affine(g))));
  }
  if (name == "bmmc") return of_map(name, fmt::format("random_bmmc({}, 1)", n), maps::random_bmmc(n, 1));
  if (name == "reversal") return of_map(name, fmt::format("bit_reversal({})", n), maps::bit_reversal(n));
  const std::uint64_t most = std::uint64_t{1} << (n / 2);
  if (name == "transpose")
    return transposed(name, std::min<std::uint64_t>(32768, most), std::min<std::uint64_t>(32768, most),
                      ranks);
  if (name == "transpose64") return transposed(name, most, std::uint64_t{1} << (n - n / 2), ranks);
  if (name == "slabs") return transposed(name, most / 2 - 1000, most / 2 + 3001, ranks);
  if (name == "sort") {
    const int sorted_bits = std::min(m, kSortBits) + g;
    return {.kind = name,
            .name = fmt::format("sorting network of 2^{}", sorted_bits),
            .problem = {.permutation = Affine(n), .element_bytes = 4, .shards = {}},
            .is_sort = true,
            .sorted_bits = sorted_bits};
  }
  if (name != "index") fail(ErrorCode::usage, "gpu_shards_bench", "a map `" + name + "`", "one of --help");
  const int bits = std::min(m, kIndexBits) + g;
  return {
      .kind = name,
      .name = fmt::format("random index array of 2^{}", bits),
      .problem = {.permutation = maps::roll(std::uint64_t{1} << bits, 0), .element_bytes = 4, .shards = {}},
      .source = {.kind = SourceOf::Kind::mixed, .mixed = {.bits = bits}}};
}

}  // namespace faro::bench::gpu
