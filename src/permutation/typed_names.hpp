// What maps were called where they were typed. A map of bits is its matrix, and `random_bmmc(28, 1)` would
// be told as 28 numbers: messages, explanations and drawings keep the name instead.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

class TypedNames {
 public:
  void remember(const Permutation& permutation, const std::string& typed);

  /// `text` with the typed names where it has the maps' own texts.
  std::string in(std::string text) const;

  /// An explanation of `permutation`, whose first line is "permutation   " and a text, under the name that
  /// was typed. A second line says what that is in other words, where those are short: the permutation's own
  /// text, or the text that stood there, which may be of its normal form.
  std::string in_explanation(const std::string& text, const Permutation& permutation,
                             const std::string& typed) const;

  /// The same for the drawing of `permutation`, typed as `typed`, whose title may hold the beginning of a
  /// long text.
  std::string in_drawing(const std::string& svg, const Permutation& permutation,
                         const std::string& typed) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;  // own text, typed; in the order of the typing
};

}  // namespace faro::detail
