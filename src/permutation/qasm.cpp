#include "permutation/qasm.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "circuit.hpp"
#include "qasm_lexer.hpp"
#include "suggest.hpp"
#include "text.hpp"

namespace faro {
namespace detail {
namespace {

constexpr std::string_view kKnownGates = "x, cx, swap, id or barrier";

class QasmReader {
 public:
  QasmReader(std::string_view text, std::string_view file_name) : lexer_(text, file_name) { advance(); }

  Affine circuit() {
    if (token_.is_word("OPENQASM")) version();
    while (token_.kind != QasmToken::Kind::end) statement();
    if (qubits_ == 0) fail(ErrorCode::spec, "no qubit", "a declaration such as `qreg q[4];`");
    return circuit_.map(qubits_);
  }

 private:
  enum class Holds { qubits, bits };

  struct Register {
    Holds holds = Holds::qubits;
    int size = 1;
    bool is_scalar = false;  // `qubit q;`, which is one qubit and not a register of one
    int first = 0;           // number of its first qubit
  };

  // What a gate is on: one qubit, or a register's in turn.
  struct Operand {
    int first = 0;
    int size = 1;
    bool whole_register = false;

    int qubit(int i) const { return whole_register ? first + i : first; }
  };

  void statement() {
    if (token_.kind != QasmToken::Kind::word) {
      fail(ErrorCode::spec, shown(token_), "a declaration or a gate");
    }
    const QasmToken keyword = token_;
    advance();
    const std::string_view name = keyword.text;
    if (const auto found = registers_.find(name); found != registers_.end())
      return use_of(keyword, found->second);
    if (name == "OPENQASM")
      lexer_.fail(ErrorCode::spec, keyword.line, "`OPENQASM`", "the version only at the start");
    if (name == "include") return include();
    if (name == "qreg" || name == "creg") return declare_2(name == "qreg" ? Holds::qubits : Holds::bits);
    if (name == "qubit" || name == "bit") return declare_3(name == "qubit" ? Holds::qubits : Holds::bits);
    if (name == "barrier") return barrier();
    gate(keyword);
  }

  void version() {
    advance();
    constexpr std::array<std::string_view, 5> kVersions{"2", "2.0", "3", "3.0", "3.1"};
    if (token_.kind != QasmToken::Kind::number) fail(ErrorCode::spec, shown(token_), "a version such as 2.0");
    if (std::find(kVersions.begin(), kVersions.end(), token_.text) == kVersions.end()) {
      fail(ErrorCode::unsupported, "OPENQASM " + shown(token_), "version 2.0 or 3.0");
    }
    advance();
    sign(';');
  }

  // The files that are included define the standard gates, which are known here.
  void include() {
    if (token_.kind != QasmToken::Kind::text) fail(ErrorCode::spec, shown(token_), "a file's name in quotes");
    advance();
    sign(';');
  }

  // qreg q[4];
  void declare_2(Holds holds) {
    const QasmToken name = declared_name();
    const int size = bracketed_size();
    sign(';');
    declare(name, {.holds = holds, .size = size});
  }

  // qubit[4] q;  qubit q;
  void declare_3(Holds holds) {
    const bool is_scalar = !token_.is_sign('[');
    const int size = is_scalar ? 1 : bracketed_size();
    const QasmToken name = declared_name();
    if (token_.is_sign('=')) refuse_measure();  // bit c = measure q;
    sign(';');
    declare(name, {.holds = holds, .size = size, .is_scalar = is_scalar});
  }

  QasmToken declared_name() {
    const QasmToken name = token_;
    if (name.kind != QasmToken::Kind::word) fail(ErrorCode::spec, shown(name), "a register's name");
    advance();
    return name;
  }

  int bracketed_size() {
    sign('[');
    const QasmToken at = token_;
    const int size = number("a register's size");
    if (size == 0) lexer_.fail(ErrorCode::value, at.line, "a register of size 0", "at least 1");
    sign(']');
    return size;
  }

  void declare(const QasmToken& name, Register declared) {
    const int qubits = declared.holds == Holds::qubits ? declared.size : 0;
    if (qubits > f2::kMaxDimension - qubits_) {
      lexer_.fail(ErrorCode::value, name.line,
                  in_quotes(name.text, 40) + " of size " + std::to_string(qubits) + " after " +
                      std::to_string(qubits_) + " qubits",
                  "at most 64 qubits");
    }
    declared.first = qubits_;
    if (!registers_.emplace(name.text, declared).second) {
      lexer_.fail(ErrorCode::spec, name.line, in_quotes(name.text, 40) + " declared twice", "a new name");
    }
    qubits_ += qubits;
  }

  void barrier() {
    // OpenQASM 3 lets a barrier stand alone, on all qubits.
    if (!token_.is_sign(';')) {
      operand();
      while (take(',')) operand();
    }
    sign(';');
  }

