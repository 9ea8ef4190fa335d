// Values as text: XORs of moves on as few lines as they need, selects behind them.
#include <fmt/format.h>

#include "emit/bit_moves.hpp"
#include "emit/text.hpp"

namespace faro::emit {
namespace {

constexpr std::size_t kWidth = 104;  // leaves room for the loops around it

std::string without_brackets(const std::string& term) {
  return term.front() == '(' && term.back() == ')' ? term.substr(1, term.size() - 2) : term;
}

// `left = a ^ b ^ c;`, broken before a `^`.
std::string sum_text(const std::string& left, std::vector<std::string> parts) {
  if (parts.size() == 1) parts.front() = without_brackets(parts.front());
  std::string text = "  " + left + " = ";
  const std::size_t indent = text.size() - 2;
  std::size_t column = text.size();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k > 0 && column + parts[k].size() + 4 > kWidth) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (k > 0) {
      text += " ";
      ++column;
    }
    text += (k > 0 ? "^ " : "") + parts[k];
    column += parts[k].size() + (k > 0 ? 2 : 0);
  }
  return text + ";\n";
}

void append(std::vector<std::string>& parts, std::vector<std::string> more) {
  for (std::string& part : more) parts.push_back(std::move(part));
}

}  // namespace

std::string value_text(const TextContext& context, const std::string& name, f2::Word constant,
                       const std::vector<Term>& sum) {
  std::vector<std::string> parts;
  std::string selects;
  if (constant != 0) parts.push_back(hex(constant, context.suffix()));
  for (const Term& term : sum) {
    BitMoves moves = merge(term.columns);
    for (const Select& select : moves.selects) {
      selects += fmt::format("  if ({} & {}) {} ^= {};\n", term.variable, hex(select.bit, context.suffix()),
                             name, hex(select.value, context.suffix()));
    }
    moves.selects.clear();
    append(parts, terms(moves, term.variable, context.suffix()));
  }
  if (parts.empty()) parts.push_back("0");
  const std::string left = (selects.empty() ? "const " : "") + context.index() + " " + name;
  return sum_text(left, std::move(parts)) + selects;
}

std::string later_text(const TextContext& context, const std::string& name, const std::string& base,
                       const std::vector<Term>& sum) {
  std::vector<std::string> parts{base};
  for (const Term& term : sum) append(parts, terms(merge(term.columns), term.variable, context.suffix()));
  return sum_text("const " + context.index() + " " + name, std::move(parts));
}

std::string indented(const std::string& lines) {
  std::string result;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const std::string line = lines.substr(at, end - at);
    result += (line.empty() || line.front() == '#' ? "" : "  ") + line + "\n";
    at = end + 1;
  }
  return result;
}

}  // namespace faro::emit
