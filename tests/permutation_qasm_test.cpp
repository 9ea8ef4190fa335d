// OpenQASM: what is read, against the same gates in the text grammar and a simulation; what is refused, and
// where.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/qasm.hpp"

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
  for (const char* version :
       {"", "OPENQASM 2;", "OPENQASM 2.0;", "OPENQASM 3;", "OPENQASM 3.0;", "OPENQASM 3.1 ;"}) {
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
      {"qreg q[2];\ncnot q[0],q[1];", ErrorCode::unsupported, "`cnot` at c.qasm:2", "did you mean `cx`?"},
      {"qrge q[2];", ErrorCode::unsupported, "`qrge` at c.qasm:1", "did you mean `qreg`?"},
      {"qreg q[2]; creg c[2];\nmeasure q -> c;", ErrorCode::unsupported, "`measure` at c.qasm:2", ""},
      {"qubit[2] q; bit[2] c;\nc = measure q;", ErrorCode::unsupported, "`measure` at c.qasm:2", ""},
      {"qubit[2] q; bit[2] c;\nc[0] =\nmeasure q[0];", ErrorCode::unsupported, "`measure` at c.qasm:3", ""},
      {"qubit[2] q;\nbit[2] c = measure q;", ErrorCode::unsupported, "`measure` at c.qasm:2", ""},
      {"qubit q;\nbit c = 0;", ErrorCode::spec, "`=` at c.qasm:2", ""},
      {"qreg q[2];\nreset q;", ErrorCode::unsupported, "`reset` at c.qasm:2", ""},
      {"gate f a { x a; }", ErrorCode::unsupported, "`gate` at c.qasm:1", ""},
      {"qreg q[2]; creg c[2];\nif (c == 1) x q[0];", ErrorCode::unsupported, "`if` at c.qasm:2", ""},
      {"qubit[2] q;\nctrl @ x q[0], q[1];", ErrorCode::unsupported, "`ctrl` at c.qasm:2", ""},
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
      {"qreg q[2];\nx q[-1];", ErrorCode::spec, "`-` at c.qasm:2", ""},
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
      {"qreg q[2];\n/* a\nb */ x $0;", ErrorCode::spec, "`$` at c.qasm:3", ""},
      {"qreg q[2];\n;", ErrorCode::spec, "`;` at c.qasm:2", ""},
      {"qreg \xcf\x88[2];", ErrorCode::spec, "`\xcf\x88` at c.qasm:1", ""},
  };
  for (const BadCircuit& bad : kCases) {
    SCOPED_TRACE(bad.text);
    try {
      const Affine map = parse_qasm(bad.text, "c.qasm");
      ADD_FAILURE() << "read as " << to_text(map);
    } catch (const Error& error) {
      const ErrorReport& report = error.report();
      EXPECT_EQ(name(report.code), name(bad.code)) << error.what();
      EXPECT_EQ(report.operation, "read `c.qasm`");
      EXPECT_NE(report.got.find(bad.got), std::string::npos) << error.what();
      EXPECT_NE(report.remedy.find(bad.remedy), std::string::npos) << error.what();
      EXPECT_FALSE(report.wanted.empty()) << error.what();
    }
  }
}

}  // namespace permutation_qasm_test
}  // namespace faro
