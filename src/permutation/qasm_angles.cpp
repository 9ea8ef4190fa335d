// The angles of OpenQASM, and the gates with angles that are a flip or nothing at all for some of them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "permutation/qasm_registers.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

// Exporters write angles in 15 digits or more; an angle that differs from another by less is meant to be it.
constexpr double kAngleRounding = 1e-9;

// Deeper nesting than anybody writes, and far from the end of the stack.
constexpr int kDeepestAngle = 64;

struct NamedAngle {
  std::string_view name;
  double value;
};
constexpr std::array kNamedAngles{
    NamedAngle{"pi", std::numbers::pi},      NamedAngle{"\xcf\x80", std::numbers::pi},
    NamedAngle{"tau", 2 * std::numbers::pi}, NamedAngle{"\xcf\x84", 2 * std::numbers::pi},
    NamedAngle{"euler", std::numbers::e},    NamedAngle{"\xe2\x84\x87", std::numbers::e},
};

struct AngleFunction {
  std::string_view name;
  double (*apply)(double);
};
constexpr std::array kAngleFunctions{
    AngleFunction{"sin", [](double x) { return std::sin(x); }},
    AngleFunction{"cos", [](double x) { return std::cos(x); }},
    AngleFunction{"tan", [](double x) { return std::tan(x); }},
    AngleFunction{"exp", [](double x) { return std::exp(x); }},
    AngleFunction{"ln", [](double x) { return std::log(x); }},
    AngleFunction{"log", [](double x) { return std::log(x); }},
    AngleFunction{"sqrt", [](double x) { return std::sqrt(x); }},
    AngleFunction{"arcsin", [](double x) { return std::asin(x); }},
    AngleFunction{"arccos", [](double x) { return std::acos(x); }},
    AngleFunction{"arctan", [](double x) { return std::atan(x); }},
};

// Expressions without blanks. What cannot be read makes `failed_`, and any value.
class AngleReader {
 public:
  AngleReader(std::string_view text, const std::vector<std::string>& parameters)
      : rest_(text), parameters_(parameters) {}

  std::optional<std::vector<double>> list() {
    std::vector<double> angles;
    do {
      angles.push_back(sum());
      if (!std::isfinite(angles.back())) failed_ = true;
    } while (!failed_ && take(","));
    if (failed_ || !rest_.empty()) return std::nullopt;
    return angles;
  }

 private:
  bool take(std::string_view sign) {
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }

  double fail() {
    failed_ = true;
    return 0;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    while (!failed_) {
      if (take("*")) {
        value *= factor();
      } else if (take("/")) {
        value /= factor();
      } else if (take("%")) {
        value = std::fmod(value, factor());
      } else {
        break;
      }
    }
    return value;
  }

  // -x ** y is -(x ** y). `^` is the power of OpenQASM 2.
  double factor() {
    bool is_negative = false;
    while (rest_.starts_with("-") || rest_.starts_with("+")) {
      is_negative ^= rest_.starts_with("-");
      rest_.remove_prefix(1);
    }
    if (++depth_ > kDeepestAngle) return fail();
    double value = operand();
    if (take("**") || take("^")) value = std::pow(value, factor());
    --depth_;
    return is_negative ? -value : value;
  }

  double operand() {
    if (failed_ || rest_.empty()) return fail();
    if (take("(")) return closed();
    if (is_digit(rest_[0]) || rest_[0] == '.') return number();
    const std::string_view name = rest_.substr(0, word_length(rest_));
    rest_.remove_prefix(name.size());
    const auto is_it = [&](const auto& known) { return known.name == name; };
    if (name.empty() || std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end())
      return fail();
    if (take("(")) {
      const auto* const function = std::find_if(kAngleFunctions.begin(), kAngleFunctions.end(), is_it);
      return function == kAngleFunctions.end() ? fail() : function->apply(closed());
    }
    const auto* const named = std::find_if(kNamedAngles.begin(), kNamedAngles.end(), is_it);
    return named == kNamedAngles.end() ? fail() : named->value;
  }

  double closed() {
    const double value = sum();
    return take(")") ? value : fail();
  }

  double number() {
    std::string digits;
    bool in_exponent = false;
    while (!rest_.empty()) {
      const char c = rest_[0];
      const bool is_sign = in_exponent && (c == '-' || c == '+');
      if (!is_digit(c) && c != '.' && c != '_' && c != 'e' && c != 'E' && !is_sign) break;
      in_exponent = c == 'e' || c == 'E';
      if (c != '_') digits += c;
      rest_.remove_prefix(1);
    }
    double value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return fault == std::errc{} && end == digits.data() + digits.size() ? value : fail();
  }

