#include "faro/permutation/permutation.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"
#include "index_literal.hpp"

namespace faro {
namespace {

using f2::Word;

std::string hex(Word value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

bool is_bit_permutation(const f2::Matrix& a) {
  for (const Word column : a.column_span()) {
    if (!f2::is_power_of_two(column)) return false;
  }
  return true;
}

std::string text_of(const Affine& map) {
  struct Named {
    const char* name;
    Affine (*of_bits)(int);
  };
  // Where two names fit, as for n = 1, the first is the canonical one.
  constexpr std::array kNamed{Named{"identity", maps::identity}, Named{"bit_reversal", maps::bit_reversal},
                              Named{"reverse", maps::reverse}, Named{"gray", maps::gray},
                              Named{"shuffle", maps::shuffle}};
  const int n = map.bits();
  const std::string size = std::to_string(n);
  for (const Named& named : kNamed) {
    if (map == named.of_bits(n)) return named.name + ("(" + size) + ")";
  }
  const f2::Matrix& a = map.matrix();
  if (a == f2::Matrix::identity(n)) return "xor(" + size + ", " + hex(map.complement()) + ")";
  const bool is_bp = map.complement() == 0 && is_bit_permutation(a);
  std::string text = (is_bp ? "bits(" : "affine(") + size + ";";
  for (const Word column : a.column_span()) {
    text += " " + (is_bp ? std::to_string(f2::trailing_bit(column)) : hex(column));
  }
  return is_bp ? text + ")" : text + "; " + hex(map.complement()) + ")";
}

std::string text_of(const Cyclic& map) {
  const std::string count = std::to_string(map.count);
  std::string flip = "flip(" + count + ")";
  if (map.reversed && (map.count == 0 || map.shift == map.count - 1)) return flip;
  // shift - x is count - 1 - x, moved on by shift + 1.
  const std::string roll =
      "roll(" + count + ", " + std::to_string(map.reversed ? map.shift + 1 : map.shift) + ")";
  return map.reversed ? "compose(" + roll + ", " + flip + ")" : roll;
}

std::string text_of(const Axes& map) {
  const auto& shape = map.shape();
  if (shape.empty()) return "axes(1; 0)";
  const bool is_affine_transpose =
      shape.size() == 2 && f2::is_power_of_two(shape[0]) && f2::is_power_of_two(shape[1]);
  if (shape.size() == 2 && !is_affine_transpose) {
    return "transpose(" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ")";
  }
  std::string text = "axes(";
  for (const std::uint64_t extent : shape) text += std::to_string(extent) + " ";
  text.back() = ';';
  for (const int axis : map.order()) text += " " + std::to_string(axis);
  return text + ")";
}

std::string text_of(const Indexed& map) {
  if (!map.label().empty()) return map.label();
  if (map.count() > kLongestIndexLiteral || !map.on_host()) {
    return "indices(of " + std::to_string(map.count()) + " elements)";
  }
  const Indexed scatter = map.redirected(Direction::scatter);
  std::string text = "indices(";
  for (std::uint64_t i = 0; i < scatter.count(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(scatter.entry(i));
  }
  return text + ")";
}

}  // namespace

std::uint64_t element_count(const Permutation& permutation) {
  if (const auto* const cyclic = std::get_if<Cyclic>(&permutation)) return cyclic->count;
  if (const auto* const axes = std::get_if<Axes>(&permutation)) return axes->count();
  if (const auto* const indexed = std::get_if<Indexed>(&permutation)) return indexed->count();
  const int n = std::get<Affine>(permutation).bits();
  if (n >= f2::kMaxDimension) {
    fail(ErrorCode::value, "element count", std::to_string(n) + " index bits",
         "at most 63, so that a 64-bit count holds the number of elements");
  }
  return std::uint64_t{1} << n;
}

const Affine& affine(const Permutation& permutation, const char* operation) {
  if (const auto* const map = std::get_if<Affine>(&permutation)) return *map;
  fail(ErrorCode::unsupported, operation, to_text(permutation), "an affine map over F2",
       "`faro maps` lists them");
}

Affine affine(Permutation&& permutation, const char* operation) {
  const Permutation kept = std::move(permutation);
  return affine(kept, operation);
}

std::uint64_t apply(const Permutation& permutation, std::uint64_t x) {
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  if (indexed == nullptr) {
    if (const auto* const map = std::get_if<Affine>(&permutation)) return (*map)(x);
    if (const auto* const cyclic = std::get_if<Cyclic>(&permutation)) return (*cyclic)(x);
    return std::get<Axes>(permutation)(x);
  }
  static_cast<void>(indexed->entries32());  // refuses an array on a device
  if (indexed->direction() == Direction::scatter) return indexed->entry(x);
  std::uint64_t i = 0;
  while (indexed->entry(i) != x) ++i;
  return i;
}

Permutation inverse(const Permutation& permutation) {
  return std::visit([](const auto& form) { return Permutation(form.inverse()); }, permutation);
}

std::string to_text(const Permutation& permutation) {
  return std::visit([](const auto& form) { return text_of(form); }, permutation);
}

}  // namespace faro
