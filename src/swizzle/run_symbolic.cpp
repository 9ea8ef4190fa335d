#include <utility>

#include "faro/swizzle/interpret.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/symbolic_policy.hpp"

namespace faro::swizzle {
namespace {

class Symbols {
 public:
  using Element = ValueId;
  struct Accumulator {
    std::vector<std::vector<ValueId>> terms;
    bool undefined = false;  // a term was, so the whole is
  };

  Symbols(ValueTable& values, const Watcher& watcher, const PresentHook& present)
      : values_(values), watcher_(watcher), present_(present) {}

  static bool defined(Element element) { return element != kUndefined; }
  static bool same(Element a, Element b) { return a == b; }
  Element input(int array, std::int64_t index) { return values_.input(array, index); }
  static void append(const Accumulation& /*accumulation*/, Accumulator& accumulator,
                     const std::vector<Element>& term) {
    for (const Element factor : term) accumulator.undefined = accumulator.undefined || !defined(factor);
    if (!accumulator.undefined) accumulator.terms.push_back(term);
  }
  Element evaluate(const Accumulation& accumulation, const Accumulator& accumulator) {
    return accumulator.undefined ? kUndefined : values_.sum(accumulation, accumulator.terms);
  }
  void present(const PresentStatement& statement, std::span<const Element> registers,
               std::span<const std::int64_t> addresses) const {
    if (present_) present_(statement, registers, addresses);
  }
  bool watching() const { return static_cast<bool>(watcher_); }
  void watch(int step, const Statement& statement, std::int64_t block, std::int64_t warp, int registers,
             std::span<const Element> elements) const {
    watcher_(step, statement, {.block = block, .warp = warp, .registers = registers, .values = elements});
  }

 private:
  ValueTable& values_;
  const Watcher& watcher_;
  const PresentHook& present_;
};

}  // namespace

void require_runnable(const Program& program, const Valuation& valuation) {
  check(program);
  for (std::size_t hole = 0; hole < program.holes().size(); ++hole)
    valuation.parameters(static_cast<int>(hole));
}

std::vector<std::vector<ValueId>> run_symbolic_with(const Program& program, const Valuation& valuation,
                                                    ValueTable& values, const Watcher& watcher,
                                                    const PresentHook& present) {
  require_runnable(program, valuation);
  Symbols symbols(values, watcher, present);
  const HoleReader holes = [&valuation](int hole, std::span<const std::int64_t> arguments) {
    return valuation(hole, arguments);
  };
  Executor<Symbols> executor(program, holes, symbols);
  executor.run();
  auto arrays = executor.outputs();
  for (std::size_t number = 0; number < arrays.size(); ++number) {
    const auto& declared = program.arrays()[number];
    if (declared.kind != ArrayKind::input) continue;
    for (std::int64_t i = 0; i < declared.size; ++i)
      arrays[number].push_back(values.input(static_cast<int>(number), i));
  }
  return arrays;
}

std::vector<std::vector<ValueId>> run_symbolic(const Program& program, const Valuation& valuation,
                                               ValueTable& values, const Watcher& watcher) {
  return run_symbolic_with(program, valuation, values, watcher, {});
}

}  // namespace faro::swizzle
