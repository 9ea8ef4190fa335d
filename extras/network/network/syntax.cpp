#include "network/syntax.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "permutation/text.hpp"

namespace faro::network {
namespace {

using faro::detail::in_quotes;

constexpr int kDeepestNesting = 100;

constexpr std::array<std::string_view, 7> kCombinators{"id",  "bmmc", "pairs",  "each",
                                                       "two", "parm", "compose"};

// The variable of the text's own expression, outside all definitions: the array's n.
constexpr std::string_view kArrayBits = "n";

class SyntaxReader {
 public:
  explicit SyntaxReader(const Tokens& tokens) : tokens_(tokens) {}

  Syntax whole() {
    Syntax syntax;
    while (defines()) syntax.definitions.push_back(definition(syntax.definitions));
    if (!syntax.definitions.empty() && ends()) {
      const std::string name(syntax.definitions.back().name);
      tokens_.fail_here(position_, "the program itself after the definitions, such as " + in_quotes(name));
    }
    variable_ = kArrayBits;
    syntax.program = expression();
    if (!ends()) tokens_.fail_here(position_, "`.` or the end of the text", after_call());
    return syntax;
  }

 private:
  bool ends() const { return tokens_.at(position_).kind == TokenKind::end; }
  bool at_sign(char sign) const { return tokens_.is_sign(position_, sign); }

  void sign(char wanted) {
    if (!at_sign(wanted)) {
      tokens_.fail_here(position_, in_quotes(std::string_view(&wanted, 1)), after_call());
    }
    ++position_;
  }

  // `f n-1` reads as `f n`, and then something is left.
  std::string after_call() const {
    const bool sum = at_sign('-') || at_sign('+') || at_sign('*') || at_sign('^') || at_sign('/');
    return sum ? "a size that is a sum stands in parentheses, as in `sort (n-1)`" : "";
  }

  // NAME size "=", the size perhaps in parentheses.
  bool defines() const {
    if (tokens_.at(position_).kind != TokenKind::word) return false;
    std::size_t next = position_ + 1;
    const bool wrapped = tokens_.is_sign(next, '(');
    if (wrapped) ++next;
    const TokenKind kind = tokens_.at(next).kind;
    if (kind != TokenKind::word && kind != TokenKind::number) return false;
    ++next;
    if (wrapped && !tokens_.is_sign(next++, ')')) return false;
    return tokens_.is_sign(next, '=');
  }

  Definition definition(const std::vector<Definition>& before) {
    Definition result;
    const std::size_t begin = position_;
    result.name = tokens_.at(position_++).text;
    if (std::find(kCombinators.begin(), kCombinators.end(), result.name) != kCombinators.end()) {
      tokens_.fail_here(begin, "a name of your own", in_quotes(result.name) + " is a word of the language");
    }
    const bool wrapped = at_sign('(');
    if (wrapped) ++position_;
    if (tokens_.at(position_).kind == TokenKind::word) {
      result.variable = tokens_.at(position_++).text;
    } else {
      result.size = Arithmetic(tokens_, {}).primary(position_);
    }
    if (wrapped) sign(')');
    for (const Definition& other : before) {
      if (other.name == result.name && other.size == result.size) {
        tokens_.fail(ErrorCode::spec,
                     "a second definition of " + in_quotes(tokens_.between(begin, position_)) +
                         " at character " + std::to_string(tokens_.at(begin).offset + 1),
                     "one definition of a name for every size");
      }
    }
    sign('=');
    variable_ = result.variable;
    result.body = expression();
    if (!at_sign(';')) tokens_.fail_here(position_, "`.` or `;` after the definition", after_call());
    ++position_;
    return result;
  }

  Expression expression() {
    if (++depth_ > kDeepestNesting) {
      tokens_.fail_here(position_, "at most " + std::to_string(kDeepestNesting) + " levels",
                        "give the inner program a name: `inner n = ...;`");
    }
    Expression result;
    result.begin = position_;
    result.kind = SyntaxKind::compose;
    result.parts.push_back(factor());
    while (at_sign('.')) {
      ++position_;
      result.parts.push_back(factor());
    }
    --depth_;
    if (result.parts.size() == 1) return std::move(result.parts.front());
    result.end = position_;
    return result;
  }

