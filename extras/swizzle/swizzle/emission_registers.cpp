// Registers that are chosen by lanes, as selects: a subscript that the compiler does not know would put the
// array in local memory.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "swizzle/emission_context.hpp"
#include "swizzle/register_permutation.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle {
namespace {

constexpr int kMostLeaves = 16;

/// The expression as selects of expressions without selects; none where there would be too many.
std::optional<Index> lifted(const Index& index, int& leaves) {
  if (!contains(index, IndexKind::select))
    return ++leaves <= kMostLeaves ? std::optional(index) : std::nullopt;
  const auto operands = index.operands();
  const auto both = [&](const Index& condition, const Index& a, const Index& b) -> std::optional<Index> {
    const auto yes = lifted(a, leaves);
    if (!yes) return std::nullopt;
    const auto no = lifted(b, leaves);
    if (!no) return std::nullopt;
    return select(condition, *yes, *no);
  };
  if (index.kind() == IndexKind::select) return both(operands[0], operands[1], operands[2]);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!contains(operands[k], IndexKind::select)) continue;
    int inner_leaves = 0;
    const auto inner = lifted(operands[k], inner_leaves);
    if (!inner) return std::nullopt;
    const auto with = [&](const Index& operand) {
      std::vector<Index> all(operands.begin(), operands.end());
      all[k] = operand;
      return Index::node(index.kind(), 0, std::move(all));
    };
    const auto choice = inner->operands();
    return both(choice[0], with(choice[1]), with(choice[2]));
  }
  return std::nullopt;
}

std::string bracketed(const std::string& text) {
  return text.find(" ? ") == std::string::npos ? text : "(" + text + ")";
}

std::string hexadecimal(std::uint64_t value, bool wide) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (int digit = wide ? 15 : 7; digit >= 0; --digit) text += kDigits[value >> (4 * digit) & 15U];
  return "0x" + text + (wide ? "ull" : "u");
}

/// Whether lane t is one of the lanes, as C++; at most 64 lanes.
std::string lanes_text(const std::vector<bool>& lanes, const std::string& t) {
  const auto are = [&](const auto& which) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane] != which(lane)) return false;
    return true;
  };
  for (std::size_t bit = 1; bit < lanes.size(); bit *= 2) {
    const std::string is_set = "(" + t + " & " + std::to_string(bit) + ")";
    if (are([&](std::size_t lane) { return (lane & bit) != 0; })) return is_set + " != 0";
    if (are([&](std::size_t lane) { return (lane & bit) == 0; })) return is_set + " == 0";
  }
  for (std::size_t first = 1; first < lanes.size(); ++first) {
    if (are([&](std::size_t lane) { return lane >= first; })) return t + " >= " + std::to_string(first);
    if (are([&](std::size_t lane) { return lane < first; })) return t + " < " + std::to_string(first);
  }
  std::uint64_t mask = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    mask |= static_cast<std::uint64_t>(lanes[lane] ? 1 : 0) << lane;
  return "(" + hexadecimal(mask, lanes.size() > 32) + " >> " + t + " & 1u) != 0";
}

/// One conditional rotation.
struct Step {
  std::int64_t stride = 1, length = 1, shift = 1;
  std::string condition;
  std::int64_t operator()(std::int64_t place) const {
    const std::int64_t d = place / stride % length;
    return place + ((d + shift) % length - d) * stride;
  }
  Index place(const Index& r) const {
    return r / (stride * length) * (stride * length) + (r / stride + shift) % length * stride + r % stride;
  }
};

Index at_count(const Index& index, int counter, std::int64_t value) {
  if (index.kind() == IndexKind::loop) return index.number() == counter ? Index(value) : index;
  if (index.operands().empty()) return index;
  std::vector<Index> operands;
  for (const Index& operand : index.operands()) operands.push_back(at_count(operand, counter, value));
  return Index::node(index.kind(), index.kind() == IndexKind::hole ? index.number() : 0, std::move(operands));
}

bool has_loop_but(const Index& index, int counter) {
  if (index.kind() == IndexKind::loop) return index.number() != counter;
  const auto operands = index.operands();
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Index& operand) { return has_loop_but(operand, counter); });
}

}  // namespace

std::string RegisterText::index_variable(const Index& index, Lines& lines) {
  if (index.operands().empty()) return context_.text(index);
  std::string name = context_.identifiers.claim("which");
  lines.add("const int " + name + " = " + context_.text(index) + ";");
  return name;
}

std::string RegisterText::chosen(int registers, const Index& choice) {
  if (choice.kind() != IndexKind::select)
    return context_.element(registers, context_.text(simplify(choice, context_.ranges)));
  const auto operands = choice.operands();
  selects_ += times_;
  return "(" + bracketed(context_.text(simplify(operands[0], context_.ranges))) + " ? " +
         chosen(registers, operands[1]) + " : " + chosen(registers, operands[2]) + ")";
}

