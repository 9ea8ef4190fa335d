// The registers of an OpenQASM file, and the qubits that a gate's operand names.
//
//     qreg q[4]; qubit s;     qubits 0 .. 3 and 4: numbered in order of declaration
//     q                       0 1 2 3 in turn; a gate on it is a gate on each
//     q[2]                    2, every time
//     q[0:2]  q[0:2:3]        0 1 2 and 0 2 in turn: first, step and last, which belongs to it
//     q[{0, 3}]               0 3 in turn
//     let a = q[1:2] ++ s;    1 2 4 under a new name
//     $5                      5, in a file that declares no qubits; there are as many as the largest number asks for
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::detail {

// The tokens of OpenQASM, with the line of each.

struct QasmToken {
  enum class Kind { word, number, text, sign, end };
  Kind kind = Kind::end;
  std::string_view text;  // a text token's without its quotes
  std::size_t line = 1;

  bool is_sign(char c) const { return kind == Kind::sign && text[0] == c; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

class QasmLexer {
 public:
  /// `source` must outlive the lexer.
  QasmLexer(std::string_view source, std::string_view file_name) : rest_(source), file_name_(file_name) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin files with it
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  /// The next token; comments and white space are passed over.
  QasmToken next();
  /// All characters before the end of the line.
  std::string_view line();

  /// Throws, naming the file and the line.
  [[noreturn]] void fail(ErrorCode code, std::size_t line, const std::string& got, std::string wanted,
                         std::string remedy = {}) const;

 private:
  void skip_blanks();
  QasmToken take(QasmToken::Kind kind, std::size_t length);

  std::string_view rest_;
  std::string file_name_;
  std::size_t line_ = 1;
};

/// How an error names a token: "`;`" or "the end of the file".
std::string shown(const QasmToken& token);

/// The present token of a file that is read from first to last.
class QasmCursor {
 public:
  QasmCursor(std::string_view source, std::string_view file_name) : lexer_(source, file_name) { advance(); }

  const QasmToken& token() const { return token_; }
  bool at(char sign) const { return token_.is_sign(sign); }
  bool at_end() const { return token_.kind == QasmToken::Kind::end; }
  /// The token behind the present one.
  QasmToken ahead() const;

  void advance() { token_ = lexer_.next(); }
  bool take(char sign);  // passes over it if it is there
  void sign(char sign);  // the same, and refuses any other token
  /// A name, which errors call `what`.
  QasmToken word(const std::string& what);
  /// An unsigned number below 2^31: 16, 1_6, 0x10, 0b1_0000 or 0o20.
  int number(const std::string& what);
  /// What stands between balanced brackets, without blanks; the present token is the one that opens.
  std::string bracketed(char open, char close);
  /// What stands behind the present token up to the end of its line, without blanks around it.
  std::string_view rest_of_line();

  /// The first names the line of the present token.
  [[noreturn]] void fail(ErrorCode code, const std::string& got, std::string wanted,
                         std::string remedy = {}) const;
  [[noreturn]] void fail_at(const QasmToken& token, ErrorCode code, const std::string& got,
                            std::string wanted, std::string remedy = {}) const;

 private:
  QasmLexer lexer_;
  QasmToken token_;
};

/// What a gate is on: one qubit, or those of a register or a slice in turn.
struct QasmOperand {
  std::array<std::uint8_t, f2::kMaxDimension> qubits{};
  int size = 0;
  bool is_register = false;

  void add(int qubit) { qubits[static_cast<std::size_t>(size++)] = static_cast<std::uint8_t>(qubit); }
  int qubit(int i) const { return qubits[static_cast<std::size_t>(is_register ? i : 0)]; }
};

struct QasmRegister {
  bool is_classical = false;
  int size = 1;
  QasmOperand qubits = {};
};

class QasmRegisters {
 public:
  /// `cursor` must outlive it: what is read here is read there.
  explicit QasmRegisters(QasmCursor& cursor) : cursor_(cursor) {}

  int qubits() const { return qubits_; }
  static bool is_physical(std::string_view name) { return name.starts_with('$'); }
  /// Nothing where there is no such register.
  const QasmRegister* find(std::string_view name) const;

  // Each reads what follows its keyword, up to the `;`, which it leaves.

  void declare_2(bool is_classical);                 // q[4]
  const QasmRegister& declare_3(bool is_classical);  // [4] q, or q, which is no register
  void alias();                                      // a = q[0:1] ++ r

  QasmOperand operand();
  /// How many bits a classical operand has; its name is the present token.
  int classical_operand();

 private:
  const QasmRegister& declare(const QasmToken& name, bool is_classical, int size, bool is_scalar);
  QasmOperand physical_operand();
  [[noreturn]] void fail_mixture(const QasmToken& name) const;
  const QasmRegister& enter(const QasmToken& name, const QasmRegister& made);
  int bracketed_size();
  std::vector<int> selection(const QasmToken& name, int size, bool& is_register);
  std::vector<int> range(const QasmToken& name, int size, std::optional<int> first);
  int signed_number();
  int index(const QasmToken& name, int size);
  int checked_index(const QasmToken& name, const QasmToken& at, int index, int size) const;
  std::string suggest(std::string_view misspelt) const;

  QasmCursor& cursor_;
  std::map<std::string_view, QasmRegister> registers_;
  int qubits_ = 0;
  bool has_physical_ = false;  // `$0` and so on, and then no others
};

// What a gate of OpenQASM does to the qubits that it is on: an affine map of as many bits. Definitions become
// one, and modifiers turn one into another.
//
//     gate dcx a, b { cx a, b; cx b, a; }      the map of circuit(2; cx 0 1; cx 1 0)
//     inv @ dcx                                its inverse
//     pow(3) @ dcx                             itself three times, which is nothing at all
//     ctrl @ x                                 cx: a control is the first qubit
//     ctrl @ cx                                no affine map: refused, as every control of what is no flip is
//
// A definition that holds something else is no fault before somebody uses it: files bring libraries of them.

/// A gate that the file defines.
struct QasmGate {
  int qubits = 0;
  std::optional<Affine> map;
  std::string trouble;  // where there is no map: "`h` at bell.qasm:3"
};

struct QasmModifier {
  enum class Kind { control, negative_control, inverse, power };
  Kind kind = Kind::control;
  int count = 1;  // of controls; the exponent of a power
};

/// The gate behind its modifiers, the last of which stands next to it. Nothing where it is no affine map, or
/// of more than 64 qubits.
std::optional<Affine> modified(const Affine& gate, const std::vector<QasmModifier>& modifiers);

/// The numbers of a list of expressions such as "pi/2,0,-2*tau", without blanks. Nothing where it holds what
/// is no number, as one of `parameters` is, the names of a definition's own angles.
std::optional<std::vector<double>> angles_of(std::string_view text,
                                             const std::vector<std::string>& parameters = {});

/// Whether a phase is 1, but for rounding.
bool is_no_phase(double angle);

/// Whether gate_of_angles() knows the gate.
bool takes_angles(std::string_view name);

/// What U, u3, rz, cp and such gates do, where that is x, cx or nothing at all; but for rounding, without a
/// phase.
std::optional<Affine> gate_of_angles(std::string_view name, const std::vector<double>& angles);

/// Why a gate that nobody defined is none of the known ones: "did you mean `swap`?", "that gate is no affine
/// map of the index".
std::string suggest_qasm_gate(std::string_view misspelt);

}  // namespace faro::detail
