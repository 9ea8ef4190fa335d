#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "network/operator_script_tree.hpp"
#include "permutation/text.hpp"

namespace faro::network {
namespace {

struct Operation {
  std::string_view sign;
  int level;  // of C++'s precedence; higher binds more
  Act act;
  bool swapped = false;  // a > b is b < a
};

// Longer signs before their beginnings.
constexpr std::array<Operation, 18> kOperations{{
    {"||", 1, Act::either},
    {"&&", 2, Act::both},
    {"==", 6, Act::equal},
    {"!=", 6, Act::unequal},
    {"<=", 7, Act::less_equal},
    {">=", 7, Act::less_equal, true},
    {"<<", 8, Act::shift_left},
    {">>", 8, Act::shift_right},
    {"|", 3, Act::bit_or},
    {"^", 4, Act::bit_xor},
    {"&", 5, Act::bit_and},
    {"<", 7, Act::less},
    {">", 7, Act::less, true},
    {"+", 9, Act::add},
    {"-", 9, Act::subtract},
    {"*", 10, Act::multiply},
    {"/", 10, Act::divide},
    {"%", 10, Act::remainder},
}};

struct TypeName {
  std::string_view name;
  ScriptType type;
};
constexpr std::array<TypeName, 9> kTypeNames{{{"bool", ScriptType::boolean},
                                              {"int", ScriptType::i32},
                                              {"unsigned", ScriptType::u32},
                                              {"float", ScriptType::f32},
                                              {"double", ScriptType::f64},
                                              {"int32_t", ScriptType::i32},
                                              {"uint32_t", ScriptType::u32},
                                              {"int64_t", ScriptType::i64},
                                              {"uint64_t", ScriptType::u64}}};

class ScriptReader {
 public:
  ScriptReader(std::string_view text, std::string place) : text_(text) { script_.place = std::move(place); }

  void declare(std::string_view name, ScriptType type) {
    variables_.push_back({name, type, next_slot_++, false});
  }

  Script read() && {
    script_.body = statements(true);
    return std::move(script_);
  }

 private:
  struct Known {
    std::string_view name;
    ScriptType type;
    std::size_t slot;
    bool is_const;
  };

  static constexpr int kDeepest = 100;
  static constexpr std::size_t kMostNodes = 4096;

  // --- characters

