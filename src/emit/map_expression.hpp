// The function that is fused into a permutation: C++ over v, x and y, as the user wrote it.
//
//     v * 2 + x        uses v and x        a kernel computes no y for it
//     v.x              uses v              the x is a member's name
#pragma once

#include <string>

namespace faro::emit {

struct MapExpression {
  std::string text;  // empty: v
  bool uses_value = false;
  bool uses_source = false;  // x
  bool uses_target = false;  // y

  bool empty() const { return text.empty(); }
};

/// Reads EXPR. What it means is left to the compiler.
/// Errors: ErrorCode::value where it is blank, its brackets or quotes do not close, or it is more than an
/// expression: `;`, `#`, comments or a new line.
MapExpression parse_map(const std::string& text);

}  // namespace faro::emit
