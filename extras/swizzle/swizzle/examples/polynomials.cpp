// Products of polynomials over GF(2), a coefficient an element: multiply is AND, add is XOR.
#include <array>
#include <utility>

#include "swizzle/examples/checks.hpp"

namespace faro::swizzle {
namespace {

using detail::NamedFunction;

constexpr Accumulation kProduct{.outer = Operator::bit_xor, .inner = Operator::bit_and};

Specification product(std::int64_t n) {
  Specification spec;
  const auto A = spec.input("a", n);
  const auto B = spec.input("b", n);
  const auto C = spec.output("c", 2 * n);
  for (std::int64_t k = 0; k < 2 * n; ++k) {
    auto sum = spec.accumulator(kProduct);
    for (std::int64_t i = 0; i < n; ++i)
      if (k - i >= 0 && k - i < n) sum.add({spec.at(A, i), spec.at(B, k - i)});
    spec.set(C, k, sum);
  }
  return spec;
}

std::string name_of_use(int sum, int a, int b) {
  return "use" + std::to_string(sum) + "_a" + std::to_string(a) + "b" + std::to_string(b);
}

// Six live accumulates. What the lane s = t - i mod W sends of b is low where s + i < W, which is where i <=
// t at the receiver: as `b1` the register that makes i + s the coefficient of t or of 2 W + t, as `b2` the
// other.
std::vector<NamedFunction> six(std::int64_t W) {
  const auto low = detail::condition(1, Comparison::less, 0, W, -1);
  const auto high = detail::condition(1, Comparison::greater_equal, 0, W, -1);
  std::vector<NamedFunction> functions{
      {"lane_a1", detail::rotation(W, 0, 1, W)},
      {"lane_a2", detail::rotation(W, 0, 1, W)},
      {"lane_b1", detail::rotation(W, 1, -1, W)},
      {"lane_b2", detail::rotation(W, 1, -1, W)},
      {"part_a1", PartParameters{.conditions = {detail::literal(true)}}},
      {"part_a2", PartParameters{.conditions = {detail::literal(false)}}},
      {"part_b1", PartParameters{.conditions = {low}}},
      {"part_b2", PartParameters{.conditions = {high}}},
  };
  const auto below = detail::condition(1, Comparison::less_equal, 0);
  const auto above = detail::condition(1, Comparison::greater, 0);
  const std::vector<NamedFunction> live{{name_of_use(1, 1, 1), below},
                                        {name_of_use(2, 1, 2), detail::literal(true)},
                                        {name_of_use(2, 2, 1), below},
                                        {name_of_use(3, 1, 1), above},
                                        {name_of_use(3, 2, 2), detail::literal(true)},
                                        {name_of_use(4, 2, 1), above}};
  for (int sum = 1; sum <= 4; ++sum)
    for (int a = 1; a <= 2; ++a)
      for (int b = 1; b <= 2; ++b) functions.push_back({name_of_use(sum, a, b), detail::literal(false)});
  functions.insert(functions.end(), live.begin(), live.end());
  return functions;
}

// What an author writes by hand: b1 and b2 are the two registers, and every product goes to two sums.
std::vector<NamedFunction> eight(std::int64_t W) {
  std::vector<NamedFunction> functions = six(W);
  functions[6].parameters = PartParameters{.conditions = {detail::literal(true)}};
  functions[7].parameters = PartParameters{.conditions = {detail::literal(false)}};
  for (int a = 1; a <= 2; ++a)
    for (int b = 1; b <= 2; ++b)
      for (int sum = 1; sum <= 4; ++sum) {
        ConditionParameters use = detail::literal(false);
        if (sum == a + b - 1) use = detail::condition(1, Comparison::less_equal, 0);
        if (sum == a + b) use = detail::condition(1, Comparison::greater, 0);
        functions.push_back({name_of_use(sum, a, b), use});
      }
  return functions;
}

}  // namespace

Example poly_32(const ExampleOptions& options) {
  constexpr const char* kName = "poly-32";
  detail::require_no_words(kName, options);
  detail::require_warp(kName, options.warp, 2);
  const std::int64_t W = options.warp;
  Specification spec = product(W);
  Program p(spec, {.warp = W});
  const Index t = lane_index();
  const auto lane_a = p.xform("lane_a", {.n = W, .m = W, .most = options.lanes()});
  const auto lane_b = p.xform("lane_b", {.n = W, .m = W, .most = options.lanes()});
  const std::vector<Argument> asked{{"t", W}, {"i", W}};
  const auto use1 = p.condition("use1", asked, {}, options.conditions());
  const auto use2 = p.condition("use2", asked, {}, options.conditions());
  const auto ra = p.registers("ra", 1);
  const auto rb = p.registers("rb", 1);
  const auto x = p.registers("x", 1);
  const auto y = p.registers("y", 1);
  const auto low = p.accumulator("low", kProduct);
  const auto high = p.accumulator("high", kProduct);
  p.global_to_registers(ra, {.number = 0}, {});
  p.global_to_registers(rb, {.number = 1}, {});
  p.loop("i", W, [&](const Index& i) {
    p.shuffle(x[0], ra[0], lane_a(t, i));
    p.shuffle(y[0], rb[0], lane_b(t, i));
    p.accumulate(low, {x[0], y[0]}, use1(t, i));
    p.accumulate(high, {x[0], y[0]}, use2(t, i));
  });
  p.store({.number = 2}, t, low);
  p.store({.number = 2}, W + t, high);

  std::vector<KnownSolution> known{detail::known(p, "published",
                                                 {{"lane_a", detail::rotation(W, 0, 1, W)},
                                                  {"lane_b", detail::rotation(W, 1, -1, W)},
                                                  {"use1", detail::condition(1, Comparison::less_equal, 0)},
                                                  {"use2", detail::condition(1, Comparison::greater, 0)}})};
  return {.name = kName,
          .summary = "product of two polynomials of W coefficients over GF(2)",
          .struct_words = {},
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known)};
}

