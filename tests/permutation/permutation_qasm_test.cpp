// OpenQASM: what is read, against the same gates in the text grammar and a simulation; what is refused, and
// where.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/qasm.hpp"
#include "refusal.hpp"

namespace faro {
namespace permutation_qasm_test {

using f2::Word;

Affine circuit(const std::string& text) { return std::get<Affine>(parse_permutation(text)); }

TEST(Qasm, VersionTwo) {
  const Affine map = parse_qasm(R"(OPENQASM 2.0;
include "qelib1.inc";
// a comment; x q[1];
qreg q[3]; creg c[3];
x q[0];
cx q[0],q[2];   /* over
                   lines */
swap q[1], q[2];
barrier q[0], q;
id q;
)");
  EXPECT_EQ(map, circuit("circuit(3; x 0; cx 0 2; swap 1 2)"));
}

TEST(Qasm, VersionThree) {
  const Affine map = parse_qasm(R"(OPENQASM 3;
include "stdgates.inc";
qubit[2] a;
qubit s;
bit[2] c;
bit d;
CX s, a[1];
x a[0];
barrier;
)");
  EXPECT_EQ(map, circuit("circuit(3; cx 2 1; x 0)"));
}

TEST(Qasm, TheVersionIsOptional) {
  for (const char* version : {"", "OPENQASM 2;", "OPENQASM 2.0;", "OPENQASM 3;", "OPENQASM 3.0;",
                              "OPENQASM 3.1 ;", "\ufeffOPENQASM 3;"}) {
    EXPECT_EQ(parse_qasm(std::string(version) + "qreg q[2]; x q[1];"), maps::xor_mask(2, 2)) << version;
  }
}

TEST(Qasm, QubitsAreNumberedInOrderOfDeclaration) {
  // Also of declarations after gates, and with a classical register between.
  const Affine map =
      parse_qasm("qreg b[2]; x b[1]; creg c[7]; qreg a[1]; cx b[1], a[0]; qubit[2] z; x z[1];");
  EXPECT_EQ(map, circuit("circuit(5; x 1; cx 1 2; x 4)"));
}

TEST(Qasm, Broadcasting) {
  EXPECT_EQ(parse_qasm("qreg q[3]; x q;"), maps::reverse(3));
  EXPECT_EQ(parse_qasm("qreg q[2]; qreg r[2]; cx q, r;"), circuit("circuit(4; cx 0 2; cx 1 3)"));
  EXPECT_EQ(parse_qasm("qreg q[2]; qreg r[2]; swap q, r;"), circuit("circuit(4; swap 0 2; swap 1 3)"));
  EXPECT_EQ(parse_qasm("qreg q[2]; qreg r[2]; cx q[1], r;"), circuit("circuit(4; cx 1 2; cx 1 3)"));
  EXPECT_EQ(parse_qasm("qreg q[2]; qreg r[2]; cx q, r[0];"), circuit("circuit(4; cx 0 2; cx 1 2)"));
  EXPECT_EQ(parse_qasm("qubit[2] q; qubit s; cx s, q;"), circuit("circuit(3; cx 2 0; cx 2 1)"));
  EXPECT_EQ(parse_qasm("qubit[2] q; qubit s; cx q, s;"), circuit("circuit(3; cx 0 2; cx 1 2)"));
}

TEST(Qasm, SixtyFourQubits) {
  EXPECT_EQ(parse_qasm("qreg q[64]; x q;"), maps::reverse(64));
  EXPECT_EQ(parse_qasm("qreg q[64]; swap q[0], q[63];"), maps::swap_bits(64, 0, 63));
}

TEST(Qasm, RandomCircuitsEqualTheirGatesOneByOne) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    const int n = 2 + static_cast<int>(random() % 7);
    std::string text = "qreg q[" + std::to_string(n) + "];\n";
    std::vector<Word> image(std::size_t{1} << n);
    for (std::size_t x = 0; x < image.size(); ++x) image[x] = x;
    for (int count = 0; count < 40; ++count) {
      const auto a = static_cast<int>(random() % static_cast<unsigned>(n));
      const auto b = (a + 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1))) % n;
      const auto kind = random() % 3;
      text += kind == 0 ? "x" : kind == 1 ? "cx" : "swap";
      text += " q[" + std::to_string(a) + "]" + (kind == 0 ? "" : ",q[" + std::to_string(b) + "]") + ";\n";
      for (Word& x : image) {
        const Word at_a = (x >> a) & 1;
        const Word at_b = (x >> b) & 1;
        if (kind == 0) x ^= Word{1} << a;
        if (kind == 1 && at_a == 1) x ^= Word{1} << b;
        if (kind == 2 && at_a != at_b) x ^= Word{1} << a | Word{1} << b;
      }
    }
    const Affine map = parse_qasm(text);
    for (std::size_t x = 0; x < image.size(); ++x) ASSERT_EQ(map(x), image[x]) << text << "at " << x;
  }
}

