qubit[2] ψ;
gate f(theta, tau) a { p(theta) a; }
opaque delay(param0) q0;
U(π, 0, -(pi/3*3)) ψ[0]; u3(2**0*pi,sin(0),tau/2) ψ;
gphase(2*pi); rz(-1.5e-12) ψ; cu3(pi,0,pi) ψ[0], ψ[1];
delay[100ns] ψ; delay(100.0) ψ[1]; nop;
pragma a.b c