Example poly_64(const ExampleOptions& options) {
  constexpr const char* kName = "poly-64";
  detail::require_no_words(kName, options);
  detail::require_warp(kName, options.warp, 2);
  const std::int64_t W = options.warp;
  Specification spec = product(2 * W);
  Program p(spec, {.warp = W});
  const Index t = lane_index();
  const std::vector<Argument> asked{{"t", W}, {"i", W}};
  const auto ra = p.registers("ra", 2);
  const auto rb = p.registers("rb", 2);
  p.global_to_registers(ra, {.number = 0}, {.rounds = 2});
  p.global_to_registers(rb, {.number = 1}, {.rounds = 2});

  constexpr std::array<const char*, 4> kFactors{"a1", "a2", "b1", "b2"};
  std::vector<Hole> lanes;
  std::vector<Hole> parts;
  std::vector<Hole> uses;
  std::vector<Registers> factors;
  std::vector<AccumulatorRef> sums;
  lanes.reserve(kFactors.size());
  parts.reserve(kFactors.size());
  factors.reserve(kFactors.size());
  for (const std::string factor : kFactors)
    lanes.push_back(p.xform("lane_" + factor, {.n = W, .m = W, .most = options.lanes()}));
  for (const std::string factor : kFactors) parts.push_back(p.part("part_" + factor, 2, asked));
  for (const std::string factor : kFactors) factors.push_back(p.registers(factor, 1));
  for (int sum = 1; sum <= 4; ++sum) {
    sums.push_back(p.accumulator("sum" + std::to_string(sum), kProduct));
    for (int a = 1; a <= 2; ++a)
      for (int b = 1; b <= 2; ++b) uses.push_back(p.condition(name_of_use(sum, a, b), asked));
  }
  p.loop("i", W, [&](const Index& i) {
    for (std::size_t f = 0; f < factors.size(); ++f)
      p.shuffle(factors[f][0], (f < 2 ? ra : rb)[parts[f](t, i)], lanes[f](t, i));
    std::size_t use = 0;
    for (const AccumulatorRef& sum : sums)
      for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 2; b < 4; ++b)
          p.accumulate(sum, {factors[a][0], factors[b][0]}, uses[use++](t, i));
  });
  for (std::int64_t q = 0; q < 4; ++q) p.store({.number = 2}, q * W + t, sums[static_cast<std::size_t>(q)]);

  std::vector<KnownSolution> known{detail::known(p, "published, 6 accumulates", six(W)),
                                   detail::known(p, "by hand, 8 accumulates", eight(W))};
  return {.name = kName,
          .summary = "product of two polynomials of 2 W coefficients over GF(2)",
          .struct_words = {},
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known)};
}

}  // namespace faro::swizzle
