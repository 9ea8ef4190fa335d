// Sketches that several tests of the swizzle layer run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/swizzle/program.hpp"
#include "faro/swizzle/specification.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle {

struct Sketch {
  Specification specification;
  Program program;
};

inline Specification structs_specification(std::int64_t words, std::int64_t warp) {
  Specification spec;
  const auto I = spec.input("I", words * warp);
  const auto O = spec.output("O", words * warp);
  for (std::int64_t t = 0; t < warp; ++t)
    for (std::int64_t r = 0; r < words; ++r) spec.set(O, r * warp + t, spec.at(I, t * words + r));
  return spec;
}

/// Column, row, column.
inline Sketch crc_sketch(std::int64_t words, std::int64_t warp) {
  Sketch sketch{structs_specification(words, warp), Program(Specification(), {.warp = warp})};
  sketch.program = Program(sketch.specification, {.warp = warp});
  Program& p = sketch.program;
  const Index t = lane_index();
  const auto first =
      p.xform("first", {.n = words, .m = warp, .one_to_one = true, .in_extra = Freedom::extra});
  const auto row = p.xform("row", {.n = warp, .m = words, .one_to_one = true});
  const auto last = p.xform("last", {.n = words, .m = warp, .one_to_one = true, .in_extra = Freedom::extra});
  const auto x = p.registers("x", words);
  const auto y = p.registers("y", words);
  p.global_to_registers(x, {.number = 0}, {.rounds = words});
  p.permute(y, x, [&](const Index& i) { return first(i, t); });
  p.loop("r", words, [&](const Index& r) { p.shuffle(x[r], y[r], row(t, r)); });
  p.permute(y, x, [&](const Index& i) { return last(i, t); });
  p.registers_to_global({.number = 1}, y, {.rounds = words});
  return sketch;
}

/// Row, column, row: no shuffle at all.
inline Sketch rcr_sketch(std::int64_t words, std::int64_t warp) {
  Sketch sketch{structs_specification(words, warp), Program(Specification(), {.warp = warp})};
  sketch.program = Program(sketch.specification, {.warp = warp});
  Program& p = sketch.program;
  const Index t = lane_index();
  const auto load = p.xform("load", {.n = warp, .m = words, .one_to_one = true});
  const auto column =
      p.xform("column", {.n = words, .m = warp, .one_to_one = true, .in_extra = Freedom::extra});
  const auto store = p.xform("store", {.n = warp, .m = words, .one_to_one = true});
  const auto x = p.registers("x", words);
  const auto y = p.registers("y", words);
  const auto of = [](const Hole& hole) {
    return [hole](const Index& lane, const Index& round) { return hole(lane, round); };
  };
  p.global_to_registers(x, {.number = 0}, {.rounds = words, .lane = of(load)});
  p.permute(y, x, [&](const Index& i) { return column(i, t); });
  p.registers_to_global({.number = 1}, y, {.rounds = words, .lane = of(store)});
  return sketch;
}

/// Mean of three neighbours: which register, which lane, and whether. 2 blocks of 2 warps.
inline Sketch stencil_sketch(std::int64_t warp) {
  const std::int64_t outputs = 4 * warp - 2;
  Specification spec;
  const auto I = spec.input("I", outputs + 2);
  const auto O = spec.output("O", outputs);
  for (std::int64_t i = 0; i < outputs; ++i) {
    auto sum = spec.accumulator({.outer = Operator::add, .inner = Operator::none, .divisor = 3});
    for (std::int64_t k = 0; k < 3; ++k) sum.add({spec.at(I, i + k)});
    spec.set(O, i, sum);
  }
  Program p(spec, {.warp = warp, .warps = 2, .blocks = 2});
  const Index t = lane_index();
  const Index offset = 2 * warp * block_index() + warp * warp_index();
  const auto index = p.part("index", 2, {{"t", warp}, {"i", 3}});
  const auto lane = p.xform("lane", {.n = warp, .m = warp, .asked = 3});
  const auto use = p.condition("use", {{"t", warp}, {"i", 3}});
  const auto rc = p.registers("rc", 2);
  const auto x = p.registers("x", 1);
  const auto sum = p.accumulator("sum", {.outer = Operator::add, .inner = Operator::none, .divisor = 3});
  p.global_to_registers(rc, I, {.rounds = 2, .offset = offset, .size = Index(warp + 2)});
  p.loop("i", 3, [&](const Index& i) {
    p.shuffle(x[0], rc[index(t, i)], lane(t, i));
    p.accumulate(sum, {x[0]}, use(t, i));
  });
  p.store(O, offset + t, sum, offset + t < outputs);
  return {spec, p};
}

