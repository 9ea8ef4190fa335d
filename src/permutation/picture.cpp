// The pictures of maps: bits of an index where a map is affine, or would take more letters than there are,
// else an array of letters.
#include <algorithm>
#include <cstddef>
#include <string>

#include "faro/error.hpp"
#include "permutation/catalogue.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostLetters = 52;

// The bits of x that make bit `row` of pi(x): "x0^x1", "~x3".
std::string sum_of_bits(const Affine& map, int row) {
  std::string text;
  for (int j = 0; j < map.bits(); ++j) {
    if (!map.matrix().at(row, j)) continue;
    if (!text.empty()) text += '^';
    text += 'x' + std::to_string(j);
  }
  return f2::bit(map.complement(), row) ? '~' + text : text;
}

std::string letters_picture(const Permutation& map) {
  const std::uint64_t count = element_count(map);
  FARO_CHECK(count <= kMostLetters);
  std::string before = "in  ";
  std::string after = "out ";
  after.resize(after.size() + 2 * count, ' ');
  for (std::uint64_t x = 0; x < count; ++x) {
    const auto letter = static_cast<char>(x < 26 ? 'a' + x : 'A' + (x - 26));
    before += {' ', letter};
    after[5 + 2 * apply(map, x)] = letter;
  }
  return before + "\n" + after;
}

}  // namespace

std::string bit_picture(const Affine& map) {
  std::string names;
  std::string sums;
  for (int row = map.bits() - 1; row >= 0; --row) {
    names += 'y' + std::to_string(row);
    sums += sum_of_bits(map, row);
    if (row == 0) break;
    const std::size_t width = std::max(names.size(), sums.size()) + 2;
    names.resize(width, ' ');
    sums.resize(width, ' ');
  }
  return names + "\n" + sums;
}

std::string picture(const Permutation& map) {
  const auto* const affine = std::get_if<Affine>(&map);
  if (affine != nullptr) return bit_picture(*affine);
  const auto form = element_count(map) > kMostLetters ? affine_form(map) : std::nullopt;
  return form ? bit_picture(*form) : letters_picture(map);
}

std::string picture(const MapEntry& entry) {
  return entry.is_file() ? std::string(entry.content) : picture(parse_permutation(entry.example));
}

}  // namespace faro
