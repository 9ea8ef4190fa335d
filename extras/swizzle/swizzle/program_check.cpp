#include <algorithm>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle {
namespace {

std::string text_of(const Interval& interval) {
  if (interval.least == interval.most) return std::to_string(interval.least);
  return std::to_string(interval.least) + " .. " + std::to_string(interval.most);
}

bool inside(const Interval& a, const Interval& b) { return b.least <= a.least && a.most <= b.most; }
bool apart(const Interval& a, const Interval& b) { return a.most < b.least || b.most < a.least; }

class Check {
 public:
  explicit Check(const Program& program)
      : program_(program), ranges_(program.ranges()), names_(program.names()) {}

  void statements(std::span<const Statement> all) {
    for (const Statement& one : all) {
      statement_ = &one;
      std::visit([this](const auto& which) { check(which); }, one);
    }
  }

 private:
  /// The operation of an error.
  std::string checking() const { return "check `" + statement_text(program_, *statement_) + "`"; }

  std::string text(const Index& index) const { return to_text(index, names_); }

  // Expressions.

  void variables(const Index& index) const {
    switch (index.kind()) {
      case IndexKind::argument:
        fail(ErrorCode::spec, checking(), "an argument of a function",
             "lanes, warps, blocks, loop counters and holes");
      case IndexKind::loop:
        if (std::find(open_.begin(), open_.end(), index.number()) == open_.end()) {
          const auto number = static_cast<std::size_t>(index.number());
          const bool known = index.number() >= 0 && number < program_.loops().size();
          fail(
              ErrorCode::spec, checking(),
              "the counter " +
                  (known ? "`" + program_.loops()[number].name + "`" : "#" + std::to_string(index.number())) +
                  " outside its loop",
              "counters of loops around the statement");
        }
        break;
      case IndexKind::divide:
      case IndexKind::remainder:
        if (index.operands()[1].kind() == IndexKind::constant && index.operands()[1].value() == 0)
          fail(ErrorCode::spec, checking(), "`" + text(index.operands()[0]) + "` divided by 0",
               "another divisor");
        break;
      case IndexKind::hole:
        hole(index);
        break;
      default:
        break;
    }
    for (const Index& operand : index.operands()) variables(operand);
  }

  void hole(const Index& call) const {
    const auto number = static_cast<std::size_t>(call.number());
    if (call.number() < 0 || number >= program_.holes().size())
      fail(ErrorCode::spec, checking(), "hole #" + std::to_string(call.number()), "a hole of this program");
    const HoleDeclaration& declared = program_.holes()[number];
    const auto arguments = call.operands();
    if (arguments.size() != declared.arguments.size())
      fail(ErrorCode::spec, checking(),
           "hole `" + declared.name + "` asked with " + std::to_string(arguments.size()) + " arguments",
           std::to_string(declared.arguments.size()) + " arguments, as declared");
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const std::string which = "`" + text(arguments[k]) + "` for `" + declared.arguments[k].name +
                                "` of hole `" + declared.name + "`";
      if (contains(arguments[k], IndexKind::hole))
        fail(ErrorCode::spec, checking(), which + ", a hole inside a hole's argument",
             "lanes, warps, blocks and loop counters");
      variables(arguments[k]);
      const Interval asked{.least = 0, .most = declared.arguments[k].asked - 1};
      const Interval got = bounds(arguments[k], ranges_);
      if (!inside(got, asked))
        fail(ErrorCode::spec, checking(), which + ", which may be " + text_of(got),
             "values in " + text_of(asked), "declare the argument with what is asked");
    }
  }

  void possible(const Index& index, const Interval& allowed, const std::string& what) const {
    variables(index);
    const Interval got = bounds(index, ranges_);
    if (apart(got, allowed))
      fail(ErrorCode::spec, checking(), what + " `" + text(index) + "`, which is always " + text_of(got),
           "values in " + text_of(allowed));
  }

  void truth(const Index& when) const {
    variables(when);
    const Interval got = bounds(when, ranges_);
    if (!inside(got, {.least = 0, .most = 1}))
      fail(ErrorCode::spec, checking(), "the condition `" + text(when) + "`, which may be " + text_of(got),
           "a truth value, 0 or 1", "compare it with something");
  }

  std::int64_t size_of_registers(int registers) const {
    if (registers < 0 || static_cast<std::size_t>(registers) >= program_.register_arrays().size())
      fail(ErrorCode::spec, checking(), "register array #" + std::to_string(registers),
           "one of this program");
    return program_.register_arrays()[static_cast<std::size_t>(registers)].size;
  }

