#include "permutation/qasm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "circuit.hpp"
#include "permutation/qasm_registers.hpp"
#include "qasm_registers.hpp"
#include "text.hpp"

namespace faro {
namespace detail {
namespace {

// Far more than the standard libraries define; each takes much more memory than its text.
constexpr std::size_t kMostGates = 1 << 14;

constexpr std::string_view kKnownGates = "x, cx, swap, id, barrier, or a gate that is defined by these";

class QasmReader {
 public:
  QasmReader(std::string_view text, std::string_view file_name)
      : file_(file_name), cursor_(text, file_name) {}

  Affine circuit(std::vector<std::string>* notes) {
    if (cursor_.token().is_word("OPENQASM")) version();
    while (!cursor_.at_end()) statement();
    if (open_boxes_ > 0) cursor_.fail(ErrorCode::spec, shown(cursor_.token()), "`}`");
    if (registers_.qubits() == 0)
      cursor_.fail(ErrorCode::spec, "no qubit", "a declaration such as `qreg q[4];`");
    if (notes != nullptr) tell(*notes);
    return circuit_.map(registers_.qubits());
  }

 private:
  // A gate with its modifiers, as it is called.
  struct GateCall {
    QasmToken name;
    std::vector<QasmModifier> modifiers;
    std::vector<double> angles;  // none where they are no numbers
  };

  void statement() {
    const QasmToken keyword = cursor_.token();
    const std::string_view name = keyword.text;
    if (directive()) return;
    if (open_boxes_ > 0 && cursor_.take('}')) return static_cast<void>(--open_boxes_);
    if (keyword.kind != QasmToken::Kind::word)
      cursor_.fail(ErrorCode::spec, shown(keyword), "a declaration or a gate");
    const QasmRegister* const declared = registers_.find(name);
    if (is_gate() && (declared == nullptr || !declared->is_classical)) return gate();
    if (declared != nullptr) return use_of(keyword);
    if (passed_over()) return;
    cursor_.advance();
    if (name == "OPENQASM")
      cursor_.fail_at(keyword, ErrorCode::spec, "`OPENQASM`", "the version only at the start");
    if (name == "include") return include();
    if (name == "measure") return measure(keyword, std::nullopt);
    if (name == "bit" || (name == "output" && take_word("bit"))) return classical_bits();
    if (name == "gate") return definition();
    if (name == "box") return box();
    if (name == "qreg" || name == "creg") {
      registers_.declare_2(name == "creg");
    } else if (name == "qubit") {
      registers_.declare_3(false);
    } else if (name == "let") {
      registers_.alias();
    } else if (name == "opaque") {
      opaque();
    } else {
      fail_gate(keyword);
    }
    cursor_.sign(';');
  }

  void version() {
    cursor_.advance();
    constexpr std::array<std::string_view, 5> kVersions{"2", "2.0", "3", "3.0", "3.1"};
    const QasmToken& given = cursor_.token();
    if (given.kind != QasmToken::Kind::number)
      cursor_.fail(ErrorCode::spec, shown(given), "a version such as 2.0");
    if (std::find(kVersions.begin(), kVersions.end(), given.text) == kVersions.end())
      cursor_.fail(ErrorCode::unsupported, "OPENQASM " + shown(given), "version 2.0 or 3.0");
    cursor_.advance();
    cursor_.sign(';');
  }

  // The files that are included define the standard gates, which are known here.
  void include() {
    if (cursor_.token().kind != QasmToken::Kind::text)
      cursor_.fail(ErrorCode::spec, shown(cursor_.token()), "a file's name in quotes");
    cursor_.advance();
    cursor_.sign(';');
  }

  // --- what changes no amplitude, in the circuit and in definitions

