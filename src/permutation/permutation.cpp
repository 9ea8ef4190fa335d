#include "faro/permutation/permutation.hpp"

#include <array>
#include <charconv>

#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"

namespace faro {
namespace {

using f2::Word;

std::string hex(Word value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

bool permutes_bits(const f2::Matrix& a) {
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
  const bool is_bp = map.complement() == 0 && permutes_bits(a);
  std::string text = (is_bp ? "bits(" : "affine(") + size + ";";
  for (const Word column : a.column_span()) {
    text += " " + (is_bp ? std::to_string(f2::trailing_bit(column)) : hex(column));
  }
  return is_bp ? text + ")" : text + "; " + hex(map.complement()) + ")";
}

}  // namespace

std::uint64_t element_count(const Permutation& permutation) {
  const int n = std::get<Affine>(permutation).bits();
  if (n >= f2::kMaxDimension) {
    throw Error({.code = ErrorCode::value,
                 .operation = "element count",
                 .got = std::to_string(n) + " index bits",
                 .wanted = "at most 63, so that a 64-bit count holds the number of elements",
                 .remedy = ""});
  }
  return std::uint64_t{1} << n;
}

Permutation inverse(const Permutation& permutation) { return std::get<Affine>(permutation).inverse(); }

std::string to_text(const Permutation& permutation) { return text_of(std::get<Affine>(permutation)); }

}  // namespace faro
