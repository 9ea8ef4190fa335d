// Index expressions, the integers of a SIMT program, as immutable trees; and holes, the functions in them
// that a sketch leaves open.
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
#include <variant>
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
  exclusive_or,
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
Index operator^(const Index& a, const Index& b);
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

// Holes: the functions that a sketch leaves open, and the families they are sought in.
//
//     sw_xform(i, n; k, m)     for element i of n in iteration k of m: a fan, then a rotation that moves with
//                              k, both inside groups; for lanes and registers, permuted or broadcast.
//     sw_part(c; v, …)         0 .. c-1 by a chain of conditions: which of c registers is sent.
//     sw_cond(v, …)            v1 cmp (I ± v2), true, or false.
//     sw_bits(v, …)            an XOR of words, one for each bit that is set in an argument: i ^ k, swizzles,
//                              permuted bits, any matrix over F2.
//     family(v, …)             one of the formulas that the sketch itself lists.
//     warp offset and size     of a load: constants, and multiples of ids and of the warp's width.
//
// All of them are *functions of their arguments*, and that is how faro sees them: a hole of arguments with
// ranges 8 and 4 is a table of 8 x 4 small integers, one for each cell. Many parameters give one function
// (194 ways to write a condition of t and i below 32 are 44 functions); the search never sees the
// difference. With n = 8, m = 4, parameters "rotate by k" (cf = 1, cr = 1, c = 0, one group):
//
//     i        0 1 2 3 4 5 6 7
//     k = 0    0 1 2 3 4 5 6 7
//     k = 1    1 2 3 4 5 6 7 0      sw_xform(i, 8; k, 4) = (i + k) mod 8
//     k = 2    2 3 4 5 6 7 0 1
//     k = 3    3 4 5 6 7 0 1 2
//
// sw_xform exactly, with div and mod of mathematics unless "trunc" is said:
//
//     i'  = (i mod gs + ecr k + ec) mod gs                 ecr = ec = 0 but in Freedom::extra
//     R   = cr k + trunc(k / dr) + c
//     off = floor(i' / df) + R;   with wrap: off mod g
//     f   = gs floor(i / gs) + (cf i' + off) mod gs
//
//     gs | n,  df | gs,  g = gs/df (any of 1 .. gs in Freedom::gcd and extra)
//     cf a multiple of g in [0, gs),  cr, c in [0, gs),  dr = ± a divisor of m
//
// Arguments are ranges from 0; a hole is told what it may be asked (`asked`), so that functions that differ
// only where the sketch does not ask are one.
//
// Source: Phothilimthana et al., "Swizzle Inventor", section 5, and its released code generator; the released
// conditions have no `!=`, which the paper's have, and the released interpreter takes the group's base from i
// mod gs, which loses it, and is not followed.

enum class HoleKind : std::uint8_t { xform, part, condition, bits, formulas, warp_offset, warp_size };

/// "sw_xform", "sw_part", "sw_cond", "sw_bits", "family", "warp_offset", "warp_size".
const char* name(HoleKind kind) noexcept;

/// How much of sw_xform is open, and of sw_bits.
enum class Freedom : std::uint8_t {
  easy,  // one group, no wrap, dr = m: cf, cr, c        bits: i ^ (k << s) ^ c, s the same for all of k, or i
         // ^ c
  full,  // all of it, with g = gs/df                    bits: those of i permuted, any words for those of k
  gcd,   // and g free                                   bits: any words for all
  extra,  // and ecr, ec
};

/// How much of sw_cond is open.
enum class ConditionFreedom : std::uint8_t {
  easy,  // v1 cmp v2, true, false
  full,  // v1 cmp (I ± v2): I in {0, 1, -1, W} and the caller's constants; cmp in = != >= > <= <
};

/// The published order of search; every space contains those before it. A hole that is declared easier stays
/// so.
enum class Space : std::uint8_t {
  easy,             // 1: easy xforms, easy conditions
  easy_conditions,  // 2: easy xforms, full conditions
  full,             // 3: full xforms, full conditions
  extra,            // 4: what the hole's own `in_extra` says
};

