OPENQASM 2.0;
include "qelib1.inc";
qreg q[3]; creg c[3];
// flip, entangle, exchange
x q[0];
cx q[0],q[2];
swap q[1],q[2];
barrier q;
id q;
