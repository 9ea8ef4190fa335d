#include "faro/swizzle/specification.hpp"

#include <utility>

#include "swizzle/refuse.hpp"

namespace faro::swizzle {
namespace {

Array declare(std::vector<ArrayDeclaration>& arrays, std::string name, ArrayKind kind, std::int64_t size) {
  if (name.empty()) detail::refuse_spec("declare an array", "an empty name", "a name");
  for (const auto& other : arrays)
    if (other.name == name)
      detail::refuse_spec("declare array `" + name + "`", "a name that is taken", "another name");
  if (size < 1)
    detail::refuse_spec("declare array `" + name + "`", std::to_string(size) + " elements", "at least 1");
  arrays.push_back({.name = std::move(name), .kind = kind, .size = size});
  return {.number = static_cast<int>(arrays.size()) - 1};
}

void require_element(const std::vector<ArrayDeclaration>& arrays, Array array, ArrayKind kind,
                     std::int64_t index) {
  const std::string wanted = kind == ArrayKind::input ? "an input" : "an output";
  if (array.number < 0 || static_cast<std::size_t>(array.number) >= arrays.size())
    detail::refuse_spec("specification", "array number " + std::to_string(array.number),
                        wanted + " of this specification");
  const auto& declared = arrays[static_cast<std::size_t>(array.number)];
  if (declared.kind != kind) detail::refuse_spec("specification", "array `" + declared.name + "`", wanted);
  if (index < 0 || index >= declared.size)
    detail::refuse_spec("specification", declared.name + "[" + std::to_string(index) + "]",
                        "an index in 0 .. " + std::to_string(declared.size - 1));
}

}  // namespace

Specification::Specification() : values_(std::make_shared<ValueTable>()) {}

Array Specification::input(std::string name, std::int64_t size) {
  const Array array = declare(arrays_, std::move(name), ArrayKind::input, size);
  wanted_.emplace_back();
  return array;
}

Array Specification::output(std::string name, std::int64_t size) {
  const Array array = declare(arrays_, std::move(name), ArrayKind::output, size);
  wanted_.emplace_back(static_cast<std::size_t>(size), kUndefined);
  return array;
}

ValueId Specification::at(Array input, std::int64_t index) {
  require_element(arrays_, input, ArrayKind::input, index);
  return values_->input(input.number, index);
}

void Specification::Accumulator::add(std::vector<ValueId> term, bool when) {
  if (!when) return;
  if (term.empty()) detail::refuse_spec("add to an accumulator", "a term of no values", "at least one value");
  if (term.size() > 1 && accumulation_.inner == Operator::none)
    detail::refuse_spec("add to an accumulator", "a term of " + std::to_string(term.size()) + " values",
                        "one value, as there is no inner operator");
  for (const ValueId value : term)
    if (value == kUndefined)
      detail::refuse_spec("add to an accumulator", "an undefined value", "values of inputs or sums");
  terms_.push_back(std::move(term));
}

Specification::Accumulator Specification::accumulator(const Accumulation& accumulation) const {
  if (accumulation.outer == Operator::none)
    detail::refuse_spec("accumulator", "no outer operator", "an outer operator");
  if (accumulation.divisor == 0) detail::refuse_spec("accumulator", "divisor 0", "a divisor of at least 1");
  Accumulator result;
  result.accumulation_ = accumulation;
  return result;
}

ValueId Specification::value(const Accumulator& accumulator) {
  return values_->sum(accumulator.accumulation_, accumulator.terms_);
}

void Specification::set(Array output, std::int64_t index, ValueId value) {
  require_element(arrays_, output, ArrayKind::output, index);
  wanted_[static_cast<std::size_t>(output.number)][static_cast<std::size_t>(index)] = value;
}

void Specification::set(Array output, std::int64_t index, const Accumulator& accumulator) {
  set(output, index, value(accumulator));
}

ValueId Specification::wanted(Array output, std::int64_t index) const {
  require_element(arrays_, output, ArrayKind::output, index);
  return wanted_[static_cast<std::size_t>(output.number)][static_cast<std::size_t>(index)];
}

}  // namespace faro::swizzle