  void gate(const QasmToken& name) {
    const GateRule* const rule = find_gate(name.text);
    if (rule == nullptr) refuse_gate(name);
    std::array<Operand, 2> on{};
    on[0] = operand();
    if (rule->qubits == 2) {
      if (!take(','))
        fail(ErrorCode::spec, shown(token_), "`,` and the second qubit of " + in_quotes(name.text));
      on[1] = operand();
    }
    sign(';');
    if (on[0].whole_register && on[1].whole_register && on[0].size != on[1].size) {
      lexer_.fail(ErrorCode::value, name.line,
                  in_quotes(name.text) + " on registers of size " + std::to_string(on[0].size) + " and " +
                      std::to_string(on[1].size),
                  "registers of one size");
    }
    const int times = std::max(on[0].size, on[1].size);
    for (int i = 0; i < times; ++i) {
      const int a = on[0].qubit(i);
      const int b = on[1].qubit(i);
      if (rule->qubits == 2 && a == b) {
        lexer_.fail(ErrorCode::value, name.line,
                    in_quotes(name.text) + " on one qubit (number " + std::to_string(a) + ") twice",
                    "two different qubits");
      }
      rule->apply(circuit_, a, b);
    }
  }

  [[noreturn]] void refuse_gate(const QasmToken& name) const {
    constexpr std::array<std::string_view, 6> kStatements{"include", "qreg", "creg",
                                                          "qubit",   "bit",  "barrier"};
    std::string remedy = suggest_gate(name.text);
    if (remedy.empty()) remedy = did_you_mean(name.text, kStatements);
    lexer_.fail(ErrorCode::unsupported, name.line, in_quotes(name.text, 40), std::string(kKnownGates),
                remedy);
  }

  // Refuses what is left of a statement by the name that matters, where it measures. A statement that does
  // not is left as it stands.
  void refuse_measure() const {
    QasmLexer ahead = lexer_;
    for (QasmToken token = token_; token.kind != QasmToken::Kind::end && !token.is_sign(';');
         token = ahead.next()) {
      if (token.is_word("measure")) refuse_gate(token);
    }
  }

  // A statement that begins with a register's name, such as `c = measure q;`.
  [[noreturn]] void use_of(const QasmToken& name, const Register& declared) {
    refuse_measure();
    lexer_.fail(ErrorCode::spec, name.line, in_quotes(name.text),
                declared.holds == Holds::qubits ? "a gate before the qubits" : "no use of classical bits");
  }

  // q  q[3]
  Operand operand() {
    const QasmToken name = token_;
    if (name.kind != QasmToken::Kind::word) fail(ErrorCode::spec, shown(name), "a qubit such as q[0]");
    const auto found = registers_.find(name.text);
    if (found == registers_.end()) {
      fail(ErrorCode::spec, in_quotes(name.text, 40), "a register declared before its use",
           suggest_register(name.text));
    }
    const Register& declared = found->second;
    if (declared.holds == Holds::bits)
      fail(ErrorCode::spec, "the classical register " + in_quotes(name.text, 40), "a qubit");
    advance();
    if (!take('['))
      return {.first = declared.first, .size = declared.size, .whole_register = !declared.is_scalar};
    const QasmToken at = token_;
    const int index = number("an index");
    if (index >= declared.size) {
      lexer_.fail(ErrorCode::value, at.line,
                  in_quotes(name.text, 40) + " with index " + std::to_string(index),
                  "an index in 0.." + std::to_string(declared.size - 1));
    }
    sign(']');
    return {.first = declared.first + index, .size = 1, .whole_register = false};
  }

  std::string suggest_register(std::string_view misspelt) const {
    std::vector<std::string_view> names;
    for (const auto& [name, declared] : registers_) {
      if (declared.holds == Holds::qubits) names.push_back(name);
    }
    return did_you_mean(misspelt, names);
  }

  int number(const std::string& wanted) {
    const std::string_view digits = token_.text;
    int value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (token_.kind != QasmToken::Kind::number || end != digits.data() + digits.size()) {
      fail(ErrorCode::spec, shown(token_), wanted);
    }
    if (fault != std::errc{}) fail(ErrorCode::value, shown(token_), wanted + " below 2^31");
    advance();
    return value;
  }

  bool take(char c) {
    if (!token_.is_sign(c)) return false;
    advance();
    return true;
  }

  void sign(char c) {
    if (!take(c)) fail(ErrorCode::spec, shown(token_), in_quotes(std::string_view(&c, 1)));
  }

  void advance() { token_ = lexer_.next(); }

  [[noreturn]] void fail(ErrorCode code, const std::string& got, std::string wanted,
                         std::string remedy = {}) const {
    lexer_.fail(code, token_.line, got, std::move(wanted), std::move(remedy));
  }

  QasmLexer lexer_;
  QasmToken token_;
  std::map<std::string_view, Register> registers_;
  int qubits_ = 0;
  Circuit circuit_;
};

}  // namespace
}  // namespace detail

Affine parse_qasm(std::string_view text, std::string_view file_name) {
  return detail::QasmReader(text, file_name).circuit();
}

}  // namespace faro
