OPENQASM 2.0;
include "qelib1.inc";
// From (|0> + |1>) |0...0> to a GHZ state of 20 qubits, one half of it flipped: only gates that permute amplitudes.
qreg root[1];
qreg leaf[19];
creg result[20];
cx root[0], leaf;        // one control, 19 targets
barrier root, leaf;
x root[0];
swap root[0], leaf[18];
