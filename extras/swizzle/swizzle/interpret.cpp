// Functions for the holes of a program, and running it with them, on symbols and on numbers.
#include <algorithm>
#include <limits>
#include <utility>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/arithmetic.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/function_builder.hpp"

namespace faro::swizzle {
Valuation::Valuation(const Program& program)
    : holes_(program.holes().begin(), program.holes().end()),
      values_(program.ranges().holes),
      parameters_(holes_.size()),
      tables_(holes_.size()) {}

std::size_t Valuation::require(int hole) const {
  const auto number = static_cast<std::size_t>(hole);
  if (hole < 0 || number >= holes_.size())
    fail(ErrorCode::spec, "valuation", "hole number " + std::to_string(hole),
         "one of " + std::to_string(holes_.size()) + " holes");
  return number;
}

void Valuation::set_table(int hole, std::vector<std::int32_t> table) {
  const std::size_t number = require(hole);
  const HoleDeclaration& declared = holes_[number];
  FARO_CHECK(static_cast<std::int64_t>(table.size()) == cells(declared));
  for (std::size_t cell = 0; cell < table.size(); ++cell) {
    if (table[cell] >= values_[number].least && table[cell] <= values_[number].most) continue;
    std::string where;
    auto rest = static_cast<std::int64_t>(cell);
    for (const Argument& argument : declared.arguments) {
      where +=
          (where.empty() ? " at " : ", ") + argument.name + " = " + std::to_string(rest % argument.asked);
      rest /= argument.asked;
    }
    fail(
        ErrorCode::spec, "function of hole `" + declared.name + "`", std::to_string(table[cell]) + where,
        "values in " + std::to_string(values_[number].least) + " .. " + std::to_string(values_[number].most));
  }
  parameters_[number].reset();
  tables_[number] = std::move(table);
}

void Valuation::set(int hole, const Parameters& parameters) {
  const HoleDeclaration& declared = holes_[require(hole)];
  std::vector<std::int32_t> table;
  detail::for_each_cell(declared, [&](std::size_t, std::span<const std::int64_t> arguments) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    table.push_back(static_cast<std::int32_t>(std::clamp(value_of(parameters, arguments), -kMost, kMost)));
  });
  set_table(hole, std::move(table));
  parameters_[static_cast<std::size_t>(hole)] = parameters;
}

void Valuation::set(const std::string& hole, const Parameters& parameters) {
  std::string names;
  for (std::size_t number = 0; number < holes_.size(); ++number) {
    if (holes_[number].name == hole) return set(static_cast<int>(number), parameters);
    names += (names.empty() ? "" : ", ") + holes_[number].name;
  }
  fail(ErrorCode::spec, "valuation", "hole `" + hole + "`",
       names.empty() ? "nothing: there are no holes" : "one of " + names);
}

std::int64_t Valuation::operator()(int hole, std::span<const std::int64_t> arguments) const {
  const std::size_t number = require(hole);
  const HoleDeclaration& declared = holes_[number];
  const auto& table = tables_[number];
  if (table.empty())
    fail(ErrorCode::spec, "hole `" + declared.name + "`", "no function", "a function", "set one");
  std::int64_t place = 0;
  if (arguments.size() != declared.arguments.size())
    place = cell(declared, {arguments.begin(), arguments.end()});
  for (std::size_t k = arguments.size(); k-- > 0;) {
    const std::int64_t asked = declared.arguments[k].asked;
    if (arguments[k] < 0 || arguments[k] >= asked) cell(declared, {arguments.begin(), arguments.end()});
    place = place * asked + arguments[k];
  }
  return table[static_cast<std::size_t>(place)];
}

const Parameters& Valuation::parameters(int hole) const {
  const std::size_t number = require(hole);
  if (!parameters_[number])
    fail(ErrorCode::spec, "hole `" + holes_[number].name + "`", "no function", "a function", "set one");
  return *parameters_[number];
}

bool Valuation::complete() const {
  return std::ranges::none_of(tables_, [](const auto& table) { return table.empty(); });
}

std::span<const std::int32_t> Valuation::table(int hole) const {
  const std::size_t number = require(hole);
  if (tables_[number].empty())
    fail(ErrorCode::spec, "hole `" + holes_[number].name + "`", "no function", "a function", "set one");
  return tables_[number];
}

namespace {

using detail::KnownHoles;
using detail::OutputMemory;
using detail::StoreOrder;

/// The domain of symbols: a register holds a value of the table.
class SymbolDomain : public KnownHoles {
 public:
  using Element = ValueId;
  struct Accumulator {
    std::vector<std::vector<ValueId>> terms;
    bool undefined = false;  // a term was, so the whole is
  };

  SymbolDomain(const Program& program, const Valuation& valuation, ValueTable& values, const Watcher& watcher,
               RunNotes& notes)
      : KnownHoles(program, valuation, notes.reads),
        values_(values),
        watcher_(watcher),
        present_(notes.present),
        memory_(program) {}

