// What the parameters of a function say: its values, its expression, its text.
#include <cstddef>
#include <cstdlib>
#include <string>

#include "faro/error.hpp"
#include "faro/swizzle/hole.hpp"
#include "swizzle/arithmetic.hpp"
#include "swizzle/function_builder.hpp"

namespace faro::swizzle {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// Factors of arguments that a warp_size does not have count once: its unit is the warp's width.
std::int64_t linear_value(const LinearParameters& p, std::span<const std::int64_t> arguments) {
  std::int64_t value = p.constant;
  for (std::size_t j = 0; j < p.factors.size(); ++j) {
    value += p.factors[j] * p.units[j] * (j < arguments.size() ? arguments[j] : 1);
  }
  return value;
}

std::int64_t part_value(const PartParameters& p, std::span<const std::int64_t> arguments) {
  std::int64_t choice = 0;
  for (const ConditionParameters& condition : p.conditions) {
    if (detail::holds(condition, arguments)) break;
    ++choice;
  }
  return choice;
}

Index expression(const XformParameters& p) {
  const Index i = argument_index(0);
  const Index k = argument_index(1);
  const Index inner = (i + p.ecr * k + p.ec) % p.gs;
  // k is 0 or more, so that truncation of k / dr is floor of its size.
  const Index quotient = k / Index(std::abs(p.dr));
  const Index rotation = p.dr < 0 ? p.cr * k - quotient + p.c : p.cr * k + quotient + p.c;
  Index offset = inner / p.df + rotation;
  if (p.wrap) offset = offset % p.g;
  return p.gs * (i / p.gs) + (p.cf * inner + offset) % p.gs;
}

Index expression(const ConditionParameters& p) {
  if (p.literal) return *p.literal ? 1 : 0;
  const Index a = argument_index(p.v1);
  const Index v2 = argument_index(p.v2);
  const Index b = p.sign < 0 ? Index(p.constant) - v2 : v2 + Index(p.constant);
  return detail::compared<Index>(p.comparison, a, b);
}

Index expression(const PartParameters& p) {
  Index result = static_cast<std::int64_t>(p.conditions.size());
  for (std::size_t j = p.conditions.size(); j-- > 0;) {
    result = select(expression(p.conditions[j]), static_cast<std::int64_t>(j), result);
  }
  return result;
}

// Words that are the argument's bits moved together are the argument, multiplied or divided.
Index expression(const BitsParameters& p) {
  Index result = p.constant;
  for (std::size_t j = 0; j < p.columns.size(); ++j) {
    const Index argument = argument_index(static_cast<int>(j));
    const std::int64_t first = p.columns[j].empty() ? 0 : p.columns[j].front();
    bool is_moved = first != 0;
    for (std::size_t b = 0; b < p.columns[j].size(); ++b)
      is_moved = is_moved && p.columns[j][b] == first << b;
    if (is_moved && detail::is_power_of_two(first)) {
      result = result ^ argument * Index(first);
      continue;
    }
    for (std::size_t b = 0; b < p.columns[j].size(); ++b)
      if (p.columns[j][b] != 0)
        result = result ^ argument / Index(std::int64_t{1} << b) % 2 * Index(p.columns[j][b]);
  }
  return result;
}

std::int64_t bits_value(const BitsParameters& p, std::span<const std::int64_t> arguments) {
  std::int64_t value = p.constant;
  for (std::size_t j = 0; j < p.columns.size(); ++j)
    for (std::size_t b = 0; b < p.columns[j].size(); ++b)
      if ((arguments[j] >> b & 1) != 0) value ^= p.columns[j][b];
  return value;
}

Index expression(const LinearParameters& p, std::size_t arguments) {
  Index result = p.constant;
  for (std::size_t j = 0; j < p.factors.size(); ++j) {
    const Index unit = p.factors[j] * p.units[j];
    result = result + (j < arguments ? unit * argument_index(static_cast<int>(j)) : unit);
  }
  return result;
}

Index expression(const FormulaParameters& p) { return p.formula; }

// Greater and greater-or-equal stay as they are said: an index has only less and less-or-equal.
const char* sign_of(Comparison comparison) {
  static constexpr const char* kWords[] = {" == ", " >= ", " > ", " <= ", " < ", " != "};
  static_assert(std::size(kWords) == static_cast<std::size_t>(Comparison::not_equal) + 1);
  return kWords[static_cast<std::size_t>(comparison)];
}

std::string argument_name(const HoleDeclaration& hole, int number) {
  FARO_CHECK(static_cast<std::size_t>(number) < hole.arguments.size());
  return hole.arguments[static_cast<std::size_t>(number)].name;
}

std::string text(const ConditionParameters& p, const HoleDeclaration& hole) {
  if (p.literal) return *p.literal ? "true" : "false";
  const std::string v2 = argument_name(hole, p.v2);
  std::string right = p.sign < 0 ? "-" + v2 : v2;
  if (p.constant != 0 && p.sign < 0) right = std::to_string(p.constant) + " - " + v2;
  if (p.constant != 0 && p.sign > 0) {
    right = v2 + (p.constant < 0 ? " - " : " + ") + std::to_string(std::abs(p.constant));
  }
  return argument_name(hole, p.v1) + sign_of(p.comparison) + right;
}

// Conditions that never hold are left out, and what comes after one that always does.
std::string text(const PartParameters& p, const HoleDeclaration& hole) {
  std::string result;
  for (std::size_t j = 0; j < p.conditions.size(); ++j) {
    const std::optional<bool>& literal = p.conditions[j].literal;
    if (literal.value_or(false)) return result + std::to_string(j);
    if (!literal) result += text(p.conditions[j], hole) + " ? " + std::to_string(j) + " : ";
  }
  return result + std::to_string(p.conditions.size());
}

std::string text(const XformParameters& p) {
  std::string result = "xform(";
  const auto field = [&](const char* name, std::int64_t value) {
    if (result.back() != '(') result += ", ";
    result += name + std::string("=") + std::to_string(value);
  };
  field("cf", p.cf);
  field("df", p.df);
  field("gs", p.gs);
  if (p.wrap) result += ", wrap";
  field("cr", p.cr);
  field("dr", p.dr);
  if (p.c != 0) field("c", p.c);
  if (p.wrap && p.g * p.df != p.gs) field("g", p.g);
  if (p.ecr != 0) field("ecr", p.ecr);
  if (p.ec != 0) field("ec", p.ec);
  return result + ")";
}

IndexNames argument_names(const HoleDeclaration& hole) {
  IndexNames names;
  for (const Argument& argument : hole.arguments) names.arguments.push_back(argument.name);
  return names;
}

}  // namespace

