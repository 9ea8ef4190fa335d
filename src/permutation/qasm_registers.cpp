#include "permutation/qasm_registers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "faro/suggest.hpp"
#include "permutation/circuit.hpp"
#include "permutation/text.hpp"

namespace faro::detail {
namespace {

// Each takes much more memory than its text.
constexpr std::size_t kMostRegisters = 1 << 14;

}  // namespace

const QasmRegister* QasmRegisters::find(std::string_view name) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? nullptr : &found->second;
}

void QasmRegisters::declare_2(bool is_classical) {
  const QasmToken name = cursor_.word("a register's name");
  const int size = bracketed_size();
  declare(name, is_classical, size, false);
}

const QasmRegister& QasmRegisters::declare_3(bool is_classical) {
  const bool is_scalar = !cursor_.at('[');
  const int size = is_scalar ? 1 : bracketed_size();
  const QasmToken name = cursor_.word("a register's name");
  return declare(name, is_classical, size, is_scalar);
}

void QasmRegisters::alias() {
  const QasmToken name = cursor_.word("an alias");
  cursor_.sign('=');
  QasmRegister made;
  for (;;) {
    const QasmToken at = cursor_.token();
    const QasmOperand part = operand();
    if (part.size > f2::kMaxDimension - made.qubits.size)
      cursor_.fail_at(at, ErrorCode::value, "an alias of more than 64 qubits", "at most 64");
    for (int i = 0; i < part.size; ++i) made.qubits.add(part.qubits[static_cast<std::size_t>(i)]);
    if (!cursor_.take('+')) break;
    cursor_.sign('+');
  }
  made.size = made.qubits.size;
  made.qubits.is_register = true;
  enter(name, made);
}

QasmOperand QasmRegisters::operand() {
  const QasmToken name = cursor_.token();
  if (name.kind != QasmToken::Kind::word) cursor_.fail(ErrorCode::spec, shown(name), "a qubit such as q[0]");
  if (is_physical(name.text)) return physical_operand();
  const QasmRegister* const declared = find(name.text);
  if (declared == nullptr) {
    cursor_.fail(ErrorCode::spec, in_quotes(name.text, 40), "a register declared before its use",
                 suggest(name.text));
  }
  if (declared->is_classical)
    cursor_.fail(ErrorCode::spec, "the classical register " + in_quotes(name.text, 40), "a qubit");
  cursor_.advance();
  if (!cursor_.at('[')) return declared->qubits;
  QasmOperand chosen;
  for (const int index : selection(name, declared->size, chosen.is_register))
    chosen.add(declared->qubits.qubits[static_cast<std::size_t>(index)]);
  return chosen;
}

// $5: bit 5.
QasmOperand QasmRegisters::physical_operand() {
  const QasmToken name = cursor_.token();
  const std::string_view digits = name.text.substr(1);
  int qubit = f2::kMaxDimension;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), qubit);
  if (fault != std::errc{} || end != digits.data() + digits.size() || qubit >= f2::kMaxDimension)
    cursor_.fail(ErrorCode::value, in_quotes(name.text, 40), "a physical qubit in $0..$63");
  if (qubits_ > 0 && !has_physical_) fail_mixture(name);
  has_physical_ = true;
  qubits_ = std::max(qubits_, qubit + 1);
  cursor_.advance();
  QasmOperand chosen;
  chosen.add(qubit);
  return chosen;
}

void QasmRegisters::fail_mixture(const QasmToken& name) const {
  cursor_.fail_at(name, ErrorCode::unsupported, in_quotes(name.text, 40) + " beside qubits of the other kind",
                  "declared qubits alone or physical ones, `$0`, alone");
}

int QasmRegisters::classical_operand() {
  const QasmToken name = cursor_.token();
  const QasmRegister* const declared = find(name.text);
  if (declared == nullptr || !declared->is_classical)
    cursor_.fail(ErrorCode::spec, shown(name), "a classical register");
  cursor_.advance();
  bool is_register = false;
  if (!cursor_.at('[')) return declared->size;
  return static_cast<int>(selection(name, declared->size, is_register).size());
}

const QasmRegister& QasmRegisters::declare(const QasmToken& name, bool is_classical, int size,
                                           bool is_scalar) {
  QasmRegister made{.is_classical = is_classical, .size = size};
  const int qubits = is_classical ? 0 : size;
  if (qubits > 0 && has_physical_) fail_mixture(name);
  if (qubits > f2::kMaxDimension - qubits_) {
    cursor_.fail_at(name, ErrorCode::value,
                    in_quotes(name.text, 40) + " of size " + std::to_string(qubits) + " after " +
                        std::to_string(qubits_) + " qubits",
                    "at most 64 qubits");
  }
  for (int i = 0; i < qubits; ++i) made.qubits.add(qubits_ + i);
  made.qubits.is_register = !is_scalar;
  const QasmRegister& entered = enter(name, made);
  qubits_ += qubits;
  return entered;
}