  static bool defined(Element element) { return element != kUndefined; }
  static bool differ(Element a, Element b) { return a != b; }
  Element input(Array array, std::int64_t index) { return values_.input(array.number, index); }
  template <typename Rows>
  static void append(const Accumulation& /*accumulation*/, Accumulator& accumulator, const Rows& /*rows*/,
                     const std::vector<Element>& term) {
    for (const Element factor : term) accumulator.undefined = accumulator.undefined || !defined(factor);
    if (!accumulator.undefined) accumulator.terms.push_back(term);
  }
  Element evaluate(const Accumulation& accumulation, const Accumulator& accumulator) {
    return accumulator.undefined ? kUndefined : values_.sum(accumulation, accumulator.terms);
  }
  template <typename Rows>
  const char* store(const StoreOrder& order, Array array, const Rows& rows, Element element) {
    return memory_.store(order, array, rows[0][1], element, differ);
  }
  void present(const PresentStatement& statement, std::span<const Element> registers,
               std::span<const std::int64_t> addresses) const {
    if (present_) present_(statement, registers, addresses);
  }
  bool watching() const { return static_cast<bool>(watcher_); }
  void watch(int step, const Statement& statement, const Place& place, int registers,
             std::span<const Element> elements) const {
    watcher_(step, statement,
             {.block = place.block, .warp = place.warp, .registers = registers, .values = elements});
  }
  const OutputMemory<Element>& memory() const { return memory_; }

 private:
  ValueTable& values_;
  const Watcher& watcher_;
  const PresentHook& present_;
  OutputMemory<Element> memory_;
};

template <typename T>
struct Number {
  T value = T{};
  bool is_defined = false;
};

/// The domain of numbers: a register holds one.
template <typename T>
class NumberDomain : public KnownHoles {
 public:
  using Element = Number<T>;
  struct Accumulator {
    T total = T{};
    bool started = false;
    bool is_defined = true;  // so far
  };

  NumberDomain(const Program& program, const Valuation& valuation, std::span<const std::span<const T>> inputs)
      : KnownHoles(valuation), inputs_(inputs), memory_(program) {}

  static bool defined(const Element& element) { return element.is_defined; }
  static bool differ(const Element& a, const Element& b) {
    if (!a.is_defined || !b.is_defined) return a.is_defined != b.is_defined;
    const bool both_nan = a.value != a.value && b.value != b.value;
    return a.value != b.value && !both_nan;
  }
  Element input(Array array, std::int64_t index) const {
    return {.value = inputs_[static_cast<std::size_t>(array.number)][static_cast<std::size_t>(index)],
            .is_defined = true};
  }
  template <typename Rows>
  static void append(const Accumulation& accumulation, Accumulator& accumulator, const Rows& /*rows*/,
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
  template <typename Rows>
  const char* store(const StoreOrder& order, Array array, const Rows& rows, const Element& element) {
    return memory_.store(order, array, rows[0][1], element, differ);
  }
  static void present(const PresentStatement&, const std::vector<Element>&,
                      const std::vector<std::int64_t>&) {}
  std::vector<std::vector<Element>> outputs() const { return memory_.outputs(); }

 private:
  std::span<const std::span<const T>> inputs_;
  OutputMemory<Element> memory_;
};

template <typename Span>
void require_spans(const Program& program, ArrayKind kind, std::span<const Span> spans) {
  const std::string what = kind == ArrayKind::input ? "input" : "output";
  for (std::size_t number = 0; number < program.arrays().size(); ++number) {
    const auto& declared = program.arrays()[number];
    const std::size_t wanted = declared.kind == kind ? static_cast<std::size_t>(declared.size) : 0;
    const std::size_t got = number < spans.size() ? spans[number].size() : 0;
    if (got == wanted || declared.kind == ArrayKind::shared) continue;
    fail(ErrorCode::value, "run a swizzle program",
         std::to_string(got) + " elements for " + what + " span of `" + declared.name + "`",
         std::to_string(wanted), "give spans by array number");
  }
}

}  // namespace

void require_runnable(const Program& program, const Valuation& valuation) {
  check(program);
  for (std::size_t hole = 0; hole < program.holes().size(); ++hole) valuation.table(static_cast<int>(hole));
}

std::vector<std::vector<ValueId>> run_symbolic_with(const Program& program, const Valuation& valuation,
                                                    ValueTable& values, const Watcher& watcher,
                                                    RunNotes& notes) {
  require_runnable(program, valuation);
  notes.reads.clear();
  for (const HoleDeclaration& hole : program.holes())
    notes.reads.emplace_back(static_cast<std::size_t>(cells(hole)));
  SymbolDomain symbols(program, valuation, values, watcher, notes);
  detail::Executor(program, symbols).run();
  auto arrays = symbols.memory().outputs();
  notes.last_stores.assign(arrays.size(), {});
  for (std::size_t number = 0; number < arrays.size(); ++number)
    for (std::size_t i = 0; i < arrays[number].size(); ++i)
      notes.last_stores[number].push_back(
          symbols.memory().last_store({static_cast<int>(number)}, static_cast<std::int64_t>(i)));
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
  RunNotes notes;
  return run_symbolic_with(program, valuation, values, watcher, notes);
}

template <typename T>
void run(const Program& program, const Valuation& valuation, std::span<const std::span<const T>> inputs,
         std::span<const std::span<T>> outputs) {
  require_runnable(program, valuation);
  require_spans(program, ArrayKind::input, inputs);
  require_spans(program, ArrayKind::output, outputs);
  for (const auto& accumulator : program.accumulators()) require_operators_of<T>(accumulator.accumulation);
  NumberDomain<T> numbers(program, valuation, inputs);
  detail::Executor(program, numbers).run();
  const auto results = numbers.outputs();
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
