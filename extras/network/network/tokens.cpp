#include "network/tokens.hpp"

#include <utility>

#include "permutation/text.hpp"

namespace faro::network {
namespace {

using faro::detail::in_quotes;
using faro::detail::is_digit;
using faro::detail::is_space;
using faro::detail::is_word_start;

template <typename Holds>
std::size_t end_of(std::string_view text, std::size_t from, Holds holds) {
  while (from < text.size() && holds(text[from])) ++from;
  return from;
}

}  // namespace

Tokens::Tokens(std::string_view text) : text_(text) {
  std::size_t i = 0;
  while ((i = end_of(text, i, is_space)) < text.size()) {
    const char c = text[i];
    TokenKind kind = TokenKind::sign;
    std::size_t end = i + 1;
    if (is_digit(c) || is_word_start(c)) {
      kind = is_digit(c) ? TokenKind::number : TokenKind::word;
      end = end_of(text, i, faro::detail::is_word);
    } else if (c == '"') {
      kind = TokenKind::string;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) {
        fail(ErrorCode::spec, "a text in quotes without its end, from character " + std::to_string(i + 1),
             "a closing \"");
      }
      ++end;
    }
    tokens_.push_back({kind, text.substr(i, end - i), i});
    i = end;
  }
  tokens_.push_back({TokenKind::end, {}, text.size()});
}

bool Tokens::is_sign(std::size_t position, char sign) const {
  return at(position).kind == TokenKind::sign && at(position).text[0] == sign;
}

bool Tokens::is_word(std::size_t position, std::string_view word) const {
  return at(position).kind == TokenKind::word && at(position).text == word;
}

std::string_view Tokens::between(std::size_t begin, std::size_t end) const {
  if (begin >= end) return {};
  const Token& last = at(end - 1);
  return text_.substr(at(begin).offset, last.offset + last.text.size() - at(begin).offset);
}

std::size_t Tokens::closing(std::size_t position) const {
  int open = 0;
  for (; at(position).kind != TokenKind::end; ++position) {
    if (is_sign(position, '(')) ++open;
    if (is_sign(position, ')') && open-- == 0) break;
  }
  return position;
}

std::string Tokens::here(std::size_t position) const {
  const Token& token = at(position);
  if (token.kind == TokenKind::end) return tokens_.size() == 1 ? "an empty text" : "the end of the text";
  // A lone byte above 127 is part of a character, which is shown whole where it is valid.
  std::string_view shown = token.text;
  if (static_cast<unsigned char>(shown[0]) >= 0x80) {
    const auto is_high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    shown = text_.substr(token.offset,
                         std::min<std::size_t>(end_of(text_, token.offset, is_high) - token.offset, 8));
  }
  return in_quotes(shown, 40) + " at character " + std::to_string(token.offset + 1);
}

void Tokens::fail(ErrorCode code, std::string got, std::string wanted, std::string remedy) const {
  faro::fail(code, "parse the program " + in_quotes(text_), std::move(got), std::move(wanted),
             std::move(remedy));
}

void Tokens::fail_here(std::size_t position, std::string wanted, std::string remedy) const {
  fail(ErrorCode::spec, here(position), std::move(wanted), std::move(remedy));
}

std::string string_value(const Token& token) {
  std::string value;
  for (std::size_t i = 1; i + 1 < token.text.size(); ++i) {
    if (token.text[i] == '\\') ++i;
    value += token.text[i];
  }
  return value;
}

std::uint64_t Arithmetic::checked(bool fault, std::uint64_t value, std::size_t begin, std::size_t end,
                                  std::string_view what) const {
  if (!fault) return value;
  if (!variable_.value) return 1;
  std::string got = in_quotes(tokens_.between(begin, end), 40);
  if (met_variable_) {
    got += " at " + std::string(variable_.name) + " = " + std::to_string(*variable_.value);
  }
  tokens_.fail(ErrorCode::value, got + " is " + std::string(what), "a number from 0 to 2^64 - 1");
}

std::uint64_t Arithmetic::sum(std::size_t& position) {
  const std::size_t begin = position;
  std::uint64_t value = product(position);
  for (;;) {
    const bool plus = tokens_.is_sign(position, '+');
    if (!plus && !tokens_.is_sign(position, '-')) return value;
    const std::uint64_t other = product(++position);
    std::uint64_t result = 0;
    const bool fault =
        plus ? __builtin_add_overflow(value, other, &result) : __builtin_sub_overflow(value, other, &result);
    value = checked(fault, result, begin, position, plus ? "too large" : "below zero");
  }
}

std::uint64_t Arithmetic::product(std::size_t& position) {
  const std::size_t begin = position;
  std::uint64_t value = power(position);
  for (;;) {
    const bool times = tokens_.is_sign(position, '*');
    if (!times && !tokens_.is_sign(position, '/')) return value;
    const std::uint64_t other = power(++position);
    std::uint64_t result = 0;
    const bool fault = times ? __builtin_mul_overflow(value, other, &result) : other == 0;
    if (!times && !fault) result = value / other;
    value = checked(fault, result, begin, position, times ? "too large" : "a division by zero");
  }
}

std::uint64_t Arithmetic::power(std::size_t& position) {
  const std::size_t begin = position;
  const std::uint64_t base = primary(position);
  if (!tokens_.is_sign(position, '^')) return base;
  const std::uint64_t exponent = power(++position);
  if (base < 2) return exponent == 0 ? 1 : base;
  std::uint64_t value = 1;
  bool fault = exponent > 63;
  for (std::uint64_t i = 0; i < exponent && !fault; ++i) fault = __builtin_mul_overflow(value, base, &value);
  return checked(fault, value, begin, position, "too large");
}

std::uint64_t Arithmetic::primary(std::size_t& position) {
  constexpr int kDeepest = 100;
  const Token& token = tokens_.at(position);
  if (token.kind == TokenKind::number) {
    const faro::detail::ScannedNumber scanned = faro::detail::scan_number(token.text);
    if (scanned.fault == faro::detail::NumberFault::too_large) {
      tokens_.fail(ErrorCode::value, tokens_.here(position), "a number below 2^64");
    }
    if (scanned.fault != faro::detail::NumberFault::none) {
      tokens_.fail_here(position, "a number", "numbers are decimal or 0x...");
    }
    ++position;
    return scanned.value;
  }
  if (token.kind == TokenKind::word) {
    if (token.text != variable_.name) {
      tokens_.fail(ErrorCode::value, tokens_.here(position),
                   "a number or the size variable " + in_quotes(variable_.name),
                   "no other variable is known here");
    }
    ++position;
    met_variable_ = true;
    return variable_.value.value_or(1);
  }
  if (!tokens_.is_sign(position, '(')) {
    tokens_.fail_here(position,
                      "a number, " + in_quotes(variable_.name) + " or an expression in parentheses");
  }
  if (++depth_ > kDeepest) tokens_.fail_here(position, "parentheses at most 100 deep");
  const std::uint64_t value = sum(++position);
  --depth_;
  if (!tokens_.is_sign(position, ')')) tokens_.fail_here(position, "`)`");
  ++position;
  return value;
}

}  // namespace faro::network
