#include "network/operator_script_tree.hpp"

#include <cmath>
#include <limits>

#include "faro/error.hpp"

namespace faro::network {

// The bits as a number of that type.
Number wrapped(ScriptType type, std::uint64_t value) {
  switch (type) {
    case ScriptType::boolean:
      return whole(value != 0 ? 1 : 0);
    case ScriptType::i32:
      return whole(static_cast<std::int32_t>(value));
    case ScriptType::u32:
      return whole(static_cast<std::uint32_t>(value));
    default:
      return whole(static_cast<std::int64_t>(value));
  }
}

namespace {

template <typename Integer>
std::uint64_t nearest(double value) {
  constexpr double kMost = static_cast<double>(std::numeric_limits<Integer>::max());
  constexpr double kLeast = static_cast<double>(std::numeric_limits<Integer>::lowest());
  if (std::isnan(value)) return 0;
  if (value >= kMost) return static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
  if (value <= kLeast) return static_cast<std::uint64_t>(std::numeric_limits<Integer>::lowest());
  return static_cast<std::uint64_t>(static_cast<Integer>(value));
}

Number converted(Number from, ScriptType type, ScriptType to) {
  if (is_real(type)) {
    switch (to) {
      case ScriptType::boolean:
        return whole(from.real != 0 ? 1 : 0);
      case ScriptType::i32:
        return wrapped(to, nearest<std::int32_t>(from.real));
      case ScriptType::u32:
        return wrapped(to, nearest<std::uint32_t>(from.real));
      case ScriptType::i64:
        return wrapped(to, nearest<std::int64_t>(from.real));
      case ScriptType::u64:
        return wrapped(to, nearest<std::uint64_t>(from.real));
      case ScriptType::f32:
        return real(static_cast<float>(from.real));
      case ScriptType::f64:
        return from;
    }
  }
  if (!is_real(to)) return wrapped(to, bits(from));
  if (to == ScriptType::f32) {  // rounded once
    return real(type == ScriptType::u64 ? static_cast<float>(bits(from)) : static_cast<float>(from.whole));
  }
  return real(type == ScriptType::u64 ? static_cast<double>(bits(from)) : static_cast<double>(from.whole));
}

template <typename Real>
Number of_floats(Act act, Number left, Number right) {
  const Real a = static_cast<Real>(left.real);
  const Real b = static_cast<Real>(right.real);
  switch (act) {
    case Act::negate:
      return real(-a);
    case Act::add:
      return real(a + b);
    case Act::subtract:
      return real(a - b);
    case Act::multiply:
      return real(a * b);
    case Act::divide:
      return real(a / b);
    case Act::less:
      return whole(a < b ? 1 : 0);
    case Act::less_equal:
      return whole(a <= b ? 1 : 0);
    case Act::equal:
      return whole(a == b ? 1 : 0);
    case Act::unequal:
      return whole(a != b ? 1 : 0);
    case Act::smaller:
      return real(std::fmin(a, b));
    case Act::larger:
      return real(std::fmax(a, b));
    case Act::magnitude:
      return real(std::fabs(a));
    default:
      FARO_CHECK(false);
  }
}

}  // namespace

void Script::stop(const char* got, const char* wanted) const { fail(ErrorCode::value, place, got, wanted); }

void Script::run(std::size_t number, Slots& slots) const {
  const Node& node = nodes[number];
  switch (node.act) {
    case Act::block:
      for (const std::size_t part : node.parts) run(part, slots);
      return;
    case Act::branch:
      if (value(node.parts[0], slots).whole != 0) return run(node.parts[1], slots);
      if (node.parts.size() > 2) run(node.parts[2], slots);
      return;
    default:
      slots[node.slot] = value(node.parts[0], slots);
  }
}

Number Script::value(std::size_t number, const Slots& slots) const {
  const Node& node = nodes[number];
  const auto part = [&](std::size_t i) { return value(node.parts[i], slots); };
  switch (node.act) {
    case Act::constant:
      return node.value;
    case Act::variable:
      return slots[node.slot];
    case Act::convert:
      return converted(part(0), node.operand, node.type);
    case Act::choose:
      return part(0).whole != 0 ? part(1) : part(2);
    case Act::both:
      return whole(part(0).whole != 0 && part(1).whole != 0 ? 1 : 0);
    case Act::either:
      return whole(part(0).whole != 0 || part(1).whole != 0 ? 1 : 0);
    case Act::refuse:
      return whole(part(0).whole == 0 ? 1 : 0);
    default:
      break;
  }
  const Number a = part(0);
  const Number b = node.parts.size() > 1 ? part(1) : Number{.whole = 0};
  if (node.operand == ScriptType::f32) return of_floats<float>(node.act, a, b);
  if (node.operand == ScriptType::f64) return of_floats<double>(node.act, a, b);
  return of_integers(node, a, b);
}

Number Script::of_integers(const Node& node, Number left, Number right) const {
  const std::uint64_t a = bits(left);
  const std::uint64_t b = bits(right);
  const bool is_less = is_unsigned(node.operand) ? a < b : left.whole < right.whole;
  switch (node.act) {
    case Act::negate:
      return wrapped(node.type, 0 - a);
    case Act::invert:
      return wrapped(node.type, ~a);
    case Act::add:
      return wrapped(node.type, a + b);
    case Act::subtract:
      return wrapped(node.type, a - b);
    case Act::multiply:
      return wrapped(node.type, a * b);
    case Act::divide:
    case Act::remainder:
      return quotient(node, left, right);
    case Act::shift_left:
    case Act::shift_right: {
      if (right.whole < 0 || right.whole >= bits_of(node.type)) {
        stop("a shift by the number's width or more, or by less than 0",
             "0 to 31 bits of int, 0 to 63 of long long");
      }
      if (node.act == Act::shift_left) return wrapped(node.type, a << b);
      return is_unsigned(node.type) ? wrapped(node.type, a >> b)
                                    : wrapped(node.type, static_cast<std::uint64_t>(left.whole >> b));
    }
    case Act::less:
      return whole(is_less ? 1 : 0);
    case Act::less_equal:
      return whole(is_less || a == b ? 1 : 0);
    case Act::equal:
      return whole(a == b ? 1 : 0);
    case Act::unequal:
      return whole(a != b ? 1 : 0);
    case Act::bit_and:
      return wrapped(node.type, a & b);
    case Act::bit_xor:
      return wrapped(node.type, a ^ b);
    case Act::bit_or:
      return wrapped(node.type, a | b);
    case Act::smaller:
      return is_less ? left : right;
    case Act::larger:
      return is_less ? right : left;
    case Act::magnitude:
      return is_unsigned(node.type) || left.whole >= 0 ? left : wrapped(node.type, 0 - a);
    default:
      FARO_CHECK(false);
  }
}

Number Script::quotient(const Node& node, Number left, Number right) const {
  const bool divides = node.act == Act::divide;
  if (right.whole == 0) stop(divides ? "a division by zero" : "a remainder by zero", "a number to divide by");
  if (is_unsigned(node.type)) {
    return wrapped(node.type, divides ? bits(left) / bits(right) : bits(left) % bits(right));
  }
  if (right.whole == -1) return divides ? wrapped(node.type, 0 - bits(left)) : whole(0);  // the least wraps
  return whole(divides ? left.whole / right.whole : left.whole % right.whole);
}

}  // namespace faro::network
