#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "faro/swizzle/hole.hpp"

namespace faro::swizzle {
namespace {

constexpr std::int64_t kMost = 1024;

// c = gcd(S, W), a = S / c, b = W / c, and the inverses of b mod a and of a mod b.
struct ExchangeNumbers {
  std::int64_t words, warp, c, a, b, inverse_b, inverse_a;
};

std::int64_t inverse(std::int64_t value, std::int64_t modulus) {
  for (std::int64_t x = 0; x < modulus; ++x)
    if (value % modulus * x % modulus == 1 % modulus) return x;
  return 0;
}

ExchangeNumbers numbers(std::int64_t words, std::int64_t warp) {
  const auto require = [](const char* what, std::int64_t value) {
    if (value >= 1 && value <= kMost) return;
    fail(ErrorCode::value, "closed form of an exchange of structs",
         std::string(what) + " " + std::to_string(value), "1 to " + std::to_string(kMost));
  };
  require("struct size", words);
  require("warp", warp);
  const std::int64_t c = std::gcd(words, warp);
  const std::int64_t a = words / c;
  const std::int64_t b = warp / c;
  return {.words = words,
          .warp = warp,
          .c = c,
          .a = a,
          .b = b,
          .inverse_b = inverse(b, a),
          .inverse_a = inverse(a, b)};
}

FormulaParameters formula(const Index& index, std::int64_t asked0, std::int64_t asked1) {
  IndexRanges ranges;
  ranges.arguments = {{.least = 0, .most = asked0 - 1}, {.least = 0, .most = asked1 - 1}};
  return {.formula = simplify(index, ranges)};
}

}  // namespace

ClosedForm closed_form_exchange(std::int64_t struct_words, std::int64_t warp) {
  const ExchangeNumbers n = numbers(struct_words, warp);
  const Index x = argument_index(0);
  const Index y = argument_index(1);
  const auto load = [&](const Index& t, const Index& i) { return n.c * (t / n.c) + (t - i / n.a) % n.c; };
  const auto column = [&](const Index& r, const Index& t) {
    return n.a * ((t - r) % n.c) + (n.inverse_b * (r / n.c - t / n.c)) % n.a;
  };
  const auto store = [&](const Index& t, const Index& r) {
    return n.b * ((t - r) % n.c) + (n.inverse_a * (t / n.c - r / n.c)) % n.b;
  };
  return {.load = formula(load(x, y), warp, struct_words),
          .column = formula(column(x, y), struct_words, warp),
          .store = formula(store(x, y), warp, struct_words)};
}

ClosedFormColumns closed_form_columns(std::int64_t struct_words, std::int64_t warp) {
  const ExchangeNumbers n = numbers(struct_words, warp);
  const Index x = argument_index(0);
  const Index y = argument_index(1);
  const auto first = [&](const Index& r, const Index& t) {
    const Index u = (r - t) % n.words;
    return n.a * (((n.c - 1) * u) % n.c) + (n.inverse_b * ((u + (n.c - 1)) / n.c)) % n.a;
  };
  const auto row = [&](const Index& t, const Index& r) {
    return (n.words * t + (r + t / n.b) % n.words) % n.warp;
  };
  const auto last = [&](const Index& r, const Index& t) { return (r - t / n.b) % n.words; };
  return {.first = formula(first(x, y), struct_words, warp),
          .row = formula(row(x, y), warp, struct_words),
          .last = formula(last(x, y), struct_words, warp)};
}

}  // namespace faro::swizzle