// --- what exporters write

TEST(Qasm, DefinitionsAreInlined) {
  EXPECT_EQ(parse_qasm(R"(OPENQASM 2.0;
include "qelib1.inc";
gate dcx q0,q1 { cx q0,q1; cx q1,q0; }
gate rot a, b, c { barrier a, b; swap a, b; swap b, c; dcx a, c; x c; }
qreg q[4];
dcx q[0],q[2];
rot q[3],q[1],q[0];
)"),
            circuit("circuit(4; cx 0 2; cx 2 0; swap 3 1; swap 1 0; cx 3 0; cx 0 3; x 0)"));
  // With angles, that nobody uses, and before the registers.
  EXPECT_EQ(parse_qasm("gate f(theta, \xcf\x80) a { x a; }  qubit[2] q;  f(\xcf\x80/2, 1.5e-3) q;"),
            maps::reverse(2));
  // A standard gate's own definition, as files without an include have it.
  EXPECT_EQ(parse_qasm("gate x a { U(pi,0,pi) a; } gate cx c,t { CX c,t; } gate id a { U(0,0,0) a; }"
                       "qreg q[2]; x q[0]; cx q[0],q[1]; id q; u3(pi, 0, pi) q[1];"),
            circuit("circuit(2; x 0; cx 0 1; x 1)"));
  // What is defined and not used is no fault, whatever it holds.
  EXPECT_EQ(
      parse_qasm("gate h2 a, b { h a; if (a) { rz(0.5) b; } } gate g a { h2 a, a; } opaque magic(x) a, b;"
                 "qreg q[1]; x q;"),
      maps::reverse(1));
}

TEST(Qasm, SixtyFourDoublingsOfADefinitionCostNothing) {
  std::string text = "gate g0 a, b { cx a, b; cx b, a; }\n";
  for (int i = 1; i <= 64; ++i) {
    const std::string before = "g" + std::to_string(i - 1);
    text += "gate g" + std::to_string(i) + " a, b { " + before + " a, b; " + before + " a, b; }\n";
  }
  // The gate has order 3; 2^64 times is once.
  EXPECT_EQ(parse_qasm(text + "qreg q[2]; g64 q[0], q[1];"), circuit("circuit(2; cx 0 1; cx 1 0)"));
}

TEST(Qasm, Modifiers) {
  const std::string q = "qubit[4] q; gate dcx a, b { cx a, b; cx b, a; } ";
  const auto same = [&](const std::string& text, const std::string& wanted) {
    EXPECT_EQ(parse_qasm(q + text), circuit("circuit(4; " + wanted + ")")) << text;
  };
  same("ctrl @ x q[2], q[1];", "cx 2 1");
  same("ctrl(1) @ x q[0], q[3];", "cx 0 3");
  same("negctrl @ x q[0], q[3];", "x 0; cx 0 3; x 0");
  same("inv @ x q[0];", "x 0");
  same("inv @ dcx q[0], q[1];", "cx 1 0; cx 0 1");
  same("pow(2) @ dcx q[0], q[1];", "cx 0 1; cx 1 0; cx 0 1; cx 1 0");
  same("pow(-1) @ dcx q[0], q[1];", "cx 1 0; cx 0 1");
  same("inv @ pow(2) @ dcx q[0], q[1];", "cx 0 1; cx 1 0");
  same("ctrl @ pow(3) @ dcx q[3], q[0], q[1];", "id 0");
  same("ctrl @ ctrl @ pow(2) @ x q[0], q[1], q[2];", "id 0");
  same("gate xx a, b { x a; x b; } ctrl @ xx q[1], q[0], q[3];", "cx 1 0; cx 1 3");
  same("ctrl @ x q[0], q[1:3];", "cx 0 1; cx 0 2; cx 0 3");
  same("gate t(a) c, d { ctrl @ x c, d; } t(1) q[3], q[0];", "cx 3 0");
}

TEST(Qasm, SlicesAndAliases) {
  const auto same = [](const std::string& text, const std::string& wanted) {
    EXPECT_EQ(parse_qasm("qubit[5] q; qubit s; " + text), circuit("circuit(6; " + wanted + ")")) << text;
  };
  same("x q[1:3];", "x 1; x 2; x 3");
  same("x q[0:2:4];", "x 0; x 2; x 4");
  same("x q[0:3:4];", "x 0; x 3");
  same("x q[:1];", "x 0; x 1");
  same("x q[3:];", "x 3; x 4");
  same("x q[-1]; x q[-5];", "x 4; x 0");
  same("x q[-2:-1];", "x 3; x 4");
  same("cx q[3:-2:1], q[{0, 4}];", "cx 3 0; cx 1 4");
  same("cx s, q[:-4:];", "cx 5 4; cx 5 0");
  same("x q[{4, 0}];", "x 4; x 0");
  same("cx q[0:1], q[3:4];", "cx 0 3; cx 1 4");
  same("cx q[{0, 1}], q[{4, 3}];", "cx 0 4; cx 1 3");
  same("cx s, q[0:1];", "cx 5 0; cx 5 1");
  same("cx q[2:2], s;", "cx 2 5");
  same("let a = q[3:4]; x a; x a[0];", "x 4");
  same("let a = q[{4, 1}] ++ s; let b = a[1:2]; cx a[0], b;", "cx 4 1; cx 4 5");
}

