// The choice graph: a sketch unrolled, with every hole's value left open where it is read.
//
// A hole matters only through the cells of its table. Running a sketch symbolically with no function for its
// holes gives, for each register, a node that says which cell decides between which other nodes:
//
//     x = shfl(rc[index(s, i)], lane(t, i))        t = 5, i = 1
//
//     x ── lane(5,1) ┬ 0 ─ index(0,1) ┬ 0 ─ I0           two cells decide: whom lane 5 asks,
//                    │                └ 1 ─ I32          then which register *that* lane sends
//                    ├ 1 ─ index(1,1) ┬ 0 ─ I1
//                    │                └ 1 ─ I33          nodes are shared: 32 lanes ask the same 32 senders
//                    …
//
// At the other end stand the *sites*, where the graph meets the specification:
//
//     store      a node goes to an address (that cells may decide): it must be the value wanted there
//     sum        slots, each a term of nodes with a guard: the live ones make up the wanted multiset
//     present    these nodes must contain those inputs
//
// A search never runs the program again: it fixes cells and asks what is still possible at the sites. The
// sketch's structure is all in the graph: that one hole determines another, or that sums leave nothing to
// spare, is found there and not by the example's name.
//
// Law: for every valuation, meets() is true iff first_mismatch() finds none (but for two lanes that store
// different values where the specification wants nothing, which only running the program refuses).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "faro/swizzle/interpret.hpp"
#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();  // this choice is not allowed

/// One cell of one hole's table.
struct HoleCell {
  int hole = 0;
  std::int64_t cell = 0;
  friend auto operator<=>(const HoleCell&, const HoleCell&) = default;
};

/// The distinct cells that decide something together, and the outcome of each combination of their values.
/// Values of a cell are numbered as in ChoiceGraph::values_of; combination v0 + count0 (v1 + count1 (…)).
struct Decision {
  std::vector<HoleCell> cells;  // none: there is one outcome
};

enum class NodeKind : std::uint8_t {
  value,   // known: a ValueId
  choice,  // one of other nodes
};

struct Node {
  NodeKind kind = NodeKind::value;
  ValueId value = kUndefined;
  Decision decision;
  std::vector<NodeId> outcomes;  // by combination
};

/// A term of a sum that is appended if its guard holds.
struct Slot {
  std::vector<NodeId> term;    // sorted: equal terms, equal nodes; kUndefined is a value node here
  std::uint32_t supplier = 0;  // number of this term in its pool
  int statement = 0;           // the accumulate statement in the text, counted from 0
  Decision guard;
  std::vector<bool> holds;  // by combination
};

/// One accumulator of one lane where its value is stored.
struct SumSite {
  Accumulation accumulation;
  ValueId wanted = kUndefined;
  std::vector<Slot> slots;
};

/// All sums of one lane that share terms. A supplier is a distinct term: what it is, it is for all its slots.
/// *Tight*: the specification wants as many terms, over all values v the sum of max over the sums of v's
/// multiplicity, as the suppliers can give (each, at most its slots in one sum). Then no supplier may be
/// wasted, each must be a wanted term, and none more often than wanted: which determines guards, and cells of
/// other holes.
struct Pool {
  std::vector<SumSite> sums;
  std::vector<std::vector<NodeId>> suppliers;
  bool tight = false;
};

/// A plain value stored. Address kNotStored: `when` is false. kForbidden: outside the array, or a value of
/// another kind is wanted. Where the specification wants nothing in particular, any value but an undefined
/// one will do. A site whose addresses are all one of the two only forbids combinations: an index that would
/// leave its array or its registers.
struct StoreSite {
  NodeId node = kNoNode;
  Array array;
  Decision address;
  std::vector<std::int64_t> addresses;  // by combination
};
inline constexpr std::int64_t kNotStored = -1;
inline constexpr std::int64_t kForbidden = -2;

struct PresentSite {
  std::vector<ValueId> wanted;  // inputs, sorted
  std::vector<NodeId> held;
};

struct ChoiceGraph {
  std::vector<Node> nodes;
  std::vector<Pool> pools;
  std::vector<StoreSite> stores;
  std::vector<PresentSite> presents;
  /// Of each hole and cell, the values that its family can have there, sorted; empty where nothing reads it.
  std::vector<std::vector<std::vector<std::int32_t>>> values_of;
  /// Cells of each hole that something reads, sorted.
  std::vector<std::vector<std::int64_t>> read_cells;
  /// By array and element: outputs that are wanted, and that no sum and no store of a known address gives;
  /// `stores` must. Empty for an array where there is none.
  std::vector<std::vector<bool>> uncovered;
};

struct ChoiceLimits {
  std::uint64_t most_nodes = 4'000'000;
  std::uint64_t most_combinations = 4096;  // of one decision
  double seconds = 0;                      // 0: no limit
};

/// `families`: the functions of each hole, for the values that cells can have.
/// Errors: ErrorCode::unsupported: past the limits ("not finished: …"), or what no search does: a sum of
/// sums, a shared-memory address or one of two stores to an element that a hole decides; those of
/// check(program); errors of run_symbolic that no hole can avoid.
ChoiceGraph build_choices(const Specification& specification, const Program& program,
                          std::span<const FunctionSet> families, const ChoiceLimits& limits);

/// Whether the sites are met with these functions (number in its family, by hole).
bool meets(const ChoiceGraph& graph, const Specification& specification,
           std::span<const FunctionSet> families, std::span<const std::size_t> functions);

}  // namespace faro::swizzle
