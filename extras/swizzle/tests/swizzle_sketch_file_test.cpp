// Sketches as files: what is written is read as the same sketch, and what is no sketch is refused.
#include <gtest/gtest.h>

#include <string>

#include "capi/sketch_json.hpp"
#include "faro/error.hpp"
#include "faro/swizzle/synthesise.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace swizzle_sketch_file_test {

using namespace swizzle;

void expect_round_trip(const Example& example) {
  const std::string text = capi::sketch_file(example);
  const Example again = capi::read_sketch(text, "a.sketch");
  EXPECT_EQ(capi::sketch_file(again), text);
  EXPECT_EQ(to_text(again.sketch), to_text(example.sketch));
  const auto arrays = example.specification.arrays();
  for (std::size_t number = 0; number < arrays.size(); ++number) {
    if (arrays[number].kind != ArrayKind::output) continue;
    const Array array{.number = static_cast<int>(number)};
    const std::vector<std::string> names(arrays.size(), "x");
    for (std::int64_t i = 0; i < arrays[number].size; ++i) {
      const ValueId wanted = example.specification.wanted(array, i);
      const ValueId got = again.specification.wanted(array, i);
      ASSERT_EQ(got == kUndefined, wanted == kUndefined);
      if (wanted == kUndefined) continue;
      ASSERT_EQ(again.specification.values().to_text(got, names),
                example.specification.values().to_text(wanted, names));
    }
  }
}

TEST(SwizzleSketchFile, EveryExample) {
  for (const ExampleName& entry : example_names()) {
    SCOPED_TRACE(entry.name);
    expect_round_trip(make_example(entry.name, {}));
  }
}

TEST(SwizzleSketchFile, HolesOfEveryKind) {
  Specification specification;
  const Array in = specification.input("I", 8);
  const Array out = specification.output("O", 8);
  for (std::int64_t t = 0; t < 8; ++t) specification.set(out, t, specification.at(in, 7 - t));
  Program p(specification, {.warp = 8});
  const Index t = lane_index();
  const Hole bits = p.bits("bits", 8, {{"t", 8}}, {.one_to_one = true, .most = Freedom::easy});
  const Hole listed =
      p.family("listed", {{"t", 8}}, {argument_index(0) ^ Index(7), Index(7) - argument_index(0)});
  const Hole offset = p.warp_offset("offset", {{"w", 1}}, {8}, 2);
  const Hole size = p.warp_size("size", 2);
  const Hole when = p.condition("when", {{"t", 8}, {"i", 2}}, {5}, ConditionFreedom::easy);
  const Registers x = p.registers("x", 2);
  p.load(x[0], in, t + offset(warp_index()), t < size());
  p.permute(x, x, [](const Index& i) { return i; });
  p.loop("i", 2, [&](const Index& i) { p.shuffle(x[1], x[0], select(when(t, i), bits(t), listed(t))); });
  p.store(out, t, x[1]);
  const Example example{.name = "all",
                        .summary = {},
                        .struct_words = {},
                        .specification = specification,
                        .sketch = p,
                        .known = {}};
  expect_round_trip(example);
  // Read, it is filled as it was.
  const Example again = capi::read_sketch(capi::sketch_file(example), "a.sketch");
  const SynthesisResult one = synthesise(example.specification, example.sketch, {});
  const SynthesisResult other = synthesise(again.specification, again.sketch, {});
  EXPECT_EQ(one.outcome, Outcome::found);
  EXPECT_EQ(one.solutions, other.solutions);
}

TEST(SwizzleSketchFile, Refusals) {
  for (const char* text :
       {"", "{", "[]", "{\"name\": 1}", "{\"name\": \"x\", \"specification\": {\"arrays\": []}}"})
    EXPECT_EQ(test::code_of([&] { capi::read_sketch(text, "a.sketch"); }), ErrorCode::spec) << text;
}

}  // namespace swizzle_sketch_file_test
}  // namespace faro::testing
