#include "bench/gpu_shards/benched.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// --- between distributions

struct Ends {
  std::string in;
  std::string out;
};
ShardProblem redistributed(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                           std::uint64_t element_bytes, const Ends& ends) {
  ShardProblem made{.permutation = Axes(shape, order),
                    .element_bytes = element_bytes,
                    .shards = {},
                    .axes = NamedAxes{.shape = shape, .order = order}};
  made.shards.in = parse_distribution(ends.in);
  made.shards.out = parse_distribution(ends.out);
  return made;
}

// A model of 8 G parameters in bfloat16, 15 GiB: each matrix as its text of how it lies says.
template <typename Lies>
std::vector<ShardProblem> weights(int layers, const std::vector<int>& order, const Lies& lies) {
  constexpr std::uint64_t hidden = 4096;
  struct Matrix {
    std::uint64_t rows;
    std::uint64_t columns;
    int axis;  // that tensor parallelism cuts
  };
  std::vector<Matrix> all{{128256, hidden, 0}, {128256, hidden, 0}};
  for (int layer = 0; layer < layers; ++layer) {
    for (const Matrix& each : {Matrix{hidden, hidden, 0}, Matrix{1024, hidden, 0}, Matrix{1024, hidden, 0},
                               Matrix{hidden, hidden, 1}, Matrix{14336, hidden, 0}, Matrix{14336, hidden, 0},
                               Matrix{hidden, 14336, 1}})
      all.push_back(each);
  }
  std::vector<ShardProblem> made;
  for (const Matrix& each : all) {
    const int target = order[0] == 0 ? each.axis : 1 - each.axis;
    made.push_back(redistributed({each.rows, each.columns}, order, 2, lies(each.axis, target)));
  }
  return made;
}

std::vector<ShardProblem> between_distributions(const std::string& name, int ranks, int log_bytes) {
  const int less = std::max(0, 33 - log_bytes);
  const std::uint64_t square = std::uint64_t{32768} >> less / 2;
  const std::uint64_t side = std::uint64_t{1024} >> less / 3;
  const std::string all = fmt::format("mesh {}", ranks);
  const std::string by_rows = all + "; axis 0 over 0";
  const std::string by_columns = all + "; axis 1 over 0";
  int rows = 1;
  while (rows * rows < ranks) rows *= 2;
  const std::string mesh = fmt::format("mesh {}x{}; ", rows, ranks / rows);
  const std::vector<int> as_it_is{0, 1};
  if (name == "pencils")
    return {redistributed({side, side, side}, {1, 2, 0}, 8,
                          {mesh + "axis 0 over 0; axis 1 over 1", mesh + "axis 0 over 1; axis 1 over 0"})};
  if (name == "cube") return {redistributed({side, side, side}, {0, 1, 2}, 8, {by_rows, by_columns})};
  if (name == "square") return {redistributed({square, square}, as_it_is, 4, {by_rows, by_columns})};
  if (name == "uneven")
    return {redistributed({std::uint64_t{10007} >> less / 2, std::uint64_t{10009} >> less / 2}, as_it_is, 4,
                          {by_rows, by_columns})};
  if (name == "gathered") return {redistributed({square, square}, as_it_is, 4, {by_rows, all})};
  if (name == "gathered1") return {redistributed({square, square}, as_it_is, 4, {by_columns, all})};
  if (name == "scattered") return {redistributed({square, square}, as_it_is, 4, {all, by_columns})};
  if (name == "cyclic")
    return {
        redistributed({square, square}, as_it_is, 4,
                      {fmt::format("mesh {}x{}; axis 0 over 0 in blocks of 64; axis 1 over 1 in blocks of 64",
                                   ranks / rows, rows),
                       by_rows})};
  // Lists. A matrix that is cut over the ranks goes to each of them whole, to half of them, to twice as many.
  const int layers = std::max(1, 32 >> less);
  const auto cut = [](int count, int first, int axis) {
    return fmt::format("mesh {} at {}; axis {} over 0", count, first, axis);
  };
  if (name == "weights-each")
    return weights(layers, as_it_is, [&](int axis, int) { return Ends{cut(ranks, 0, axis), all}; });
  if (name == "weights-half")
    return weights(layers, as_it_is, [&](int axis, int target) {
      return Ends{cut(ranks, 0, axis), cut(ranks / 2, ranks / 2, target)};
    });
  if (name == "weights-twice")
    return weights(layers, as_it_is, [&](int axis, int target) {
      return Ends{cut(ranks / 2, 0, axis), cut(ranks, 0, target)};
    });
  // Transposed, from one half of the ranks to the other.
  if (name == "weights-apart")
    return weights(layers, {1, 0}, [&](int axis, int target) {
      return Ends{cut(ranks / 2, 0, axis), cut(ranks / 2, ranks / 2, target)};
    });
  return {};
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
  Benched between{.kind = name, .name = {}, .problem = {}, .source = {}};
  between.arrays = between_distributions(name, ranks, log_bytes);
  if (!between.arrays.empty()) {
    const ShardProblem& first = between.arrays.front();
    between.name =
        fmt::format("{} elements in the order {}, {} to {}", fmt::join(first.axes->shape, " x "),
                    fmt::join(first.axes->order, " "), to_text(std::get<Distribution>(first.shards.in)),
                    to_text(std::get<Distribution>(first.shards.out)));
    if (between.arrays.size() > 1)
      between.name = fmt::format("{}: {} matrices, the first {}", name, between.arrays.size(), between.name);
    return between;
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
