OPENQASM 3.0;
bit[2] b;
qubit[2] q;
cnot q[0], q[1];
#pragma braket verbatim
box{
i q[0];
ctrl @ x q[1], q[0];
pow(2.0) @ swap q[0], q[1];
}
b[0] = measure q[0];
#pragma braket result state_vector