  std::string_view rest_;
  const std::vector<std::string>& parameters_;
  int depth_ = 0;
  bool failed_ = false;
};

bool is_whole_turns(double angle, double turn) {
  return std::abs(std::remainder(angle, turn)) <= kAngleRounding;
}

// What a gate does by its angles.
enum class AngleRule : std::uint8_t {
  turn,   // U(theta, phi, lambda)
  phase,  // nothing after whole turns
  half,   // nothing after whole double turns: it is a turn by half the angle
  idle,   // nothing, whatever the angle
};
struct AngleGate {
  std::string_view name;
  AngleRule rule;
  std::size_t angles = 1;
  int qubits = 1;  // where there are two, the first one is a control, or both are rotated
};
constexpr std::array kAngleGates{
    AngleGate{"U", AngleRule::turn, 3},       AngleGate{"u", AngleRule::turn, 3},
    AngleGate{"u3", AngleRule::turn, 3},      AngleGate{"cu3", AngleRule::turn, 3, 2},
    AngleGate{"p", AngleRule::phase},         AngleGate{"phase", AngleRule::phase},
    AngleGate{"u1", AngleRule::phase},        AngleGate{"phaseshift", AngleRule::phase},
    AngleGate{"cp", AngleRule::phase, 1, 2},  AngleGate{"cphase", AngleRule::phase, 1, 2},
    AngleGate{"cu1", AngleRule::phase, 1, 2}, AngleGate{"cphaseshift", AngleRule::phase, 1, 2},
    AngleGate{"rx", AngleRule::half},         AngleGate{"ry", AngleRule::half},
    AngleGate{"rz", AngleRule::half},         AngleGate{"crx", AngleRule::half, 1, 2},
    AngleGate{"cry", AngleRule::half, 1, 2},  AngleGate{"crz", AngleRule::half, 1, 2},
    AngleGate{"rxx", AngleRule::half, 1, 2},  AngleGate{"ryy", AngleRule::half, 1, 2},
    AngleGate{"rzz", AngleRule::half, 1, 2},  AngleGate{"u0", AngleRule::idle},
};

const AngleGate* find_angle_gate(std::string_view name) {
  const auto* const found = std::find_if(kAngleGates.begin(), kAngleGates.end(),
                                         [name](const AngleGate& gate) { return gate.name == name; });
  return found == kAngleGates.end() ? nullptr : found;
}

// U(theta, phi, lambda) = [c, -e^(i lambda) s; e^(i phi) s, e^(i (phi + lambda)) c] with c, s of theta / 2:
// x where it is [0, 1; 1, 0], id where it is [1, 0; 0, 1].
std::optional<Affine> turn_of(const std::vector<double>& angles) {
  using Complex = std::complex<double>;
  const double c = std::cos(angles[0] / 2);
  const double s = std::sin(angles[0] / 2);
  const std::array<Complex, 4> made{c, -std::polar(1.0, angles[2]) * s, std::polar(1.0, angles[1]) * s,
                                    std::polar(1.0, angles[1] + angles[2]) * c};
  const auto is_near = [&](const std::array<double, 4>& wanted) {
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (std::abs(made[i] - wanted[i]) > kAngleRounding) return false;
    }
    return true;
  };
  if (is_near({0, 1, 1, 0})) return Affine(f2::Matrix::identity(1), f2::unit(0));
  if (is_near({1, 0, 0, 1})) return Affine(1);
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<double>> angles_of(std::string_view text,
                                             const std::vector<std::string>& parameters) {
  return AngleReader(text, parameters).list();
}

bool is_no_phase(double angle) { return is_whole_turns(angle, 2 * std::numbers::pi); }

bool takes_angles(std::string_view name) { return find_angle_gate(name) != nullptr; }

std::optional<Affine> gate_of_angles(std::string_view name, const std::vector<double>& angles) {
  const AngleGate* const gate = find_angle_gate(name);
  if (gate == nullptr || angles.size() != gate->angles) return std::nullopt;
  bool is_nothing = gate->rule == AngleRule::idle;
  switch (gate->rule) {
    case AngleRule::turn: {
      const auto turn = turn_of(angles);
      if (!turn || gate->qubits == 1) return turn;
      return modified(*turn, {QasmModifier{.kind = QasmModifier::Kind::control}});
    }
    case AngleRule::phase:
      is_nothing = is_no_phase(angles[0]);
      break;
    case AngleRule::half:
      is_nothing = is_whole_turns(angles[0], 4 * std::numbers::pi);
      break;
    case AngleRule::idle:
      break;
  }
  if (!is_nothing) return std::nullopt;
  return Affine(gate->qubits);
}

}  // namespace faro::detail
