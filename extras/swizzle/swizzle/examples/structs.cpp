// Arrays of structures: a lane wants a struct, and the warp loads rows of words.
#include <utility>

#include "faro/swizzle/hole.hpp"
#include "swizzle/examples/checks.hpp"

namespace faro::swizzle {
namespace {

constexpr std::int64_t kMostWords = 64;
constexpr Array kInput{.number = 0};
constexpr Array kOutput{.number = 1};

// O[r W + t] = word r of struct t.
Specification words_of_structs(std::int64_t S, std::int64_t W) {
  Specification spec;
  const auto I = spec.input("I", S * W);
  const auto O = spec.output("O", S * W);
  for (std::int64_t t = 0; t < W; ++t)
    for (std::int64_t r = 0; r < S; ++r) spec.set(O, r * W + t, spec.at(I, t * S + r));
  return spec;
}

XformParameters published(std::int64_t n, std::int64_t cf, std::int64_t df, std::int64_t gs, bool wrap,
                          std::int64_t cr, std::int64_t dr, std::int64_t c = 0) {
  return {.n = n, .cf = cf, .df = df, .gs = gs, .g = gs / df, .wrap = wrap, .cr = cr, .dr = dr, .c = c};
}

std::vector<KnownSolution> known_columns(const Program& p, std::int64_t S, std::int64_t W) {
  std::vector<KnownSolution> result;
  const auto add = [&](const Parameters& first, const Parameters& row, const Parameters& last) {
    result.push_back(detail::known(p, "published", {{"first", first}, {"row", row}, {"last", last}}));
  };
  if (W == 32 && S == 3)
    add(published(3, 2, 3, 3, false, 0, 1), published(32, 3, 32, 32, false, 0, 1),
        published(3, 1, 3, 3, false, 0, 32));
  if (W == 32 && S == 4)
    add(published(4, 3, 4, 4, false, 0, 1), published(32, 4, 8, 32, true, 0, 1),
        published(4, 0, 1, 4, false, 0, -8));  // published as a scatter, with 8
  if (W == 32 && S == 5)
    add(published(5, 3, 5, 5, false, 1, 1), published(32, 5, 32, 32, false, 0, 1),
        published(5, 1, 5, 5, true, 0, 1));
  if (W == 32 && S == 6) {
    XformParameters first = published(6, 3, 2, 6, false, 0, 32, 3);
    first.ecr = 5;
    first.ec = 1;
    XformParameters row = published(32, 6, 16, 32, true, 1, 6);
    row.g = 6;
    add(first, row, published(6, 1, 6, 6, false, 0, -16));
  }
  const ClosedFormColumns closed = closed_form_columns(S, W);
  result.push_back(
      detail::known(p, "closed form", {{"first", closed.first}, {"row", closed.row}, {"last", closed.last}}));
  return result;
}

std::vector<KnownSolution> known_rows(const Program& p, std::int64_t S, std::int64_t W) {
  std::vector<KnownSolution> result;
  const auto add = [&](const Parameters& load, const Parameters& column, const Parameters& store) {
    result.push_back(detail::known(p, "published", {{"load", load}, {"column", column}, {"store", store}}));
  };
  if (W == 32 && S == 2)
    add(published(32, 2, 16, 32, true, 0, 1, 17), published(2, 1, 2, 2, false, 0, 16, 1),
        published(32, 0, 1, 32, true, 15, 1, 16));
  if (W == 32 && S == 3)
    add(published(32, 0, 1, 32, false, 31, 1), published(3, 2, 3, 3, false, 0, 1),
        published(32, 11, 32, 32, false, 20, 1));
  const ClosedForm closed = closed_form_exchange(S, W);
  result.push_back(detail::known(
      p, "closed form", {{"load", closed.load}, {"column", closed.column}, {"store", closed.store}}));
  return result;
}

}  // namespace

Example aos_sum(const ExampleOptions& options) {
  constexpr const char* kName = "aos-sum";
  const std::int64_t S = detail::words_of(kName, options, 3, 1, kMostWords);
  detail::require_warp(kName, options.warp);
  const std::int64_t W = options.warp;
  Specification spec;
  const auto I = spec.input("I", S * W);
  const auto O = spec.output("O", W);
  constexpr Accumulation kSum{.outer = Operator::add};
  for (std::int64_t i = 0; i < W; ++i) {
    auto sum = spec.accumulator(kSum);
    for (std::int64_t j = 0; j < S; ++j) sum.add({spec.at(I, i * S + j)});
    spec.set(O, i, sum);
  }

  Program p(spec, {.warp = W});
  const Index t = lane_index();
  const auto column = p.xform("column", {.n = S, .m = W, .one_to_one = true, .in_extra = Freedom::extra});
  const auto row = p.xform("row", {.n = W, .m = S, .one_to_one = true});
  const auto x = p.registers("x", S);
  const auto y = p.registers("y", S);
  const auto v = p.registers("v", 1);
  const auto sum = p.accumulator("sum", kSum);
  p.global_to_registers(x, I, {.rounds = S});
  p.permute(y, x, [&](const Index& i) { return column(i, t); });
  p.loop("r", S, [&](const Index& r) {
    p.shuffle(v[0], y[r], row(t, r));
    p.accumulate(sum, {v[0]});
  });
  p.store(O, t, sum);

  const ClosedFormColumns closed = closed_form_columns(S, W);
  std::vector<KnownSolution> known{
      detail::known(p, "closed form", {{"column", closed.first}, {"row", closed.row}})};
  return {.name = kName,
          .summary = "sum of each struct's words",
          .struct_words = S,
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known)};
}

