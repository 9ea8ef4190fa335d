qreg q[2]; creg c[2];
measure q -> c;