  // barrier q;  delay[100ns] q;  delay(100) q;  nop;  gphase(0);
  bool passed_over() {
    const QasmToken keyword = cursor_.token();
    const auto is = [&](std::string_view name) { return keyword.is_word(name); };
    if (!is("barrier") && !is("delay") && !is("nop") && !is("gphase")) return false;
    cursor_.advance();
    if (is("gphase")) {
      const auto phase = cursor_.at('(') ? angles() : std::vector<double>{};
      if (phase.size() != 1 || !is_no_phase(phase[0])) {
        cursor_.fail_at(keyword, ErrorCode::unsupported, "`gphase`", "no global phase, or whole turns",
                        "every amplitude would change");
      }
    } else {
      if (is("delay") && cursor_.at('[')) static_cast<void>(cursor_.bracketed('[', ']'));
      if (is("delay") && cursor_.at('(')) static_cast<void>(cursor_.bracketed('(', ')'));
      // OpenQASM 3 lets a barrier stand alone, on all qubits.
      if (!cursor_.at(';')) {
        do {
          operand();
        } while (cursor_.take(','));
      }
      if (is("barrier") && arguments_ == nullptr) ++trailing_barriers_;
    }
    cursor_.sign(';');
    return true;
  }

  // #pragma ...  pragma ...  @annotation ...: each a line of its own, made by and for other programs.
  bool directive() {
    const QasmToken at = cursor_.token();
    if (!at.is_sign('#') && !at.is_sign('@') && !at.is_word("pragma")) return false;
    std::string_view line = cursor_.rest_of_line();
    if (at.is_sign('#')) {
      if (line.substr(0, word_length(line)) != "pragma")
        cursor_.fail_at(at, ErrorCode::spec, in_quotes("#" + std::string(line), 40), "`#pragma`");
      line.remove_prefix(std::string_view("pragma").size());
    }
    if (!at.is_sign('@')) check_pragma(at, line);
    ++directives_;
    return true;
  }

  // Whoever does not know a pragma may ignore it, but some of Braket's are gates and noise.
  void check_pragma(const QasmToken& at, std::string_view line) const {
    std::vector<std::string_view> words;
    while (!(line = line.substr(count_while(line, is_space))).empty() && words.size() < 3) {
      words.push_back(line.substr(0, count_while(line, [](char c) { return !is_space(c); })));
      line.remove_prefix(words.back().size());
    }
    if (words.empty() || words[0] != "braket") return;
    if (words.size() == 2 && words[1] == "verbatim") return;
    if (words.size() == 3 && words[1] == "result") return;
    const std::string_view what = words.size() > 1 ? words[1] : std::string_view();
    cursor_.fail_at(at, ErrorCode::unsupported,
                    "the pragma " + in_quotes("braket " + std::string(what.substr(0, what.find('('))), 40),
                    "`braket verbatim` and `braket result` alone", "the others change amplitudes");
  }

  // box {  box[100ns] {: its gates are gates of the circuit.
  void box() {
    if (cursor_.at('[')) static_cast<void>(cursor_.bracketed('[', ']'));
    cursor_.sign('{');
    ++open_boxes_;
  }

  // --- calls of gates

  static std::optional<QasmModifier::Kind> modifier_of(const QasmToken& token) {
    if (token.is_word("ctrl")) return QasmModifier::Kind::control;
    if (token.is_word("negctrl")) return QasmModifier::Kind::negative_control;
    if (token.is_word("inv")) return QasmModifier::Kind::inverse;
    if (token.is_word("pow")) return QasmModifier::Kind::power;
    return std::nullopt;
  }

  bool is_gate() const {
    const std::string_view name = cursor_.token().text;
    return modifier_of(cursor_.token()) || gates_.contains(name) || find_gate_by_any_name(name) != nullptr ||
           takes_angles(name);
  }

  GateCall gate_call() {
    GateCall call;
    while (modifier_of(cursor_.token())) call.modifiers.push_back(modifier());
    call.name = cursor_.word("a gate");
    const bool has_angles = gates_.contains(call.name.text) || takes_angles(call.name.text);
    if (has_angles && cursor_.at('(')) call.angles = angles();
    return call;
  }

  std::vector<double> angles() {
    return angles_of(cursor_.bracketed('(', ')'), parameters_).value_or(std::vector<double>{});
  }

  // ctrl @  ctrl(2) @  pow(-1) @
  QasmModifier modifier() {
    QasmModifier made{.kind = *modifier_of(cursor_.token())};
    cursor_.advance();
    if (made.kind == QasmModifier::Kind::power) {
      made.count = exponent();
    } else if (made.kind != QasmModifier::Kind::inverse && cursor_.take('(')) {
      made.count = cursor_.number("a number of controls");
      cursor_.sign(')');
    }
    cursor_.sign('@');
    return made;
  }

