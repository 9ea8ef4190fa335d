// Sketches that several tests of the swizzle layer run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/program.hpp"
#include "faro/swizzle/specification.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle {

struct Sketch {
  Specification specification;
  Program program;
};

inline Example example_of(const char* name, std::int64_t warp, std::int64_t words = 0) {
  return make_example(name, {.struct_words = words, .warp = warp});
}
inline Sketch example_sketch(const char* name, std::int64_t warp, std::int64_t words = 0) {
  const Example example = example_of(name, warp, words);
  return {example.specification, example.sketch};
}
inline Sketch crc_sketch(std::int64_t words, std::int64_t warp) {
  return example_sketch("aos-crc", warp, words);
}
inline Sketch rcr_sketch(std::int64_t words, std::int64_t warp) {
  return example_sketch("aos-rcr", warp, words);
}
inline Sketch stencil_sketch(std::int64_t warp) { return example_sketch("stencil-1d", warp); }
inline Sketch struct_sums(std::int64_t words, std::int64_t warp) {
  return example_sketch("aos-sum", warp, words);
}
/// Carry-less product of two polynomials of `registers` x W coefficients, one or two registers each.
inline Sketch polynomial_sketch(std::int64_t warp, std::int64_t registers) {
  return example_sketch(registers == 1 ? "poly-32" : "poly-64", warp);
}
inline Valuation stencil_solution(std::int64_t warp) {
  return example_of("stencil-1d", warp).known.front().valuation;
}
inline Valuation six_accumulates(std::int64_t warp) {
  return example_of("poly-64", warp).known.front().valuation;
}

inline ConditionParameters i_at_most_t() {
  return {.literal = {}, .v1 = 1, .v2 = 0, .comparison = Comparison::less_equal};
}
inline ConditionParameters literal(bool value) { return {.literal = value}; }

/// Every hole's functions.
inline std::vector<FunctionSet> families_of(const Program& program, Space space) {
  std::vector<FunctionSet> families;
  for (const auto& hole : program.holes()) families.emplace_back(hole, space);
  return families;
}

/// Parameters in the order of publication.
inline XformParameters xform(std::int64_t n, std::int64_t cf, std::int64_t df, std::int64_t gs, bool wrap,
                             std::int64_t cr, std::int64_t dr, std::int64_t c = 0) {
  return {.n = n, .cf = cf, .df = df, .gs = gs, .g = gs / df, .wrap = wrap, .cr = cr, .dr = dr, .c = c};
}

}  // namespace faro::swizzle
