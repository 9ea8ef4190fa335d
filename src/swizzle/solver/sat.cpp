#include "swizzle/solver/sat.hpp"

#if FARO_HAVE_CADICAL
#include <cadical.hpp>
#endif

#include "faro/error.hpp"

namespace faro::swizzle::detail {

#if FARO_HAVE_CADICAL

namespace {

class Terminator : public CaDiCaL::Terminator {
 public:
  explicit Terminator(const std::function<bool()>& goes_on) : goes_on_(goes_on) {}
  bool terminate() override { return !goes_on_(); }

 private:
  const std::function<bool()>& goes_on_;
};

}  // namespace

struct Sat::Solver {
  // Not const: CaDiCaL's val() is not.
  mutable CaDiCaL::Solver cadical;
};

std::string solver_name() { return "CaDiCaL"; }

Sat::Sat() : solver_(std::make_unique<Solver>()) {
  solver_->cadical.set("quiet", 1);
  // Of most groups of literals one holds: guessing that a literal does not is right more often.
  solver_->cadical.set("phase", 0);
  solver_->cadical.add(yes());
  solver_->cadical.add(0);
}

void Sat::clause(std::span<const Literal> literals) {
  for (const Literal literal : literals)
    if (literal == yes()) return;
  ++clauses_;
  for (const Literal literal : literals) {
    if (literal == no()) continue;
    solver_->cadical.add(literal);
    ++literals_;
  }
  solver_->cadical.add(0);
}

Answer Sat::solve(std::span<const Literal> assumed, const std::function<bool()>& goes_on) {
  Terminator terminator(goes_on);
  for (const Literal literal : assumed) solver_->cadical.assume(literal);
  solver_->cadical.connect_terminator(&terminator);
  const int status = solver_->cadical.solve();
  solver_->cadical.disconnect_terminator();
  constexpr int kSatisfiable = 10, kUnsatisfiable = 20;
  if (status == kSatisfiable) return Answer::satisfiable;
  return status == kUnsatisfiable ? Answer::unsatisfiable : Answer::unknown;
}

bool Sat::holds(Literal literal) const { return solver_->cadical.val(literal) > 0; }

#else

struct Sat::Solver {};

std::string solver_name() { return {}; }

Sat::Sat() { FARO_CHECK(!solver_name().empty()); }
void Sat::clause(std::span<const Literal>) {}
Answer Sat::solve(std::span<const Literal>, const std::function<bool()>&) { return Answer::unknown; }
bool Sat::holds(Literal) const { return false; }

#endif

Sat::~Sat() = default;

Literal Sat::variables(std::size_t count) {
  const Literal first = variables_ + 1;
  variables_ += static_cast<Literal>(count);
  return first;
}

}  // namespace faro::swizzle::detail