TEST(Qasm, WhatIsMeasuredAtTheEndIsPassedOverAndTold) {
  const auto notes_of = [](const std::string& text, const std::string& wanted) {
    std::vector<std::string> notes;
    EXPECT_EQ(parse_qasm(text, "c.qasm", &notes), circuit(wanted)) << text;
    return notes;
  };
  using Notes = std::vector<std::string>;
  const std::string one = "circuit(2; x 0)";
  EXPECT_EQ(notes_of("qreg q[2]; creg c[2]; barrier q; x q[0];", one), Notes{});
  EXPECT_EQ(notes_of("qreg q[2]; creg c[2]; x q[0]; barrier q; measure q -> c;", one),
            Notes{"c.qasm: ignored 1 measurement and 1 barrier after the gates"});
  EXPECT_EQ(notes_of("qreg q[2]; x q[0]; barrier q; barrier q[1];", one),
            Notes{"c.qasm: ignored 2 barriers after the gates"});
  EXPECT_EQ(notes_of("gate f a { x a; barrier a; } qreg q[2]; f q[0];", one), Notes{});
  EXPECT_EQ(
      notes_of("qreg q[2]; creg c[2]; x q[0]; measure q[0] -> c[0]; barrier q; measure q[1] -> c[1];", one),
      Notes{"c.qasm: ignored 2 measurements and 1 barrier after the gates"});
  const std::string told = "c.qasm: ignored 1 measurement after the gates";
  for (const std::string text :
       {"c = measure q;", "c[0] = measure q[1];", "measure q;", "bit[2] d = measure q;",
        "bit d = measure q[0];", "c[0:1] = measure q[{1, 0}];",
        "output bit[2] r; bit[2] d = \"0_0\"; d[0] = measure q[0]; r = d; r[1] = c[0]; c = \"10\"; output "
        "bit s = c[0];"}) {
    EXPECT_EQ(notes_of("qubit[2] q; bit[2] c; x q[0]; " + text, one), Notes{told}) << text;
  }
  // Another qubit's gates may follow.
  EXPECT_EQ(notes_of("qubit[2] q; measure q[1]; x q[0];", one), Notes{told});
}

// What compilers for a device write: its qubits by number, none of them declared.
TEST(Qasm, PhysicalQubitsAreNumberedAsTheyAre) {
  const std::string head = "OPENQASM 3.0; include \"stdgates.inc\"; ";
  EXPECT_EQ(parse_qasm(head + "x $0; cx $0, $2; swap $2, $1;", "c.qasm"),
            circuit("circuit(3; x 0; cx 0 2; swap 2 1)"));
  EXPECT_EQ(parse_qasm(head + "bit[2] c; x $3; barrier $0, $1; c[0] = measure $3;", "c.qasm"),
            circuit("circuit(4; x 3)"));
  EXPECT_EQ(parse_qasm(head + "gate f a, b { cx a, b; } f $5, $0;", "c.qasm"), circuit("circuit(6; cx 5 0)"));
}

// --- what other exporters write

TEST(Qasm, IntegersInEveryBase) {
  for (const std::string sixteen : {"16", "016", "1_6", "0x10", "0X1_0", "0b1_0000", "0B10000", "0o20"}) {
    EXPECT_EQ(parse_qasm("qubit[" + sixteen + "] q; x q[10];"), maps::xor_mask(16, 0x400)) << sixteen;
    EXPECT_EQ(parse_qasm("qreg q[" + sixteen + "]; creg c[" + sixteen + "]; x q[10];"),
              maps::xor_mask(16, 0x400))
        << sixteen;
  }
  for (const std::string ten : {"0xa", "0XA", "0b1010", "1_0", "0o12", "-0x6", "0x8:0b10:0o13", "{0xa, 8}"}) {
    const Affine map = parse_qasm("qubit[16] q; x q[" + ten + "];");
    EXPECT_EQ(map(0) & 0x400U, 0x400U) << ten;
  }
  EXPECT_EQ(parse_qasm("qubit[2] q; ctrl(0x1) @ x q[0], q[1];"), circuit("circuit(2; cx 0 1)"));
  for (const std::string wrong :
       {"0x", "0b", "0b2", "0o8", "1__0", "1_", "0x_1", "0x1_", "0b1.0", "12ab", "1e1"}) {
    SCOPED_TRACE(wrong);
    const Error error = test::refusal([&] { parse_qasm("qubit[" + wrong + "] q; x q[0];"); });
    EXPECT_EQ(error.code(), ErrorCode::spec) << wrong;
    EXPECT_NE(error.report().got.find("`" + wrong + "`"), std::string::npos) << error.what();
  }
}

