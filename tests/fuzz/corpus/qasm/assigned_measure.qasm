qubit[2] q; bit[2] c;
c = measure q;
