// What the examples have in common: errors, published parameters, lists of solutions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/examples.hpp"

namespace faro::swizzle::detail {

inline void require_warp(const char* example, std::int64_t warp, std::int64_t least = 1,
                         std::int64_t multiple = 1) {
  if (warp >= least && warp <= 64 && warp % multiple == 0) return;
  std::string wanted = std::to_string(least) + " to 64";
  if (multiple > 1) wanted = "a multiple of " + std::to_string(multiple) + ", " + wanted;
  fail(ErrorCode::value, std::string("example `") + example + "`", "a warp of " + std::to_string(warp),
       wanted, "--warp 32");
}

[[noreturn]] inline void fail_words(const char* example, std::int64_t words, std::string wanted) {
  fail(ErrorCode::value, std::string("example `") + example + "`",
       "a struct size of " + std::to_string(words), std::move(wanted));
}

inline void require_no_words(const char* example, const ExampleOptions& options) {
  if (options.struct_words != 0) fail_words(example, options.struct_words, "none: it has no structs");
}

/// The struct size, or the example's own where it is 0.
inline std::int64_t words_of(const char* example, const ExampleOptions& options, std::int64_t usual,
                             std::int64_t least, std::int64_t most) {
  const std::int64_t words = options.struct_words == 0 ? usual : options.struct_words;
  if (words < least || words > most)
    fail_words(example, words, std::to_string(least) + " to " + std::to_string(most));
  return words;
}

/// (x + k + shift) mod n, or with other factors; one group, no wrap.
inline XformParameters rotation(std::int64_t n, std::int64_t factor, std::int64_t step, std::int64_t m,
                                std::int64_t shift = 0) {
  const auto reduced = [n](std::int64_t value) { return (value % n + n) % n; };
  return {.n = n,
          .cf = reduced(factor),
          .df = n,
          .gs = n,
          .g = 1,
          .cr = reduced(step),
          .dr = m,
          .c = reduced(shift)};
}

/// v1 comparison (constant ± v2).
inline ConditionParameters condition(int v1, Comparison comparison, int v2, std::int64_t constant = 0,
                                     int sign = 1) {
  ConditionParameters p;
  p.v1 = v1;
  p.v2 = v2;
  p.comparison = comparison;
  p.constant = constant;
  p.sign = sign;
  return p;
}

inline ConditionParameters literal(bool truth) {
  ConditionParameters p;
  p.literal = truth;
  return p;
}

struct NamedFunction {
  std::string hole;
  Parameters parameters;
};

inline KnownSolution known(const Program& program, std::string source,
                           const std::vector<NamedFunction>& functions) {
  KnownSolution solution{.source = std::move(source), .valuation = Valuation(program)};
  for (const NamedFunction& function : functions) solution.valuation.set(function.hole, function.parameters);
  return solution;
}

}  // namespace faro::swizzle::detail
