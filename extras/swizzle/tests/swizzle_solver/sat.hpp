// A formula in clauses, and the solver that is asked whether it can be true.
//
//     a literal is a variable (1, 2, …) or its negation (-1, -2, …);
//     a clause holds if one of its literals does
//
// Clauses can be added between questions, and a question can assume literals for itself alone: "at most five
// are live" is assumed, refuted, and dropped again.
//
// The solver is CaDiCaL, where faro was built with it; a build without it has none, and solver_name() is "".
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace faro::swizzle::detail {

using Literal = std::int32_t;

enum class Answer : std::uint8_t { satisfiable, unsatisfiable, unknown };

/// "CaDiCaL"; empty where faro was built without it.
std::string solver_name();

class Sat {
 public:
  /// Requires: a solver (checked).
  Sat();
  ~Sat();
  Sat(const Sat&) = delete;
  Sat& operator=(const Sat&) = delete;

  /// A new one.
  Literal variable() { return ++variables_; }
  /// Variables first … first + count - 1; gives the first.
  Literal variables(std::size_t count);
  /// Literals that always and never hold.
  static constexpr Literal yes() { return 1; }
  static constexpr Literal no() { return -1; }

  void clause(std::span<const Literal> literals);
  void clause(std::initializer_list<Literal> literals) {
    clause(std::span(literals.begin(), literals.size()));
  }

  /// Unknown: `goes_on` said no.
  Answer solve(std::span<const Literal> assumed, const std::function<bool()>& goes_on);
  /// Requires: the last answer was satisfiable, and nothing was added since.
  bool holds(Literal literal) const;

  std::uint64_t count_variables() const { return static_cast<std::uint64_t>(variables_); }
  std::uint64_t count_clauses() const { return clauses_; }
  std::uint64_t count_literals() const { return literals_; }

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
  Literal variables_ = 1;  // the first always holds
  std::uint64_t clauses_ = 0;
  std::uint64_t literals_ = 0;
};

void at_most_one(Sat& sat, std::span<const Literal> literals);
void exactly_one(Sat& sat, std::span<const Literal> literals);
/// The k-th literal of the result, from 0, holds iff at least k + 1 of the given ones do; for k < most.
std::vector<Literal> counted(Sat& sat, std::span<const Literal> literals, std::size_t most);
void exactly(Sat& sat, std::span<const Literal> literals, std::size_t count);

}  // namespace faro::swizzle::detail
