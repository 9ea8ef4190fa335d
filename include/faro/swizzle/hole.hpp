// Holes: the functions that a sketch leaves open, and the families they are sought in.
//
//     sw_xform(i, n; k, m)     for element i of n in iteration k of m: a fan, then a rotation that moves with
//                              k, both inside groups; for lanes and registers, permuted or broadcast.
//     sw_part(c; v, …)         0 .. c-1 by a chain of conditions: which of c registers is sent.
//     sw_cond(v, …)            v1 cmp (I ± v2), true, or false.
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
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "faro/swizzle/index.hpp"

namespace faro::swizzle {

enum class HoleKind : std::uint8_t { xform, part, condition, warp_offset, warp_size };

/// "sw_xform", "sw_part", "sw_cond", "warp_offset", "warp_size".
const char* name(HoleKind kind) noexcept;

/// How much of sw_xform is open.
enum class Freedom : std::uint8_t {
  easy,   // one group, no wrap, dr = m: cf, cr, c
  full,   // all of it, with g = gs/df
  gcd,    // and g free
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
  std::vector<Argument> arguments;  // xform: i, then k; warp_offset: ids; warp_size: none

  // xform
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

  // warp_offset: const + sum of const * id * unit;  warp_size: const + const * warp
  std::vector<std::int64_t> units;  // of each argument
  std::int64_t most_constant = 4;   // constants are 0 .. this
};

/// How much of an xform is open in a space.
Freedom freedom_in(const HoleDeclaration& hole, Space space) noexcept;
ConditionFreedom condition_freedom_in(const HoleDeclaration& hole, Space space) noexcept;

/// Errors: ErrorCode::spec, naming hole and field: no name, a range below 1, `asked` past n or m, a part of
/// fewer than two or more than four choices, the wrong number of arguments, units that are not as many as
/// ids.
void check(const HoleDeclaration& hole);

/// Cells of its table: the product of what may be asked. Cell of (i, k, …) is i + asked0 (k + asked1 (…)).
std::int64_t cells(const HoleDeclaration& hole);
/// Errors: ErrorCode::spec, naming the hole, where an argument is outside what may be asked.
std::int64_t cell(const HoleDeclaration& hole, const std::vector<std::int64_t>& arguments);

/// sw_xform's parameters; the formula is in hole.hpp. Printed as "cf,df,gs,wrap,cr,dr,c" and what is not
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

/// A function that no family gave: an expression of IndexKind::argument (closed forms, a user's own).
struct FormulaParameters {
  Index formula = 0;
};

using Parameters =
    std::variant<XformParameters, ConditionParameters, PartParameters, LinearParameters, FormulaParameters>;

/// The value for the arguments, by the formula of the family: the definition that all else is tested against.
std::int64_t value_of(const Parameters& parameters, std::span<const std::int64_t> arguments);

/// The same as an expression of IndexKind::argument, simplified for what the hole may be asked.
/// Law: evaluate(as_index(p, h), x) == value_of(p, x) for every x in range.
Index as_index(const Parameters& parameters, const HoleDeclaration& hole);

/// "xform(cf=2, df=16, gs=32, wrap, cr=0, dr=1, c=17)", "i <= t".
std::string to_text(const Parameters& parameters, const HoleDeclaration& hole);

}  // namespace faro::swizzle
