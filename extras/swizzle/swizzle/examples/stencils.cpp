// Neighbours: a mean, and convolutions in one and two dimensions. A warp holds what its outputs need in a few
// registers a lane, and taps come by shuffles.
#include <optional>
#include <utility>
#include <vector>

#include "swizzle/examples/checks.hpp"

namespace faro::swizzle {
namespace {

using detail::NamedFunction;

constexpr std::int64_t kTaps = 3;
constexpr std::int64_t kWarps = 2;
constexpr std::int64_t kBlocks = 2;

Accumulation accumulation_of(bool weighted) {
  if (weighted) return {.outer = Operator::add, .inner = Operator::multiply};
  return {.outer = Operator::add, .divisor = kTaps};
}

Specification neighbours(std::int64_t outputs, bool weighted) {
  Specification spec;
  const auto I = spec.input("I", outputs + kTaps - 1);
  const auto w = weighted ? spec.input("w", kTaps) : Array{};
  const auto O = spec.output("O", outputs);
  for (std::int64_t i = 0; i < outputs; ++i) {
    auto sum = spec.accumulator(accumulation_of(weighted));
    for (std::int64_t k = 0; k < kTaps; ++k) {
      if (weighted) {
        sum.add({spec.at(w, k), spec.at(I, i + k)});
      } else {
        sum.add({spec.at(I, i + k)});
      }
    }
    spec.set(O, i, sum);
  }
  return spec;
}

// t + k, in the first register where the sender's own element is far enough to the right.
std::vector<NamedFunction> forwards(std::int64_t warp) {
  return {{"index", PartParameters{.conditions = {detail::condition(1, Comparison::less_equal, 0)}}},
          {"lane", detail::rotation(warp, 1, 1, warp)},
          {"use", detail::literal(true)}};
}

// The taps from the right to the left.
std::vector<NamedFunction> backwards(std::int64_t warp) {
  const auto condition = detail::condition(0, Comparison::greater_equal, 1, kTaps - 1, -1);
  return {{"index", PartParameters{.conditions = {condition}}},
          {"lane", detail::rotation(warp, 1, -1, warp, kTaps - 1)},
          {"use", detail::literal(true)}};
}

// Of both a mean and a convolution, in one dimension.
Example line_of_neighbours(const char* name, const char* summary, const ExampleOptions& options,
                           bool weighted) {
  detail::require_no_words(name, options);
  detail::require_warp(name, options.warp, kTaps);
  const std::int64_t W = options.warp;
  const std::int64_t outputs = kBlocks * kWarps * W - (kTaps - 1);
  Specification spec = neighbours(outputs, weighted);
  const Array I{.number = 0};
  const Array w{.number = 1};
  const Array O{.number = weighted ? 2 : 1};

  Program p(spec, {.warp = W, .warps = kWarps, .blocks = kBlocks});
  const Index t = lane_index();
  const Index offset = kWarps * W * block_index() + W * warp_index();
  const auto index = p.part("index", 2, {{"t", W}, {"i", kTaps}}, {kTaps - 1});
  const auto lane = p.xform("lane", {.n = W, .m = W, .asked = kTaps});
  const auto use = p.condition("use", {{"t", W}, {"i", kTaps}});
  std::optional<Hole> weight;
  if (weighted) weight = p.xform("weight", {.n = kTaps, .m = 1, .most = options.lanes()});
  const auto rc = p.registers("rc", 2);
  const auto x = p.registers("x", 1);
  std::optional<Registers> factor;
  if (weighted) factor = p.registers("factor", 1);
  const auto sum = p.accumulator("sum", accumulation_of(weighted));
  p.global_to_registers(rc, I, {.rounds = 2, .offset = offset, .size = Index(W + kTaps - 1)});
  p.loop("i", kTaps, [&](const Index& i) {
    if (weighted) p.load((*factor)[0], w, (*weight)(i, 0));
    p.shuffle(x[0], rc[index(t, i)], lane(t, i));
    p.accumulate(sum, weighted ? std::vector{(*factor)[0], x[0]} : std::vector{x[0]}, use(t, i));
  });
  p.store(O, offset + t, sum, offset + t < outputs);

  const auto known = [&](const char* published, std::vector<NamedFunction> functions,
                         const XformParameters& order) {
    if (weighted) functions.push_back({"weight", order});
    return detail::known(p, published, functions);
  };
  std::vector<KnownSolution> both{
      known("published", forwards(W), detail::rotation(kTaps, 1, 0, 1)),
      known("published, backwards", backwards(W), detail::rotation(kTaps, -1, 0, 1, kTaps - 1))};
  std::vector<std::int64_t> widths{outputs + kTaps - 1, outputs};
  if (weighted) widths.insert(widths.begin() + 1, 0);
  return {.name = name,
          .summary = summary,
          .struct_words = {},
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(both),
          .tiling = Tiling{.columns = outputs, .widths = std::move(widths)}};
}

}  // namespace

Example stencil_1d(const ExampleOptions& options) {
  return line_of_neighbours("stencil-1d", "mean of three neighbours", options, false);
}

Example conv_1d(const ExampleOptions& options) {
  return line_of_neighbours("conv-1d", "convolution with three weights", options, true);
}

Example conv_2d(const ExampleOptions& options) { return conv_2d_with_constants(options, {4}); }

// Lanes are W/4 columns x 4 rows, each with every (W/4)-th column and every 4th row of the input:
//
//     W = 16, 7 x 7 taps         rows of rc: 0 0 0 0 1 1 1 1 2 2        output (row, col), tap (ky, kx):
//     input 10 x 10, output 4 x 4     lanes: 0 1 2 3 0 1 2 3 0 1        input row + ky, column col + kx
Example conv_2d_with_constants(const ExampleOptions& options, std::vector<std::int64_t> constants) {
  constexpr const char* kName = "conv-2d";
  const std::int64_t K = options.struct_words == 0 ? 7 : options.struct_words;
  if (K != 3 && K != 7) detail::fail_words(kName, K, "3 or 7: taps a side");
  detail::require_warp(kName, options.warp, 16, 4);
  constexpr std::int64_t H = 4;
  const std::int64_t X = options.warp / H;
  const std::int64_t rows = H + K - 1;
  const std::int64_t columns = X + K - 1;

  Specification spec;
  const auto I = spec.input("I", rows * columns);
  const auto w = spec.input("w", K * K);
  const auto O = spec.output("O", options.warp);
  constexpr Accumulation kWeighted{.outer = Operator::add, .inner = Operator::multiply};
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < X; ++x) {
      auto sum = spec.accumulator(kWeighted);
      for (std::int64_t ky = 0; ky < K; ++ky)
        for (std::int64_t kx = 0; kx < K; ++kx)
          sum.add({spec.at(w, K * ky + kx), spec.at(I, (y + ky) * columns + x + kx)});
      spec.set(O, y * X + x, sum);
    }

