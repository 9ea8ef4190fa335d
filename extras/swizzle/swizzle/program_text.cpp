
#include "faro/swizzle/program.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle {
namespace {

template <typename Declarations>
std::string name_of(const Declarations& declarations, int number) {
  if (number < 0 || static_cast<std::size_t>(number) >= declarations.size())
    return "#" + std::to_string(number);
  return declarations[static_cast<std::size_t>(number)].name;
}

class StatementText {
 public:
  explicit StatementText(const Program& program) : program_(program), names_(program.names()) {}

  std::string operator()(const LoadStatement& s) const {
    return of(s.to) + " = " + array(s.from) + "[" + of(s.address) + "]" + condition(s.when);
  }
  std::string operator()(const StoreStatement& s) const {
    return array(s.to) + "[" + of(s.address) + "] = " + of(s.from) + condition(s.when);
  }
  std::string operator()(const ShuffleStatement& s) const {
    return of(s.to) + " = shfl(" + of(s.from) + ", " + of(s.lane) + ")";
  }
  std::string operator()(const PermuteStatement& s) const {
    const std::string counter = name_of(program_.loops(), s.counter);
    return registers(s.to) + "[" + counter + "] = " + registers(s.from) + "[" + of(s.source) +
           "] for every " + counter;
  }
  std::string operator()(const MoveStatement& s) const { return of(s.to) + " = " + of(s.from); }
  std::string operator()(const AccumulateStatement& s) const {
    std::string term;
    for (const Register& value : s.term) term += (term.empty() ? "" : ", ") + of(value);
    return (s.starts ? "start(" : "accumulate(") + name_of(program_.accumulators(), s.accumulator) + ", {" +
           term + "})" + condition(s.when);
  }
  std::string operator()(const EvaluateStatement& s) const {
    return of(s.to) + " = evaluate(" + name_of(program_.accumulators(), s.accumulator) + ")";
  }
  std::string operator()(const BarrierStatement&) const { return "barrier"; }
  std::string operator()(const PresentStatement& s) const {
    return "present(" + registers(s.registers) + ", " + array(s.output) + "[" + of(s.address) + "])" +
           condition(s.when);
  }
  std::string operator()(const LoopStatement& s) const {
    return "for " + name_of(program_.loops(), s.number) + " < " + std::to_string(s.count) + ":";
  }

 private:
  std::string of(const Index& index) const { return to_text(index, names_); }
  std::string of(const Register& value) const {
    return registers(value.registers) + "[" + of(value.index) + "]";
  }
  std::string registers(int number) const { return name_of(program_.register_arrays(), number); }
  std::string array(Array array) const { return name_of(program_.arrays(), array.number); }
  std::string condition(const Index& when) const {
    if (when.kind() == IndexKind::constant && when.value() == 1) return "";
    return " if " + of(when);
  }

  const Program& program_;
  IndexNames names_;
};

void append(const Program& program, std::span<const Statement> statements, const std::string& indent,
            std::string& text) {
  for (const Statement& statement : statements) {
    text += indent + statement_text(program, statement) + "\n";
    if (const auto* loop = std::get_if<LoopStatement>(&statement))
      append(program, loop->body, indent + "  ", text);
  }
}

std::string operators_text(const Accumulation& accumulation) {
  std::string text = name(accumulation.outer);
  if (accumulation.inner != Operator::none) text += std::string(" of ") + name(accumulation.inner);
  if (accumulation.divisor != 1) text += ", / " + std::to_string(accumulation.divisor);
  return text;
}

std::string hole_text(const HoleDeclaration& hole) {
  std::string arguments;
  for (const Argument& argument : hole.arguments)
    arguments += (arguments.empty() ? "" : ", ") + argument.name + " < " + std::to_string(argument.asked);
  std::string text = "hole " + hole.name + "(" + arguments + "): " + name(hole.kind);
  if (hole.kind == HoleKind::xform)
    text += ", n = " + std::to_string(hole.n) + ", m = " + std::to_string(hole.m);
  if (hole.kind == HoleKind::bits) text += ", n = " + std::to_string(hole.n);
  if (hole.kind == HoleKind::formulas) text += " of " + std::to_string(hole.formulas.size());
  if (hole.kind == HoleKind::part) text += " of " + std::to_string(hole.choices);
  if (hole.one_to_one) text += ", one to one";
  return text;
}

}  // namespace

std::string statement_text(const Program& program, const Statement& statement) {
  return std::visit(StatementText(program), statement);
}

std::string place_text(const Program& program, const Place& place, std::span<const int> open_loops) {
  std::string text = "block " + std::to_string(place.block) + ", warp " + std::to_string(place.warp) +
                     ", lane " + std::to_string(place.lane);
  for (const int loop : open_loops)
    text += ", " + name_of(program.loops(), loop) + " = " +
            std::to_string(place.loops[static_cast<std::size_t>(loop)]);
  return text;
}

std::string to_text(const Program& program) {
  const Launch& launch = program.launch();
  std::string text = "launch: blocks of " + std::to_string(launch.warps) + " x " +
                     std::to_string(launch.warp) + " lanes, " + std::to_string(launch.blocks) + "\n";
  for (const auto& array : program.arrays()) {
    const char* kind = array.kind == ArrayKind::input    ? "input "
                       : array.kind == ArrayKind::output ? "output "
                                                         : "shared ";
    text += kind + array.name + "[" + std::to_string(array.size) + "]\n";
  }
  for (const auto& registers : program.register_arrays())
    text += "registers " + registers.name + "[" + std::to_string(registers.size) + "]\n";
  for (const auto& accumulator : program.accumulators())
    text += "accumulator " + accumulator.name + ": " + operators_text(accumulator.accumulation) + "\n";
  for (const auto& hole : program.holes()) text += hole_text(hole) + "\n";
  append(program, program.statements(), "", text);
  return text;
}

}  // namespace faro::swizzle
