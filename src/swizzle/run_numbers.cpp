#include <utility>

#include "faro/swizzle/interpret.hpp"
#include "swizzle/arithmetic.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/symbolic_policy.hpp"

namespace faro::swizzle {
namespace {

template <typename T>
class NumberPolicy {
 public:
  struct Element {
    T value = T{};
    bool is_defined = false;
  };
  struct Accumulator {
    T total = T{};
    bool started = false;
    bool is_defined = true;  // so far
  };

  explicit NumberPolicy(std::span<const std::span<const T>> inputs) : inputs_(inputs) {}

  static bool defined(const Element& element) { return element.is_defined; }
  static bool same(const Element& a, const Element& b) {
    return a.value == b.value || (a.value != a.value && b.value != b.value);  // a NaN is itself
  }
  Element input(int array, std::int64_t index) const {
    return {.value = inputs_[static_cast<std::size_t>(array)][static_cast<std::size_t>(index)],
            .is_defined = true};
  }
  static void append(const Accumulation& accumulation, Accumulator& accumulator,
                     const std::vector<Element>& term) {
    for (const Element& factor : term) accumulator.is_defined = accumulator.is_defined && factor.is_defined;
    T product = term.front().value;
    for (std::size_t i = 1; i < term.size(); ++i) product = apply(accumulation.inner, product, term[i].value);
    accumulator.total = accumulator.started ? apply(accumulation.outer, accumulator.total, product) : product;
    accumulator.started = true;
  }
  static Element evaluate(const Accumulation& accumulation, const Accumulator& accumulator) {
    const T total = accumulator.started ? accumulator.total : identity_of<T>(accumulation.outer);
    return {.value = divided(accumulation, total), .is_defined = accumulator.is_defined};
  }
  static void present(const PresentStatement&, const std::vector<Element>&,
                      const std::vector<std::int64_t>&) {}
  static bool watching() { return false; }
  static void watch(int, const Statement&, std::int64_t, std::int64_t, int, const std::vector<Element>&) {}

 private:
  std::span<const std::span<const T>> inputs_;
};

void require_spans(const Program& program, ArrayKind kind, std::span<const std::size_t> sizes) {
  const std::string what = kind == ArrayKind::input ? "input" : "output";
  for (std::size_t number = 0; number < program.arrays().size(); ++number) {
    const auto& declared = program.arrays()[number];
    const std::size_t wanted = declared.kind == kind ? static_cast<std::size_t>(declared.size) : 0;
    const std::size_t got = number < sizes.size() ? sizes[number] : 0;
    if (got == wanted || declared.kind == ArrayKind::shared) continue;
    throw Error({.code = ErrorCode::value,
                 .operation = "run a swizzle program",
                 .got = std::to_string(got) + " elements for " + what + " span of `" + declared.name + "`",
                 .wanted = std::to_string(wanted),
                 .remedy = "give spans by array number"});
  }
}

template <typename Span>
std::vector<std::size_t> sizes_of(std::span<const Span> spans) {
  std::vector<std::size_t> sizes;
  for (const auto& span : spans) sizes.push_back(span.size());
  return sizes;
}

}  // namespace

template <typename T>
void run(const Program& program, const Valuation& valuation, std::span<const std::span<const T>> inputs,
         std::span<const std::span<T>> outputs) {
  require_runnable(program, valuation);
  require_spans(program, ArrayKind::input, sizes_of(inputs));
  require_spans(program, ArrayKind::output, sizes_of(outputs));
  for (const auto& accumulator : program.accumulators()) require_operators_of<T>(accumulator.accumulation);
  NumberPolicy<T> numbers(inputs);
  const HoleReader holes = [&valuation](int hole, std::span<const std::int64_t> arguments) {
    return valuation(hole, arguments);
  };
  Executor<NumberPolicy<T>> executor(program, holes, numbers);
  executor.run();
  const auto results = executor.outputs();
  for (std::size_t number = 0; number < results.size(); ++number)
    for (std::size_t i = 0; i < results[number].size(); ++i)
      if (results[number][i].is_defined) outputs[number][i] = results[number][i].value;
}

template void run(const Program&, const Valuation&, std::span<const std::span<const std::uint32_t>>,
                  std::span<const std::span<std::uint32_t>>);
template void run(const Program&, const Valuation&, std::span<const std::span<const std::uint64_t>>,
                  std::span<const std::span<std::uint64_t>>);
template void run(const Program&, const Valuation&, std::span<const std::span<const float>>,
                  std::span<const std::span<float>>);

}  // namespace faro::swizzle