  // (2)  (-1)  (2.0)
  int exponent() {
    const QasmToken at = cursor_.token();
    if (!cursor_.at('(')) cursor_.fail(ErrorCode::spec, shown(at), "`(` and a whole exponent");
    const std::vector<double> given = angles();
    constexpr double kMost = std::numeric_limits<int>::max();
    if (given.size() != 1 || std::trunc(given[0]) != given[0] || std::abs(given[0]) > kMost)
      cursor_.fail_at(at, ErrorCode::unsupported, "that exponent of `pow`", "a whole number below 2^31");
    return static_cast<int>(given[0]);
  }

  // Its map, or a refusal by name.
  Affine map_of(const GateCall& call) const {
    std::optional<Affine> map;
    if (const auto defined = gates_.find(call.name.text); defined != gates_.end()) {
      map = defined->second.map;
      if (!map)
        cursor_.fail_at(call.name, ErrorCode::unsupported, in_quotes(call.name.text, 40),
                        "a gate that is defined by x, cx, swap and id",
                        "its definition has " + defined->second.trouble);
    } else if (const GateRule* const rule = find_gate_by_any_name(call.name.text)) {
      Circuit single;
      rule->apply(single, 0, 1);
      map = single.map(rule->qubits);
    } else {
      map = gate_of_angles(call.name.text, call.angles);
    }
    if (!map) fail_gate(call.name);
    const std::optional<Affine> result = modified(*map, call.modifiers);
    if (!result) {
      cursor_.fail_at(call.name, ErrorCode::unsupported, "controls of " + in_quotes(call.name.text, 40),
                      "a control of x, which is cx", "other controls make no affine map of the index");
    }
    return *result;
  }

  void gate() {
    const GateCall call = gate_call();
    // Most gates of most files are these, and need no map of their own.
    const GateRule* const rule = call.modifiers.empty() && !gates_.contains(call.name.text)
                                     ? find_gate_by_any_name(call.name.text)
                                     : nullptr;
    const Affine map = rule == nullptr ? map_of(call) : Affine(rule->qubits);
    std::vector<QasmOperand> on;
    for (int i = 0; i < map.bits(); ++i) {
      if (i > 0 && !cursor_.take(',')) {
        cursor_.fail(ErrorCode::spec, shown(cursor_.token()),
                     "`,` and the " +
                         (map.bits() == 2 ? std::string("second qubit")
                                          : "next of " + std::to_string(map.bits()) + " qubits") +
                         " of " + in_quotes(call.name.text, 40));
      }
      on.push_back(operand());
    }
    cursor_.sign(';');
    if (arguments_ == nullptr) trailing_barriers_ = 0;
    std::vector<std::uint8_t> qubits(on.size());
    const int times = repetitions(call.name, on);
    for (int t = 0; t < times; ++t) {
      for (std::size_t i = 0; i < on.size(); ++i) qubits[i] = static_cast<std::uint8_t>(on[i].qubit(t));
      check_qubits(call.name, qubits);
      if (rule == nullptr) {
        target_->apply(map, qubits);
      } else {
        rule->apply(*target_, qubits.front(), qubits.back());
      }
    }
  }

  // One for single qubits, else the size of the registers.
  int repetitions(const QasmToken& name, const std::vector<QasmOperand>& on) const {
    int times = 1;
    bool met_register = false;
    for (const QasmOperand& operand : on) {
      if (!operand.is_register) continue;
      if (met_register && operand.size != times) {
        cursor_.fail_at(name, ErrorCode::value,
                        in_quotes(name.text, 40) + " on registers of size " + std::to_string(times) +
                            " and " + std::to_string(operand.size),
                        "registers of one size");
      }
      met_register = true;
      times = operand.size;
    }
    return times;
  }