std::int64_t value_of(const Parameters& parameters, std::span<const std::int64_t> arguments) {
  return std::visit(
      Overloaded{
          [&](const XformParameters& p) { return detail::value_of(p, arguments[0], arguments[1]); },
          [&](const ConditionParameters& p) { return std::int64_t{detail::holds(p, arguments) ? 1 : 0}; },
          [&](const PartParameters& p) { return part_value(p, arguments); },
          [&](const BitsParameters& p) { return bits_value(p, arguments); },
          [&](const LinearParameters& p) { return linear_value(p, arguments); },
          [&](const FormulaParameters& p) { return evaluate(p.formula, arguments); },
      },
      parameters);
}

Index as_index(const Parameters& parameters, const HoleDeclaration& hole) {
  IndexRanges ranges;
  for (const Argument& argument : hole.arguments) ranges.arguments.push_back({0, argument.asked - 1});
  const Index index =
      std::visit(Overloaded{
                     [&](const LinearParameters& p) { return expression(p, hole.arguments.size()); },
                     [](const auto& p) { return expression(p); },
                 },
                 parameters);
  return simplify(index, ranges);
}

std::string to_text(const Parameters& parameters, const HoleDeclaration& hole) {
  return std::visit(
      Overloaded{
          [](const XformParameters& p) { return text(p); },
          [&](const ConditionParameters& p) { return text(p, hole); },
          [&](const PartParameters& p) { return text(p, hole); },
          [&](const auto&) { return to_text(as_index(parameters, hole), argument_names(hole)); },
      },
      parameters);
}

}  // namespace faro::swizzle
