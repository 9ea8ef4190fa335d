// Completed sketches of every kind, for tests of their kernels on the CPU, in nvcc, and on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/hole.hpp"
#include "faro/swizzle/program.hpp"
#include "faro/swizzle/specification.hpp"
#include "swizzle_scan.hpp"

namespace faro::testing {

struct SwizzleKernel {
  std::string name;
  swizzle::Specification specification;
  swizzle::Program program;
  swizzle::Valuation valuation;
  bool specified = true;  // the specification says what the outputs are
  bool integers = false;  // has bit operators
};

inline swizzle::FormulaParameters formula(swizzle::Index index) { return {.formula = std::move(index)}; }

/// Mean of three neighbours, weighted by an array if `weighted`: 2 blocks of `warps` warps.
inline SwizzleKernel stencil_kernel(std::int64_t W, std::int64_t warps, bool weighted) {
  using namespace swizzle;
  Specification spec;
  const std::int64_t n = 2 * warps * W;
  const Array I = spec.input("I", n + 2);
  const Array weights = spec.input("weights", 3);
  const Array O = spec.output("O", n);
  const Accumulation mean{.outer = Operator::add, .inner = Operator::none, .divisor = 3};
  const Accumulation weighing{.outer = Operator::add, .inner = Operator::multiply, .divisor = 1};
  for (std::int64_t i = 0; i < n; ++i) {
    auto sum = spec.accumulator(weighted ? weighing : mean);
    for (std::int64_t k = 0; k < 3; ++k) {
      if (weighted) sum.add({spec.at(weights, k), spec.at(I, i + k)});
      if (!weighted) sum.add({spec.at(I, i + k)});
    }
    spec.set(O, i, sum);
  }
  Program p(spec, {.warp = W, .warps = warps, .blocks = 2});
  const Index t = lane_index();
  const Hole lane = p.xform("lane", {.n = W, .m = W, .asked = 3});
  const Hole index = p.part("index", 2, {{"t", W}, {"i", 3}});
  const Hole use = p.condition("use", {{"t", W}, {"i", 3}});
  const Registers rc = p.registers("rc", 2), x = p.registers("x", 1), w = p.registers("for", 3);
  const AccumulatorRef sum = p.accumulator("sum", weighted ? weighing : mean);
  const Index offset = warps * W * block_index() + W * warp_index();
  if (weighted) p.loop("k", 3, [&](const Index& k) { p.load(w[k], weights, k); });
  p.global_to_registers(rc, I, {.rounds = 2, .offset = offset, .size = Index(W + 2)});
  p.loop("i", 3, [&](const Index& i) {
    p.shuffle(x[0], rc[index(t, i)], lane(t, i));
    if (weighted) {
      p.accumulate(sum, {w[i], x[0]}, use(t, i));
    } else {
      p.accumulate(sum, {x[0]}, use(t, i));
    }
  });
  p.store(O, offset + t, sum);
  Valuation found(p);
  found.set(lane,
            XformParameters{.n = W, .cf = 1, .df = W, .gs = W, .g = 1, .wrap = false, .cr = 1, .dr = W});
  found.set(index,
            PartParameters{
                .conditions = {{.literal = {}, .v1 = 1, .v2 = 0, .comparison = Comparison::less_equal}}});
  found.set(use, ConditionParameters{.literal = true});
  return {std::string(weighted ? "conv_1d_" : "stencil_") + std::to_string(W) + "_" + std::to_string(warps),
          std::move(spec), std::move(p), std::move(found)};
}

/// An example with one of its known solutions.
inline SwizzleKernel example_kernel(const std::string& name, std::int64_t words, std::int64_t W,
                                    const std::string& source) {
  const swizzle::Example example = swizzle::make_example(name, {.struct_words = words, .warp = W});
  const auto known = std::find_if(example.known.begin(), example.known.end(),
                                  [&](const auto& k) { return k.source == source; });
  std::string kernel = name + "_" + std::to_string(words) + "_" + std::to_string(W);
  std::replace(kernel.begin(), kernel.end(), '-', '_');
  const bool has_bits = example.sketch.accumulators().size() > 0 &&
                        example.sketch.accumulators()[0].accumulation.outer == swizzle::Operator::bit_xor;
  return {kernel, example.specification, example.sketch, known->valuation, true, has_bits};
}

/// 7 x 7 weighted taps by 4 x 4 lanes with 3 x 3 registers.
inline SwizzleKernel conv_2d_kernel() { return example_kernel("conv-2d", 7, 16, "published"); }
/// Carry-less product of two polynomials of 2 W coefficients: 16 accumulates in the sketch, 6 of them live.
inline SwizzleKernel poly_64_kernel(std::int64_t W) {
  return example_kernel("poly-64", 0, W, "published, 6 accumulates");
}
/// Structs of S words by load, column, store in closed form.
inline SwizzleKernel rcr_kernel(std::int64_t S, std::int64_t W) {
  return example_kernel("aos-rcr", S, W, "closed form");
}

/// Structs of S words by column, row, column in closed form, the columns in place.
inline SwizzleKernel crc_kernel(std::int64_t S, std::int64_t W) {
  using namespace swizzle;
  Specification spec = make_example("aos-crc", {.struct_words = S, .warp = W}).specification;
  Program p(spec, {.warp = W, .warps = 1, .blocks = 1});
  const Hole first = p.xform("first", {.n = S, .m = W}), row = p.xform("row", {.n = W, .m = S}),
             last = p.xform("last", {.n = S, .m = W});
  const Registers x = p.registers("x", S);
  const Index t = lane_index();
  p.global_to_registers(x, Array{0}, {.rounds = S});
  p.permute(x, x, [&](const Index& i) { return first(i, t); });
  p.loop("r", S, [&](const Index& r) { p.shuffle(x[r], x[r], row(t, r)); });
  p.permute(x, x, [&](const Index& i) { return last(i, t); });
  p.registers_to_global(Array{1}, x, {.rounds = S});
  Valuation found(p);
  const ClosedFormColumns form = closed_form_columns(S, W);
  found.set(first, form.first);
  found.set(row, form.row);
  found.set(last, form.last);
  return {"crc_" + std::to_string(S) + "_" + std::to_string(W), std::move(spec), std::move(p),
          std::move(found)};
}

/// A matrix of odd sides through shared memory, two warps.
inline SwizzleKernel transpose_kernel() {
  using namespace swizzle;
  constexpr std::int64_t side = 13, W = 32;
  Specification spec;
  const Array I = spec.input("I", side * side), O = spec.output("O", side * side);
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) spec.set(O, side * x + y, spec.at(I, side * y + x));
  Program p(spec, {.warp = W, .warps = 2, .blocks = 1});
  const Array tile = p.shared("tile", side * (side + 1));
  p.global_to_shared(tile, I,
                     {.extents = {side, side}, .global_strides = {side, 1}, .shared_strides = {side + 1, 1}});
  p.barrier();
  p.shared_to_global(O, tile,
                     {.extents = {side, side}, .global_strides = {side, 1}, .shared_strides = {1, side + 1}});
  Valuation none(p);
  return {"transpose", std::move(spec), std::move(p), std::move(none)};
}

