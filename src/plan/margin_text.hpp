// Text of which every line has a name in the margin, as explanations of plans do.
//
//     permutation   bit_reversal(20)
//                   2^20 elements; class BP; an involution
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "faro/f2/matrix.hpp"

namespace faro::detail {

class MarginText {
 public:
  /// A line, wrapped; an empty name continues the one before.
  void line(std::string_view name, std::string_view words);

  /// A line to be pasted elsewhere, so never wrapped.
  void whole_line(std::string_view name, std::string_view words);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// "0x40 0x80", the middle left out of long lists.
std::string steps(std::span<const f2::Word> vectors);

}  // namespace faro::detail
