#include "faro/swizzle/specification.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/arithmetic.hpp"
#include "swizzle/hash_slots.hpp"

namespace faro::swizzle {
namespace {

std::string joined(Operator op, const std::vector<std::string>& parts, bool spaced) {
  std::string text;
  const bool call = op == Operator::least || op == Operator::greatest;
  const std::string between = call     ? ", "
                              : spaced ? " " + std::string(name(op)) + " "
                                       : std::string(name(op));
  for (const auto& part : parts) text += (text.empty() ? "" : between) + part;
  return call ? std::string(name(op)) + "(" + text + ")" : text;
}

constexpr const char* kReading = "number of a symbolic value";

/// Evaluates nested sums, each once.
template <typename T>
class NumberReader {
 public:
  NumberReader(const ValueTable& table, std::span<const std::span<const T>> inputs)
      : table_(table), inputs_(inputs) {}

  T of(ValueId value) {
    if (value == kUndefined)
      fail(ErrorCode::value, kReading, "an undefined value", "a value that was written");
    if (table_.is_input(value)) return input(value);
    const auto known = known_.find(value);
    if (known != known_.end()) return known->second;
    const Accumulation& accumulation = table_.accumulation_of(value);
    require_operators_of<T>(accumulation);
    T total = identity_of<T>(accumulation.outer);
    for (const auto& term : table_.terms_of(value)) {
      T product = of(term.front());
      for (std::size_t i = 1; i < term.size(); ++i) product = apply(accumulation.inner, product, of(term[i]));
      total = apply(accumulation.outer, total, product);
    }
    const T number = divided(accumulation, total);
    known_.emplace(value, number);
    return number;
  }