  Expression factor() {
    const std::size_t begin = position_;
    if (at_sign('(')) {
      ++position_;
      Expression inner = expression();
      sign(')');
      return inner;
    }
    if (tokens_.at(position_).kind != TokenKind::word) {
      tokens_.fail_here(position_, "a program such as `sort` or `parm(3; pairs(min_max))`",
                        "docs/guide/network.md shows the grammar");
    }
    const std::string_view word = tokens_.at(position_++).text;
    Expression result = word == "id"        ? Expression{}
                        : word == "bmmc"    ? map()
                        : word == "pairs"   ? pairs_of()
                        : word == "each"    ? each_of()
                        : word == "two"     ? halves()
                        : word == "parm"    ? sub_arrays()
                        : word == "compose" ? list()
                                            : call();
    result.begin = begin;
    result.end = position_;
    return result;
  }

  Expression opened(SyntaxKind kind) {
    Expression result;
    result.kind = kind;
    sign('(');
    return result;
  }

  // What `make` gives; its errors quote the text from token `begin` to `end`.
  template <typename Make>
  Operator quoting(std::size_t begin, std::size_t end, const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      ErrorReport report = error.report();
      report.operation = "network " + in_quotes(tokens_.between(begin, end)) + ": " + report.operation;
      throw Error(report);
    }
  }

  Expression map() {
    Expression result = opened(SyntaxKind::map);
    result.argument = position_;
    position_ = tokens_.closing(position_);
    if (position_ == result.argument) {
      tokens_.fail_here(position_, "a map such as `bit_reversal`, or `A = columns, c = complement`");
    }
    sign(')');
    return result;
  }

  Expression pairs_of() {
    Expression result = opened(SyntaxKind::pairs);
    if (tokens_.at(position_).kind != TokenKind::word) {
      tokens_.fail_here(position_, "an operator such as `min_max`");
    }
    const std::size_t begin = position_++;
    const bool own = tokens_.at(position_).kind == TokenKind::string;
    const std::size_t closing = position_ + (own ? 1 : 0);
    if (!tokens_.is_sign(closing, ')')) tokens_.fail_here(closing, "`)`");
    const std::string name(tokens_.at(begin).text);
    result.op = quoting(begin - 2, closing + 1, [&] {
      return own ? operators::user(name, string_value(tokens_.at(position_))) : parse_operator(name);
    });
    if (own) ++position_;
    sign(')');
    return result;
  }

  Expression each_of() {
    Expression result = opened(SyntaxKind::each);
    if (tokens_.at(position_).kind != TokenKind::word) {
      tokens_.fail_here(position_, "a function such as `add 5`");
    }
    const std::size_t begin = position_;
    const bool own = tokens_.at(begin + 1).kind == TokenKind::string;
    position_ = own ? begin + 2 : tokens_.closing(begin);
    if (!at_sign(')')) tokens_.fail_here(position_, "`)`");
    result.op = quoting(begin - 2, position_ + 1, [&] {
      return own ? operators::each(std::string(tokens_.at(begin).text), string_value(tokens_.at(begin + 1)),
                                   nullptr)
                 : operators::each(tokens_.between(begin, position_));
    });
    sign(')');
    return result;
  }

  Expression halves() {
    Expression result = opened(SyntaxKind::two);
    result.parts.push_back(expression());
    sign(')');
    return result;
  }

  Expression sub_arrays() {
    Expression result = opened(SyntaxKind::parm);
    result.argument = position_;
    Arithmetic(tokens_, {variable_, {}}).sum(position_);
    sign(';');
    result.parts.push_back(expression());
    sign(')');
    return result;
  }

  Expression list() {
    Expression result = opened(SyntaxKind::compose);
    result.parts.push_back(expression());
    while (at_sign(',')) {
      ++position_;
      result.parts.push_back(expression());
    }
    sign(')');
    return result;
  }

  Expression call() {
    Expression result;
    result.kind = SyntaxKind::call;
    const TokenKind next = tokens_.at(position_).kind;
    if (next == TokenKind::word || next == TokenKind::number || at_sign('(')) {
      result.argument = position_;
      Arithmetic(tokens_, {variable_, {}}).primary(position_);
    }
    return result;
  }

  const Tokens& tokens_;
  std::size_t position_ = 0;
  std::string_view variable_ = kArrayBits;
  int depth_ = 0;
};

}  // namespace

Syntax read_syntax(const Tokens& tokens) { return SyntaxReader(tokens).whole(); }

}  // namespace faro::network
