// A kernel of one's own: what it must compute, a sketch with holes, and what faro finds for them. To copy.
//
// The mean of three neighbours around a ring: every lane has one element and wants the two after it as well.
// The sketch leaves open which lane is asked in which of the three turns.
#include <cstdio>
#include <exception>

#include "faro/error.hpp"
#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/synthesise.hpp"

namespace sw = faro::swizzle;

namespace {

constexpr int kLanes = 8;
constexpr int kTaps = 3;

// 1. The specification: a sequential program. What it leaves in O is what every solution must.
sw::Specification ring() {
  sw::Specification spec;
  const auto I = spec.input("I", kLanes);
  const auto O = spec.output("O", kLanes);
  for (int i = 0; i < kLanes; ++i) {
    auto sum = spec.accumulator({.outer = sw::Operator::add, .inner = sw::Operator::none, .divisor = kTaps});
    for (int k = 0; k < kTaps; ++k) sum.add({spec.at(I, (i + k) % kLanes)});
    spec.set(O, i, sum);
  }
  return spec;
}

// 2. The sketch: what each lane does, with a hole for what is not known.
sw::Program sketch(const sw::Specification& spec) {
  const sw::Array I{.number = 0};
  const sw::Array O{.number = 1};
  sw::Program p(spec, {.warp = kLanes});
  const sw::Index t = sw::lane_index();
  const auto lane = p.xform("lane", {.n = kLanes, .m = kLanes, .asked = kTaps});
  const auto own = p.registers("own", 1);
  const auto x = p.registers("x", 1);
  const auto sum =
      p.accumulator("sum", {.outer = sw::Operator::add, .inner = sw::Operator::none, .divisor = kTaps});
  p.load(own[0], I, t);
  p.loop("i", kTaps, [&](const sw::Index& i) {
    p.shuffle(x[0], own[0], lane(t, i));
    p.accumulate(sum, {x[0]});
  });
  p.store(O, t, sum);
  return p;
}

void run() {
  const sw::Specification spec = ring();
  const sw::Program program = sketch(spec);
  std::printf("%s\n", to_text(program).c_str());

  // 3. The search: all solutions, or the proof that there are none.
  const sw::SynthesisResult result = synthesise(spec, program, {.space = sw::Space::full});
  std::printf("%s: %llu\n", name(result.outcome), static_cast<unsigned long long>(result.solutions));
  for (const sw::Solution& solution : result.kept) {
    const auto& hole = program.holes()[0];
    std::printf("  lane: %s\n", to_text(solution.valuation.parameters(0), hole).c_str());
  }
  if (!result.best) return;

  // 4. The kernel of the cheapest.
  const auto kernel = emit(program, result.best->valuation, {.name = "ring_mean", .element_type = "float"});
  std::printf("\n%s", kernel.text.c_str());
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