  Program p(spec, {.warp = options.warp});
  const Index col = lane_index() % X;
  const Index row = lane_index() / X;
  const std::int64_t down = (rows + H - 1) / H;
  const std::int64_t across = (columns + X - 1) / X;
  const auto lane_x = p.xform("lane_x", {.n = X, .m = K, .most = options.lanes()});
  const auto lane_y = p.xform("lane_y", {.n = H, .m = K, .most = options.lanes()});
  const auto index_j = p.part("index_j", down, {{"row", H}, {"ky", K}}, std::move(constants));
  const auto rc = p.registers("rc", down * across);
  const auto x = p.registers("x", 1);
  const auto weight = p.registers("weight", 1);
  const auto sum = p.accumulator("sum", kWeighted);
  p.loop("j", down, [&](const Index& j) {
    p.loop("i", across, [&](const Index& i) {
      const Index y = H * j + row;
      const Index from = X * i + col;
      p.load(rc[across * j + i], I, y * columns + from, y < rows && from < columns);
    });
  });
  p.loop("ky", K, [&](const Index& ky) {
    p.loop("kx", K, [&](const Index& kx) {
      const Index further = across == 2 ? Index(1) : select(kx <= X + col, 1, 2);
      const Index index_i = select(kx <= col, 0, further);
      p.load(weight[0], w, K * ky + kx);
      p.shuffle(x[0], rc[across * index_j(row, ky) + index_i], X * lane_y(row, ky) + lane_x(col, kx));
      p.accumulate(sum, {weight[0], x[0]});
    });
  });
  p.store(O, lane_index(), sum);

  // The published solution of 7 x 7 taps compares with the height; without it among the constants it cannot
  // be written, which does not keep it from being right.
  const auto above = detail::condition(1, Comparison::less_equal, 0);
  PartParameters rows_of{.conditions = {above}};
  if (down == 3) rows_of.conditions.push_back(detail::condition(1, Comparison::less_equal, 0, H));
  std::vector<KnownSolution> known{detail::known(p, "published",
                                                 {{"lane_x", detail::rotation(X, 1, 1, K)},
                                                  {"lane_y", detail::rotation(H, 1, 1, K)},
                                                  {"index_j", rows_of}})};
  const std::string taps = std::to_string(K);
  return {.name = kName,
          .summary = "convolution with " + taps + " x " + taps + " weights",
          .struct_words = K,
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known),
          .tiling = Tiling{.rows = H, .columns = X, .widths = {columns, 0, X}}};
}

}  // namespace faro::swizzle
