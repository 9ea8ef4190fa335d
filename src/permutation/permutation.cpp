#include "faro/permutation/permutation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "io/buffer.hpp"
#include "permutation/index_check.hpp"

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
                              Named{"reverse", maps::reverse},   Named{"gray", maps::gray},
                              Named{"shuffle", maps::shuffle},   Named{"sequency", maps::sequency}};
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

std::string text_of(const Modular& map) {
  const std::string inside = std::to_string(map.count) + ", " + std::to_string(map.factor);
  return map.shift == 0 ? "multiply(" + inside + ")"
                        : "affine_mod(" + inside + ", " + std::to_string(map.shift) + ")";
}

std::string text_of(const CyclicAxes& map) {
  std::string text = "axes(";
  std::string rolls;
  std::string flips;
  for (std::size_t axis = 0; axis < map.shape().size(); ++axis) {
    const Cyclic& move = map.moves()[axis];
    text += (axis == 0 ? "" : " ") + std::to_string(map.shape()[axis]);
    // shift - x is count - 1 - x, moved on by shift + 1.
    rolls += " " + std::to_string(move.reversed ? (move.shift + 1) % move.count : move.shift);
    if (move.reversed) flips += " " + std::to_string(axis);
  }
  text += ";";
  for (const int axis : map.order()) text += " " + std::to_string(axis);
  return text + ";" + rolls + (flips.empty() ? "" : ";" + flips) + ")";
}

std::string text_of(const Computed& map) { return map.text(); }

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
  if (const auto* const modular = std::get_if<Modular>(&permutation)) return modular->count;
  if (const auto* const axes = std::get_if<CyclicAxes>(&permutation)) return axes->count();
  if (const auto* const computed = std::get_if<Computed>(&permutation)) return computed->count();
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
    if (const auto* const modular = std::get_if<Modular>(&permutation)) return (*modular)(x);
    if (const auto* const axes = std::get_if<CyclicAxes>(&permutation)) return (*axes)(x);
    if (const auto* const computed = std::get_if<Computed>(&permutation)) return (*computed)(x);
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

namespace faro::maps {
namespace {

void require_some(const char* map, std::uint64_t number, const char* things, const char* wanted) {
  if (number != 0) return;
  fail(ErrorCode::value, map, things, wanted);
}

Permutation transposed(std::uint64_t rows, std::uint64_t columns) {
  const bool is_affine = f2::is_power_of_two(rows) && f2::is_power_of_two(columns);
  if (is_affine) return transpose(rows, columns);
  return transpose_any(rows, columns);
}

// The last tile has fewer structs than the others and is packed: no permutation of axes.
template <typename Index>
Indexed with_short_tile(std::uint64_t count, std::uint64_t words, std::uint64_t tile) {
  std::vector<Index> targets;
  targets.reserve(count * words);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i - i % tile;
    const std::uint64_t in_tile = std::min(tile, count - first);
    for (std::uint64_t word = 0; word < words; ++word) {
      targets.push_back(static_cast<Index>(first * words + word * in_tile + i % tile));
    }
  }
  return {std::move(targets), Direction::scatter};
}

}  // namespace

Permutation aos_to_soa(std::uint64_t count, std::uint64_t words) {
  require_some("aos_to_soa", words, "structs of 0 words", "at least one word");
  return transposed(count, words);
}

Permutation soa_to_aos(std::uint64_t count, std::uint64_t words) {
  require_some("soa_to_aos", words, "structs of 0 words", "at least one word");
  return transposed(words, count);
}

Permutation aosoa(std::uint64_t count, std::uint64_t words, std::uint64_t tile) {
  require_some("aosoa", words, "structs of 0 words", "at least one word");
  require_some("aosoa", tile, "tiles of 0 structs", "at least one struct");
  if (tile >= count) return transposed(count, words);
  if (count % tile == 0) {
    const Axes axes({count / tile, tile, words}, {0, 2, 1});
    if (auto form = affine_form(axes)) return *form;
    return axes;
  }
  const std::uint64_t elements = Axes({count, words}, {0, 1}).count();  // refuses what is too long
  const bool is_wide = elements > std::uint64_t{1} << 32;
  detail::require_memory("aosoa", std::to_string(elements) + " entries",
                         elements * (is_wide ? 8 : 4) + elements / 8);
  const Indexed map = is_wide ? with_short_tile<std::uint64_t>(count, words, tile)
                              : with_short_tile<std::uint32_t>(count, words, tile);
  return map.labelled("aosoa(" + std::to_string(count) + ", " + std::to_string(words) + ", " +
                      std::to_string(tile) + ")");
}

}  // namespace faro::maps