std::string RegisterText::tree(int registers, const std::vector<std::int64_t>& values,
                               const std::string& index) {
  if (values.size() == 1) return context_.element(registers, std::to_string(values[0]));
  std::uint64_t differ = 0;
  for (const std::int64_t value : values) differ |= static_cast<std::uint64_t>(value ^ values[0]);
  const auto bit = static_cast<std::int64_t>(std::bit_floor(differ));
  std::vector<std::int64_t> with, without;
  for (const std::int64_t value : values) ((value & bit) != 0 ? with : without).push_back(value);
  selects_ += times_;
  return "((" + index + " & " + std::to_string(bit) + ") != 0 ? " + tree(registers, with, index) + " : " +
         tree(registers, without, index) + ")";
}

std::string RegisterText::read(int registers, const Index& index, const std::set<std::int64_t>& values,
                               Lines& lines) {
  if (values.size() == 1) return context_.element(registers, std::to_string(*values.begin()));
  if (EmissionContext::known_when_unrolled(index)) return context_.element(registers, context_.text(index));
  const Interval range_of_index = bounds(index, context_.ranges);
  const bool is_truth =
      index.kind() != IndexKind::select && range_of_index.least >= 0 && range_of_index.most <= 1;
  int leaves = 0;
  if (const auto choice = is_truth ? select(index, 1, 0) : lifted(index, leaves)) {
    // As the author wrote it, where every choice is a register whatever the lane.
    const auto known = [&](const auto& self, const Index& part) -> bool {
      if (part.kind() == IndexKind::select)
        return self(self, part.operands()[1]) && self(self, part.operands()[2]);
      const Interval range = bounds(simplify(part, context_.ranges), context_.ranges);
      return EmissionContext::known_when_unrolled(part) && range.least >= 0 &&
             range.most < context_.size(registers);
    };
    if (known(known, *choice)) return chosen(registers, *choice);
  }
  return tree(registers, {values.begin(), values.end()}, index_variable(index, lines));
}

void RegisterText::write(int registers, const Index& index, const std::set<std::int64_t>& values,
                         const std::string& value, Lines& lines) {
  const bool known = EmissionContext::known_when_unrolled(index);
  if (values.size() == 1 || known) {
    const std::string subscript = values.size() == 1 ? std::to_string(*values.begin()) : context_.text(index);
    const std::string element = context_.element(registers, subscript);
    if (element != value) lines.add(element + " = " + value + ";");
    return;
  }
  const std::string moved = context_.identifiers.claim("moved");
  lines.add("const " + context_.type + " " + moved + " = " + value + ";");
  const std::string which = index_variable(index, lines);
  for (const std::int64_t to : values) {
    const std::string element = context_.element(registers, std::to_string(to));
    lines.add(fmt::format("{0} = {1} == {2} ? {3} : {0};", element, which, to, moved));
    selects_ += times_;
  }
}

void RegisterText::one_by_one(const PermuteStatement& statement, Lines& lines) {
  const std::int64_t n = context_.size(statement.to);
  const Index source = context_.resolved(statement.source);
  Place place;
  place.loops.assign(context_.program.loops().size(), 0);
  const bool by_lane_alone = !has_loop_but(source, statement.counter) && !contains(source, IndexKind::warp) &&
                             !contains(source, IndexKind::block);
  const std::string permuted = context_.identifiers.claim(
      context_.program.register_arrays()[static_cast<std::size_t>(statement.to)].name + "_new");
  lines.add(context_.type + " " + permuted + "[" + std::to_string(n) + "];");
  for (std::int64_t i = 0; i < n; ++i) {
    const Index from = simplify(at_count(source, statement.counter, i), context_.ranges);
    std::set<std::int64_t> values;
    if (by_lane_alone) {
      for (place.lane = 0; place.lane < context_.warp(); ++place.lane)
        values.insert(evaluate(from, place, {}));
    } else {
      for (std::int64_t r = 0; r < n; ++r) values.insert(r);
    }
    lines.add(permuted + "[" + std::to_string(i) + "] = " + read(statement.from, from, values, lines) + ";");
  }
  for (std::int64_t i = 0; i < n; ++i)
    lines.add(context_.element(statement.to, std::to_string(i)) + " = " + permuted + "[" + std::to_string(i) +
              "];");
}