  void check_qubits(const QasmToken& name, const std::vector<std::uint8_t>& qubits) const {
    f2::Word seen = 0;
    for (const std::uint8_t qubit : qubits) {
      if (f2::bit(seen, qubit)) {
        cursor_.fail_at(
            name, ErrorCode::value,
            in_quotes(name.text, 40) + " on one qubit (number " + std::to_string(qubit) + ") twice",
            "two different qubits");
      }
      seen |= f2::unit(qubit);
      if (arguments_ == nullptr && f2::bit(measured_, qubit)) {
        cursor_.fail_at(measured_at_[qubit], ErrorCode::unsupported,
                        "`measure` of a qubit that " + in_quotes(name.text, 40) + " on line " +
                            std::to_string(name.line) + " is on",
                        "measurements after all gates of their qubits");
      }
    }
  }

  QasmOperand operand() {
    if (arguments_ == nullptr) return registers_.operand();
    const auto found = arguments_->find(cursor_.token().text);
    if (found == arguments_->end())
      cursor_.fail(ErrorCode::spec, shown(cursor_.token()), "one of the definition's own qubits");
    cursor_.advance();
    QasmOperand chosen;
    chosen.add(found->second);
    return chosen;
  }

  [[noreturn]] void fail_gate(const QasmToken& name) const {
    cursor_.fail_at(name, ErrorCode::unsupported, in_quotes(name.text, 40), std::string(kKnownGates),
                    suggest_qasm_gate(name.text));
  }

  // --- definitions

  // gate f(theta) a, b { cx a, b; }
  void definition() {
    const QasmToken name = cursor_.word("a gate's name");
    QasmGate made;
    const std::map<std::string_view, int> arguments = arguments_of(made);
    if (!cursor_.at('{')) cursor_.fail(ErrorCode::spec, shown(cursor_.token()), "`{`");
    const QasmCursor begin = cursor_;
    Circuit circuit;
    target_ = &circuit;
    arguments_ = &arguments;
    try {
      cursor_.advance();
      while (!cursor_.at('}')) body_statement();
      cursor_.advance();
      made.map = circuit.map(made.qubits);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      made.trouble = error.report().got;
      if (!error.report().remedy.empty()) made.trouble += "; " + error.report().remedy;
      cursor_ = begin;
      static_cast<void>(cursor_.bracketed('{', '}'));
    }
    target_ = &circuit_;
    arguments_ = nullptr;
    parameters_.clear();
    enter(name, made);
  }

  void body_statement() {
    if (is_gate()) return gate();
    if (directive() || passed_over()) return;
    fail_gate(cursor_.word("a gate or `}`"));
  }

  // opaque f(theta) a, b;
  void opaque() {
    const QasmToken name = cursor_.word("a gate's name");
    QasmGate made;
    static_cast<void>(arguments_of(made));
    made.trouble = "no body";
    parameters_.clear();
    if (name.text != "delay") enter(name, made);  // as Qiskit declares it
  }

  std::map<std::string_view, int> arguments_of(QasmGate& made) {
    if (cursor_.take('(')) {
      while (!cursor_.take(')')) {
        parameters_.emplace_back(cursor_.word("an angle's name").text);
        if (!cursor_.at(')')) cursor_.sign(',');
      }
    }
    std::map<std::string_view, int> arguments;
    do {
      const QasmToken qubit = cursor_.word("a qubit's name");
      if (made.qubits == f2::kMaxDimension)
        cursor_.fail_at(qubit, ErrorCode::value, "a gate of more than 64 qubits", "at most 64");
      if (!arguments.emplace(qubit.text, made.qubits++).second)
        cursor_.fail_at(qubit, ErrorCode::spec, in_quotes(qubit.text, 40) + " twice", "different names");
    } while (cursor_.take(','));
    return arguments;
  }

  void enter(const QasmToken& name, const QasmGate& made) {
    if (gates_.size() == kMostGates) {
      cursor_.fail_at(name, ErrorCode::value, "more than " + std::to_string(kMostGates) + " gate definitions",
                      "at most so many");
    }
    if (!gates_.emplace(name.text, made).second)
      cursor_.fail_at(name, ErrorCode::spec, in_quotes(name.text, 40) + " defined twice", "a new name");
  }

  // --- measurements

  bool take_word(std::string_view word) {
    if (!cursor_.token().is_word(word)) return false;
    cursor_.advance();
    return true;
  }