/// Carry-less product of two polynomials of `registers` x W coefficients, `registers` registers each.
/// Accumulator q of a lane is coefficient q W + t of the product; every product of two registers may go to
/// every one of them.
inline Sketch polynomial_sketch(std::int64_t warp, std::int64_t registers, Freedom lanes = Freedom::easy) {
  const std::int64_t n = warp * registers;
  Specification spec;
  const auto A = spec.input("a", n);
  const auto B = spec.input("b", n);
  const auto C = spec.output("c", 2 * n);
  constexpr Accumulation kProduct{.outer = Operator::bit_xor, .inner = Operator::bit_and};
  for (std::int64_t k = 0; k < 2 * n; ++k) {
    auto sum = spec.accumulator(kProduct);
    for (std::int64_t i = 0; i < n; ++i)
      if (k - i >= 0 && k - i < n) sum.add({spec.at(A, i), spec.at(B, k - i)});
    spec.set(C, k, sum);
  }
  Program p(spec, {.warp = warp});
  const Index t = lane_index();
  const auto a = p.registers("a_", registers);
  const auto b = p.registers("b_", registers);
  p.global_to_registers(a, A, {.rounds = registers});
  p.global_to_registers(b, B, {.rounds = registers});
  std::vector<Hole> lane_holes;
  std::vector<Hole> part_holes;
  std::vector<Hole> conditions;
  std::vector<AccumulatorRef> sums;
  std::vector<Registers> moved;
  for (const char* side : {"a", "b"})
    for (std::int64_t r = 1; r <= registers; ++r) {
      const std::string name = side + std::to_string(r);
      lane_holes.push_back(p.xform("lane_" + name, {.n = warp, .m = warp, .most = lanes}));
      if (registers > 1) part_holes.push_back(p.part("part_" + name, 2, {{"t", warp}, {"i", warp}}));
      moved.push_back(p.registers(name, 1));
    }
  for (std::int64_t q = 0; q < 2 * registers; ++q)
    sums.push_back(p.accumulator("acc" + std::to_string(q + 1), kProduct));
  for (std::int64_t use = 0; use < 2 * registers * registers * registers; ++use)
    conditions.push_back(p.condition("use" + std::to_string(use + 1), {{"t", warp}, {"i", warp}}));
  p.loop("i", warp, [&](const Index& i) {
    for (std::size_t m = 0; m < moved.size(); ++m) {
      const auto& from = m < static_cast<std::size_t>(registers) ? a : b;
      p.shuffle(moved[m][0], part_holes.empty() ? from[0] : from[part_holes[m](t, i)], lane_holes[m](t, i));
    }
    std::size_t use = 0;
    for (const auto& sum : sums)
      for (std::size_t x = 0; x < static_cast<std::size_t>(registers); ++x)
        for (std::size_t y = 0; y < static_cast<std::size_t>(registers); ++y)
          p.accumulate(sum, {moved[x][0], moved[static_cast<std::size_t>(registers) + y][0]},
                       conditions[use++](t, i));
  });
  for (std::size_t q = 0; q < sums.size(); ++q) p.store(C, t + static_cast<std::int64_t>(q) * warp, sums[q]);
  return {spec, p};
}

/// Sum of each struct: a column permutation, then a shuffle for each word.
inline Sketch struct_sums(std::int64_t words, std::int64_t warp) {
  Specification spec;
  const auto I = spec.input("I", words * warp);
  const auto O = spec.output("O", warp);
  for (std::int64_t i = 0; i < warp; ++i) {
    auto sum = spec.accumulator({.outer = Operator::add});
    for (std::int64_t j = 0; j < words; ++j) sum.add({spec.at(I, i * words + j)});
    spec.set(O, i, sum);
  }
  Program p(spec, {.warp = warp});
  const auto column = p.xform("column", {.n = words, .m = warp, .one_to_one = true});
  const auto row = p.xform("row", {.n = warp, .m = words, .one_to_one = true});
  const auto x = p.registers("x", words);
  const auto y = p.registers("y", words);
  const auto v = p.registers("v", 1);
  const auto sum = p.accumulator("sum", {.outer = Operator::add});
  p.global_to_registers(x, I, {.rounds = words});
  p.permute(y, x, [&](const Index& i) { return column(i, lane_index()); });
  p.loop("r", words, [&](const Index& r) {
    p.shuffle(v[0], y[r], row(lane_index(), r));
    p.accumulate(sum, {v[0]});
  });
  p.store(O, lane_index(), sum);
  return {spec, p};
}

/// Every hole's functions.
inline std::vector<FunctionSet> families_of(const Program& program, Space space) {
  std::vector<FunctionSet> families;
  for (const auto& hole : program.holes()) families.emplace_back(hole, space);
  return families;
}

/// Parameters in the order of publication.
inline XformParameters xform(std::int64_t n, std::int64_t cf, std::int64_t df, std::int64_t gs, bool wrap,
                             std::int64_t cr, std::int64_t dr, std::int64_t c = 0) {
  XformParameters p;
  p.n = n;
  p.cf = cf;
  p.df = df;
  p.gs = gs;
  p.g = gs / df;
  p.wrap = wrap;
  p.cr = cr;
  p.dr = dr;
  p.c = c;
  return p;
}

}  // namespace faro::swizzle
