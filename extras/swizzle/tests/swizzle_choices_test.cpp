// The constraint model: that it says of every valuation what running it
// says.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "faro/swizzle/program.hpp"
#include "swizzle/model.hpp"
#include "swizzle_sketches.hpp"

namespace faro::swizzle {
namespace swizzle_choices_test {

/// What running the program says of these functions.
bool runs(const Sketch& sketch, const std::vector<FunctionSet>& families,
          const std::vector<std::size_t>& functions, std::string* why = nullptr) {
  Valuation v(sketch.program);
  for (std::size_t hole = 0; hole < families.size(); ++hole)
    v.set(static_cast<int>(hole), families[hole].parameters(functions[hole]));
  const auto mismatch = first_mismatch(sketch.specification, sketch.program, v);
  if (why != nullptr && mismatch) *why = mismatch->text;
  return !mismatch.has_value();
}

/// Every valuation where there are at most `most`; else random ones, around `seeds`. Gives how many meet.
std::size_t expect_law(const Sketch& sketch, Space space, std::size_t most,
                       const std::vector<std::vector<std::size_t>>& seeds = {}) {
  const auto families = families_of(sketch.program, space);
  const ConstraintModel model = build_model(sketch.specification, sketch.program, families, {});
  double all = 1;
  for (const auto& family : families) all *= static_cast<double>(family.size());
  std::size_t met = 0;
  const auto compare = [&](const std::vector<std::size_t>& functions) {
    std::string why = "it meets";
    const bool wanted = runs(sketch, families, functions, &why);
    const bool got = satisfies(model, sketch.specification, families, functions);
    met += got ? 1 : 0;
    if (got == wanted) return true;
    std::string text;
    for (std::size_t hole = 0; hole < functions.size(); ++hole)
      text += "\n  " + sketch.program.holes()[hole].name + " = " +
              to_text(families[hole].parameters(functions[hole]), sketch.program.holes()[hole]);
    ADD_FAILURE() << "meets is " << got << ", but running says: " << why << text;
    return false;
  };
  std::vector<std::size_t> functions(families.size(), 0);
  if (all <= static_cast<double>(most)) {
    for (;;) {
      if (!compare(functions)) return met;
      std::size_t hole = 0;
      while (hole < functions.size() && ++functions[hole] == families[hole].size()) functions[hole++] = 0;
      if (hole == functions.size()) return met;
    }
  }
  std::mt19937 random(11);
  for (std::size_t round = 0; round < most; ++round) {
    if (!seeds.empty()) functions = seeds[random() % seeds.size()];
    const std::size_t changes = seeds.empty() ? functions.size() : random() % 2;
    for (std::size_t change = 0; change < changes; ++change) {
      const std::size_t hole = seeds.empty() ? change : random() % functions.size();
      functions[hole] = random() % families[hole].size();
    }
    if (!compare(functions)) return met;
  }
  return met;
}

/// Numbers of these functions in their families.
std::vector<std::size_t> numbers_of(const Sketch& sketch, Space space, const Valuation& valuation) {
  std::vector<std::size_t> numbers;
  for (std::size_t hole = 0; hole < sketch.program.holes().size(); ++hole) {
    const FunctionSet family(sketch.program.holes()[hole], space);
    const auto found = family.find(valuation.table(static_cast<int>(hole)));
    EXPECT_TRUE(found.has_value()) << sketch.program.holes()[hole].name;
    numbers.push_back(found.value_or(0));
  }
  return numbers;
}

TEST(Law, TransposedStructs) {
  EXPECT_GT(expect_law(crc_sketch(2, 4), Space::full, 4000), 0U);
  const Sketch rcr = rcr_sketch(3, 8);
  Valuation known(rcr.program);
  known.set("load", xform(8, 1, 8, 8, false, 0, 3));
  known.set("column", xform(3, 2, 3, 3, false, 0, 1));
  known.set("store", xform(8, 3, 8, 8, false, 5, 3));
  EXPECT_GT(expect_law(rcr, Space::full, 500, {numbers_of(rcr, Space::full, known)}), 100U);
  const Sketch crc = crc_sketch(4, 8);
  Valuation v(crc.program);
  v.set("first", xform(4, 3, 4, 4, false, 0, 1));
  v.set("row", xform(8, 4, 2, 8, true, 0, 1));
  v.set("last", xform(4, 0, 1, 4, false, 0, -2));
  EXPECT_GT(expect_law(crc, Space::full, 500, {numbers_of(crc, Space::full, v)}), 100U);
}

TEST(Law, Stencil) {
  const Sketch sketch = stencil_sketch(4);
  EXPECT_GT(expect_law(sketch, Space::full, 1500, {numbers_of(sketch, Space::full, stencil_solution(4))}),
            500U);
  expect_law(sketch, Space::easy, 1500);
}

TEST(Law, PolynomialProduct) {
  const Sketch sketch = polynomial_sketch(4, 1);
  const Valuation v = example_of("poly-32", 4).known.front().valuation;
  EXPECT_GT(expect_law(sketch, Space::easy, 1500, {numbers_of(sketch, Space::easy, v)}), 500U);
  expect_law(sketch, Space::easy, 500);
}

Sketch load_only_sketch(std::int64_t warp) {
  const Sketch stencil = stencil_sketch(warp);
  Program p(stencil.specification, {.warp = warp, .warps = 2, .blocks = 2});
  const auto offset = p.warp_offset("offset", {{"block", 2}, {"warp", 2}}, {2 * warp, warp}, 2);
  const auto size = p.warp_size("size", 2);
  const auto rc = p.registers("rc", 2);
  p.global_to_registers(rc, {.number = 0},
                        {.rounds = 2, .offset = offset(block_index(), warp_index()), .size = size()});
  const Index output = 2 * warp * block_index() + warp * warp_index() + lane_index();
  p.present(rc, {.number = 1}, output, output < 4 * warp - 2);
  return {stencil.specification, p};
}

TEST(Law, LoadsThatMustHoldAllThatIsNeeded) {
  // offset = 4 block + 2 warp in units: constant 0, factors 1 and 1; sizes 6, 8, 9 and 10 of const + const W.
  EXPECT_EQ(expect_law(load_only_sketch(4), Space::full, 5000), 4U);
}

TEST(Law, SumsOfStructs) { EXPECT_GT(expect_law(struct_sums(2, 4), Space::full, 20'000), 0U); }

/// Statements whose indexes may leave what they index, and writes whose register a hole decides.
Sketch odd_sketch() {
  Specification spec;
  const auto I = spec.input("I", 8);
  const auto O = spec.output("O", 8);
  for (std::int64_t i = 0; i < 4; ++i) {
    spec.set(O, i, spec.at(I, i + 1));
    spec.set(O, 4 + i, spec.at(I, i));
  }
  Program p(spec, {.warp = 4});
  const Index t = lane_index();
  const auto which = p.part("which", 3, {{"t", 4}});
  const auto where = p.part("where", 2, {{"t", 4}});
  const auto shift = p.warp_size("shift", 1);
  const auto x = p.registers("x", 2);
  p.load(x[which(t)], I, t);               // register 2 is outside
  p.load(x[0], I, t + shift(), where(t));  // 0, 1, 4 or 5: outside for the last lane; one of two registers
  p.move(x[1], x[which(t)]);
  p.store(O, t, x[0]);
  p.store(O, 4 + t, x[1], which(t) < 2);
  return {spec, p};
}

TEST(Law, IndexesThatMayLeaveTheirArrays) { expect_law(odd_sketch(), Space::full, 20'000); }

/// Stores whose place a hole decides, or whether.
Sketch scatter_sketch(bool overwritten) {
  Specification spec;
  const auto I = spec.input("I", 4);
  const auto O = spec.output("O", 5);
  for (std::int64_t i = 0; i < 4; ++i) spec.set(O, i, spec.at(I, 3 - i));
  Program p(spec, {.warp = 4});
  const Index t = lane_index();
  const auto to = p.xform("to", {.n = 4, .m = 2, .most = Freedom::easy});
  const auto use = p.condition("use", {{"t", 4}});
  const auto x = p.registers("x", 1);
  p.load(x[0], I, t);
  if (overwritten) p.loop("i", 2, [&](const Index& i) { p.store(O, to(t, i), x[0], use(t)); });
  if (!overwritten) p.store(O, to(t, 1), x[0], use(t));
  return {spec, p};
}

TEST(Law, EveryWantedElementMustBeStored) {
  EXPECT_GT(expect_law(scatter_sketch(false), Space::full, 20'000), 0U);
}

TEST(Law, StructsThatPassThroughSharedMemory) {
  // A shared tile between load and a permutation by a hole: what was stored is seen after the barrier.
  const Sketch plain = crc_sketch(2, 4);
  Program p(plain.specification, {.warp = 4});
  const Index t = lane_index();
  const auto row = p.xform("row", {.n = 4, .m = 2, .one_to_one = true});
  const auto tile = p.shared("tile", 8);
  const auto x = p.registers("x", 2);
  const auto y = p.registers("y", 2);
  p.global_to_registers(x, {.number = 0}, {.rounds = 2});
  p.loop("r", 2, [&](const Index& r) { p.store(tile, r * 4 + t, x[r]); });
  p.barrier();
  p.loop("r", 2, [&](const Index& r) { p.load(y[r], tile, 2 * t + r); });
  p.loop("r", 2, [&](const Index& r) { p.shuffle(x[r], y[r], row(t, r)); });
  p.registers_to_global({.number = 1}, x, {.rounds = 2});
  EXPECT_GT(expect_law({plain.specification, p}, Space::full, 20'000), 0U);
}

}  // namespace swizzle_choices_test
}  // namespace faro::swizzle
