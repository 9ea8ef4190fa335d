// Circuits of X, CNOT and SWAP gates in OpenQASM 2, and the same gates of OpenQASM 3, as permutations of a
// state vector.
//
//     OPENQASM 2.0;
//     include "qelib1.inc";
//     qreg q[3];              qubits are numbered in order of declaration: q[0] is bit 0 of the index
//     x q[0];                 bit 0 flips
//     cx q[0], q[2];          bit 2 ^= bit 0
//
// A classical register may be declared, since exporters write one; what would use it, measure and every gate
// that is no permutation of basis states by an affine map is refused by name.
#pragma once

#include <string_view>

#include "faro/permutation/affine.hpp"

namespace faro {

/// The map of the circuit `text`, gates from first to last. Registers broadcast: `x q` is on every qubit of
/// q, `cx q, r` on q[i], r[i] for registers of one size, and an indexed qubit goes with every qubit of a
/// register.
/// Errors: all name `file_name`, the line and what stands there. ErrorCode::unsupported for a gate or
///         statement outside this grammar, ErrorCode::spec for malformed text, ErrorCode::value for an index
///         outside its register, equal operands, registers of different sizes and more than 64 qubits.
/// Cost:   64 word operations a gate.
Affine parse_qasm(std::string_view text, std::string_view file_name = "circuit.qasm");

}  // namespace faro
