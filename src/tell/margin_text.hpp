// Text of which every line has a name in the margin, as explanations of plans do.
//
//     permutation   bit_reversal(20)
//                   2^20 elements; class BP; an involution
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"

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

/// "0x1f"
std::string hex(f2::Word word);

/// "0x40 0x80", the middle left out of long lists.
std::string steps(std::span<const f2::Word> vectors);

// The name of a factor: what a map of an in-place pass is, in one line.
//
//     named       bit_reversal(20)
//     gates       circuit(20; swap 1 2; cx 0 19; x 3)        where a few say it, in fewer letters
//     else        a BMMC map of 30 bits

/// `map` as a circuit of at most `most_gates` gates, none of them idle; nothing where elimination finds none.
/// Law: parse_permutation(*circuit_text(map)) == map.
std::optional<std::string> circuit_text(const Affine& map, std::size_t most_gates);

std::string factor_text(const Affine& map);

}  // namespace faro::detail