  void check(const Register& value) const {
    const std::int64_t size = size_of_registers(value.registers);
    possible(value.index, {.least = 0, .most = size - 1}, "register index");
  }

  void element(Array array, const Index& address, const Index& when, ArrayKind kind, bool or_shared) const {
    const auto number = static_cast<std::size_t>(array.number);
    const std::string wanted = std::string(kind == ArrayKind::input ? "an input" : "an output") +
                               (or_shared ? " or a shared array" : "") + " of this program";
    if (array.number < 0 || number >= program_.arrays().size())
      fail(ErrorCode::spec, checking(), "array #" + std::to_string(array.number), wanted);
    const auto& declared = program_.arrays()[number];
    if (declared.kind != kind && !(or_shared && declared.kind == ArrayKind::shared))
      fail(ErrorCode::spec, checking(), "array `" + declared.name + "`", wanted);
    truth(when);
    variables(address);
    if (bounds(when, ranges_).most == 0) return;  // never
    // Where only some lanes take part, the address of the others does not matter.
    if (bounds(when, ranges_).least == 1)
      possible(address, {.least = 0, .most = declared.size - 1}, "address");
  }

  void accumulator(int number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= program_.accumulators().size())
      fail(ErrorCode::spec, checking(), "accumulator #" + std::to_string(number), "one of this program");
  }

  // Statements.

  void check(const LoadStatement& s) const {
    check(s.to);
    element(s.from, s.address, s.when, ArrayKind::input, true);
  }
  void check(const StoreStatement& s) const {
    check(s.from);
    element(s.to, s.address, s.when, ArrayKind::output, true);
  }
  void check(const ShuffleStatement& s) const {
    check(s.to);
    check(s.from);
    variables(s.lane);
    if (!contains(s.lane, IndexKind::lane))
      possible(s.lane, {.least = 0, .most = program_.launch().warp - 1}, "lane");
  }
  void check(const PermuteStatement& s) {
    const std::int64_t to = size_of_registers(s.to);
    const std::int64_t from = size_of_registers(s.from);
    if (to != from)
      fail(ErrorCode::spec, checking(), std::to_string(to) + " registers from " + std::to_string(from),
           "as many of both");
    open_.push_back(s.counter);
    possible(s.source, {.least = 0, .most = from - 1}, "register index");
    open_.pop_back();
  }
  void check(const MoveStatement& s) const {
    check(s.to);
    check(s.from);
  }
  void check(const AccumulateStatement& s) const {
    accumulator(s.accumulator);
    const auto& accumulation = program_.accumulators()[static_cast<std::size_t>(s.accumulator)].accumulation;
    if (s.term.empty()) fail(ErrorCode::spec, checking(), "a term of no registers", "at least one");
    if (s.term.size() > 1 && accumulation.inner == Operator::none)
      fail(ErrorCode::spec, checking(), "a term of " + std::to_string(s.term.size()) + " registers",
           "one register, as there is no inner operator");
    for (const Register& value : s.term) check(value);
    truth(s.when);
  }
  void check(const EvaluateStatement& s) const {
    check(s.to);
    accumulator(s.accumulator);
  }
  void check(const BarrierStatement& /*statement*/) const {}
  void check(const PresentStatement& s) const {
    size_of_registers(s.registers);
    element(s.output, s.address, s.when, ArrayKind::output, false);
  }
  void check(const LoopStatement& s) {
    open_.push_back(s.number);
    statements(s.body);
    open_.pop_back();
  }

  const Program& program_;
  IndexRanges ranges_;
  IndexNames names_;
  std::vector<int> open_;
  const Statement* statement_ = nullptr;
};

}  // namespace

void check(const Program& program) {
  for (const HoleDeclaration& hole : program.holes()) {
    check(hole);
    if (hole.one_to_one &&
        ((hole.kind != HoleKind::xform && hole.kind != HoleKind::bits) || hole.arguments[0].asked != hole.n))
      fail(ErrorCode::spec, "check hole `" + hole.name + "`",
           "one to one, asked for " + std::to_string(hole.arguments[0].asked) + " of " +
               std::to_string(hole.n) + " values",
           "as many arguments as values");
  }
  Check(program).statements(program.statements());
}

}  // namespace faro::swizzle
