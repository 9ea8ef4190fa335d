// A kernel's own index expressions held to a layout, or to a sketch: do they give the element that each
// register of each lane holds, or what the specification wants?
//
//     row     (lane >> 2) + 8 * (i >> 1)                of mma.m16n8.C: yes, in all 128 places
//     column  2 * (lane & 3) + (i & 1)
//
// Expressions are C's over integers: numbers (decimal, 0x…, with u and l behind them), the names `i` (the
// element of the lane: its register), `lane`, `warp` and `thread` (32 warp + lane, of warps of 32), brackets,
// and
//
//     ! ~ - +     * / %     + -     << >>     < <= > >=     == !=     &     ^     |     &&     ||     ? :
//
// in C's order, computed as a GPU's `int` is, modulo 2^32. Divisions truncate. What C leaves undefined,
// division by zero and shifts by more than 31 bits, is told as the fault of the place where it happens. Of a
// sketch's hole the names are those of its arguments:
//
//     lane    (t + i) % 8                               whom lane t of a ring asks in turn i
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faro/exchange/layout.hpp"
#include "faro/swizzle/program.hpp"

namespace faro::exchange {

/// Who evaluates.
struct IndexPlace {
  std::int32_t i = 0;
  std::int32_t lane = 0;
  std::int32_t warp = 0;
};

/// An expression, parsed.
class IndexExpression {
 public:
  /// Errors: ErrorCode::spec, with what was found and what could stand there.
  explicit IndexExpression(std::string_view text,
                           const std::vector<std::string>& names = {"i", "lane", "warp", "thread"});

  /// Nothing where C leaves it undefined. Requires: a value for each name (unchecked); those of a place are
  /// of the names above.
  std::optional<std::int32_t> at(std::span<const std::int32_t> values) const;
  std::optional<std::int32_t> operator()(const IndexPlace& place) const;
  const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// The first place where expressions do not give the layout's element, warp by warp, lane by lane.
struct IndexMismatch {
  IndexPlace place;
  std::vector<std::optional<std::int32_t>> got;  // a coordinate for each axis
  std::vector<std::int64_t> wanted;
};

/// One expression for each axis, or one for the element's number, row-major. Nothing where all places agree.
/// Errors: ErrorCode::value for another number of expressions.
std::optional<IndexMismatch> check_indices(const Layout& layout,
                                           const std::vector<IndexExpression>& expressions);

/// Expressions for the holes of a sketch, by name. Nothing where the sketch with them gives all that the
/// specification wants; else the first element that differs and the lane that stored it, or a text alone
/// where an expression has no value, or one that its hole cannot have, or where the run breaks a rule.
/// Errors: ErrorCode::value for a name that no hole has; ErrorCode::spec for a hole without an expression.
std::optional<swizzle::Mismatch> check_holes(
    const swizzle::Specification& specification, const swizzle::Program& sketch,
    const std::vector<std::pair<std::string, std::string>>& expressions);

/// What `faro layout check --json` prints.
std::string to_json(const Layout& layout, const std::vector<IndexExpression>& expressions,
                    const std::optional<IndexMismatch>& mismatch);

}  // namespace faro::exchange
