// Rewriting: the same effect by a program of fewer passes.
//
// Taken literally, every parm permutes the array, works on its halves, and permutes it back. Most of these
// permutations meet another one and become one, or nothing:
//
//     parm(1; parm(1; f))
//       =  bmmc(Q^-1) . two( bmmc(R^-1) . two(f) . bmmc(R) ) . bmmc(Q)              parm-to-halves, twice
//       =  bmmc(Q^-1) . two(bmmc(R^-1)) . two(two(f)) . two(bmmc(R)) . bmmc(Q)      split-parts
//       =  bmmc(S^-1) . two(two(f)) . bmmc(S)                                       lift-bmmc, fuse-bmmc
//
// Six passes became four where f is one. Each rule is a function that holds one law; `rewrite` applies them
// from the leaves up until none of them saves anything, and tells what it did. The result is a list of
// permutations and operators, at most one permutation between two operators.
//
// What it costs to run a program is not decided here: the plan (plan.hpp) puts many layers into one pass.
// Source: Bouverot-Dupuis and Sheeran, sections 3 and 7.2, for parm-to-halves, fuse-bmmc and lift-bmmc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/network/program.hpp"

namespace faro::network {

/// Readings and writings of the whole array where each part of the program is carried out as it stands: one
/// for every operator, one for every permutation that moves anything, and two more for every parm but the
/// one by halves. What is done to both sub-arrays is done at once.
std::uint64_t sweeps(const Program& program);

// Each rule gives the right side of its law where its left side is the whole program, else nothing. Q is the
// matrix of maps::parm(n, m).
namespace rules {

std::optional<Program> drop_map(const Program& program);       // bmmc(identity) = id
std::optional<Program> drop_identity(const Program& program);  // f . id = f;  id . f = f
std::optional<Program> drop_parts(const Program& program);     // two(id) = id;  parm(m; id) = id

/// bmmc(A, c) . bmmc(B, d) = bmmc(A B, A d ^ c).
std::optional<Program> fuse_bmmc(const Program& program);

/// bmmc(A) . bmmc(A^-1) = id.
std::optional<Program> cancel_inverses(const Program& program);

/// parm(2^(n-1); f) = two(f).
std::optional<Program> parm_is_two(const Program& program);

/// parm(m; f) = bmmc(Q^-1) . two(f) . bmmc(Q).
std::optional<Program> parm_to_halves(const Program& program);

/// parm(m; bmmc(A, c)) = bmmc(Q^-1 diag(A, 1) Q, Q^-1 (c, 0));  two(bmmc(A, c)) = bmmc(diag(A, 1), (c, 0)).
std::optional<Program> lift_bmmc(const Program& program);

/// parm(m; f) . parm(m; g) = parm(m; f . g);  two(f) . two(g) = two(f . g).
std::optional<Program> fuse_parts(const Program& program);

/// parm(m; f . g) = parm(m; f) . parm(m; g);  two(f . g) = two(f) . two(g).
std::optional<Program> split_parts(const Program& program);

/// parm(m; pairs(op)) = pairs(op) for even m, two(pairs(op)) = pairs(op), where op does not depend on the
/// pair's number: neighbours stay neighbours.
std::optional<Program> widen_pairs(const Program& program);

/// parm(m; each(f)) = each(f), two(each(f)) = each(f).
std::optional<Program> lift_each(const Program& program);

/// each(f) . bmmc(A) = bmmc(A) . each(f); pairs(op) . bmmc(A) = bmmc(A) . pairs(op), where op does not depend
/// on the pair's number and A moves neighbours together, in their order: A e_0 = e_0, and bit 0 of A x ^ c is
/// bit 0 of x.
std::optional<Program> hoist_bmmc(const Program& program);

/// parm(2^i; parm(2^j; f)) = parm(2^(j+1); parm(2^i; f)) for i <= j.
std::optional<Program> exchange_parm(const Program& program);

}  // namespace rules

struct Rule {
  std::string_view name;
  std::string_view law;
  std::optional<Program> (*apply)(const Program& program);
};

/// Every rule above, in that order.
std::span<const Rule> rewrite_rules();

/// One application of a rule.
struct RewriteStep {
  std::string_view rule;
  Program before;
  Program after;
};

struct RuleUse {
  std::string_view rule;
  std::uint64_t count = 0;
};

struct Rewriting {
  Program before;
  Program after;
  std::vector<RewriteStep> steps;  // the first, as many as were asked for
  std::vector<RuleUse> uses;       // of each rule that was used
  std::uint64_t sweeps_before = 0;
  std::uint64_t sweeps_after = 0;

  /// Both programs, the rules by name, the sweeps saved: several lines, long programs cut short.
  std::string explain() const;
  /// The steps one by one, long programs cut short.
  std::string explain_steps() const;
};

inline constexpr std::size_t kMostSteps = 200;
/// Characters of either side of a step there.
inline constexpr std::size_t kShownOfStep = 56;

/// Law: before and after have the same effect; sweeps_after <= sweeps_before.
/// Cost: a product of matrices for every step; some kilobytes for each that is kept.
Rewriting rewrite(const Program& program, std::size_t most_steps = kMostSteps);

}  // namespace faro::network