/// "easy", "easy-conditions", "full", "extra".
const char* name(Space space) noexcept;

/// One argument: its name in text, and how many values it takes: 0 .. asked-1.
struct Argument {
  std::string name;
  std::int64_t asked = 0;
};

/// A hole as it is declared. Make them by Program's functions, which fill in what the kind needs.
struct HoleDeclaration {
  std::string name;
  HoleKind kind = HoleKind::condition;
  std::vector<Argument> arguments;  // xform and bits: i, then k; warp_offset: ids; warp_size: none

  // xform; of bits n, one_to_one (i -> f(i, k) for each k) and the freedoms
  std::int64_t n = 0;       // primary range: values and group sizes; i < n
  std::int64_t m = 0;       // secondary range: dr divides it; k < m, asked may be less
  bool one_to_one = false;  // i -> f(i, k) must be a permutation for each k
  Freedom most = Freedom::full;
  Freedom in_extra = Freedom::gcd;  // what Space::extra gives it; extra for registers, gcd for lanes

  // part and condition
  std::int64_t choices = 2;             // of a part
  std::vector<std::int64_t> constants;  // beside 0, 1, -1 and warp
  std::int64_t warp = 32;               // W, a constant of conditions; the unit of warp_size
  ConditionFreedom most_conditions = ConditionFreedom::full;

  std::vector<Index> formulas;  // of a family: expressions of IndexKind::argument

  // warp_offset: const + sum of const * id * unit;  warp_size: const + const * warp
  std::vector<std::int64_t> units;  // of each argument
  std::int64_t most_constant = 4;   // constants are 0 .. this
};

/// How much of an xform is open in a space.
Freedom freedom_in(const HoleDeclaration& hole, Space space) noexcept;
ConditionFreedom condition_freedom_in(const HoleDeclaration& hole, Space space) noexcept;

/// Errors: ErrorCode::spec, naming hole and field: no name, a range below 1, `asked` past n or m, a part of
/// fewer than two or more than 64 choices, the wrong number of arguments, units that are not as many as
/// ids; a range of bits that is no power of two; no formulas, or one of something else than the arguments.
void check(const HoleDeclaration& hole);

/// Cells of its table: the product of what may be asked. Cell of (i, k, …) is i + asked0 (k + asked1 (…)).
std::int64_t cells(const HoleDeclaration& hole);
/// Errors: ErrorCode::spec, naming the hole, where an argument is outside what may be asked.
std::int64_t cell(const HoleDeclaration& hole, const std::vector<std::int64_t>& arguments);

/// sw_xform's parameters; the formula is above. Printed as "cf,df,gs,wrap,cr,dr,c" and what is not
/// default.
struct XformParameters {
  std::int64_t n = 1, cf = 1, df = 1, gs = 1, g = 1;
  bool wrap = false;
  std::int64_t cr = 0, dr = 1, c = 0, ecr = 0, ec = 0;
  friend bool operator==(const XformParameters&, const XformParameters&) = default;
};

enum class Comparison : std::uint8_t { equal, greater_equal, greater, less_equal, less, not_equal };

/// v1 cmp (constant + sign v2), or a literal.
struct ConditionParameters {
  std::optional<bool> literal;
  int v1 = 0, v2 = 0;  // arguments
  Comparison comparison = Comparison::equal;
  std::int64_t constant = 0;
  int sign = 1;
  friend bool operator==(const ConditionParameters&, const ConditionParameters&) = default;
};

/// The first condition that holds says which; else the last choice.
struct PartParameters {
  std::vector<ConditionParameters> conditions;
  friend bool operator==(const PartParameters&, const PartParameters&) = default;
};

/// constant + sum of factors[j] * units[j] * argument j.
struct LinearParameters {
  std::int64_t constant = 0;
  std::vector<std::int64_t> factors;
  std::vector<std::int64_t> units;
  friend bool operator==(const LinearParameters&, const LinearParameters&) = default;
};

