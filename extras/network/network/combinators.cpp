// Programs, put together by combinators, each checked as it is made.
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/network/program.hpp"
#include "network/text.hpp"
#include "permutation/text.hpp"

namespace faro::network {
namespace {

// What a sub-expression is called in an error.
std::string quoted(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  return "network " + faro::detail::in_quotes(text, kLongest);
}
std::uint64_t checked_leaves(std::uint64_t a, std::uint64_t b, const Program& f, const Program& g) {
  if (a + b > kMaxProgramLeaves) {
    fail(ErrorCode::value, quoted((short_text(f) + " . " + short_text(g))),
         std::to_string(a + b) + " operators and permutations",
         "at most " + std::to_string(kMaxProgramLeaves) + " in a program");
  }
  return a + b;
}

}  // namespace

struct Program::Node {
  ProgramKind kind = ProgramKind::identity;
  int bits = 0;
  std::uint64_t leaves = 1;
  std::unique_ptr<const Affine> map = nullptr;  // bmmc
  std::string map_text = {};                    // bmmc
  Operator op = {};                             // pairs, each
  f2::Word mask = 0;                            // parm, two
  std::vector<Program> parts = {};
};

const char* name(ProgramKind kind) noexcept {
  static constexpr const char* kNames[] = {"id", "bmmc", "pairs", "each", "two", "parm", "compose"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ProgramKind::compose) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

ProgramKind Program::kind() const { return node_->kind; }
int Program::bits() const { return node_->bits; }
std::uint64_t Program::leaves() const { return node_->leaves; }

const Affine& Program::map() const {
  FARO_CHECK(node_->kind == ProgramKind::bmmc);
  return *node_->map;
}

const std::string& Program::map_text() const {
  FARO_CHECK(node_->kind == ProgramKind::bmmc);
  return node_->map_text;
}

const Operator& Program::op() const {
  FARO_CHECK(node_->kind == ProgramKind::pairs || node_->kind == ProgramKind::each);
  return node_->op;
}

f2::Word Program::mask() const {
  FARO_CHECK(node_->kind == ProgramKind::parm || node_->kind == ProgramKind::two);
  return node_->mask;
}

const Program& Program::part() const {
  FARO_CHECK(node_->kind == ProgramKind::parm || node_->kind == ProgramKind::two);
  return node_->parts.front();
}

const std::vector<Program>& Program::parts() const {
  FARO_CHECK(node_->kind == ProgramKind::compose);
  return node_->parts;
}

bool operator==(const Program& f, const Program& g) {
  const Program::Node& a = *f.node_;
  const Program::Node& b = *g.node_;
  if (&a == &b) return true;
  if (a.kind != b.kind || a.bits != b.bits || a.mask != b.mask || !(a.op == b.op)) return false;
  if (a.map != nullptr && !(*a.map == *b.map)) return false;
  return a.parts == b.parts;
}

Program identity(int n) {
  if (n < 0 || n > kMaxProgramBits) {
    fail(ErrorCode::value, quoted("id"), std::to_string(n) + " index bits",
         "0 to " + std::to_string(kMaxProgramBits));
  }
  Program::Node node;
  node.bits = n;
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

Program bmmc(const Affine& map, std::string text) {
  Program::Node node;
  node.kind = ProgramKind::bmmc;
  node.map_text = std::move(text);
  node.bits = map.bits();
  node.map = std::make_unique<const Affine>(map);
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

Program pairs(const Operator& op, int n) {
  if (is_elementwise(op.kind)) {
    fail(ErrorCode::value, quoted("pairs(" + operator_text(op) + ")"), "an elementwise function",
         "an operator on pairs", "each(" + operator_text(op) + ")");
  }
  if (n < 1 || n > kMaxProgramBits) {
    fail(ErrorCode::value, quoted(("pairs(" + operator_text(op) + ")")),
         n == 0 ? std::string("an array of one element") : std::to_string(n) + " index bits",
         "1 to " + std::to_string(kMaxProgramBits) + " index bits, two elements or more",
         n == 0 ? "a recursion wants a base case at n = 0 or n = 1" : "");
  }
  Program::Node node;
  node.kind = ProgramKind::pairs;
  node.bits = n;
  node.op = op;
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

Program each(const Operator& function, int n) {
  const std::string operation = quoted("each(" + operator_text(function) + ")");
  if (!is_elementwise(function.kind)) {
    fail(ErrorCode::value, operation, "an operator on pairs", "an elementwise function",
         "pairs(" + operator_text(function) + ")");
  }
  if (n < 0 || n > kMaxProgramBits) {
    fail(ErrorCode::value, operation, std::to_string(n) + " index bits",
         "0 to " + std::to_string(kMaxProgramBits));
  }
  Program::Node node;
  node.kind = ProgramKind::each;
  node.bits = n;
  node.op = function;
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

Program two(const Program& f) {
  if (f.bits() >= kMaxProgramBits) {
    fail(ErrorCode::value, quoted(("two(" + short_text(f) + ")")),
         "a part of " + std::to_string(f.bits()) + " index bits",
         "a part of at most " + std::to_string(kMaxProgramBits - 1));
  }
  Program::Node node;
  node.kind = ProgramKind::two;
  node.bits = f.bits() + 1;
  node.leaves = f.leaves();
  node.mask = f2::unit(f.bits());
  node.parts = {f};
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

Program parm(f2::Word mask, const Program& f) {
  const int n = f.bits() + 1;
  const auto expression = [&] { return "parm(" + mask_text(mask) + "; " + short_text(f) + ")"; };
  if (n > kMaxProgramBits) {
    fail(ErrorCode::value, quoted(expression()), "a part of " + std::to_string(f.bits()) + " index bits",
         "a part of at most " + std::to_string(kMaxProgramBits - 1));
  }
  if (mask == 0) {
    fail(ErrorCode::value, quoted(expression()), "a mask of zero",
         "a mask of 1 to 2^" + std::to_string(n) + " - 1",
         "a mask of zero would put every element in one sub-array; bit i of the mask takes bit i of the "
         "index into account");
  }
  if ((mask & ~f2::low_mask(n)) != 0) {
    fail(ErrorCode::value, quoted(expression()), "the mask " + mask_text(mask),
         "a mask below 2^" + std::to_string(n) + ", for an array of 2^" + std::to_string(n) +
             " elements with sub-arrays of 2^" + std::to_string(f.bits()));
  }
  Program::Node node;
  node.kind = ProgramKind::parm;
  node.bits = n;
  node.leaves = f.leaves();
  node.mask = mask;
  node.parts = {f};
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

Program compose(const Program& f, const Program& g) {
  if (f.bits() != g.bits()) {
    fail(ErrorCode::value, quoted((short_text(f) + " . " + short_text(g))),
         "2^" + std::to_string(f.bits()) + " elements after 2^" + std::to_string(g.bits()),
         "parts of equal size");
  }
  Program::Node node;
  node.kind = ProgramKind::compose;
  node.bits = f.bits();
  node.leaves = checked_leaves(f.leaves(), g.leaves(), f, g);
  node.parts = factors(f);
  for (const Program& part : factors(g)) node.parts.push_back(part);
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

std::vector<Program> factors(const Program& program) {
  if (program.kind() == ProgramKind::compose) return program.parts();
  return {program};
}

Program composition(const std::vector<Program>& parts, int n) {
  if (parts.empty()) return identity(n);
  if (parts.size() == 1) return parts.front();
  Program::Node node;
  node.kind = ProgramKind::compose;
  node.bits = parts.front().bits();
  node.leaves = 0;
  for (const Program& part : parts) {
    if (part.bits() != node.bits) return compose(parts.front(), part);  // refuses
    node.leaves = checked_leaves(node.leaves, part.leaves(), parts.front(), part);
    for (const Program& factor : factors(part)) node.parts.push_back(factor);
  }
  return Program(std::make_shared<const Program::Node>(std::move(node)));
}

void check_element(const Program& program, const ElementType& element) {
  switch (program.kind()) {
    case ProgramKind::identity:
    case ProgramKind::bmmc:
      return;
    case ProgramKind::pairs:
    case ProgramKind::each:
      try {
        check_fits(program.op(), element);
      } catch (const Error& error) {
        ErrorReport report = error.report();
        report.operation = quoted(to_text(program)) + ": " + report.operation;
        throw Error(report);
      }
      return;
    case ProgramKind::two:
    case ProgramKind::parm:
      return check_element(program.part(), element);
    case ProgramKind::compose:
      for (const Program& part : program.parts()) check_element(part, element);
  }
}

}  // namespace faro::network