  void skip() {
    while (at_ < text_.size()) {
      if (faro::detail::is_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail_here("the end of the remark, `*/`");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  bool sees(std::string_view sign) {
    skip();
    return text_.substr(at_).starts_with(sign);
  }
  bool take(std::string_view sign) {
    if (!sees(sign)) return false;
    at_ += sign.size();
    return true;
  }
  void want(std::string_view sign) {
    if (!take(sign)) fail_here(faro::detail::in_quotes(sign));
  }

  std::string_view word_ahead() {
    skip();
    if (at_ >= text_.size() || !faro::detail::is_word_start(text_[at_])) return {};
    return text_.substr(at_, faro::detail::count_while(text_.substr(at_), faro::detail::is_word));
  }
  bool take_word(std::string_view word) {
    if (word_ahead() != word) return false;
    at_ += word.size();
    return true;
  }

  [[noreturn]] void fail_here(const std::string& wanted) {
    const std::string_view left = text_.substr(std::min(at_, text_.size()));
    constexpr std::size_t kShown = 20;
    const std::string got = left.empty() ? "the end of its text"
                                         : faro::detail::in_quotes(left, kShown) + " at character " +
                                               std::to_string(at_ + 1) + " of its text";
    faro::fail(ErrorCode::unsupported, script_.place, got, wanted,
               "a CPU reads simple statements; give a host function in C++, or take engine cuda");
  }

  // --- nodes

  std::size_t made(Node node) {
    if (script_.nodes.size() == kMostNodes) fail_here("a shorter text");
    script_.nodes.push_back(std::move(node));
    return script_.nodes.size() - 1;
  }
  ScriptType type_of(std::size_t node) const { return script_.nodes[node].type; }

  std::size_t as(std::size_t node, ScriptType type) {
    if (type_of(node) == type) return node;
    return made({.act = Act::convert, .type = type, .operand = type_of(node), .parts = {node}});
  }
  static ScriptType promoted(ScriptType type) { return std::max(type, ScriptType::i32); }

  std::size_t joined(Act act, std::size_t a, std::size_t b) {
    if (act == Act::both || act == Act::either) {
      return made({.act = act,
                   .type = ScriptType::boolean,
                   .operand = ScriptType::boolean,
                   .parts = {as(a, ScriptType::boolean), as(b, ScriptType::boolean)}});
    }
    const bool shifts = act == Act::shift_left || act == Act::shift_right;
    const ScriptType common = shifts ? promoted(type_of(a)) : promoted(std::max(type_of(a), type_of(b)));
    const bool of_bits = shifts || act == Act::remainder || act == Act::bit_and || act == Act::bit_or ||
                         act == Act::bit_xor || act == Act::invert;
    if (of_bits && (is_real(common) || is_real(type_of(b)))) fail_here("whole numbers for that operator");
    const bool compares =
        act == Act::less || act == Act::less_equal || act == Act::equal || act == Act::unequal;
    const std::size_t right = as(b, shifts ? promoted(type_of(b)) : common);
    return made({.act = act,
                 .type = compares ? ScriptType::boolean : common,
                 .operand = common,
                 .parts = {as(a, common), right}});
  }

  std::size_t alone(Act act, std::size_t a) {
    if (act == Act::refuse) {
      return made({.act = act,
                   .type = ScriptType::boolean,
                   .operand = ScriptType::boolean,
                   .parts = {as(a, ScriptType::boolean)}});
    }
    const ScriptType type = promoted(type_of(a));
    if (act == Act::invert && is_real(type)) fail_here("a whole number after `~`");
    return made({.act = act, .type = type, .operand = type, .parts = {as(a, type)}});
  }

  // --- expressions

  std::size_t expression() {
    if (++depth_ > kDeepest) fail_here("fewer brackets within each other");
    const std::size_t condition = operations(1);
    --depth_;
    if (!take("?")) return condition;
    if (++depth_ > kDeepest) fail_here("fewer brackets within each other");
    const std::size_t then = expression();
    want(":");
    const std::size_t other = expression();
    --depth_;
    const ScriptType type =
        type_of(then) == type_of(other) ? type_of(then) : promoted(std::max(type_of(then), type_of(other)));
    return made({.act = Act::choose,
                 .type = type,
                 .operand = type,
                 .parts = {as(condition, ScriptType::boolean), as(then, type), as(other, type)}});
  }

  const Operation* operation_ahead() {
    for (const Operation& operation : kOperations) {
      if (!sees(operation.sign)) continue;
      const bool assigns = text_.substr(at_ + operation.sign.size()).starts_with("=") &&
                           operation.level != 6 && operation.sign != "<=" && operation.sign != ">=";
      return assigns ? nullptr : &operation;
    }
    return nullptr;
  }

  std::size_t operations(int level) {
    std::size_t left = operand();
    while (const Operation* const operation = operation_ahead()) {
      if (operation->level < level) break;
      at_ += operation->sign.size();
      const std::size_t right = operations(operation->level + 1);
      left = operation->swapped ? joined(operation->act, right, left) : joined(operation->act, left, right);
    }
    return left;
  }

  std::size_t operand() {
    if (++depth_ > kDeepest) fail_here("fewer signs and brackets within each other");
    const std::size_t result = [&] {
      if (sees("++") || sees("--")) fail_here("a number; ++ and -- are statements here");
      if (take("-")) return alone(Act::negate, operand());
      if (take("+")) return as_promoted(operand());
      if (take("~")) return alone(Act::invert, operand());
      if (take("!")) return alone(Act::refuse, operand());
      if (take("(")) {
        const std::size_t inner = expression();
        want(")");
        return inner;
      }
      skip();
      if (at_ < text_.size() && (faro::detail::is_digit(text_[at_]) || text_[at_] == '.')) return literal();
      return named();
    }();
    --depth_;
    return result;
  }
  std::size_t as_promoted(std::size_t node) { return as(node, promoted(type_of(node))); }

  std::size_t named() {
    if (take_word("true")) return made({.type = ScriptType::boolean, .value = whole(1)});
    if (take_word("false")) return made({.type = ScriptType::boolean, .value = whole(0)});
    if (take_word("static_cast")) {
      want("<");
      const auto type = type_name();
      if (!type) fail_here("a type's name");
      want(">");
      return cast(*type);
    }
    if (const auto type = type_name()) return cast(*type);
    if (const Known* const known = find(word_ahead())) {
      at_ += known->name.size();
      return made({.act = Act::variable, .type = known->type, .slot = known->slot});
    }
    for (const auto& [name, act] : {std::pair("min", Act::smaller), std::pair("max", Act::larger)}) {
      if (!take_word(name)) continue;
      want("(");
      const std::size_t a = expression();
      want(",");
      const std::size_t b = expression();
      want(")");
      return joined(act, a, b);
    }
    if (take_word("abs")) {
      want("(");
      const std::size_t a = expression();
      want(")");
      return alone(Act::magnitude, a);
    }
    fail_here("a number, a name that is known here, or a bracket");
  }

  std::size_t cast(ScriptType type) {
    want("(");
    const std::size_t inner = expression();
    want(")");
    return as(inner, type);
  }

  std::size_t literal() {
    const std::string_view left = text_.substr(at_);
    const bool is_hex = left.starts_with("0x") || left.starts_with("0X");
    std::uint64_t value = 0;
    const char* const begin = left.data() + (is_hex ? 2 : 0);
    const char* const last = left.data() + left.size();
    const auto [end, fault] = std::from_chars(begin, last, value, is_hex ? 16 : 10);
    const bool is_fraction = !is_hex && end != last && (*end == '.' || *end == 'e' || *end == 'E');
    if (is_fraction || left.front() == '.') return fraction(left);
    if (fault != std::errc()) fail_here("a number below 2^64");
    if (!is_hex && left.front() == '0' && end != begin + 1) fail_here("a decimal number or one in 0x");
    at_ += static_cast<std::size_t>(end - left.data());
    std::size_t longs = 0;
    bool is_marked = false;
    for (; at_ < text_.size() && faro::detail::is_word(text_[at_]); ++at_) {
      const char c = text_[at_];
      if ((c == 'u' || c == 'U') && !is_marked) {
        is_marked = true;
      } else if ((c == 'l' || c == 'L') && longs < 2) {
        ++longs;
      } else {
        fail_here("a number's end: u, l, ul, ll or ull");
      }
    }
    constexpr std::uint64_t kInt = std::numeric_limits<std::int32_t>::max();
    constexpr std::uint64_t kUnsigned = std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint64_t kLong = std::numeric_limits<std::int64_t>::max();
    ScriptType type = ScriptType::u64;
    if (longs == 0 && value <= kInt && !is_marked) {
      type = ScriptType::i32;
    } else if (longs == 0 && value <= kUnsigned && (is_marked || is_hex)) {
      type = ScriptType::u32;
    } else if (value <= kLong && !is_marked) {
      type = ScriptType::i64;
    }
    return made({.type = type, .value = wrapped(type, value)});
  }

  std::size_t fraction(std::string_view left) {
    double value = 0;
    float narrow = 0;
    const char* const last = left.data() + left.size();
    const auto [end, fault] = std::from_chars(left.data(), last, value);
    if (fault != std::errc()) fail_here("a number that a double can hold");
    const bool is_float = end != last && (*end == 'f' || *end == 'F');
    const auto [narrow_end, narrow_fault] = std::from_chars(left.data(), last, narrow);
    if (is_float && narrow_fault != std::errc()) fail_here("a number that a float can hold");
    at_ += static_cast<std::size_t>(end - left.data()) + (is_float ? 1 : 0);
    if (at_ < text_.size() && faro::detail::is_word(text_[at_])) fail_here("a number's end");
    return made({.type = is_float ? ScriptType::f32 : ScriptType::f64,
                 .value = real(is_float ? static_cast<double>(narrow) : value)});
  }

  // Moves past it. "std::" may stand before, "int" after unsigned and long.
  std::optional<ScriptType> type_name() {
    const std::size_t start = at_;
    if (take_word("std")) want("::");
    if (take_word("long")) {
      take_word("long");
      take_word("int");
      return ScriptType::i64;
    }
    if (take_word("unsigned")) {
      const bool is_long = take_word("long");
      take_word("long");
      take_word("int");
      return is_long ? ScriptType::u64 : ScriptType::u32;
    }
    for (const TypeName& known : kTypeNames) {
      if (take_word(known.name)) return known.type;
    }
    at_ = start;
    return std::nullopt;
  }

  const Known* find(std::string_view name) const {
    if (name.empty()) return nullptr;
    const auto found = std::find_if(variables_.rbegin(), variables_.rend(),
                                    [name](const Known& known) { return known.name == name; });
    return found == variables_.rend() ? nullptr : &*found;
  }

  // --- statements

  std::size_t statements(bool whole_text) {
    const std::size_t outer = variables_.size();
    const std::size_t outer_scope = std::exchange(scope_, whole_text ? 0 : outer);
    Node block{.act = Act::block};
    while (whole_text ? !ends() : !sees("}")) block.parts.push_back(statement());
    variables_.resize(outer);
    scope_ = outer_scope;
    return made(std::move(block));
  }
  bool ends() {
    skip();
    return at_ >= text_.size();
  }

  std::size_t statement() {
    if (++depth_ > kDeepest) fail_here("fewer brackets within each other");
    const std::size_t result = [&] {
      if (take(";")) return made({.act = Act::block});
      if (take("{")) {
        const std::size_t inner = statements(false);
        want("}");
        return inner;
      }
      if (take_word("if")) return branch();
      return simple();
    }();
    --depth_;
    return result;
  }

  std::size_t branch() {
    want("(");
    Node node{.act = Act::branch};
    node.parts.push_back(as(expression(), ScriptType::boolean));
    want(")");
    node.parts.push_back(scoped_statement());
    if (take_word("else")) node.parts.push_back(scoped_statement());
    return made(std::move(node));
  }
  std::size_t scoped_statement() {
    const std::size_t outer = variables_.size();
    const std::size_t result = statement();
    variables_.resize(outer);
    return result;
  }

  // A declaration, an assignment, or a step.
  std::size_t simple() {
    const bool is_const = take_word("const");
    const bool is_auto = take_word("auto");
    const std::optional<ScriptType> type = is_auto ? std::nullopt : type_name();
    if (is_auto || type) return declaration(type, is_const || take_word("const"));
    if (is_const) fail_here("a type's name after `const`");
    const int before = take("++") ? 1 : take("--") ? -1 : 0;
    const Known* const known = find(word_ahead());
    if (known == nullptr) fail_here("a statement: `a = b;`, `auto t = a;`, `if (a < b) ...`");
    if (known->is_const) fail_here("a name that is not const");
    const Known target = *known;
    at_ += target.name.size();
    const std::size_t old = made({.act = Act::variable, .type = target.type, .slot = target.slot});
    const std::size_t one = made({.value = whole(1)});
    std::size_t value = 0;
    if (before != 0) {
      value = joined(before > 0 ? Act::add : Act::subtract, old, one);
    } else if (take("++")) {
      value = joined(Act::add, old, one);
    } else if (take("--")) {
      value = joined(Act::subtract, old, one);
    } else {
      value = assigned(old);
    }
    want(";");
    return made(
        {.act = Act::assign, .type = target.type, .slot = target.slot, .parts = {as(value, target.type)}});
  }

  std::size_t assigned(std::size_t old) {
    for (const Operation& operation : kOperations) {
      const bool can = operation.level >= 8 || (operation.level >= 3 && operation.level <= 5);
      if (!can || !sees(operation.sign) || !text_.substr(at_ + operation.sign.size()).starts_with("=")) {
        continue;
      }
      at_ += operation.sign.size() + 1;
      return joined(operation.act, old, expression());
    }
    if (sees("==")) fail_here("an assignment");
    want("=");
    return expression();
  }

  std::size_t declaration(std::optional<ScriptType> type, bool is_const) {
    const std::string_view name = word_ahead();
    if (name.empty()) fail_here("a name");
    for (std::size_t i = scope_; i < variables_.size(); ++i) {
      if (variables_[i].name == name) fail_here("a name that is not taken here");
    }
    if (next_slot_ == kMostVariables) fail_here("fewer variables");
    at_ += name.size();
    want("=");
    const std::size_t value = expression();
    want(";");
    const ScriptType own = type.value_or(type_of(value));
    const std::size_t slot = next_slot_++;
    variables_.push_back({name, own, slot, is_const});
    return made({.act = Act::assign, .type = own, .slot = slot, .parts = {as(value, own)}});
  }

  std::string_view text_;
  Script script_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Known> variables_;
  std::size_t scope_ = 0;  // the first variable of the innermost block
  std::size_t next_slot_ = 0;
};

}  // namespace

Script read_script(std::string_view text, std::string place, const std::vector<ScriptVariable>& variables) {
  ScriptReader reader(text, std::move(place));
  for (const ScriptVariable& variable : variables) reader.declare(variable.name, variable.type);
  return std::move(reader).read();
}

}  // namespace faro::network
