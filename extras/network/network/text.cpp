// From what is written to a program: sizes travel inwards, calls are replaced by what they call.
#include "network/text.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "faro/error.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/suggest.hpp"
#include "network/syntax.hpp"
#include "permutation/catalogue.hpp"
#include "permutation/spec_file.hpp"
#include "permutation/text.hpp"

namespace faro::network {
namespace {

using faro::detail::in_quotes;

// Far past what a recurrence over 64 sizes needs, far below what the stack holds.
constexpr int kDeepestExpansion = 800;

constexpr std::size_t kLargestFileBytes = std::size_t{1} << 20;

std::string elements_text(int n) { return n == 0 ? "one element" : "2^" + std::to_string(n) + " elements"; }

// Few index arrays are affine maps: a program whose maps make or read many is up to no good.
std::uint64_t most_index_elements(int n) {
  constexpr int kMostCountBits = 40;
  return (std::uint64_t{1} << 26) + (std::uint64_t{1} << (std::min(n, kMostCountBits) + 2));
}

// `name size`, as calls are written.
struct Call {
  std::string name;
  int bits = 0;

  std::string text() const { return name + " " + std::to_string(bits); }
  friend bool operator==(const Call&, const Call&) = default;
  friend auto operator<=>(const Call&, const Call&) = default;
};

class Expander {
 public:
  Expander(const Tokens& tokens, const Syntax& syntax) : tokens_(tokens), syntax_(syntax) {}

  Program whole(int n) {
    n_ = n;
    index_elements_left_ = most_index_elements(n);
    variable_ = {"n", static_cast<std::uint64_t>(n)};
    return expand(syntax_.program, n);
  }

 private:
  // `n` is the array's at this place; the variable may have the value of an array around it.
  Program expand(const Expression& expression, int n) {
    if (++depth_ > kDeepestExpansion) {
      fail(expression, "definitions nested more than " + std::to_string(kDeepestExpansion) + " deep",
           "fewer levels");
    }
    Program result = expand_kind(expression, n);
    --depth_;
    return result;
  }

  Program expand_kind(const Expression& expression, int n) {
    switch (expression.kind) {
      case SyntaxKind::identity:
        return identity(n);
      case SyntaxKind::map:
        return map(expression, n);
      case SyntaxKind::pairs:
        require_parts(expression, n);
        return pairs(expression.op, n);
      case SyntaxKind::each:
        return each(expression.op, n);
      case SyntaxKind::two:
        require_parts(expression, n);
        return two(expand(expression.parts.front(), n - 1));
      case SyntaxKind::parm:
        require_parts(expression, n);
        return sub_arrays(expression, n);
      case SyntaxKind::compose: {
        std::vector<Program> parts;
        for (const Expression& part : expression.parts) parts.push_back(expand(part, n));
        return located(expression, [&] { return composition(parts, n); });
      }
      case SyntaxKind::call:
        return call(expression, n);
    }
    return identity(n);
  }

  // What a program refuses, under the name that the text has for it.
  template <typename Make>
  Program located(const Expression& expression, Make make) {
    try {
      return make();
    } catch (const Error& error) {
      ErrorReport report = error.report();
      report.operation = place(expression);
      throw Error(report);
    }
  }

  Program sub_arrays(const Expression& expression, int n) {
    std::size_t position = expression.argument;
    const std::uint64_t mask = Arithmetic(tokens_, variable_).sum(position);
    // First the mask: what is inside may be far away.
    located(expression, [&] { return parm(mask, identity(n - 1)); });
    const Program part = expand(expression.parts.front(), n - 1);
    return located(expression, [&] { return parm(mask, part); });
  }

  Program call(const Expression& expression, int n) {
    const std::string name(tokens_.at(expression.begin).text);
    if (expression.argument != 0) {
      std::size_t position = expression.argument;
      const std::uint64_t size = Arithmetic(tokens_, variable_).primary(position);
      if (size != static_cast<std::uint64_t>(n)) {
        fail(expression, in_quotes(name + " " + std::to_string(size)) + " on an array of " + elements_text(n),
             in_quotes(name + " " + std::to_string(n)) + ", a size that matches",
             "two and parm halve the array; what is inside them is one size smaller");
      }
    }
    return called({name, n}, expression);
  }

