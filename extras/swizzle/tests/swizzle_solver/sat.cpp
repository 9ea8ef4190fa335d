#include "swizzle_solver/sat.hpp"

#if FARO_HAVE_CADICAL
#include <cadical.hpp>
#endif

#include <algorithm>

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

namespace {

// Up to here a clause for each pair.
constexpr std::size_t kMostPairs = 6;

// Counts of two halves to the count of both. The clauses go both ways.
std::vector<Literal> merged(Sat& sat, const std::vector<Literal>& a, const std::vector<Literal>& b,
                            std::size_t most) {
  std::vector<Literal> sum;
  for (std::size_t k = 0; k < std::min(a.size() + b.size(), most); ++k) sum.push_back(sat.variable());
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      const Literal enough_a = i == 0 ? Sat::yes() : a[i - 1];
      const Literal enough_b = j == 0 ? Sat::yes() : b[j - 1];
      if (i + j > 0 && i + j <= sum.size()) sat.clause({-enough_a, -enough_b, sum[i + j - 1]});
      const Literal more_a = i == a.size() ? Sat::no() : a[i];
      const Literal more_b = j == b.size() ? Sat::no() : b[j];
      // Of a half that was cut off at `most` no more is known; but then i + j is past the sum's end.
      if (i + j < sum.size()) sat.clause({more_a, more_b, -sum[i + j]});
    }
  }
  return sum;
}

}  // namespace

void at_most_one(Sat& sat, std::span<const Literal> literals) {
  if (literals.size() <= kMostPairs) {
    for (std::size_t i = 0; i < literals.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) sat.clause({-literals[i], -literals[j]});
    return;
  }
  // A ladder: earlier means that one up to here holds.
  Literal earlier = literals.front();
  for (std::size_t k = 1; k < literals.size(); ++k) {
    sat.clause({-earlier, -literals[k]});
    if (k + 1 == literals.size()) break;
    const Literal next = sat.variable();
    sat.clause({-earlier, next});
    sat.clause({-literals[k], next});
    earlier = next;
  }
}

void exactly_one(Sat& sat, std::span<const Literal> literals) {
  sat.clause(literals);
  at_most_one(sat, literals);
}

std::vector<Literal> counted(Sat& sat, std::span<const Literal> literals, std::size_t most) {
  if (literals.size() <= 1 || most == 0) {
    std::vector<Literal> same(literals.begin(), literals.end());
    same.resize(std::min(same.size(), most));
    return same;
  }
  const std::size_t half = literals.size() / 2;
  return merged(sat, counted(sat, literals.first(half), most), counted(sat, literals.subspan(half), most),
                most);
}

void exactly(Sat& sat, std::span<const Literal> literals, std::size_t count) {
  if (count > literals.size()) return sat.clause({});
  if (count == 0) {
    for (const Literal literal : literals) sat.clause({-literal});
    return;
  }
  if (count == 1) return exactly_one(sat, literals);
  const std::vector<Literal> at_least = counted(sat, literals, count + 1);
  sat.clause({at_least[count - 1]});
  if (count < at_least.size()) sat.clause({-at_least[count]});
}

}  // namespace faro::swizzle::detail
