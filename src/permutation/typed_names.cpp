#include "permutation/typed_names.hpp"

#include <algorithm>
#include <variant>

namespace faro::detail {

void TypedNames::remember(const Permutation& permutation, const std::string& typed) {
  if (!std::holds_alternative<Affine>(permutation)) return;
  std::string own = to_text(permutation);
  if (own.size() > typed.size()) names_.emplace_back(std::move(own), typed);
}

std::string TypedNames::in(std::string text) const {
  for (const auto& [own, typed] : names_) {
    for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at + typed.size()))
      text.replace(at, own.size(), typed);
  }
  return text;
}

std::string TypedNames::in_drawing(const std::string& drawing, const Permutation& permutation,
                                   const std::string& typed) const {
  constexpr std::size_t kBeginning = 24;
  if (typed.find_first_of("<>&\"\n\t\r") != std::string::npos) return drawing;
  std::string svg = in(drawing);
  const std::string own = to_text(permutation);
  if (own.size() <= std::max(kBeginning, typed.size()) || svg == drawing) return svg;
  const std::size_t begin = svg.find(">" + own.substr(0, kBeginning));
  if (begin == std::string::npos) return svg;
  return svg.replace(begin + 1, svg.find('<', begin) - begin - 1, typed);
}

}  // namespace faro::detail