Example aos_crc(const ExampleOptions& options) {
  constexpr const char* kName = "aos-crc";
  const std::int64_t S = detail::words_of(kName, options, 3, 1, kMostWords);
  detail::require_warp(kName, options.warp);
  const std::int64_t W = options.warp;
  Specification spec = words_of_structs(S, W);
  Program p(spec, {.warp = W});
  const Index t = lane_index();
  const auto first = p.xform("first", {.n = S, .m = W, .one_to_one = true, .in_extra = Freedom::extra});
  const auto row = p.xform("row", {.n = W, .m = S, .one_to_one = true});
  const auto last = p.xform("last", {.n = S, .m = W, .one_to_one = true, .in_extra = Freedom::extra});
  const auto x = p.registers("x", S);
  const auto y = p.registers("y", S);
  p.global_to_registers(x, kInput, {.rounds = S});
  p.permute(y, x, [&](const Index& i) { return first(i, t); });
  p.loop("r", S, [&](const Index& r) { p.shuffle(x[r], y[r], row(t, r)); });
  p.permute(y, x, [&](const Index& i) { return last(i, t); });
  p.registers_to_global(kOutput, y, {.rounds = S});

  std::vector<KnownSolution> known = known_columns(p, S, W);
  return {.name = kName,
          .summary = "structs to lanes: permute registers, shuffle, permute registers",
          .struct_words = S,
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known)};
}

Example aos_rcr(const ExampleOptions& options) {
  constexpr const char* kName = "aos-rcr";
  const std::int64_t S = detail::words_of(kName, options, 3, 1, kMostWords);
  detail::require_warp(kName, options.warp);
  const std::int64_t W = options.warp;
  Specification spec = words_of_structs(S, W);
  Program p(spec, {.warp = W});
  const auto load = p.xform("load", {.n = W, .m = S, .one_to_one = true});
  const auto column = p.xform("column", {.n = S, .m = W, .one_to_one = true, .in_extra = Freedom::extra});
  const auto store = p.xform("store", {.n = W, .m = S, .one_to_one = true});
  const auto x = p.registers("x", S);
  const auto y = p.registers("y", S);
  const auto of = [](const Hole& hole) {
    return [hole](const Index& lane, const Index& round) { return hole(lane, round); };
  };
  p.global_to_registers(x, kInput, {.rounds = S, .lane = of(load)});
  p.permute(y, x, [&](const Index& i) { return column(i, lane_index()); });
  p.registers_to_global(kOutput, y, {.rounds = S, .lane = of(store)});

  std::vector<KnownSolution> known = known_rows(p, S, W);
  return {.name = kName,
          .summary = "structs to lanes: rotated loads, permute registers, rotated stores; no shuffle",
          .struct_words = S,
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known)};
}

}  // namespace faro::swizzle
