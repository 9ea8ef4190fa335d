#include "plan/margin_text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "plan/facts.hpp"

namespace faro::detail {

void MarginText::line(std::string_view name, std::string_view words) {
  constexpr std::size_t width = 86;
  while (words.size() > width) {
    const std::size_t space = words.rfind(' ', width);
    if (space == std::string_view::npos) break;
    whole_line(name, words.substr(0, space));
    words.remove_prefix(space + 1);
    name = "";
  }
  whole_line(name, words);
}

void MarginText::whole_line(std::string_view name, std::string_view words) {
  fmt::format_to(std::back_inserter(text_), "{:<14}{}\n", name, words);
}

std::string steps(std::span<const f2::Word> vectors) {
  constexpr std::size_t most = 8;
  constexpr std::size_t ends = 3;
  std::string text;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (vectors.size() > most && i >= ends && i + ends < vectors.size()) {
      if (i == ends) text += " ...";
      continue;
    }
    text += (text.empty() ? "" : " ") + hex(vectors[i]);
  }
  return text;
}

}  // namespace faro::detail
