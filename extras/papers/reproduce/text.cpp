// to_text: the table for people. Columns as wide as they need; criteria are letters, told below.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reproduce/reproduce.hpp"

namespace faro::reproduce {
namespace {

// A mean goes as far as its error says something.
std::string figure_text(const Value& value, bool estimated) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return std::to_string(*count);
  if (const auto* figure = std::get_if<double>(&value)) {
    if (estimated) return fmt::format("{:.4f}", *figure);
    return std::abs(*figure) < 10 ? fmt::format("{:.2f}", *figure) : fmt::format("{:.1f}", *figure);
  }
  return "-";
}

// A paper's value: as far as it is printed there, two digits behind the point at least (one from 10 on).
std::string printed_text(const Value& value) {
  const auto* const figure = std::get_if<double>(&value);
  if (figure == nullptr) return figure_text(value, false);
  const std::string shortest = fmt::format("{}", *figure);
  const std::string usual = figure_text(value, false);
  return shortest.size() > usual.size() ? shortest : usual;
}

using TextLine = std::array<std::string, 8>;

constexpr std::array<bool, 8> kRightAligned{false, false, true, true, true, true, false, false};

std::string line_text(const TextLine& line, const std::array<std::size_t, 8>& widths) {
  std::string text;
  for (std::size_t column = 0; column < line.size(); ++column) {
    if (column > 0 && widths[column] > 0) text += "  ";
    text += kRightAligned[column] ? fmt::format("{:>{}}", line[column], widths[column])
                                  : fmt::format("{:<{}}", line[column], widths[column]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

// a, b, ... in the order of their first use.
class Criteria {
 public:
  std::string letter_of(const std::string& criterion) {
    const auto found = std::find(known_.begin(), known_.end(), criterion);
    const auto index = static_cast<std::size_t>(found - known_.begin());
    if (found == known_.end()) known_.push_back(criterion);
    return std::string(1, static_cast<char>('a' + index));
  }
  const std::vector<std::string>& known() const { return known_; }

 private:
  std::vector<std::string> known_;
};

std::string verdict(const std::optional<bool>& agrees) {
  if (!agrees) return "-";
  return *agrees ? "yes" : "NO";
}

}  // namespace

std::string to_text(const Table& table) {
  Criteria criteria;
  const bool any_estimated = std::any_of(table.rows.begin(), table.rows.end(),
                                         [](const Row& row) { return row.standard_error.has_value(); });
  const bool any_modelled = std::any_of(table.rows.begin(), table.rows.end(), [](const Row& row) {
    return !std::holds_alternative<std::monostate>(row.model);
  });
  std::vector<TextLine> lines{{"case", "quantity", "paper", any_modelled ? "model" : "", "here",
                               any_estimated ? "std. error" : "", "unit", "agrees"}};
  for (const Row& row : table.rows) {
    const std::string error = row.standard_error ? fmt::format("{:.4f}", *row.standard_error) : "";
    lines.push_back({row.subject, row.quantity, printed_text(row.paper),
                     any_modelled ? figure_text(row.model, false) : "",
                     figure_text(row.here, row.standard_error.has_value()), error, row.unit,
                     verdict(row.agrees) + " (" + criteria.letter_of(row.criterion) + ")"});
  }
  std::array<std::size_t, 8> widths{};
  for (const TextLine& line : lines) {
    for (std::size_t column = 0; column < line.size(); ++column)
      widths[column] = std::max(widths[column], line[column].size());
  }
  std::string text = fmt::format("{}\n{}\n\n", table.title, table.source);
  for (const TextLine& line : lines) text += line_text(line, widths);
  text += "\n";
  for (std::size_t i = 0; i < criteria.known().size(); ++i) {
    text += fmt::format("({})   {}\n", static_cast<char>('a' + i), criteria.known()[i]);
  }
  if (any_estimated) text += fmt::format("seed  {}\n", table.seed);
  for (const std::string& note : table.notes) text += "note  " + note + "\n";
  return text;
}

}  // namespace faro::reproduce