 private:
  T input(ValueId value) const {
    const auto array = static_cast<std::size_t>(table_.array_of(value));
    const auto index = static_cast<std::size_t>(table_.index_of(value));
    if (array >= inputs_.size() || index >= inputs_[array].size())
      fail(ErrorCode::value, kReading,
           "inputs without element " + std::to_string(index) + " of array " + std::to_string(array),
           "every element that the value depends on");
    return inputs_[array][index];
  }
  const ValueTable& table_;
  std::span<const std::span<const T>> inputs_;
  std::unordered_map<ValueId, T> known_;
};

}  // namespace

ValueTable::ValueTable() : entries_(1), buckets_(64) {}

ValueId ValueTable::intern(Entry entry) {
  const auto hash_of = [](const Entry& e) {
    std::uint64_t hash =
        detail::mixed(static_cast<std::uint64_t>(e.array), static_cast<std::uint64_t>(e.index));
    if (e.array >= 0) return hash;
    hash = detail::mixed(hash, static_cast<std::uint64_t>(e.accumulation.outer));
    hash = detail::mixed(hash, static_cast<std::uint64_t>(e.accumulation.inner));
    hash = detail::mixed(hash, e.accumulation.divisor);
    for (const auto& term : e.terms) {
      hash = detail::mixed(hash, term.size());
      for (const ValueId value : term) hash = detail::mixed(hash, value);
    }
    return hash;
  };
  const auto equal = [](const Entry& a, const Entry& b) {
    return a.array == b.array && a.index == b.index && a.accumulation == b.accumulation && a.terms == b.terms;
  };
  if (entries_.size() > 2 * buckets_.size()) {
    std::vector<std::vector<ValueId>> larger(4 * buckets_.size());
    for (ValueId id = 1; id < entries_.size(); ++id)
      larger[hash_of(entries_[id]) % larger.size()].push_back(id);
    buckets_ = std::move(larger);
  }
  auto& bucket = buckets_[hash_of(entry) % buckets_.size()];
  for (const ValueId id : bucket)
    if (equal(entries_[id], entry)) return id;
  const auto id = static_cast<ValueId>(entries_.size());
  bucket.push_back(id);
  entries_.push_back(std::move(entry));
  return id;
}

ValueId ValueTable::input(int array, std::int64_t index) {
  FARO_CHECK(array >= 0 && index >= 0);
  return intern({.array = array, .index = index, .accumulation = {}, .terms = {}});
}

ValueId ValueTable::sum(const Accumulation& accumulation, std::vector<std::vector<ValueId>> terms) {
  FARO_CHECK(accumulation.outer != Operator::none && accumulation.divisor != 0);
  for (auto& term : terms) {
    FARO_CHECK(!term.empty() && (term.size() == 1 || accumulation.inner != Operator::none));
    for (const ValueId value : term) FARO_CHECK(value != kUndefined && value < entries_.size());
    std::sort(term.begin(), term.end());
  }
  std::sort(terms.begin(), terms.end());
  Entry entry{.array = -1, .index = 0, .accumulation = accumulation, .terms = {}};
  for (auto& term : terms) {
    if (!is_part(entry.accumulation, term)) {
      entry.terms.push_back(std::move(term));
      continue;
    }
    const Entry& part = entries_[term.front()];
    if (part.accumulation.inner != Operator::none) entry.accumulation.inner = part.accumulation.inner;
    entry.terms.insert(entry.terms.end(), part.terms.begin(), part.terms.end());
  }
  std::sort(entry.terms.begin(), entry.terms.end());
  return intern(std::move(entry));
}

bool ValueTable::is_part(const Accumulation& whole, const std::vector<ValueId>& term) const {
  if (term.size() != 1 || is_input(term.front())) return false;
  const Accumulation& part = entries_[term.front()].accumulation;
  return part.outer == whole.outer && part.divisor == 1 &&
         (part.inner == whole.inner || part.inner == Operator::none || whole.inner == Operator::none);
}

bool ValueTable::is_input(ValueId value) const { return value != kUndefined && entries_[value].array >= 0; }

int ValueTable::array_of(ValueId input) const {
  FARO_CHECK(is_input(input));
  return entries_[input].array;
}

std::int64_t ValueTable::index_of(ValueId input) const {
  FARO_CHECK(is_input(input));
  return entries_[input].index;
}

const Accumulation& ValueTable::accumulation_of(ValueId sum) const {
  FARO_CHECK(sum != kUndefined && !is_input(sum));
  return entries_[sum].accumulation;
}

const std::vector<std::vector<ValueId>>& ValueTable::terms_of(ValueId sum) const {
  FARO_CHECK(sum != kUndefined && !is_input(sum));
  return entries_[sum].terms;
}

std::vector<ValueId> ValueTable::inputs_of(ValueId value) const {
  std::vector<ValueId> inputs;
  std::vector<ValueId> open{value};
  std::vector<bool> seen(entries_.size(), false);
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (next == kUndefined || seen[next]) continue;
    seen[next] = true;
    if (is_input(next)) inputs.push_back(next);
    for (const auto& term : entries_[next].terms) open.insert(open.end(), term.begin(), term.end());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

std::string ValueTable::to_text(ValueId value, std::span<const std::string> arrays) const {
  if (value == kUndefined) return "undefined";
  const Entry& entry = entries_[value];
  if (entry.array >= 0) {
    const auto array = static_cast<std::size_t>(entry.array);
    return (array < arrays.size() ? arrays[array] : "array" + std::to_string(array)) + "[" +
           std::to_string(entry.index) + "]";
  }
  const Operator outer = entry.accumulation.outer;
  std::vector<std::string> parts;
  for (const auto& term : entry.terms) {
    std::vector<std::string> factors;
    factors.reserve(term.size());
    for (const ValueId factor : term)
      factors.push_back(is_input(factor) ? to_text(factor, arrays) : "(" + to_text(factor, arrays) + ")");
    parts.push_back(factors.size() == 1 ? factors.front() : joined(entry.accumulation.inner, factors, false));
  }
  const bool call = outer == Operator::least || outer == Operator::greatest;
  // A sum of one term is not that term: the brackets say so.
  std::string text = parts.size() < 2
                         ? std::string(name(outer)) + "{" + joined(Operator::add, parts, true) + "}"
                         : joined(outer, parts, true);
  if (entry.accumulation.divisor == 1) return text;
  if (!call && parts.size() > 1) text = "(" + text + ")";
  return text + " / " + std::to_string(entry.accumulation.divisor);
}

template <typename T>
T ValueTable::number(ValueId value, std::span<const std::span<const T>> inputs) const {
  return NumberReader<T>(*this, inputs).of(value);
}

template std::uint32_t ValueTable::number(ValueId, std::span<const std::span<const std::uint32_t>>) const;
template std::uint64_t ValueTable::number(ValueId, std::span<const std::span<const std::uint64_t>>) const;
template float ValueTable::number(ValueId, std::span<const std::span<const float>>) const;

namespace {

Array declare(std::vector<ArrayDeclaration>& arrays, std::string name, ArrayKind kind, std::int64_t size) {
  if (name.empty()) fail(ErrorCode::spec, "declare an array", "an empty name", "a name");
  for (const auto& other : arrays)
    if (other.name == name)
      fail(ErrorCode::spec, "declare array `" + name + "`", "a name that is taken", "another name");
  if (size < 1)
    fail(ErrorCode::spec, "declare array `" + name + "`", std::to_string(size) + " elements", "at least 1");
  arrays.push_back({.name = std::move(name), .kind = kind, .size = size});
  return {.number = static_cast<int>(arrays.size()) - 1};
}

void require_element(const std::vector<ArrayDeclaration>& arrays, Array array, ArrayKind kind,
                     std::int64_t index) {
  const std::string wanted = kind == ArrayKind::input ? "an input" : "an output";
  if (array.number < 0 || static_cast<std::size_t>(array.number) >= arrays.size())
    fail(ErrorCode::spec, "specification", "array number " + std::to_string(array.number),
         wanted + " of this specification");
  const auto& declared = arrays[static_cast<std::size_t>(array.number)];
  if (declared.kind != kind) fail(ErrorCode::spec, "specification", "array `" + declared.name + "`", wanted);
  if (index < 0 || index >= declared.size)
    fail(ErrorCode::spec, "specification", declared.name + "[" + std::to_string(index) + "]",
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
  if (term.empty())
    fail(ErrorCode::spec, "add to an accumulator", "a term of no values", "at least one value");
  if (term.size() > 1 && accumulation_.inner == Operator::none)
    fail(ErrorCode::spec, "add to an accumulator", "a term of " + std::to_string(term.size()) + " values",
         "one value, as there is no inner operator");
  for (const ValueId value : term)
    if (value == kUndefined)
      fail(ErrorCode::spec, "add to an accumulator", "an undefined value", "values of inputs or sums");
  terms_.push_back(std::move(term));
}

Specification::Accumulator Specification::accumulator(const Accumulation& accumulation) const {
  if (accumulation.outer == Operator::none)
    fail(ErrorCode::spec, "accumulator", "no outer operator", "an outer operator");
  if (accumulation.divisor == 0) fail(ErrorCode::spec, "accumulator", "divisor 0", "a divisor of at least 1");
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
