// Circuits of X, CNOT and SWAP gates in OpenQASM 2, and the same gates of OpenQASM 3, as permutations of a
// state vector.
//
//     OPENQASM 2.0;
//     include "qelib1.inc";
//     qreg q[3];              qubits are numbered in order of declaration: q[0] is bit 0 of the index
//     x q[0];                 bit 0 flips
//     cx q[0], q[2];          bit 2 ^= bit 0
//
//     gate f a, b { cx a, b; cx b, a; }       a definition is inlined where f stands
//     ctrl @ x q[1], q[2];                    modifiers, slices q[0:2] and aliases of OpenQASM 3
//     measure q -> c;                         passed over at the end, as barriers are, and told in a note
//
// Classical registers may be declared, since exporters write them. Delays, boxes and annotations change no
// amplitude; pragmas are other programs' business, but for those of Amazon Braket that are gates or noise.
// Gates with angles are read where these make them x, cx or nothing, up to rounding and without a phase. A
// gate after a measurement of its qubit, what depends on a measurement, and every gate that is no permutation
// of basis states by an affine map is refused by name; in a definition only where it is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/affine.hpp"

namespace faro {

/// The map of the circuit `text`, gates from first to last. Registers and slices broadcast: `x q` is on every
/// qubit of q, `cx q, r` on q[i], r[i] for registers of one size, and an indexed qubit goes with every qubit
/// of a register. What was passed over is told in a line of `notes`, where that is given. Errors: all name
/// `file_name`, the line and what stands there. ErrorCode::unsupported for a gate or
///         statement outside this grammar, ErrorCode::spec for malformed text, ErrorCode::value for an index
///         outside its register, equal operands, registers of different sizes and more than 64 qubits.
/// Cost:   64 word operations a gate.
Affine parse_qasm(std::string_view text, std::string_view file_name = "circuit.qasm",
                  std::vector<std::string>* notes = nullptr);

}  // namespace faro
