// A kernel's own index expressions held to a layout: do they give the element that each register of each lane
// holds?
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
// division by zero and shifts by more than 31 bits, is told as the fault of the place where it happens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/exchange/layout.hpp"

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
  explicit IndexExpression(std::string_view text);

  /// Nothing where C leaves it undefined.
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

/// What `faro layout check --json` prints.
std::string to_json(const Layout& layout, const std::vector<IndexExpression>& expressions,
                    const std::optional<IndexMismatch>& mismatch);

}  // namespace faro::exchange
