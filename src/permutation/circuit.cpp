#include "circuit.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "parser.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

using f2::Word;

Word with_cx(Word x, int control, int target) { return x ^ (f2::bit(x, control) ? f2::unit(target) : 0); }

Word with_swap(Word x, int a, int b) {
  return f2::bit(x, a) == f2::bit(x, b) ? x : x ^ f2::unit(a) ^ f2::unit(b);
}

constexpr std::array kGates{
    GateRule{"x", 1, [](Circuit& circuit, int a, int) { circuit.x(a); }},
    GateRule{"cx", 2, [](Circuit& circuit, int a, int b) { circuit.cx(a, b); }},
    GateRule{"swap", 2, [](Circuit& circuit, int a, int b) { circuit.swap(a, b); }},
    GateRule{"id", 1, [](Circuit&, int, int) {}},
};

// Other names that people and Amazon Braket know them by.
struct Alias {
  std::string_view name;
  std::string_view gate;
};
constexpr std::array kAliases{Alias{"not", "x"}, Alias{"cnot", "cx"}, Alias{"i", "id"}};

// Standard gates that are no affine maps: a near name would be a wrong guess.
constexpr std::string_view kOtherGates =
    " y z h s t p u sdg tdg sx rx ry rz cz cy ch cp cu ccx ccz cswap u1 u2 u3 crx cry crz cu1 toffoli"
    " fredkin U iswap ecr rxx ryy rzz rzx sxdg csx cs csdg cu3 c3x c4x mcx rccx r rcccx u0 phase"
    " xx_plus_yy xx_minus_yy sqrt_iswap gphase c3sqrtx cphase iswapdg ccnot v vi si ti cv xy xx yy zz"
    " ZZ pswap phaseshift cphaseshift cphaseshift00 cphaseshift01 cphaseshift10 prx gpi gpi2 ms"
    " unitary ";

void read_gate(SpecReader& reader, Circuit& circuit, int n) {
  const std::string place = reader.here();
  const std::string_view name = reader.word("a gate");
  const GateRule* const gate = find_gate(name);
  if (gate == nullptr) {
    reader.fail(ErrorCode::spec, "unknown gate " + place, "x, cx, swap or id", suggest_gate(name));
  }
  std::array<int, 2> qubit{};
  for (int i = 0; i < gate->qubits; ++i) {
    const std::string number = reader.here();
    const std::uint64_t k = reader.number("a qubit of gate " + in_quotes(name));
    if (k >= static_cast<std::uint64_t>(n)) {
      reader.fail(ErrorCode::value, "qubit " + number,
                  n == 0 ? "no gate, since n = 0" : "a qubit in 0.." + std::to_string(n - 1));
    }
    qubit[static_cast<std::size_t>(i)] = static_cast<int>(k);
  }
  if (gate->qubits == 2 && qubit[0] == qubit[1]) {
    reader.fail(ErrorCode::value, "gate " + place + " on qubit " + std::to_string(qubit[0]) + " twice",
                "two different qubits");
  }
  gate->apply(circuit, qubit[0], qubit[1]);
}

}  // namespace

void Circuit::cx(int control, int target) {
  for (int j = 0; j < matrix_.columns(); ++j) {
    matrix_.set_column(j, with_cx(matrix_.column(j), control, target));
  }
  complement_ = with_cx(complement_, control, target);
}

void Circuit::swap(int a, int b) {
  for (int j = 0; j < matrix_.columns(); ++j) matrix_.set_column(j, with_swap(matrix_.column(j), a, b));
  complement_ = with_swap(complement_, a, b);
}

void Circuit::apply(const Affine& gate, std::span<const std::uint8_t> on) {
  Word places = 0;
  for (const std::uint8_t qubit : on) places |= f2::unit(qubit);
  const auto moved = [&](Word x) {
    Word local = 0;
    for (std::size_t i = 0; i < on.size(); ++i) local |= Word{f2::bit(x, on[i])} << i;
    const Word image = gate.matrix() * local;
    Word result = x & ~places;
    for (std::size_t i = 0; i < on.size(); ++i) {
      if (f2::bit(image, static_cast<int>(i))) result |= f2::unit(on[i]);
    }
    return result;
  };
  for (int j = 0; j < matrix_.columns(); ++j) matrix_.set_column(j, moved(matrix_.column(j)));
  complement_ = moved(complement_);
  for (std::size_t i = 0; i < on.size(); ++i) {
    if (f2::bit(gate.complement(), static_cast<int>(i))) complement_ ^= f2::unit(on[i]);
  }
}

Affine Circuit::map(int n) const {
  const f2::Matrix low = matrix_.block(0, 0, n, n);
  FARO_CHECK(direct_sum(low, f2::Matrix::identity(f2::kMaxDimension - n)) == matrix_);
  return Affine(low, complement_);
}

const GateRule* find_gate(std::string_view name) {
  if (name == "CX") name = "cx";
  const auto* const found =
      std::find_if(kGates.begin(), kGates.end(), [name](const GateRule& gate) { return gate.name == name; });
  return found == kGates.end() ? nullptr : found;
}

const GateRule* find_gate_by_any_name(std::string_view name) {
  const auto* const alias = std::find_if(kAliases.begin(), kAliases.end(),
                                         [name](const Alias& known) { return known.name == name; });
  return find_gate(alias == kAliases.end() ? name : alias->gate);
}

std::string suggest_gate(std::string_view misspelt) {
  for (const Alias& alias : kAliases) {
    if (alias.name == misspelt) return "did you mean `" + std::string(alias.gate) + "`?";
  }
  if (kOtherGates.find(" " + std::string(misspelt) + " ") != std::string_view::npos) {
    return "that gate is no affine map: it does more than exchange, flip and add (XOR) bits of the index";
  }
  std::vector<std::string_view> names;
  names.reserve(kGates.size());
  for (const GateRule& gate : kGates) names.push_back(gate.name);
  return did_you_mean(misspelt, names);
}

Affine read_circuit(SpecReader& reader) {
  // A gate in the place of n: the array at hand fixes n.
  const std::optional<int> at_hand = reader.bits_at_hand();
  const bool begins = at_hand && !reader.at_digit() && !reader.at('-');
  const int n = begins ? *at_hand : reader.bits();
  Circuit circuit;
  if (begins && !reader.at(')') && !reader.at(';')) read_gate(reader, circuit, n);
  while (reader.take(';')) {
    // Gates end with `;` or are separated by it, as the writer likes.
    if (!reader.at(')') && !reader.at(';')) read_gate(reader, circuit, n);
  }
  return circuit.map(n);
}

}  // namespace faro::detail
