// Known solutions of the sketches of swizzle_sketches.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "faro/swizzle/program.hpp"
#include "swizzle_sketches.hpp"

namespace faro::swizzle {

inline ConditionParameters i_at_most_t() {
  ConditionParameters p;
  p.v1 = 1;
  p.v2 = 0;
  p.comparison = Comparison::less_equal;
  return p;
}
inline ConditionParameters literal(bool value) {
  ConditionParameters p;
  p.literal = value;
  return p;
}

inline Valuation stencil_solution(const Program& program, std::int64_t warp) {
  Valuation v(program);
  v.set("index", PartParameters{.conditions = {i_at_most_t()}});
  v.set("lane", xform(warp, 1, warp, warp, false, 1, warp));
  v.set("use", literal(true));
  return v;
}

// Products and accumulators by number: acc q, a x, b y has condition 4 q + 2 x + y + 1.
inline Valuation six_accumulates(const Program& program, std::int64_t warp) {
  Valuation v(program);
  for (const char* a : {"lane_a1", "lane_a2"}) v.set(a, xform(warp, 0, warp, warp, false, 1, warp));
  for (const char* b : {"lane_b1", "lane_b2"}) v.set(b, xform(warp, 1, warp, warp, false, warp - 1, warp));
  const Index t = argument_index(0);
  const Index i = argument_index(1);
  v.set("part_a1", PartParameters{.conditions = {literal(true)}});
  v.set("part_a2", PartParameters{.conditions = {literal(false)}});
  // The sender s of t - i has s + i < W iff i <= t.
  const FormulaParameters u{.formula = select(t + i < warp, 0, 1)};
  const FormulaParameters w{.formula = select(t + i < warp, 1, 0)};
  v.set("part_b1", u);
  v.set("part_b2", w);
  for (int use = 1; use <= 16; ++use) v.set("use" + std::to_string(use), literal(false));
  v.set("use" + std::to_string(4 * 1 + 2 * 0 + 1 + 1), literal(true));  // acc2 += a1 w
  v.set("use" + std::to_string(4 * 2 + 2 * 1 + 1 + 1), literal(true));  // acc3 += a2 w
  v.set("use" + std::to_string(4 * 0 + 2 * 0 + 0 + 1), i_at_most_t());  // acc1 += a1 u
  v.set("use" + std::to_string(4 * 2 + 2 * 0 + 0 + 1), FormulaParameters{.formula = t < i});
  v.set("use" + std::to_string(4 * 1 + 2 * 1 + 0 + 1), i_at_most_t());  // acc2 += a2 u
  v.set("use" + std::to_string(4 * 3 + 2 * 1 + 0 + 1), FormulaParameters{.formula = t < i});
  return v;
}

}  // namespace faro::swizzle