const QasmRegister& QasmRegisters::enter(const QasmToken& name, const QasmRegister& made) {
  if (registers_.size() == kMostRegisters) {
    cursor_.fail_at(name, ErrorCode::value, "more than " + std::to_string(kMostRegisters) + " registers",
                    "at most so many");
  }
  const auto [place, is_new] = registers_.emplace(name.text, made);
  if (!is_new) {
    cursor_.fail_at(name, ErrorCode::spec, in_quotes(name.text, 40) + " declared twice", "a new name");
  }
  return place->second;
}

int QasmRegisters::bracketed_size() {
  cursor_.sign('[');
  const QasmToken at = cursor_.token();
  const int size = cursor_.number("a register's size");
  if (size == 0) cursor_.fail_at(at, ErrorCode::value, "a register of size 0", "at least 1");
  cursor_.sign(']');
  return size;
}

// [3]  [-1]  [0:2]  [0:2:6]  [:2]  [3:-1:0]  [{0, 3}]: which of a register of `size`; -1 is the last. One
// index is no register.
std::vector<int> QasmRegisters::selection(const QasmToken& name, int size, bool& is_register) {
  cursor_.sign('[');
  const QasmToken at = cursor_.token();
  std::vector<int> chosen;
  is_register = true;
  if (cursor_.take('{')) {
    do {
      chosen.push_back(index(name, size));
    } while (cursor_.take(','));
    cursor_.sign('}');
  } else {
    const auto first = cursor_.at(':') ? std::nullopt : std::optional(index(name, size));
    is_register = cursor_.take(':');
    chosen = is_register ? range(name, size, first) : std::vector<int>{*first};
  }
  cursor_.sign(']');
  std::vector<int> sorted = chosen;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    cursor_.fail_at(at, ErrorCode::value, "one index of " + in_quotes(name.text, 40) + " twice",
                    "different indices");
  return chosen;
}

// Behind the first colon: `last`, `step:last`, or nothing.
std::vector<int> QasmRegisters::range(const QasmToken& name, int size, std::optional<int> first) {
  const QasmToken at = cursor_.token();
  int step = 1;
  std::optional<int> last;
  if (!cursor_.at(']')) {
    const int second = cursor_.at(':') ? 1 : signed_number();
    if (cursor_.take(':')) {
      step = second;
      if (!cursor_.at(']')) last = index(name, size);
    } else {
      last = checked_index(name, at, second, size);
    }
  }
  if (step == 0) cursor_.fail_at(at, ErrorCode::value, "a slice with step 0", "another step");
  const std::int64_t begin = first.value_or(step > 0 ? 0 : size - 1);
  const std::int64_t end = last.value_or(step > 0 ? size - 1 : 0);
  if (begin != end && (end > begin) != (step > 0))
    cursor_.fail_at(at, ErrorCode::value, "a slice of nothing", "a last index that the steps lead to");
  const std::int64_t count = (end - begin) / step + 1;
  if (count > f2::kMaxDimension)
    cursor_.fail_at(at, ErrorCode::value, "a slice of more than 64", "at most 64");
  std::vector<int> chosen;
  for (std::int64_t k = 0; k < count; ++k) chosen.push_back(static_cast<int>(begin + k * step));
  return chosen;
}

int QasmRegisters::signed_number() {
  const bool is_negative = cursor_.take('-');
  const int number = cursor_.number("an index");
  return is_negative ? -number : number;
}

int QasmRegisters::index(const QasmToken& name, int size) {
  const QasmToken at = cursor_.token();
  return checked_index(name, at, signed_number(), size);
}

int QasmRegisters::checked_index(const QasmToken& name, const QasmToken& at, int index, int size) const {
  const int place = index < 0 ? size + index : index;
  if (place < 0 || place >= size) {
    cursor_.fail_at(at, ErrorCode::value, in_quotes(name.text, 40) + " with index " + std::to_string(index),
                    "an index in 0.." + std::to_string(size - 1));
  }
  return place;
}

std::string QasmRegisters::suggest(std::string_view misspelt) const {
  std::vector<std::string_view> names;
  for (const auto& [name, declared] : registers_) {
    if (!declared.is_classical) names.push_back(name);
  }
  return did_you_mean(misspelt, names);
}

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

std::string suggest_qasm_gate(std::string_view misspelt) {
  constexpr std::array<std::string_view, 12> kStatements{"include", "qreg",    "creg",    "qubit",
                                                         "bit",     "barrier", "measure", "gate",
                                                         "let",     "opaque",  "delay",   "box"};
  constexpr std::string_view kOtherStatements =
      " if else for while switch break continue def extern return end input output const int uint float angle"
      " complex bool array duration stretch cal defcal defcalgrammar reset ";
  if (kOtherStatements.find(" " + std::string(misspelt) + " ") != std::string_view::npos)
    return "that statement is no gate: write out the gates that it stands for";
  if (misspelt == "dcx") return "dcx a, b is `cx a, b; cx b, a;`";
  std::string remedy = suggest_gate(misspelt);
  return remedy.empty() ? did_you_mean(misspelt, kStatements) : remedy;
}

}  // namespace faro::detail
