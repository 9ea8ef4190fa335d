#include "file/tile_work.hpp"

#include <bit>

namespace faro::file {

Rows one_row(std::uint64_t begin, std::uint64_t bytes) {
  return {.count = 1, .bytes = bytes, .begin = begin, .base = 0, .vectors = {}, .digits = {}};
}

std::uint64_t Rows::offset(std::uint64_t row) const {
  std::uint64_t at = base;
  if (digits.empty()) {
    for (std::uint64_t bits = row; bits != 0; bits &= bits - 1) {
      at ^= vectors[static_cast<std::size_t>(std::countr_zero(bits))];
    }
    return begin + at * unit;
  }
  for (const Digit& digit : digits) {
    at += row % digit.extent * static_cast<std::uint64_t>(digit.stride);
    row /= digit.extent;
  }
  return begin + at;
}

}  // namespace faro::file
