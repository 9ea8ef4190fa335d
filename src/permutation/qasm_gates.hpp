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
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/affine.hpp"

namespace faro::detail {

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

/// x where the parameters of U, u or u3 are those of x, in the words that exporters write; id where they are
/// zero.
std::optional<Affine> gate_of_angles(std::string_view name, std::string_view parameters);

/// Why a gate that nobody defined is none of the known ones: "did you mean `swap`?", "that gate is no affine
/// map of the index".
std::string suggest_qasm_gate(std::string_view misspelt);

}  // namespace faro::detail
