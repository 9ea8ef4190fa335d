#include <fmt/format.h>

#include <algorithm>

#include "faro/layout/adviser.hpp"
#include "layout/geometry.hpp"

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

}  // namespace faro::layout
