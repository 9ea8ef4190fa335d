#include <algorithm>
#include <array>

#include "circuit.hpp"
#include "permutation/qasm_registers.hpp"
#include "suggest.hpp"

namespace faro::detail {
namespace {

Affine flip_of_one(int n) { return {f2::Matrix::identity(n), f2::unit(0)}; }

// The control is bit 0, the gate's bits follow. Only flips stay affine: A x ^ c where the control is set is
// x ^ (A + I) x ^ c with a product in it, unless A = I.
std::optional<Affine> controlled(const Affine& gate, bool negative) {
  const int n = gate.bits();
  if (n >= f2::kMaxDimension || !(gate.matrix() == f2::Matrix::identity(n))) return std::nullopt;
  f2::Matrix matrix = f2::Matrix::identity(n + 1);
  matrix.set_column(0, f2::unit(0) | gate.complement() << 1);
  const Affine control(matrix, 0);
  if (!negative) return control;
  const Affine flip = flip_of_one(n + 1);
  return compose(flip, compose(control, flip));
}

std::optional<Affine> controlled(const Affine& gate, bool negative, int count) {
  std::optional<Affine> result = gate;
  for (int i = 0; i < count && result; ++i) result = controlled(*result, negative);
  return result;
}

}  // namespace

std::optional<Affine> modified(const Affine& gate, const std::vector<QasmModifier>& modifiers) {
  std::optional<Affine> result = gate;
  for (auto modifier = modifiers.rbegin(); modifier != modifiers.rend() && result; ++modifier) {
    switch (modifier->kind) {
      case QasmModifier::Kind::control:
      case QasmModifier::Kind::negative_control:
        result = controlled(*result, modifier->kind == QasmModifier::Kind::negative_control, modifier->count);
        break;
      case QasmModifier::Kind::inverse:
        result = result->inverse();
        break;
      case QasmModifier::Kind::power:
        result = result->power(modifier->count);
        break;
    }
  }
  return result;
}

std::optional<Affine> gate_of_angles(std::string_view name, std::string_view parameters) {
  constexpr std::array<std::string_view, 3> kNames{"U", "u", "u3"};
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return std::nullopt;
  if (parameters == "pi,0,pi" || parameters == "\xcf\x80,0,\xcf\x80") return flip_of_one(1);
  if (parameters == "0,0,0") return Affine(1);
  return std::nullopt;
}

std::string suggest_qasm_gate(std::string_view misspelt) {
  constexpr std::array<std::string_view, 10> kStatements{"include", "qreg",    "creg", "qubit", "bit",
                                                         "barrier", "measure", "gate", "let",   "opaque"};
  if (misspelt == "dcx") return "dcx a, b is `cx a, b; cx b, a;`";
  std::string remedy = suggest_gate(misspelt);
  return remedy.empty() ? did_you_mean(misspelt, kStatements) : remedy;
}

}  // namespace faro::detail
