#include "faro/swizzle/hole.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/function_builder.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle {
namespace {

// A table of more cells is no table that anybody enumerates.
constexpr std::int64_t kMostCells = std::int64_t{1} << 32;
constexpr std::int64_t kLargestRange = std::int64_t{1} << 20;

std::string declaring(const HoleDeclaration& hole) { return "declare hole `" + hole.name + "`"; }

void check_range(const HoleDeclaration& hole, const std::string& what, std::int64_t range) {
  if (range >= 1 && range <= kLargestRange) return;
  fail(ErrorCode::spec, declaring(hole), what + " " + std::to_string(range),
       "a range of 1 to " + std::to_string(kLargestRange), "give every range of the hole");
}

void check_arguments(const HoleDeclaration& hole, std::size_t least, std::size_t most,
                     const std::string& wanted) {
  const std::size_t count = hole.arguments.size();
  if (count < least || count > most) {
    fail(ErrorCode::spec, declaring(hole), std::to_string(count) + (count == 1 ? " argument" : " arguments"),
         wanted, "declare the arguments that a " + std::string(name(hole.kind)) + " takes");
  }
  std::int64_t product = 1;
  for (const Argument& argument : hole.arguments) {
    check_range(hole, "`" + argument.name + "` of range", argument.asked);
    product *= argument.asked;
    if (product > kMostCells) {
      fail(ErrorCode::spec, declaring(hole), "a table of more than 2^32 cells", "fewer cells",
           "ask the hole for less");
    }
  }
}

void check_xform(const HoleDeclaration& hole) {
  check_range(hole, "n =", hole.n);
  check_range(hole, "m =", hole.m);
  check_arguments(hole, 2, 2, "two arguments, i and k");
  const Argument& i = hole.arguments[0];
  const Argument& k = hole.arguments[1];
  if (i.asked > hole.n) {
    fail(ErrorCode::spec, declaring(hole), "`" + i.name + "` of range " + std::to_string(i.asked),
         "at most n = " + std::to_string(hole.n), "a larger n");
  }
  if (k.asked > hole.m) {
    fail(ErrorCode::spec, declaring(hole), "`" + k.name + "` of range " + std::to_string(k.asked),
         "at most m = " + std::to_string(hole.m), "a larger m");
  }
}

}  // namespace

const char* name(HoleKind kind) noexcept {
  switch (kind) {
    case HoleKind::xform:
      return "sw_xform";
    case HoleKind::part:
      return "sw_part";
    case HoleKind::condition:
      return "sw_cond";
    case HoleKind::warp_offset:
      return "warp_offset";
    case HoleKind::warp_size:
      return "warp_size";
  }
  return "";
}

const char* name(Space space) noexcept {
  switch (space) {
    case Space::easy:
      return "easy";
    case Space::easy_conditions:
      return "easy-conditions";
    case Space::full:
      return "full";
    case Space::extra:
      return "extra";
  }
  return "";
}

Freedom freedom_in(const HoleDeclaration& hole, Space space) noexcept {
  if (hole.most == Freedom::easy || space == Space::easy || space == Space::easy_conditions) {
    return Freedom::easy;
  }
  return space == Space::full ? Freedom::full : std::max(Freedom::full, hole.in_extra);
}

ConditionFreedom condition_freedom_in(const HoleDeclaration& hole, Space space) noexcept {
  return space == Space::easy ? ConditionFreedom::easy : hole.most_conditions;
}

void check(const HoleDeclaration& hole) {
  if (hole.name.empty()) {
    fail(ErrorCode::spec, "declare a hole", "no name", "a name", "name every hole of the sketch");
  }
  switch (hole.kind) {
    case HoleKind::xform:
      check_xform(hole);
      return;
    case HoleKind::part:
      if (hole.choices < 2 || hole.choices > 4) {
        fail(ErrorCode::spec, declaring(hole), std::to_string(hole.choices) + " choices", "two to four",
             "divide the part into two holes, or use a constant");
      }
      [[fallthrough]];
    case HoleKind::condition:
      check_arguments(hole, 1, 4, "one to four arguments");
      check_range(hole, "warp =", hole.warp);
      return;
    case HoleKind::warp_offset:
      check_arguments(hole, 1, 3, "one to three ids");
      if (hole.units.size() != hole.arguments.size()) {
        fail(ErrorCode::spec, declaring(hole), std::to_string(hole.units.size()) + " units",
             std::to_string(hole.arguments.size()) + ", one for each id", "give each id its unit");
      }
      break;
    case HoleKind::warp_size:
      check_arguments(hole, 0, 0, "no arguments");
      check_range(hole, "warp =", hole.warp);
      break;
  }
  if (hole.most_constant < 0 || hole.most_constant > 1024) {
    fail(ErrorCode::spec, declaring(hole), "constants up to " + std::to_string(hole.most_constant),
         "0 to 1024", "a smaller largest constant");
  }
}

std::int64_t cells(const HoleDeclaration& hole) {
  std::int64_t product = 1;
  for (const Argument& argument : hole.arguments) product *= argument.asked;
  return product;
}

std::int64_t cell(const HoleDeclaration& hole, const std::vector<std::int64_t>& arguments) {
  if (arguments.size() != hole.arguments.size()) {
    fail(ErrorCode::spec, "ask hole `" + hole.name + "`", std::to_string(arguments.size()) + " arguments",
         std::to_string(hole.arguments.size()), "call it with the arguments it was declared with");
  }
  std::int64_t result = 0;
  for (std::size_t j = arguments.size(); j-- > 0;) {
    const Argument& argument = hole.arguments[j];
    if (arguments[j] < 0 || arguments[j] >= argument.asked) {
      fail(ErrorCode::spec, "ask hole `" + hole.name + "`",
           argument.name + " = " + std::to_string(arguments[j]), "0 .. " + std::to_string(argument.asked - 1),
           "declare the hole for all that the sketch asks");
    }
    result = result * argument.asked + arguments[j];
  }
  return result;
}

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
  switch (comparison) {
    case Comparison::equal:
      return " == ";
    case Comparison::greater_equal:
      return " >= ";
    case Comparison::greater:
      return " > ";
    case Comparison::less_equal:
      return " <= ";
    case Comparison::less:
      return " < ";
    case Comparison::not_equal:
      return " != ";
  }
  return "";
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
