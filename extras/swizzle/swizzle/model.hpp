// The constraint model of a sketch: the sketch unrolled, with holes for variables.
//
// A hole matters only through the cells of its table: each cell that is read is a *variable*. Running a
// sketch with no function for its holes gives, for each register, a node of a decision diagram, which says
// under which values of which variables it is what:
//
//     x = shfl(rc[index(s, i)], lane(t, i))        t = 5, i = 1
//
//     x ── lane(5,1) ┬ 0 ─ index(0,1) ┬ 0 ─ I0           two variables decide: which lane 5 asks,
//                    │                └ 1 ─ I32          then which register *that* lane sends
//                    ├ 1 ─ index(1,1) ┬ 0 ─ I1
//                    │                └ 1 ─ I33          nodes are shared: 32 lanes ask the same 32 senders
//                    …
//
// At the other end stand the *constraints* of the specification:
//
//     store      a node goes to an address (that variables may decide): it must be the value wanted there
//     sum        slots, each a term of nodes with a guard: the live ones make up the wanted multiset
//     present    these nodes must contain those inputs
//
// A search never runs the program again: it fixes variables and asks what is still possible. The sketch's
// structure is all in the model: that one hole determines another, or that sums leave nothing to spare, is
// found there and not by the example's name.
//
// Law: for every valuation, satisfies() is true iff first_mismatch() finds none (but for two lanes that store
// different values where the specification wants nothing, which only running the program refuses).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "faro/swizzle/program.hpp"
#include "faro/swizzle/specification.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();  // this outcome is not allowed

/// One cell of one hole's table.
struct Variable {
  int hole = 0;
  std::int64_t cell = 0;
  friend auto operator<=>(const Variable&, const Variable&) = default;
};

/// The variables that decide something together; it has an outcome for each combination of their values.
/// Values of a variable are numbered as in ConstraintModel::domains; combination v0 + count0 (v1 + count1
/// (…)).
struct Scope {
  std::vector<Variable> variables;  // none: there is one outcome
};

enum class NodeKind : std::uint8_t {
  value,     // known: a ValueId
  decision,  // one of other nodes
};

struct Node {
  NodeKind kind = NodeKind::value;
  ValueId value = kUndefined;
  Scope scope;
  std::vector<NodeId> outcomes;  // by combination
};

/// A term of a sum that is appended if its guard holds.
struct Slot {
  std::vector<NodeId> term;         // sorted: equal terms, equal nodes; kUndefined is a value node here
  std::uint32_t term_variable = 0;  // in its group of sums
  int statement = 0;                // the accumulate statement in the text, counted from 0
  Scope guard;
  std::vector<bool> holds;  // by combination
};

/// One accumulator of one lane where its value is stored.
struct SumConstraint {
  Accumulation accumulation;
  ValueId wanted = kUndefined;
  std::vector<Slot> slots;
};

/// All sums of one lane that share terms. A distinct term is a variable, too: what it is, it is for all its
/// slots. The group is an *exact cover* where the specification wants as many terms, over all values v the
/// sum of max over the sums of v's multiplicity, as the term variables can give (each, at most its slots in
/// one sum). Then no term may be wasted, each must be a wanted one, and none more often than wanted: which
/// fixes guards, and cells of other holes.
struct SumGroup {
  std::vector<SumConstraint> sums;
  std::vector<std::vector<NodeId>> term_variables;  // factors

  bool is_exact = false;  // cover
};

/// A plain value stored. Address kNotStored: `when` is false. kForbidden: outside the array, or a value of
/// another kind is wanted. Where the specification wants nothing in particular, any value but an undefined
/// one will do. A constraint whose addresses are all one of the two only forbids combinations: an index that
/// would leave its array or its registers.
struct StoreConstraint {
  NodeId node = kNoNode;
  Array array;
  Scope address;
  std::vector<std::int64_t> addresses;  // by combination
};
inline constexpr std::int64_t kNotStored = -1;
inline constexpr std::int64_t kForbidden = -2;

struct PresenceConstraint {
  std::vector<ValueId> wanted;  // inputs, sorted
  std::vector<NodeId> held;
};

struct ConstraintModel {
  std::vector<Node> nodes;
  std::vector<SumGroup> sum_groups;
  std::vector<StoreConstraint> stores;
  std::vector<PresenceConstraint> presents;
  /// Of each hole and cell, the values that its family can have there, sorted; empty where nothing reads it.
  std::vector<std::vector<std::vector<std::int32_t>>> domains;
  /// Cells of each hole that something reads, sorted.
  std::vector<std::vector<std::int64_t>> read_cells;
  /// By array and element: outputs that are wanted, and that no sum and no store of a known address gives;
  /// `stores` must. Empty for an array where there is none.
  std::vector<std::vector<bool>> uncovered;
};

struct ModelLimits {
  std::uint64_t most_nodes = 4'000'000;
  std::uint64_t most_combinations = 4096;  // of one scope
  double seconds = 0;                      // 0: no limit
  bool processor_time = false;             // what `seconds` count; else the clock's
};

/// `families`: the functions of each hole, for the values that cells can have.
/// Errors: ErrorCode::unsupported: past the limits ("not finished: …"), or what no search does: a sum of
/// sums, a shared-memory address or one of two stores to an element that a hole decides; those of
/// check(program); errors of run_symbolic that no hole can avoid.
ConstraintModel build_model(const Specification& specification, const Program& program,
                            std::span<const FunctionSet> families, const ModelLimits& limits);

/// Whether the constraints are met with these functions (number in its family, by hole).
bool satisfies(const ConstraintModel& model, const Specification& specification,
               std::span<const FunctionSet> families, std::span<const std::size_t> functions);

}  // namespace faro::swizzle

namespace faro::swizzle::detail {

/// Whether what is wanted can come of this sum at all.
bool is_sum_of(const SumConstraint& sum, const ValueTable& values);

/// The sums of one lane (of one warp and block), put into groups by shared terms: two slots with the same
/// sorted nodes are one term variable, and sums that have one in common are in one group. Numbers the term
/// variables and says which groups are exact covers. `Slot::term_variable` of the argument is ignored.
/// Requires: terms sorted. A sum that wants what it cannot give makes its group inexact.
std::vector<SumGroup> make_sum_groups(std::vector<SumConstraint> sums_of_lane, const ValueTable& values);

}  // namespace faro::swizzle::detail
