// Circuits of X, CNOT and SWAP gates on a state vector: each gate is an affine map of the index, so is their
// sequence.
//
//     x k        bit k of the index flips                 c ^= e_k
//     cx a b     bit b becomes bit b ^ bit a              row b of A ^= row a, the same for c
//     swap a b   bits a and b change places               rows a and b of A, the same for c
//
// Multiplying from the left one gate at a time costs n word operations a gate, whatever the circuit's length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::detail {

class SpecReader;

class Circuit {
 public:
  // Qubits are 0..63 and distinct in one gate (unchecked: callers name the place in their text).
  void x(int qubit) { complement_ ^= f2::unit(qubit); }
  void cx(int control, int target);
  void swap(int a, int b);

  /// `gate` on the qubits `on`, its bit i on on[i]. Requires: on.size() == gate.bits() (unchecked).
  void apply(const Affine& gate, std::span<const std::uint8_t> on);

  /// The map of the first n qubits. Requires: no gate was on a qubit at or above n (checked).
  Affine map(int n) const;

 private:
  f2::Matrix matrix_ = f2::Matrix::identity(f2::kMaxDimension);
  f2::Word complement_ = 0;
};

/// A gate of the grammars: its name, its qubits, what it does to a circuit.
struct GateRule {
  std::string_view name;
  int qubits;  // 1 or 2
  void (*apply)(Circuit& circuit, int a, int b);
};

/// The gate of that name, or null. `CX` is the builtin spelling of OpenQASM.
const GateRule* find_gate(std::string_view name);

/// The same, where `cnot`, `i` and `not` are cx, id and x, as some exporters call them.
const GateRule* find_gate_by_any_name(std::string_view name);

/// "did you mean `cx`?" for a misspelt gate; for a gate that is no affine map, that it is not; else the list
/// of gates.
std::string suggest_gate(std::string_view misspelt);

/// The arguments of circuit(n; x 3; cx 0 5; swap 1 2).
Affine read_circuit(SpecReader& reader);

}  // namespace faro::detail
