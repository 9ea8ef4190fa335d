#include "tell/margin_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "faro/permutation/permutation.hpp"

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

std::string hex(f2::Word word) { return fmt::format("{:#x}", word); }

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

namespace {

constexpr std::size_t kMostGates = 12;
constexpr std::size_t kLongestName = 96;

// The rows of a matrix, row i as a word over the columns.
std::vector<f2::Word> rows_of(const f2::Matrix& matrix) {
  std::vector<f2::Word> rows(static_cast<std::size_t>(matrix.rows()), 0);
  for (int i = 0; i < matrix.rows(); ++i) {
    for (int j = 0; j < matrix.columns(); ++j) {
      if (matrix.at(i, j)) rows[static_cast<std::size_t>(i)] |= f2::unit(j);
    }
  }
  return rows;
}

}  // namespace

std::optional<std::string> circuit_text(const Affine& map, std::size_t most_gates) {
  // Row operations, each of them its own inverse, take the matrix to the identity; the last one comes first.
  std::vector<f2::Word> rows = rows_of(map.matrix());
  std::vector<std::string> gates;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const f2::Word column = f2::unit(static_cast<int>(j));
    if ((rows[j] & column) == 0) {
      std::size_t pivot = j;
      // A row that is done with the other columns needs nothing more afterwards.
      for (std::size_t i = j + 1; i < rows.size(); ++i) {
        if ((rows[i] & column) != 0 && (pivot == j || rows[i] == column)) pivot = i;
      }
      std::swap(rows[j], rows[pivot]);
      gates.push_back(fmt::format("swap {} {}", j, pivot));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == j || (rows[i] & column) == 0) continue;
      rows[i] ^= rows[j];
      gates.push_back(fmt::format("cx {} {}", j, i));
    }
    if (gates.size() > most_gates) return std::nullopt;
  }
  std::string text = fmt::format("circuit({}", map.bits());
  for (std::size_t i = gates.size(); i > 0; --i) text += "; " + gates[i - 1];
  for (int bit = 0; bit < map.bits(); ++bit) {
    if (!f2::bit(map.complement(), bit)) continue;
    gates.push_back(fmt::format("x {}", bit));
    text += "; " + gates.back();
  }
  if (gates.size() > most_gates) return std::nullopt;
  return text + ")";
}

std::string factor_text(const Affine& map) {
  std::string text = to_text(map);
  const std::optional<std::string> circuit = circuit_text(map, kMostGates);
  if (circuit && circuit->size() < text.size()) text = *circuit;
  if (text.size() <= kLongestName) return text;
  const AffineClass narrowest = map.classify();  // which maps are tiled depends on the element's width
  return fmt::format("a {} map of {} bits",
                     name(narrowest == AffineClass::tiled ? AffineClass::bmmc : narrowest), map.bits());
}

}  // namespace faro::detail
