OPENQASM 3.0;
include "stdgates.inc";
qubit[2] a; qubit[2] b; qubit s; bit[2] c;
/* registers
   broadcast */
x a;
cx a, b;
CX s, a;
barrier;
swap a[0], s;