/// What the examples do not have: lanes that write different registers, minima and maxima, a permutation that
/// is no rotation, one that depends on a loop, stores over another lane's, sub-warps that fill no warp.
inline SwizzleKernel odd_kernel() {
  using namespace swizzle;
  constexpr std::int64_t W = 8, warps = 5, n = 4;
  Specification spec;
  const std::int64_t threads = W * warps;
  const Array I = spec.input("a b", n * threads), O = spec.output("int", 3 * n * threads);
  Program p(spec, {.warp = W, .warps = warps, .blocks = 1});
  const Index t = lane_index(), thread = W * warp_index() + t;
  const Registers x = p.registers("x", n), y = p.registers("threadIdx", n), z = p.registers("t", 1);
  p.loop("x", n, [&](const Index& i) { p.load(x[(i + t) % n], I, threads * i + thread); });
  p.permute(y, x, [&](const Index& i) { return (i * i + t) % n; });
  p.loop("x", n, [&](const Index& i) { p.store(O, threads * i + thread, y[i]); });
  p.loop("k", n, [&](const Index& k) {
    p.permute(x, x, [&](const Index& i) { return (i + k + t / 2) % n; });
    p.shuffle(y[(t + k) % n], x[(t * t + k) % n], t * 3 + k - 5);
  });
  p.loop("i", n, [&](const Index& i) { p.store(O, n * threads + threads * i + thread, y[i]); });
  const AccumulatorRef least =
      p.accumulator("least", {.outer = Operator::least, .inner = Operator::greatest, .divisor = 1});
  const AccumulatorRef most =
      p.accumulator("most", {.outer = Operator::greatest, .inner = Operator::add, .divisor = 3});
  const AccumulatorRef product =
      p.accumulator("product", {.outer = Operator::multiply, .inner = Operator::least, .divisor = 1});
  p.loop("i", n, [&](const Index& i) {
    p.accumulate(least, {x[i], y[(i + t) % n]}, t % 3 != 0);
    p.accumulate(most, {x[i], y[0], x[(i * t) % n]});
    p.accumulate(product, {x[i], y[i]}, i < 2);
  });
  p.evaluate(z[0], least);
  p.store(O, 2 * n * threads + thread, z[0], t % 3 != 0);
  p.evaluate(z[0], most);
  p.store(O, 2 * n * threads + threads + thread, z[0]);
  p.evaluate(z[0], product);
  // Each element twice, by two threads: the later counts.
  p.store(O, 2 * n * threads + 2 * threads + thread, z[0]);
  p.store(O, 2 * n * threads + 2 * threads + (threads - 1 - thread), z[0], thread % 2 == 0);
  p.loop("i", 3,
         [&](const Index& i) { p.store(O, 2 * n * threads + 3 * threads + (thread + i) % threads, x[i]); });
  Valuation none(p);
  return {"odd", std::move(spec), std::move(p), std::move(none), false};
}