/// constant ^ (XOR of columns[j][b] over the set bits b of argument j).
struct BitsParameters {
  std::int64_t constant = 0;
  std::vector<std::vector<std::int64_t>> columns;
  friend bool operator==(const BitsParameters&, const BitsParameters&) = default;
};

/// A function that no family gave: an expression of IndexKind::argument (closed forms, a user's own).
struct FormulaParameters {
  Index formula = 0;
};

using Parameters = std::variant<XformParameters, ConditionParameters, PartParameters, BitsParameters,
                                LinearParameters, FormulaParameters>;

/// The value for the arguments, by the formula of the family: the definition that all else is tested against.
std::int64_t value_of(const Parameters& parameters, std::span<const std::int64_t> arguments);

/// The same as an expression of IndexKind::argument, simplified for what the hole may be asked.
/// Law: evaluate(as_index(p, h), x) == value_of(p, x) for every x in range.
Index as_index(const Parameters& parameters, const HoleDeclaration& hole);

/// "xform(cf=2, df=16, gs=32, wrap, cr=0, dr=1, c=17)", "i <= t".
std::string to_text(const Parameters& parameters, const HoleDeclaration& hole);

// The row-column-row exchange of structs of S words among W lanes, for every S and W, without search.
//
// A warp loads S contiguous rows of W words, and wants word r of struct t in register r of lane t. Loading
// each row rotated, permuting the registers of each lane, and storing each row in another order does it with
// no shuffle at all: S = 4, W = 8,
//
//     loaded, lane f1(t, i)          registers permuted by r1(r, t)      the target, lanes s(t, r)
//      0  1  2  3  4  5  6  7         0  8 16 24  4 12 20 28              0  4  8 12 16 20 24 28
//     11  8  9 10 15 12 13 14        25  1  9 17 29  5 13 21              1  5  9 13 17 21 25 29
//     18 19 16 17 22 23 20 21        18 26  2 10 22 30  6 14              2  6 10 14 18 22 26 30
//     25 26 27 24 29 30 31 28        11 19 27  3 15 23 31  7              3  7 11 15 19 23 27 31
//
// With c = gcd(S, W), a = S/c, b = W/c, b' the inverse of b mod a, and a' that of a mod b:
//     f1(t, i) = c (t div c) + (t - i div a) mod c
//     r1(r, t) = a ((t - r) mod c) + (b' (r div c - t div c)) mod a
//     s(t, r)  = b ((t - r) mod c) + (a' (t div c - r div c)) mod b
// The last two are one formula with a and b exchanged. They fit: let w = (t - r) mod c and q = r1 mod a. Row
// r1 was rotated by r1 div a = w, so that f1(t, r1) = c (t div c) + r mod c; and b q = r div c - t div c mod
// a, so that S divides W r1 + f1(t, r1) - r, and the quotient is b w + (b q + t div c - r div c) / a, whose
// second term is between 0 and b - 1 and therefore the one that s has.
//
// Source: section 2 of Catanzaro, Keller, Garland, "A decomposition for in-place matrix transposition", and
// the exchange that Swizzle Inventor found for its cases; the closed form for all S is faro's own.

/// Gathers all. Arguments in the order of the holes: (t, i), (r, t), (t, r).
struct ClosedForm {
  FormulaParameters load;    // lane whose word lane t loads in round i
  FormulaParameters column;  // register whose word register r of lane t takes
  FormulaParameters store;   // struct, of the warp's W, whose word r lane t stores in round r
};

/// Law: with them the sketch `aos-rcr` of S and W meets its specification: tested for S = 1 .. 64, W = 4
/// .. 64. Errors: ErrorCode::value for S or W below 1 or above 1024.
ClosedForm closed_form_exchange(std::int64_t struct_words, std::int64_t warp);

/// The same for column-row-column: permute, shuffle, rotate (Catanzaro's R2C, its first two steps in one).
/// Arguments (r, t), (t, r), (r, t). Law and errors as above, of the sketch `aos-crc`.
struct ClosedFormColumns {
  FormulaParameters first, row, last;
};
ClosedFormColumns closed_form_columns(std::int64_t struct_words, std::int64_t warp);

}  // namespace faro::swizzle
