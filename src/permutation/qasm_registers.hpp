// The registers of an OpenQASM file, and the qubits that a gate's operand names.
//
//     qreg q[4]; qubit s;     qubits 0 .. 3 and 4: numbered in order of declaration
//     q                       0 1 2 3 in turn; a gate on it is a gate on each
//     q[2]                    2, every time
//     q[0:2]  q[0:2:3]        0 1 2 and 0 2 in turn: first, step and last, which belongs to it
//     q[{0, 3}]               0 3 in turn
//     let a = q[1:2] ++ s;    1 2 4 under a new name
//     $5                      5, in a file that declares no qubits; there are as many as the largest number
//     asks for
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/f2/matrix.hpp"
#include "qasm_lexer.hpp"

namespace faro::detail {

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
  [[noreturn]] void refuse_mixture(const QasmToken& name) const;
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

}  // namespace faro::detail