  Program called(const Call& call, const Expression& expression) {
    if (const auto known = done_.find(call); known != done_.end()) return known->second;
    const Definition* const definition = find(call);
    if (definition == nullptr && is_defined(call.name)) {
      fail(expression, in_quotes(call.text()) + ", for which there is no case",
           "a base case such as " + in_quotes(call.text() + " = ...") + ", or a case for every size, " +
               in_quotes(call.name + " n = ..."));
    }
    if (definition == nullptr) {
      const LibraryEntry* const entry = find_program(call.name);
      if (entry == nullptr) unknown(expression, call.name);
      return entry->make(call.bits);
    }
    if (std::find(active_.begin(), active_.end(), call) != active_.end()) fail_cycle(expression, call);
    active_.push_back(call);
    const Variable outer = variable_;
    variable_ = {definition->variable, static_cast<std::uint64_t>(call.bits)};
    Program result = expand(definition->body, call.bits);
    variable_ = outer;
    active_.pop_back();
    done_.emplace(call, result);
    return result;
  }

  // The case for exactly this size before the one for any.
  const Definition* find(const Call& call) const {
    const Definition* any = nullptr;
    for (const Definition& definition : syntax_.definitions) {
      if (definition.name != call.name) continue;
      if (!definition.size) any = &definition;
      if (definition.size == static_cast<std::uint64_t>(call.bits)) return &definition;
    }
    return any;
  }

  bool is_defined(std::string_view name) const {
    return std::any_of(syntax_.definitions.begin(), syntax_.definitions.end(),
                       [name](const Definition& definition) { return definition.name == name; });
  }

  [[noreturn]] void unknown(const Expression& expression, const std::string& name) const {
    std::vector<std::string_view> names{"id", "bmmc", "pairs", "each", "two", "parm", "compose"};
    for (const Definition& definition : syntax_.definitions) names.push_back(definition.name);
    for (const LibraryEntry& entry : library()) names.push_back(entry.name);
    const std::string suggestion = did_you_mean(name, names);
    tokens_.fail(ErrorCode::spec, "unknown program " + tokens_.here(expression.begin),
                 "a defined name or a program of the library",
                 suggestion.empty() ? "`faro network list` shows the library" : suggestion);
  }

  [[noreturn]] void fail_cycle(const Expression& expression, const Call& call) const {
    std::string chain;
    for (auto step = std::find(active_.begin(), active_.end(), call); step != active_.end(); ++step) {
      chain += in_quotes(step->text()) + " calls ";
    }
    fail(expression, "a recursion without end: " + chain + in_quotes(call.text()),
         "a smaller array in every call", "only two and parm make it smaller");
  }

  void require_parts(const Expression& expression, int n) const {
    if (n > 0) return;
    std::string remedy;
    if (!active_.empty()) {
      const std::string name = active_.back().name;
      remedy = in_quotes(name) + " wants a base case, such as " + in_quotes(name + " 0 = id");
    }
    fail(expression, "an array of one element, which has no parts", "two elements or more", remedy);
  }

  Program map(const Expression& expression, int n) {
    const std::string text = map_text(expression, n);
    ParseOptions options{.bare_bits = n};
    options.most_index_elements = index_elements_left_;
    if (n < f2::kMaxDimension) options.shape = std::vector{std::uint64_t{1} << n};
    Affine result;
    try {
      const faro::detail::NotedPermutation read = faro::detail::parse_with_notes(text, options);
      index_elements_left_ -= read.index_elements;
      const Permutation normal = faro::normal_form(read.parsed.permutation);
      if (!std::holds_alternative<Affine>(normal)) {
        faro::fail(ErrorCode::unsupported, "bmmc", text, "an affine map over F2", "`faro maps` lists them");
      }
      result = std::get<Affine>(normal);
    } catch (const Error& error) {
      ErrorReport report = error.report();
      report.operation = place(expression) + ": " + report.operation;
      if (report.got.starts_with("an index array of")) {
        report.wanted =
            "at most " + std::to_string(most_index_elements(n_)) + " entries in all maps of a program";
      }
      throw Error(report);
    }
    if (result.bits() != n) {
      fail(expression, "a map of " + elements_text(result.bits()) + " on an array of " + elements_text(n),
           "a map of " + elements_text(n));
    }
    return bmmc(result, name_of(text, result));
  }

  // What was typed, where it stands by itself: a bare name is printed with its size, a matrix in its normal
  // form.
  static std::string name_of(std::string_view typed, const Affine& map) {
    if (typed.starts_with("affine")) return {};
    std::string name;
    if (std::all_of(typed.begin(), typed.end(), faro::detail::is_word)) {
      const std::uint64_t size = typed == "flip" ? f2::unit(map.bits()) : static_cast<unsigned>(map.bits());
      name = std::string(typed) + "(" + std::to_string(size) + ")";
      const bool has_size =
          typed == "flip" || (find_map(typed) != nullptr && find_map(typed)->of_bits != nullptr);
      return has_size && name != faro::to_text(Permutation(map)) ? name : std::string();
    }
    for (const char c : typed) {
      if (!faro::detail::is_space(c)) {
        name += c;
      } else if (!name.ends_with(' ')) {
        name += ' ';
      }
    }
    return name;
  }

