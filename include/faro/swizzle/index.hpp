// Index expressions: the integers of a SIMT program, as immutable trees.
//
// A program moves elements; where from and where to is written in integers that a thread knows: its lane, its
// warp, its block, the counters of the loops around it, and holes, which are functions still to be found.
//
//     const Index t = lane_index();
//     (t + i) % 32                          a lane
//     select(i <= t, 0, 1)                  a register
//     4 * lane_y(t / 4, ky) + lane_x(t % 4, kx)      lane_x and lane_y are holes
//
// Division and remainder are those of mathematics (floor, and 0 .. d-1), unlike C's: (0 - 1) % 4 is 3. Truth
// is 0 or 1. A tree says nothing of types: every interpreter evaluates it with a *place* (which lane, where
// in the loops) and, for the holes, a reader. The same trees are what a found function is printed and emitted
// from, so that there is one printer and one simplifier.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace faro::swizzle {

enum class IndexKind : std::uint8_t {
  constant,
  lane,      // 0 .. W-1
  warp,      // in its block
  block,     // in the launch
  loop,      // the counter of loop `number`
  argument,  // the argument `number` of a hole's function; only in the expression of a found function
  hole,      // hole `number` of the arguments
  add,
  subtract,
  multiply,
  divide,     // floor
  remainder,  // 0 .. d-1
  less,
  less_equal,
  equal,
  logical_not,
  logical_and,
  logical_or,
  select,  // (condition, if true, if false)
};

class Index {
 public:
  /// A constant. Implicit, so that `t + 1` is an expression.
  Index(std::int64_t constant);                           // NOLINT(google-explicit-constructor)
  Index(int constant) : Index(std::int64_t{constant}) {}  // NOLINT(google-explicit-constructor)

  IndexKind kind() const;
  /// A constant's value.
  std::int64_t value() const;
  /// The loop, argument or hole meant.
  int number() const;
  /// Operands in order; a hole's arguments.
  std::span<const Index> operands() const;

  /// Law: same(a, b) iff the trees are equal, names of nothing considered.
  friend bool same(const Index& a, const Index& b);

  /// For builders: a node of any kind. Requires: as many operands as the kind has (checked).
  static Index node(IndexKind kind, std::int64_t value_or_number, std::vector<Index> operands);

 private:
  struct Node;
  explicit Index(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

Index lane_index();
Index warp_index();
Index block_index();
Index argument_index(int number);

Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator*(const Index& a, const Index& b);
Index operator/(const Index& a, const Index& b);
Index operator%(const Index& a, const Index& b);
Index operator<(const Index& a, const Index& b);
Index operator<=(const Index& a, const Index& b);
Index operator>(const Index& a, const Index& b);
Index operator>=(const Index& a, const Index& b);
Index operator==(const Index& a, const Index& b);
Index operator!=(const Index& a, const Index& b);
Index operator!(const Index& a);
/// Both sides are evaluated: there is nothing to save or to protect.
Index operator&&(const Index& a, const Index& b);
Index operator||(const Index& a, const Index& b);
Index select(const Index& condition, const Index& if_true, const Index& if_false);

/// Who evaluates, and where in the loops.
struct Place {
  std::int64_t lane = 0;
  std::int64_t warp = 0;
  std::int64_t block = 0;
  std::vector<std::int64_t> loops;  // by loop number; those that are not open do not matter
};

/// The value of a hole for these arguments.
using HoleReader = std::function<std::int64_t(int hole, std::span<const std::int64_t> arguments)>;

/// The value of the expression at the place.
/// Errors: ErrorCode::spec for a division by 0. Cost: linear in the tree.
std::int64_t evaluate(const Index& index, const Place& place, const HoleReader& holes);
/// The value where it contains IndexKind::argument and neither places nor holes: a found function.
std::int64_t evaluate(const Index& function, std::span<const std::int64_t> arguments);

/// A hole's call at a place: which table cell it reads.
struct HoleCall {
  int hole = 0;
  std::vector<std::int64_t> arguments;
};
/// The outermost calls of holes in the expression, in order, without repeats. Their arguments must not
/// contain holes. Errors: ErrorCode::spec where they do ("a hole inside a hole's argument").
std::vector<HoleCall> hole_calls(const Index& index, const Place& place);

struct Interval {
  std::int64_t least = 0;
  std::int64_t most = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};
/// What the variables may be, to bound and to simplify.
struct IndexRanges {
  Interval lane, warp, block;
  std::vector<Interval> loops;
  std::vector<Interval> arguments;
  std::vector<Interval> holes;
};
/// Bounds of the value, from those of the variables; correct, not always tight.
Interval bounds(const Index& index, const IndexRanges& ranges);
/// An expression of the same value everywhere in the ranges, with constants folded, needless remainders
/// dropped, and terms x - x cancelled. Law: evaluate(simplify(e)) == evaluate(e) in the ranges.
Index simplify(const Index& index, const IndexRanges& ranges);
/// `argument` k replaced by arguments[k].
Index substitute(const Index& function, std::span<const Index> arguments);

/// Instructions that a GPU needs, roughly: operations after simplification; a division or remainder by a
/// power of two counts one, by another constant three.
int operations(const Index& index);

/// Names of the variables in text; loops and arguments by number.
struct IndexNames {
  std::string lane = "t", warp = "warp", block = "block";
  std::vector<std::string> loops;
  std::vector<std::string> arguments;
  std::vector<std::string> holes;
};
/// As mathematics, with the fewest brackets: "(t + i) mod 32", "i <= t ? 0 : 1".
std::string to_text(const Index& index, const IndexNames& names);
/// As C++ of int arithmetic: floor division and remainders of values that may be negative are made safe,
/// those by powers of two are shifts and masks. `ranges` prove what may be negative.
std::string to_cpp(const Index& index, const IndexNames& names, const IndexRanges& ranges);

}  // namespace faro::swizzle
