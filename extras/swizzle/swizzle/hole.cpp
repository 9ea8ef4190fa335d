#include "faro/swizzle/hole.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "faro/error.hpp"

namespace faro::swizzle {
namespace {

// A table of more cells is no table that anybody enumerates.
constexpr std::int64_t kMostCells = std::int64_t{1} << 32;
constexpr std::int64_t kMostChoices = 64;
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

constexpr std::size_t kMostFormulas = 65536;

void check_formula(const HoleDeclaration& hole, const Index& formula) {
  const bool is_leaf = formula.operands().empty();
  const bool is_argument = formula.kind() == IndexKind::argument && formula.number() >= 0 &&
                           static_cast<std::size_t>(formula.number()) < hole.arguments.size();
  const bool is_hole = formula.kind() == IndexKind::hole;
  if (is_hole || (is_leaf && !is_argument && formula.kind() != IndexKind::constant))
    fail(ErrorCode::spec, declaring(hole), "a formula of something else than the hole's arguments",
         "arguments and constants", "give the hole what its formulas need as an argument");
  for (const Index& operand : formula.operands()) check_formula(hole, operand);
}

}  // namespace

const char* name(HoleKind kind) noexcept {
  static constexpr const char* kWords[] = {"sw_xform", "sw_part",     "sw_cond",  "sw_bits",
                                           "family",   "warp_offset", "warp_size"};
  static_assert(std::size(kWords) == static_cast<std::size_t>(HoleKind::warp_size) + 1);
  return kWords[static_cast<std::size_t>(kind)];
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
      if (hole.choices < 2 || hole.choices > kMostChoices) {
        fail(ErrorCode::spec, declaring(hole), std::to_string(hole.choices) + " choices", "two to 64",
             "use a constant for one, and two holes for more");
      }
      [[fallthrough]];
    case HoleKind::condition:
      check_arguments(hole, 1, 4, "one to four arguments");
      check_range(hole, "warp =", hole.warp);
      return;
    case HoleKind::bits:
      check_range(hole, "n =", hole.n);
      check_arguments(hole, 1, 3, "one to three arguments");
      if ((hole.n & (hole.n - 1)) != 0)
        fail(ErrorCode::spec, declaring(hole), "n = " + std::to_string(hole.n), "a power of two",
             "bits make up all values below a power of two");
      return;
    case HoleKind::formulas:
      check_arguments(hole, 1, 4, "one to four arguments");
      if (hole.formulas.empty() || hole.formulas.size() > kMostFormulas)
        fail(ErrorCode::spec, declaring(hole), std::to_string(hole.formulas.size()) + " formulas",
             "1 to " + std::to_string(kMostFormulas), "list the formulas that the hole may be");
      for (const Index& formula : hole.formulas) check_formula(hole, formula);
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

}  // namespace faro::swizzle
