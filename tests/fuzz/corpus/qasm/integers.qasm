OPENQASM 3;
qubit[0x1_0] q; qubit[0b11] r; bit[0o17] c;
@note {
x q[0b1010];
cx q[0x0:0o2], r;
swap q[-0x1], q[1_0];
