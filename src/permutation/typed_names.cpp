#include <cctype>
#include <utility>

#include "permutation/text.hpp"

namespace faro::detail {
namespace {

std::string replaced(std::string text, const std::string& own, const std::string& typed) {
  for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at + typed.size()))
    text.replace(at, own.size(), typed);
  return text;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

// As XML has it.
std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '<') {
      made += "&lt;";
    } else if (c == '>') {
      made += "&gt;";
    } else if (c == '&') {
      made += "&amp;";
    } else if (c == '"') {
      made += "&quot;";
    } else {
      made += c;
    }
  }
  return made;
}

}  // namespace

void TypedNames::remember(const Permutation& permutation, const std::string& typed) {
  std::string own = to_text(permutation);
  if (own != typed) names_.emplace_back(std::move(own), typed);
}

std::string TypedNames::in(std::string text) const {
  for (const auto& [own, typed] : names_) text = replaced(std::move(text), own, typed);
  return text;
}

std::string TypedNames::in_explanation(const std::string& text, const Permutation& permutation,
                                       const std::string& typed) const {
  constexpr std::size_t kLongest = 70;
  const std::string word = "permutation   ";
  const std::size_t line = text.find('\n');
  if (!text.starts_with(word) || line == std::string::npos) return in(text);
  std::string other = to_text(permutation);
  if (without_blanks(other) == without_blanks(typed)) other = text.substr(word.size(), line - word.size());
  const bool says_more = other.size() <= kLongest && without_blanks(other) != without_blanks(typed);
  const std::string second = says_more ? "\n" + std::string(word.size(), ' ') + "the same as " + other : "";
  return word + typed + second + in(text.substr(line));
}

std::string TypedNames::in_drawing(const std::string& drawing, const Permutation& permutation,
                                   const std::string& typed) const {
  constexpr std::size_t kBeginning = 24;
  if (typed.find_first_of("\n\t\r") != std::string::npos) return drawing;
  const std::string shown = escaped(typed);
  const std::string own = to_text(permutation);
  std::string svg = replaced(drawing, own, shown);
  if (own.size() <= kBeginning || svg == drawing) return svg;
  const std::size_t begin = svg.find(">" + own.substr(0, kBeginning));
  if (begin == std::string::npos) return svg;
  return svg.replace(begin + 1, svg.find('<', begin) - begin - 1, shown);
}

}  // namespace faro::detail
