// What an operator's text means: a tree of expressions and statements, and how it is carried out.
//
//     a = p < 4u ? a + b : max(a, b);      assign a
//                                            choose
//                                              less        variable p, constant 4
//                                              add         variable a, variable b
//                                              larger      variable a, variable b
//
// Each node knows the type of its result and of its operands, so that a number carries none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faro::network {

// In the order of C++'s usual arithmetic conversions: of two operands the later type is the result's, once
// both are at least i32.
enum class ScriptType { boolean, i32, u32, i64, u64, f32, f64 };

constexpr bool is_real(ScriptType type) { return type >= ScriptType::f32; }
constexpr bool is_unsigned(ScriptType type) { return type == ScriptType::u32 || type == ScriptType::u64; }
constexpr int bits_of(ScriptType type) { return type <= ScriptType::u32 ? 32 : 64; }

// A number, with its type where it is used: integers extended to 64 bits, floats exact in a double.
union Number {
  std::int64_t whole;
  double real;
};

inline Number whole(std::int64_t value) { return {.whole = value}; }
inline Number real(double value) { return {.real = value}; }
inline std::uint64_t bits(Number number) { return static_cast<std::uint64_t>(number.whole); }

/// The bits as a number of that type.
Number wrapped(ScriptType type, std::uint64_t value);

enum class Act {
  constant,
  variable,
  convert,
  choose,
  negate,
  invert,
  refuse,  // !
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  less,
  less_equal,
  equal,
  unequal,
  bit_and,
  bit_xor,
  bit_or,
  both,
  either,
  smaller,
  larger,
  magnitude,
  assign,
  branch,
  block,
};

// An expression or a statement. Operands have one type, but for shifts and for what is said at `parts`.
struct Node {
  Act act = Act::constant;
  ScriptType type = ScriptType::i32;     // of the result
  ScriptType operand = ScriptType::i32;  // of the operands
  Number value = {.whole = 0};           // constant
  std::size_t slot = 0;                  // variable, assign
  std::vector<std::size_t> parts = {};   // of choose and branch: the condition, then, else
};

constexpr std::size_t kMostVariables = 32;
using Slots = std::array<Number, kMostVariables>;

/// The whole text of an operator.
class Script {
 public:
  std::string place;  // of its errors
  std::vector<Node> nodes;
  std::size_t body = 0;

  /// Carries out the text on these variables. Errors: ErrorCode::value for what divides by zero or shifts too
  /// far.
  void run(Slots& slots) const { run(body, slots); }

 private:
  [[noreturn]] void stop(const char* got, const char* wanted) const;
  void run(std::size_t number, Slots& slots) const;
  Number value(std::size_t number, const Slots& slots) const;
  Number of_integers(const Node& node, Number left, Number right) const;
  Number quotient(const Node& node, Number left, Number right) const;
};

/// A variable that a text finds declared; the first has slot 0, and so on.
struct ScriptVariable {
  std::string_view name;
  ScriptType type;
};

/// The tree of a text. Errors: ErrorCode::unsupported, naming `place` and the character, for what the
/// language of operator_script.hpp does not have.
Script read_script(std::string_view text, std::string place, const std::vector<ScriptVariable>& variables);

}  // namespace faro::network