/// A plain copy by many iterations, whose loop need not be unrolled, and lanes that are no power of two.
inline SwizzleKernel long_kernel() {
  using namespace swizzle;
  constexpr std::int64_t W = 12, rounds = 700;
  Specification spec;
  const Array I = spec.input("I", W * rounds), O = spec.output("O", W * rounds);
  for (std::int64_t k = 0; k < W * rounds; ++k) spec.set(O, k, spec.at(I, k));
  Program p(spec, {.warp = W, .warps = 3, .blocks = 1});
  const Registers x = p.registers("x", 1), unused = p.registers("unused", 1);
  p.loop("i", rounds, [&](const Index& i) {
    const Index when = warp_index() == i % 3;
    p.load(unused[0], I, 0);
    p.load(x[0], I, W * i + lane_index(), when);
    p.shuffle(x[0], x[0], lane_index() + W);
    p.store(O, W * i + lane_index(), x[0], when);
  });
  Valuation none(p);
  return {"long_copy", std::move(spec), std::move(p), std::move(none)};
}

/// Every example with each of its known solutions.
inline void add_examples(std::vector<SwizzleKernel>& all) {
  for (const swizzle::ExampleName& listed : swizzle::example_names()) {
    const swizzle::Example example = swizzle::make_example(listed.name, {});
    std::vector<swizzle::Valuation> solutions;
    for (const auto& known : example.known) solutions.push_back(known.valuation);
    if (solutions.empty() && example.sketch.holes().empty()) solutions.emplace_back(example.sketch);
    for (const auto& solution : solutions) {
      std::string name = "example_" + example.name + "_" + std::to_string(all.size());
      for (char& c : name)
        if (c == '-') c = '_';
      const bool has_bits =
          std::any_of(example.sketch.accumulators().begin(), example.sketch.accumulators().end(),
                      [](const auto& a) { return a.accumulation.outer == swizzle::Operator::bit_xor; });
      all.push_back(
          {name, example.specification, example.sketch, solution, example.name != "load-only", has_bits});
    }
  }
}

/// Sums of all lanes up to one's own, by a sum of sums in log W steps.
inline SwizzleKernel scan_kernel(std::int64_t W) {
  using namespace swizzle;
  Scan scan(W);
  Program p(scan.specification, {.warp = W});
  const Index t = lane_index();
  const Registers x = p.registers("x", 2);
  const AccumulatorRef total = p.accumulator("total", {});
  p.load(x[0], scan.in, t);
  p.start(total, {x[0]});
  for (std::int64_t reach = 1; reach < W; reach *= 2) {
    p.evaluate(x[0], total);
    p.shuffle(x[1], x[0], (t + (W - reach)) % W);
    p.start(total, {x[0]});
    p.accumulate(total, {x[1]}, t >= reach);
  }
  p.store(scan.out, t, total);
  Valuation none(p);
  return {"scan_" + std::to_string(W), std::move(scan.specification), std::move(p), std::move(none)};
}

inline std::vector<SwizzleKernel> swizzle_kernels() {
  std::vector<SwizzleKernel> all;
  add_examples(all);
  all.push_back(stencil_kernel(32, 2, false));
  all.push_back(stencil_kernel(8, 3, false));
  all.push_back(stencil_kernel(32, 2, true));
  all.push_back(conv_2d_kernel());
  all.push_back(poly_64_kernel(32));
  all.push_back(poly_64_kernel(4));
  for (const std::int64_t S : {1, 2, 3, 4, 6, 7, 12, 16}) all.push_back(rcr_kernel(S, 32));
  for (const std::int64_t S : {2, 5, 6, 8, 12}) all.push_back(crc_kernel(S, 32));
  all.push_back(rcr_kernel(6, 64));
  all.push_back(rcr_kernel(10, 20));
  all.push_back(crc_kernel(6, 8));
  all.push_back(transpose_kernel());
  all.push_back(odd_kernel());
  all.push_back(long_kernel());
  all.push_back(scan_kernel(32));
  all.push_back(scan_kernel(8));
  return all;
}

}  // namespace faro::testing