void RegisterText::barrel(const PermuteStatement& statement, const RegisterPermutation& how, Lines& lines) {
  const std::int64_t n = context_.size(statement.to);
  std::vector<Step> steps;
  std::size_t steps_before = 0;
  std::vector<std::int64_t> fixed = how.fixed;
  for (const auto* side : {&how.before, &how.after}) {
    for (const auto& rotation : *side) {
      const RotationSteps parts = rotation_steps(rotation);
      for (const auto& part : parts.steps) {
        const std::string s = context_.identifiers.claim("s");
        lines.add("const bool " + s + " = " + lanes_text(part.lanes, context_.names.lane) + ";");
        steps.push_back(
            {.stride = rotation.stride, .length = rotation.length, .shift = part.shift, .condition = s});
      }
      const Step all{
          .stride = rotation.stride, .length = rotation.length, .shift = parts.for_all, .condition = ""};
      std::vector<std::int64_t> turned;
      for (std::int64_t i = 0; i < n; ++i)
        turned.push_back(side == &how.before ? all(fixed[static_cast<std::size_t>(i)])
                                             : fixed[static_cast<std::size_t>(all(i))]);
      fixed = std::move(turned);
    }
    if (side == &how.before) steps_before = steps.size();
  }
  // The fixed permutation is part of the step before it, or of the first.
  const std::size_t folded = steps_before == 0 ? 0 : steps_before - 1;
  const std::string& to = context_.registers[static_cast<std::size_t>(statement.to)];
  std::string from = context_.registers[static_cast<std::size_t>(statement.from)];
  const std::string r = context_.identifiers.claim("r");
  const auto at = [&](const std::string& array, std::int64_t place) {
    return array + "[" + std::to_string(place) + "]";
  };
  bool moves = false;
  for (std::int64_t i = 0; i < n; ++i) moves = moves || fixed[static_cast<std::size_t>(i)] != i;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    const bool into_target = k + 1 == steps.size() && from != to;
    const std::string turned = into_target ? to : context_.identifiers.claim(to + "_turned");
    if (!into_target) lines.add(context_.type + " " + turned + "[" + std::to_string(n) + "];");
    if (k == folded && moves) {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto source = [&](std::int64_t place) { return fixed[static_cast<std::size_t>(place)]; };
        const bool turns_first = steps_before > 0;
        const std::int64_t yes = turns_first ? step(source(i)) : source(step(i));
        lines.add(fmt::format("{} = {} ? {} : {};", at(turned, i), step.condition, at(from, yes),
                              at(from, source(i))));
      }
    } else {
      IndexRanges ranges;
      ranges.arguments = {{.least = 0, .most = n - 1}};
      IndexNames names;
      names.arguments = {r};
      const std::string place = to_cpp(simplify(step.place(argument_index(0)), ranges), names, ranges);
      lines.add("#pragma unroll");
      lines.add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3} ? {4}[{5}] : {4}[{0}];", r, n,
                            turned, step.condition, from, place));
    }
    selects_ += times_ * static_cast<std::uint64_t>(n);
    from = turned;
  }
  if (from != to) {
    lines.add("#pragma unroll");
    lines.add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}[{0}];", r, n, to, from));
  }
  notes_.push_back("`" + context_.program.register_arrays()[static_cast<std::size_t>(statement.to)].name +
                   "`: a barrel of " + std::to_string(steps.size()) +
                   (steps.size() == 1 ? " step" : " steps"));
}

void RegisterText::renamed(const PermuteStatement& statement, const std::vector<std::int64_t>& fixed,
                           Lines& lines) {
  const bool in_place = statement.to == statement.from;
  bool moves = !in_place;
  for (std::size_t i = 0; i < fixed.size(); ++i) moves = moves || fixed[i] != static_cast<std::int64_t>(i);
  if (!moves) return;
  if (in_place) {
    lines.open("{");
    one_by_one(statement, lines);
    return lines.close();
  }
  for (std::size_t i = 0; i < fixed.size(); ++i)
    lines.add(context_.element(statement.to, std::to_string(i)) + " = " +
              context_.element(statement.from, std::to_string(fixed[i])) + ";");
}

void RegisterText::permute(const PermuteStatement& statement, Lines& lines) {
  constexpr std::int64_t kMostLanes = 64;  // that a mask has bits for
  const std::int64_t n = context_.size(statement.to);
  const Index source = context_.resolved(statement.source);
  const bool by_lane = !has_loop_but(source, statement.counter) && !contains(source, IndexKind::warp) &&
                       !contains(source, IndexKind::block);
  if (by_lane) {
    std::vector<std::int64_t> table;
    Place place;
    place.loops.assign(context_.program.loops().size(), 0);
    auto& i = place.loops[static_cast<std::size_t>(statement.counter)];
    for (place.lane = 0; place.lane < context_.warp(); ++place.lane)
      for (i = 0; i < n; ++i) table.push_back(evaluate(source, place, {}));
    const RegisterPermutation how = factor_registers(n, context_.warp(), table);
    if (how.kind == RegisterPermutation::Kind::fixed) return renamed(statement, how.fixed, lines);
    if (how.kind == RegisterPermutation::Kind::barrel && context_.warp() <= kMostLanes) {
      lines.open("{");
      barrel(statement, how, lines);
      return lines.close();
    }
  }
  lines.open("{");
  one_by_one(statement, lines);
  lines.close();
  notes_.push_back("`" + context_.program.register_arrays()[static_cast<std::size_t>(statement.to)].name +
                   "`: a select tree");
}

}  // namespace faro::swizzle
