#include "faro/layout/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "layout/shared_geometry.hpp"

namespace faro::layout {
namespace {

Index bank_row_elements(const SharedArray& array) {
  return static_cast<Index>(kGeometry.bank_row_bytes()) / array.element_bytes;
}

Index rounded_up(Index count, Index to) { return (count + to - 1) / to * to; }

}  // namespace

Index RapTurns::turn(Index row) const {
  Index sum = 0;
  for (const std::vector<Index>& permutation : permutations) {
    sum += permutation[row % width];
    row /= width;
  }
  return sum % width;
}

Index Placement::operator()(Index i, Index j) const {
  const Index x = i * array.columns + j;
  switch (kind) {
    case PlacementKind::raw:
      return x;
    case PlacementKind::padded:
      return x + i * pad;
    case PlacementKind::cute:
      return cute(x);
    case PlacementKind::exclusive_or:
      return exclusive_or(x);
    case PlacementKind::rap:
      break;
  }
  const Index unit = x / turns.unit_elements;
  const Index position = unit % turns.width;
  const Index bank_row = unit / turns.width;
  const Index turned = (position + turns.turn(turns.by_row ? i : bank_row)) % turns.width;
  return (bank_row * turns.width + turned) * turns.unit_elements + x % turns.unit_elements;
}

Index Placement::size() const {
  switch (kind) {
    case PlacementKind::raw:
      return array.elements();
    case PlacementKind::padded:
      return array.rows * (array.columns + pad);
    case PlacementKind::cute:  // what moves, moves within a bank row
    case PlacementKind::exclusive_or:
    case PlacementKind::rap:
      break;
  }
  return rounded_up(array.elements(), bank_row_elements(array));
}

std::string Placement::name() const {
  switch (kind) {
    case PlacementKind::raw:
      return "RAW";
    case PlacementKind::padded:
      return fmt::format("pad {}", pad);
    case PlacementKind::cute:
      return fmt::format("Swizzle<{},{},{}>", cute.bits, cute.base, cute.shift);
    case PlacementKind::exclusive_or:
      return "XOR";
    case PlacementKind::rap:
      break;
  }
  const std::size_t digits = turns.permutations.size();
  return digits == 1 ? "RAP" : fmt::format("{}P", std::max<std::size_t>(digits, 3));
}

RapTurns random_turns(const SharedArray& array, Index vector_elements, std::uint64_t seed) {
  RapTurns turns{.seed = seed};
  const Index word_elements =
      std::max(static_cast<Index>(kGeometry.bank_bytes) / array.element_bytes, Index{1});
  turns.unit_elements = std::max(vector_elements, word_elements);
  const Index bank_row = bank_row_elements(array);
  turns.width = bank_row / turns.unit_elements;
  turns.by_row = array.columns % bank_row == 0;

  const Index rows = turns.by_row ? array.rows : rounded_up(array.elements(), bank_row) / bank_row;
  std::size_t digits = 1;
  for (std::uint64_t reach = turns.width; reach < rows; reach *= turns.width) ++digits;
  turns.permutations.assign(digits, std::vector<Index>(turns.width));
  SplitMix64 numbers{seed};
  for (auto permutation = turns.permutations.rbegin(); permutation != turns.permutations.rend();
       ++permutation) {
    for (Index k = 0; k < turns.width; ++k) (*permutation)[k] = k;
    // As Shifts::permutation does.
    for (Index k = turns.width; k > 1; --k)
      std::swap((*permutation)[k - 1], (*permutation)[numbers.below(k)]);
  }
  return turns;
}

// The code that a kernel's author pastes: every number in it, nothing indexed, so that nothing lies in
// memory.

namespace {

std::string raw_body(const SharedArray& array) {
  return fmt::format("  return i * {}u + j;\n", array.columns);
}

std::string padded_body(const Placement& placement) {
  return fmt::format("  return i * {}u + j;  // rows of {}, padded by {}\n",
                     placement.array.columns + placement.pad, placement.array.columns, placement.pad);
}

std::string cute_body(const Placement& placement) {
  const CuteSwizzle& cute = placement.cute;
  return fmt::format(
      "  const unsigned x = i * {}u + j;\n"
      "  return x ^ ((x >> {}) & 0x{:x}u);\n",
      placement.array.columns, cute.shift, ((1U << cute.bits) - 1) << cute.base);
}

// Masks that are neighbours of one shift are one term: ((x >> shift) & field).
std::string xor_body(const Placement& placement) {
  const Xor& layout = placement.exclusive_or;
  std::string text =
      fmt::format("  const unsigned x = i * {}u + j;\n  unsigned a = x;\n", placement.array.columns);
  for (int shift = 1; shift < layout.tile_bits; ++shift) {
    Index field = 0;
    for (int to = 0; to < layout.bank_row_bits && to + shift < layout.tile_bits; ++to) {
      if ((layout.mask_of_bit(to + shift) >> to & 1) != 0) field |= Index{1} << to;
    }
    if (field != 0) text += fmt::format("  a ^= (x >> {}) & 0x{:x}u;\n", shift, field);
  }
  return text + "  return a;\n";
}

// Permutation `digit` packed as many to a 32-bit constant as fit, the constant chosen by comparing.
std::string turn_text(const RapTurns& turns, std::size_t digit) {
  const Index bits = static_cast<Index>(std::bit_width(turns.width - 1));
  const Index per_word = 32 / bits;
  std::vector<std::uint32_t> packed((turns.width + per_word - 1) / per_word);
  for (Index k = 0; k < turns.width; ++k) {
    packed[k / per_word] |= turns.permutations[digit][k] << (bits * (k % per_word));
  }
  std::string text =
      fmt::format("  {{\n    const unsigned d = row % {0}u;\n    row /= {0}u;\n    unsigned r = 0x{1:x}u;\n",
                  turns.width, packed.front());
  for (std::size_t k = 1; k < packed.size(); ++k) {
    text += fmt::format("    r = d / {}u == {}u ? 0x{:x}u : r;\n", per_word, k, packed[k]);
  }
  return text +
         fmt::format("    turn += (r >> ({}u * (d % {}u))) & {}u;\n  }}\n", bits, per_word, turns.width - 1);
}

std::string rap_body(const Placement& placement) {
  const RapTurns& turns = placement.turns;
  std::string text = fmt::format(
      "  const unsigned x = i * {}u + j;\n"
      "  const unsigned unit = x / {}u;\n"
      "  unsigned row = {};\n"
      "  unsigned turn = 0;\n",
      placement.array.columns, turns.unit_elements,
      turns.by_row ? "i" : fmt::format("unit / {}u", turns.width));
  for (std::size_t digit = 0; digit < turns.permutations.size(); ++digit) text += turn_text(turns, digit);
  return text + fmt::format("  return (unit - unit % {1}u + (unit + turn) % {1}u) * {0}u + x % {0}u;\n",
                            turns.unit_elements, turns.width);
}

std::string body_of(const Placement& placement) {
  switch (placement.kind) {
    case PlacementKind::raw:
      return raw_body(placement.array);
    case PlacementKind::padded:
      return padded_body(placement);
    case PlacementKind::cute:
      return cute_body(placement);
    case PlacementKind::exclusive_or:
      return xor_body(placement);
    case PlacementKind::rap:
      break;
  }
  return rap_body(placement);
}

}  // namespace

std::string Placement::device_code() const {
  return fmt::format(
             "// {} x {} elements of {} byte{} in shared memory, layout {}{}: the address of element (i, "
             "j).\n"
             "constexpr unsigned shared_elements = {};\n"
             "__host__ __device__ constexpr unsigned shared_index(unsigned i, unsigned j) {{\n",
             array.rows, array.columns, array.element_bytes, array.element_bytes == 1 ? "" : "s", name(),
             kind == PlacementKind::rap ? fmt::format(" of seed {}", turns.seed) : "", size()) +
         body_of(*this) + "}\n";
}

}  // namespace faro::layout