  // The map's text with sums over the variable replaced by their values, `A = ..., c = ...` by affine(...).
  std::string map_text(const Expression& expression, int n) const {
    const std::size_t end = expression.end - 1;
    std::size_t position = expression.argument;
    if (!tokens_.is_word(position, "A") || !tokens_.is_sign(position + 1, '=')) return valued(position, end);
    std::size_t comma = position + 2;
    while (comma < end && !tokens_.is_sign(comma, ',')) ++comma;
    std::string complement = "0";
    if (comma < end) {
      if (!tokens_.is_word(comma + 1, "c") || !tokens_.is_sign(comma + 2, '=')) {
        tokens_.fail_here(comma + 1, "`c = complement` as in `bmmc(A = 0x2 0x1, c = 0x1)`");
      }
      complement = valued(comma + 3, end);
    }
    return "affine(" + std::to_string(n) + "; " + valued(position + 2, comma) + "; " + complement + ")";
  }

  std::string valued(std::size_t position, std::size_t end) const {
    std::string text;
    std::size_t copied = position < end ? tokens_.at(position).offset : 0;
    const std::string_view all = tokens_.text();
    while (position < end) {
      const Token& token = tokens_.at(position);
      text += all.substr(copied, token.offset - copied);
      std::size_t next = position;
      if (is_sum_of_variable(next)) {
        text += std::to_string(Arithmetic(tokens_, variable_).sum(position));
      } else {
        text += token.text;
        ++position;
      }
      const Token& last = tokens_.at(position - 1);
      copied = last.offset + last.text.size();
    }
    return text;
  }

  // A `(` after a name opens a map's arguments: sums begin with a number, the variable, or a `(` of their
  // own.
  bool is_sum_of_variable(std::size_t position) const {
    if (tokens_.is_sign(position, '(') && tokens_.at(position - 1).kind == TokenKind::word) return false;
    try {
      Arithmetic arithmetic(tokens_, {variable_.name, {}});
      arithmetic.sum(position);
      return arithmetic.met_variable();
    } catch (const Error&) {
      return false;
    }
  }

  // "network `parm(0; vcolumn (n-1))` in `vcolumn 3`"
  std::string place(const Expression& expression) const {
    std::string text = "network " + in_quotes(tokens_.between(expression.begin, expression.end));
    if (!active_.empty()) text += " in " + in_quotes(active_.back().text());
    return text;
  }

  [[noreturn]] void fail(const Expression& expression, std::string got, std::string wanted,
                         std::string remedy = {}) const {
    faro::fail(ErrorCode::value, place(expression), std::move(got), std::move(wanted), std::move(remedy));
  }

  const Tokens& tokens_;
  const Syntax& syntax_;
  Variable variable_ = {};
  std::vector<Call> active_;
  std::map<Call, Program> done_;
  std::uint64_t index_elements_left_ = 0;  // that the maps may make or read
  int n_ = 0;                              // of the whole program
  int depth_ = 0;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// The file's text, remarks replaced by spaces so that places stay right.
std::string read_program_file(std::string_view path) {
  if (path.size() >= 2 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
  if (path.empty()) {
    faro::fail(ErrorCode::spec, "parse the program `@`", "no file's name", "@path");
  }
  std::string text = faro::detail::read_text_file(std::string(path), kLargestFileBytes);
  bool remark = false;
  bool quoted = false;
  for (char& c : text) {
    if (c == '\n') remark = false;
    if (c == '"' && !remark) quoted = !quoted;
    if (c == '#' && !quoted) remark = true;
    if (remark) c = ' ';
  }
  return text;
}

}  // namespace

Program parse_program(std::string_view text, int n) {
  const std::string_view stripped = trimmed(text);
  if (stripped.starts_with('@')) {
    const std::string content = read_program_file(stripped.substr(1));
    if (trimmed(content).starts_with('@')) {
      faro::fail(ErrorCode::spec, "read the program " + in_quotes(stripped), "another `@path` in the file",
                 "a program");
    }
    return parse_program(content, n);
  }
  if (n < 0 || n > kMaxProgramBits) {
    faro::fail(ErrorCode::value, "parse the program " + in_quotes(text), "n = " + std::to_string(n),
               "n in 0.." + std::to_string(kMaxProgramBits));
  }
  const Tokens tokens(text);
  const Syntax syntax = read_syntax(tokens);
  return Expander(tokens, syntax).whole(n);
}

}  // namespace faro::network