TEST(Qasm, NamesInEveryScript) {
  EXPECT_EQ(parse_qasm("OPENQASM 3.0; qubit[2] \u03c8; qubit \u91cf\u5b50; bit[2] \u00e9t\u00e9; "
                       "gate \u03a91 a\u03b1, \U0001d44f { cx a\u03b1, \U0001d44f; } "
                       "\u03a91 \u03c8[0], \u91cf\u5b50; \u00e9t\u00e9 = measure \u03c8;"),
            circuit("circuit(3; cx 0 2)"));
}

TEST(Qasm, OtherNamesOfTheGates) {
  EXPECT_EQ(parse_qasm("qubit[2] q; cnot q[0], q[1]; i q[0]; not q[1];"), circuit("circuit(2; cx 0 1; x 1)"));
  EXPECT_EQ(parse_qasm("qubit[2] q; gate cnot a, b { swap a, b; } cnot q[0], q[1];"), maps::bit_reversal(2));
  EXPECT_EQ(parse_qasm("qubit[2] i; qubit x; i i; x i[0]; x x;"), maps::xor_mask(3, 5));
}

TEST(Qasm, PragmasAnnotationsAndBoxes) {
  const auto read = [](const std::string& text) {
    std::vector<std::string> notes;
    EXPECT_EQ(parse_qasm(text, "c.qasm", &notes), circuit("circuit(2; x 0; cx 0 1)")) << text;
    return notes;
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(
      read("#pragma anybody's words: ; { \" \nqubit[2] q;\nx q[0];\n  pragma other.tool x\ncnot q[0], q[1];\n"
           "#pragma braket result state_vector"),
      Notes{"c.qasm: ignored 3 lines of pragmas and annotations"});
  EXPECT_EQ(read("x $0;\n#pragma braket verbatim\r\nbox{\ncnot $0, $1;\n}\n"),
            Notes{"c.qasm: ignored 1 line of pragmas and annotations"});
  EXPECT_EQ(read("qubit[2] q; box[10ns] { x q[0]; box { cx q[0], q[1]; } nop; delay[5ns] q; }"), Notes{});
  EXPECT_EQ(read("qubit[2] q; x q[0];\n@openqasm.noswap { \n@other\nctrl @ x q[0], q[1];"),
            Notes{"c.qasm: ignored 2 lines of pragmas and annotations"});
  EXPECT_EQ(read("gate f a, b {\n#pragma in a body\nx a; delay[1dt] a; cx a, b; } qubit[2] q; f q[0], q[1];"),
            Notes{"c.qasm: ignored 1 line of pragmas and annotations"});
}

TEST(Qasm, DelaysAndPhasesThatAreRounding) {
  const auto same = [](const std::string& text, const std::string& wanted) {
    EXPECT_EQ(parse_qasm("qubit[2] q; " + text), circuit("circuit(2; " + wanted + ")")) << text;
  };
  same("delay[100dt] q[0]; delay[2.5us] q; delay[1\u00b5s] q[1];", "id 0");
  same("opaque delay(param0) q0; delay(100.0) q[0]; x q[1];", "x 1");
  same("gphase(0); gphase(2*pi); gphase(-tau); gphase(1e-12);", "id 0");
  for (const std::string x :
       {"pi,0,pi", "3.141592653589793, 0, 3.141592653589793", "\xcf\x80, 0, \xcf\x80", "-pi, pi, 0",
        "pi,0,-pi", "3*pi/3, sin(0), pi*1.0", "tau/2, 2*pi, 3*pi", "pi + 1e-13, 0, pi", "2**0*pi,0,-(-pi)",
        "sqrt(4)*pi/2, 0, arccos(-1)", "3.1_4159265358979e0,0,314159265358979e-14"}) {
    same("U(" + x + ") q[0]; u(" + x + ") q[1];", "x 0; x 1");
    same("u3(" + x + ") q[0]; cu3(" + x + ") q[0], q[1];", "x 0; cx 0 1");
    same("ctrl @ U(" + x + ") q[1], q[0];", "cx 1 0");
  }
  same("U(0,0,0) q; u(0,1,-1) q; u3(4*pi,0,0) q; u1(0) q; p(2*pi) q; rz(0) q; rx(4*pi) q; u0(1) q;", "id 0");
  same("cp(0) q[0], q[1]; crz(-4*pi) q[0], q[1]; rzz(0.0) q[0], q[1]; cphase(tau) q[0], q[1];", "id 0");
  same("pow(2.0) @ x q[0]; pow(6/2) @ x q[1]; pow(-1) @ x q[0];", "x 1; x 0");
  for (const std::string phased : {"rx(pi) q[0]",      "rz(2*pi) q[0]",
                                   "U(pi,0,0) q[0]",   "U(pi,pi/2,pi/2) q[0]",
                                   "u(2*pi,0,0) q[0]", "ry(pi) q[0]",
                                   "gphase(pi)",       "p(pi) q[0]",
                                   "u1(1e-6) q[0]",    "crx(2*pi) q[0], q[1]",
                                   "u3(pi,0) q[0]",    "u(pi,0,theta) q[0]",
                                   "u2(0,pi) q[0]",    "rz(1/0) q[0]",
                                   "rz(ln(0)) q[0]",   "rz(0x) q[0]",
                                   "rz(0 0) q[0]",     "rz() q[0]",
                                   "gphase() ",        "u1(2 pi) q[0]",
                                   "u1(f(0)) q[0]",    "rz(1.2.3) q[0]"}) {
    const std::string name = phased.substr(0, phased.find('('));
    SCOPED_TRACE(phased);
    const Error error = test::refusal([&] { parse_qasm("qubit[2] q; " + phased + ";"); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << phased;
    EXPECT_NE(error.report().got.find("`" + name + "`"), std::string::npos) << error.what();
  }
  // An angle's name in a definition hides the constant.
  EXPECT_EQ(parse_qasm("gate f(t) a { p(tau) a; } qubit q; f(1) q;"), Affine(1));
  EXPECT_THROW(parse_qasm("gate f(tau) a { p(tau) a; } qubit q; f(1) q;"), Error);
  // However deep, an angle does no harm.
  EXPECT_THROW(parse_qasm("qubit q; p(" + std::string(100000, '(') + "0" + std::string(100000, ')') + ") q;"),
               Error);
  EXPECT_THROW(parse_qasm("qubit q; p(" + std::string(100000, '-') + ") q;"), Error);
}

TEST(Qasm, StatementsThatAreNoGates) {
  for (const std::string statement :
       {"if (c == 1) x q[0];", "for int i in [0:1] { x q[i]; }", "while (c[0]) { x q[0]; }",
        "def f(qubit a) { x a; }", "input float a;", "output float b;", "const int n = 2;", "reset q[0];",
        "int[8] n = 3;", "extern f(int) -> int;", "cal { }", "defcal x $0 { }", "end;", "array[int, 2] a;",
        "switch (c) { case 0 { } }"}) {
    SCOPED_TRACE(statement);
    const Error error = test::refusal([&] { parse_qasm("qubit[2] q; bit[2] c;\n" + statement, "c.qasm"); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    EXPECT_EQ(error.report().got,
              "`" + statement.substr(0, statement.find_first_of(" ;[(")) + "` at c.qasm:2");
    EXPECT_NE(error.report().remedy.find("no gate"), std::string::npos) << error.what();
  }
}

struct BadCircuit {
  const char* text;
  ErrorCode code;
  const char* got;
  const char* remedy;  // a part of it, or empty
};

TEST(Qasm, Refused) {
  const BadCircuit kCases[] = {
      {"qreg q[2];\nh q[0];", ErrorCode::unsupported, "`h` at c.qasm:2", "no affine map"},
      {"qreg q[3];\nccx q[0],q[1],q[2];", ErrorCode::unsupported, "`ccx` at c.qasm:2", "no affine map"},
      {"qreg q[1];\n\nrz(0.5) q[0];", ErrorCode::unsupported, "`rz` at c.qasm:3", "no affine map"},
      {"qreg q[2];\nswp q[0],q[1];", ErrorCode::unsupported, "`swp` at c.qasm:2", "did you mean `swap`?"},
      {"qrge q[2];", ErrorCode::unsupported, "`qrge` at c.qasm:1", "did you mean `qreg`?"},
      {"qreg q[2]; creg c[2];\nmeasure q -> c;\nx q[1];", ErrorCode::unsupported,
       "`measure` of a qubit that `x` on line 3 is on at c.qasm:2", ""},
      {"qubit[2] q; bit[2] c;\nc = measure q;\ncx q[0], q[1];", ErrorCode::unsupported,
       "`measure` of a qubit that `cx` on line 3 is on at c.qasm:2", ""},
      {"qubit[2] q; bit[2] c;\nc[0] =\nmeasure q[0]; x q;", ErrorCode::unsupported, "`measure` of a qubit",
       ""},
      {"qubit[2] q; bit[3] c;\nc = measure q;", ErrorCode::value,
       "`measure` of 2 qubits to 3 bits at c.qasm:2", ""},
      {"qubit[2] q;\nmeasure q -> q;", ErrorCode::spec, "`q` at c.qasm:2", ""},
      {"qubit[2] q; bit[2] c;\nmeasure c;", ErrorCode::spec, "the classical register `c` at c.qasm:2", ""},
      {"qubit[2] q; bit[2] c;\nc[2] = measure q[0];", ErrorCode::value, "`c` with index 2 at c.qasm:2", ""},
      {"qubit q; bit[2147483647] c;\nc[:] = measure q;", ErrorCode::value, "a slice of more than 64", ""},
      {"qreg q[2];\ndcx q[0],q[1];", ErrorCode::unsupported, "`dcx` at c.qasm:2", "cx a, b; cx b, a;"},
      {"qreg q[2];\niswap q[0],q[1];", ErrorCode::unsupported, "`iswap` at c.qasm:2", "no affine map"},
      {"qreg q[2];\necr q[0],q[1];", ErrorCode::unsupported, "`ecr` at c.qasm:2", "no affine map"},
      {"qubit[3] q;\nccnot q[0], q[1], q[2];", ErrorCode::unsupported, "`ccnot` at c.qasm:2",
       "no affine map"},
      {"qubit q;\nsi q;", ErrorCode::unsupported, "`si` at c.qasm:2", "no affine map"},
      {"qubit q;\nvi q;", ErrorCode::unsupported, "`vi` at c.qasm:2", "no affine map"},
      {"qubit q; box {\nx q;", ErrorCode::spec, "the end of the file at c.qasm:2", ""},
      {"qubit q;\n}", ErrorCode::spec, "`}` at c.qasm:2", ""},
      {"qubit q;\n#pragmas x", ErrorCode::spec, "`#pragmas x` at c.qasm:2", ""},
      {"qubit q;\n#include x", ErrorCode::spec, "`#include x` at c.qasm:2", ""},
      {"qubit q;\n#pragma braket unitary([[0, 1], [1, 0]]) q[0]\nx q;", ErrorCode::unsupported,
       "the pragma `braket unitary` at c.qasm:2", "change amplitudes"},
      {"qubit q;\n#pragma braket noise bit_flip(0.1) q[0]", ErrorCode::unsupported,
       "the pragma `braket noise` at c.qasm:2", "change amplitudes"},
      {"qubit q;\n#pragma braket verbatim box{ x q; }", ErrorCode::unsupported,
       "the pragma `braket verbatim` at c.qasm:2", ""},
      {"qubit q;\nctrl @ gphase(pi) q;", ErrorCode::unsupported, "`gphase` at c.qasm:2", ""},
      {"gate iswap a, b {\ns a; s b; }\nqreg q[2];\niswap q[0], q[1];", ErrorCode::unsupported,
       "`iswap` at c.qasm:4", "its definition has `s` at c.qasm:2; that gate is no affine map"},
      {"opaque f a;\nqreg q[2];\nf q[0];", ErrorCode::unsupported, "`f` at c.qasm:3", "no body"},
      {"qreg q[1];\nU(0.1,0,0) q[0];", ErrorCode::unsupported, "`U` at c.qasm:2", "no affine map"},
      {"qreg q[1];\nu3 q[0];", ErrorCode::unsupported, "`u3` at c.qasm:2", "no affine map"},
      {"qubit[3] q;\nctrl @ cx q[0], q[1], q[2];", ErrorCode::unsupported, "controls of `cx` at c.qasm:2",
       ""},
      {"qubit[3] q;\nctrl(2) @ x q[0], q[1], q[2];", ErrorCode::unsupported, "controls of `x` at c.qasm:2",
       ""},
      {"qubit[3] q;\nctrl @ h q[0], q[1];", ErrorCode::unsupported, "`h` at c.qasm:2", "no affine map"},
      {"qubit[3] q;\npow(1/2) @ x q[0];", ErrorCode::unsupported, "that exponent of `pow` at c.qasm:2", ""},
      {"qubit[3] q;\npow(4e9) @ x q[0];", ErrorCode::unsupported, "that exponent of `pow` at c.qasm:2", ""},
      {"gate f(a) q {\npow(a) @ x q; }\nqubit q; f(2) q;", ErrorCode::unsupported, "`f` at c.qasm:3",
       "that exponent of `pow`"},
      {"qubit[3] q;\npow @ x q[0];", ErrorCode::spec, "`@` at c.qasm:2", ""},
      {"qubit[3] q;\nctrl x q[0], q[1];", ErrorCode::spec, "`x` at c.qasm:2", ""},
      {"gate f a { x b; }", ErrorCode::spec, "`b` at c.qasm:1", ""},
      {"gate f a, a { x a; }", ErrorCode::spec, "`a` twice at c.qasm:1", ""},
      {"gate f a { cx a, a; }", ErrorCode::value, "`cx` on one qubit (number 0) twice at c.qasm:1", ""},
      {"gate f a { x a;", ErrorCode::spec, "the end of the file at c.qasm:1", ""},
      {"gate f a { h a;", ErrorCode::spec, "the end of the file at c.qasm:1", ""},
      {"gate f a { x a; }\ngate f a { x a; }", ErrorCode::spec, "`f` defined twice at c.qasm:2", ""},
      {"gate f a, b { cx a, b; } qreg q[2];\nf q[0];", ErrorCode::spec, "`;` at c.qasm:2", ""},
      {"gate f a, b { f a, b; } qreg q[2];\nf q[0], q[1];", ErrorCode::unsupported, "`f` at c.qasm:2",
       "its definition has `f` at c.qasm:1"},
      {"qubit[4] q;\nx q[1:4];", ErrorCode::value, "`q` with index 4 at c.qasm:2", ""},
      {"qubit[4] q;\nx q[2:1];", ErrorCode::value, "a slice of nothing at c.qasm:2", ""},
      {"qubit[4] q;\nx q[1:-1:2];", ErrorCode::value, "a slice of nothing at c.qasm:2", ""},
      {"qubit[4] q;\nx q[-5];", ErrorCode::value, "`q` with index -5 at c.qasm:2", ""},
      {"qubit[4] q;\nx q[0:0:3];", ErrorCode::value, "a slice with step 0 at c.qasm:2", ""},
      {"qubit[4] q;\nx q[{1, 1}];", ErrorCode::value, "one index of `q` twice at c.qasm:2", ""},
      {"qubit[4] q;\ncx q[0:1], q[1:3];", ErrorCode::value, "registers of size 2 and 3 at c.qasm:2", ""},
      {"qubit[64] q;\nlet a = q ++ q;", ErrorCode::value, "an alias of more than 64 qubits at c.qasm:2", ""},
      {"qubit[64] q;\nlet q = q;", ErrorCode::spec, "`q` declared twice at c.qasm:2", ""},
      {"qubit q; bit[2] c;\nbit d = c;", ErrorCode::value, "2 bits for 1 at c.qasm:2", ""},
      {"qubit q;\nbit[2] c = \"0\";", ErrorCode::value, "1 bits for 2 at c.qasm:2", ""},
      {"qubit q; bit c;\nc = q;", ErrorCode::spec, "`c` at c.qasm:2", ""},
      {"qubit q;\nbit c = 0;", ErrorCode::spec, "`=` at c.qasm:2", ""},
      {"qreg q[2];\nreset q;", ErrorCode::unsupported, "`reset` at c.qasm:2", ""},
      {"gate f a { x a; }", ErrorCode::spec, "no qubit at c.qasm:1", ""},
      {"qreg q[2]; creg c[2];\nif (c == 1) x q[0];", ErrorCode::unsupported, "`if` at c.qasm:2", ""},
      {"OPENQASM 1.0; qreg q[1];", ErrorCode::unsupported, "OPENQASM `1.0` at c.qasm:1", ""},
      {"OPENQASM; qreg q[1];", ErrorCode::spec, "`;` at c.qasm:1", ""},
      {"qreg q[1];\nOPENQASM 2.0;", ErrorCode::spec, "`OPENQASM` at c.qasm:2", ""},
      {"", ErrorCode::spec, "no qubit at c.qasm:1", ""},
      {"creg c[4];", ErrorCode::spec, "no qubit", ""},
      {"include qelib1;", ErrorCode::spec, "`qelib1` at c.qasm:1", ""},
      {"include \"qelib1.inc;\nqreg q[2];", ErrorCode::spec, "`\"qelib1.inc;` at c.qasm:1", ""},
      {"qreg q;", ErrorCode::spec, "`;` at c.qasm:1", ""},
      {"qreg q[];", ErrorCode::spec, "`]` at c.qasm:1", ""},
      {"qreg q[2]\nx q;", ErrorCode::spec, "`x` at c.qasm:2", ""},
      {"qreg q[0];", ErrorCode::value, "a register of size 0 at c.qasm:1", ""},
      {"qreg q[2];\nqreg q[2];", ErrorCode::spec, "`q` declared twice at c.qasm:2", ""},
      {"qreg q[2];\ncreg q[2];", ErrorCode::spec, "`q` declared twice at c.qasm:2", ""},
      {"qreg q[65];", ErrorCode::value, "`q` of size 65 after 0 qubits at c.qasm:1", ""},
      {"qreg q[64];\nqreg r[1];", ErrorCode::value, "`r` of size 1 after 64 qubits at c.qasm:2", ""},
      {"qreg q[2147483647];", ErrorCode::value, "`q` of size 2147483647", ""},
      {"qreg q[99999999999999999999];", ErrorCode::value, "`99999999999999999999` at c.qasm:1", ""},
      {"qreg q[2];\nx q[2];", ErrorCode::value, "`q` with index 2 at c.qasm:2", ""},
      {"qreg q[2];\nx q[-x];", ErrorCode::spec, "`x` at c.qasm:2", ""},
      {"qreg q[2];\nx q[0;", ErrorCode::spec, "`;` at c.qasm:2", ""},
      {"qreg q[2];\nx r[0];", ErrorCode::spec, "`r` at c.qasm:2", ""},
      {"qreg data[2];\nx dta;", ErrorCode::spec, "`dta` at c.qasm:2", "did you mean `data`?"},
      {"qreg q[2]; creg c[2];\nx c[0];", ErrorCode::spec, "the classical register `c` at c.qasm:2", ""},
      {"qreg q[2]; creg c[2];\nc[0];", ErrorCode::spec, "`c` at c.qasm:2", ""},
      {"qreg q[2];\nq[0];", ErrorCode::spec, "`q` at c.qasm:2", ""},
      {"qreg q[2];\nx q[0], q[1];", ErrorCode::spec, "`,` at c.qasm:2", ""},
      {"qreg q[2];\ncx q[0];", ErrorCode::spec, "`;` at c.qasm:2", ""},
      {"qreg q[2];\ncx q[0], q[0];", ErrorCode::value, "`cx` on one qubit (number 0) twice at c.qasm:2", ""},
      {"qreg q[2];\nswap q, q;", ErrorCode::value, "`swap` on one qubit (number 0) twice at c.qasm:2", ""},
      {"qreg q[2];\ncx q[1], q;", ErrorCode::value, "`cx` on one qubit (number 1) twice at c.qasm:2", ""},
      {"qreg q[2]; qreg r[3];\ncx q, r;", ErrorCode::value, "`cx` on registers of size 2 and 3 at c.qasm:2",
       ""},
      {"qreg q[2];\nx q", ErrorCode::spec, "the end of the file at c.qasm:2", ""},
      {"qreg q[2];\n/* x q;", ErrorCode::spec, "`/*` without `*/` at c.qasm:2", ""},
      {"qreg q[2];\n/* a\nb */ x $0;", ErrorCode::unsupported,
       "`$0` beside qubits of the other kind at c.qasm:3", ""},
      {"x $0;\nqubit[2] q;", ErrorCode::unsupported, "`q` beside qubits of the other kind at c.qasm:2", ""},
      {"x $64;", ErrorCode::value, "`$64` at c.qasm:1", ""},
      {"x $99999999999999999999;", ErrorCode::value, "at c.qasm:1", ""},
      {"x $;", ErrorCode::spec, "`$` at c.qasm:1", ""},
      {"cx $1, $1;", ErrorCode::value, "`cx` on one qubit (number 1) twice at c.qasm:1", ""},
      {"qreg q[2];\n;", ErrorCode::spec, "`;` at c.qasm:2", ""},
      {"qreg \xcf[2];", ErrorCode::spec, "`\\xcf` at c.qasm:1", ""},
      {"qreg \xc2\x80[2];", ErrorCode::spec, "`\\xc2\\x80` at c.qasm:1", ""},
      {"qreg 1\xcf\x88[2];", ErrorCode::spec, "`1` at c.qasm:1", ""},
  };
  for (const BadCircuit& bad : kCases) {
    SCOPED_TRACE(bad.text);
    const Error error = test::refusal([&] { parse_qasm(bad.text, "c.qasm"); });
    const ErrorReport& report = error.report();
    EXPECT_EQ(name(report.code), name(bad.code)) << error.what();
    EXPECT_EQ(report.operation, "read `c.qasm`");
    EXPECT_NE(report.got.find(bad.got), std::string::npos) << error.what();
    EXPECT_NE(report.remedy.find(bad.remedy), std::string::npos) << error.what();
    EXPECT_FALSE(report.wanted.empty()) << error.what();
  }
}

// A definition takes much more memory than its text: there is an end to them.
TEST(Qasm, DefinitionsAndRegistersAreCounted) {
  std::string gates = "qreg q[2];\n";
  std::string registers = "qreg q[2];\n";
  for (int i = 0; i < 20000; ++i) {
    gates += "gate g" + std::to_string(i) + " a {}\n";
    registers += "bit c" + std::to_string(i) + ";\n";
  }
  for (const auto& [text, got] : {std::pair(gates, "more than 16384 gate definitions"),
                                  std::pair(registers, "more than 16384 registers")}) {
    SCOPED_TRACE(got);
    const Error error = test::refusal([&text = text] { parse_qasm(text, "c.qasm"); });
    EXPECT_EQ(error.code(), ErrorCode::value);
    EXPECT_NE(error.report().got.find(got), std::string::npos) << error.what();
  }
}

}  // namespace permutation_qasm_test
}  // namespace faro