  // [4] c;  [4] c = measure q;
  void classical_bits() {
    const QasmRegister& declared = registers_.declare_3(true);
    if (is_assigned()) return assignment(declared.size);
    cursor_.sign(';');
  }

  // A statement that begins with a register's name, such as `c = measure q;`.
  void use_of(const QasmToken& name) {
    if (!registers_.find(name.text)->is_classical)
      cursor_.fail(ErrorCode::spec, in_quotes(name.text), "a gate before the qubits");
    const int bits = registers_.classical_operand();
    if (!is_assigned())
      cursor_.fail_at(name, ErrorCode::spec, in_quotes(name.text), "no use of classical bits");
    assignment(bits);
  }

  // Whether bits are given what others, a string of bits or a measurement has: nothing here depends on them.
  bool is_assigned() const {
    if (!cursor_.at('=')) return false;
    const QasmToken value = cursor_.ahead();
    const QasmRegister* const declared = registers_.find(value.text);
    return value.is_word("measure") || value.kind == QasmToken::Kind::text ||
           (declared != nullptr && declared->is_classical);
  }

  // = measure q;  = "00";  = d;
  void assignment(int bits) {
    cursor_.sign('=');
    const QasmToken value = cursor_.token();
    if (take_word("measure")) return measure(value, bits);
    int given = 0;
    if (value.kind == QasmToken::Kind::text) {
      given = static_cast<int>(std::count_if(value.text.begin(), value.text.end(), is_digit));
      cursor_.advance();
    } else {
      given = registers_.classical_operand();
    }
    cursor_.sign(';');
    if (given != bits) {
      cursor_.fail_at(value, ErrorCode::value, std::to_string(given) + " bits for " + std::to_string(bits),
                      "as many bits");
    }
  }

  // q;  q -> c;
  void measure(const QasmToken& keyword, std::optional<int> bits) {
    const QasmOperand on = registers_.operand();
    if (!bits && cursor_.take('-')) {
      cursor_.sign('>');
      bits = registers_.classical_operand();
    }
    cursor_.sign(';');
    if (bits.value_or(on.size) != on.size) {
      cursor_.fail_at(
          keyword, ErrorCode::value,
          "`measure` of " + std::to_string(on.size) + " qubits to " + std::to_string(*bits) + " bits",
          "as many bits");
    }
    for (int i = 0; i < on.size; ++i) {
      const std::uint8_t qubit = on.qubits[static_cast<std::size_t>(i)];
      measured_ |= f2::unit(qubit);
      measured_at_[qubit] = keyword;
    }
    ++measurements_;
  }

  void tell(std::vector<std::string>& notes) const {
    const auto counted = [](std::uint64_t count, const std::string& noun) {
      return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
    };
    const std::string begin = std::string(file_) + ": ignored ";
    std::string text = measurements_ > 0 ? counted(measurements_, "measurement") : std::string();
    if (trailing_barriers_ > 0)
      text += (text.empty() ? "" : " and ") + counted(trailing_barriers_, "barrier");
    if (!text.empty()) notes.push_back(begin + text + " after the gates");
    if (directives_ > 0)
      notes.push_back(begin + counted(directives_, "line") + " of pragmas and annotations");
  }

  std::string_view file_;
  QasmCursor cursor_;
  QasmRegisters registers_{cursor_};
  std::map<std::string_view, QasmGate> gates_;
  Circuit circuit_;

  // Where gates go: to the circuit, or to a definition that is being read, whose qubits are its arguments.
  Circuit* target_ = &circuit_;
  const std::map<std::string_view, int>* arguments_ = nullptr;
  std::vector<std::string> parameters_;  // its angles, which are no numbers

  std::uint64_t open_boxes_ = 0;
  std::uint64_t directives_ = 0;
  f2::Word measured_ = 0;
  std::array<QasmToken, f2::kMaxDimension> measured_at_{};
  std::uint64_t measurements_ = 0;
  std::uint64_t trailing_barriers_ = 0;  // behind the last gate
};

}  // namespace
}  // namespace detail

Affine parse_qasm(std::string_view text, std::string_view file_name, std::vector<std::string>* notes) {
  return detail::QasmReader(text, file_name).circuit(notes);
}

}  // namespace faro
