// Families that inference and training have, with the extents of a call: what both benchmarks of families
// move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/family.hpp"

namespace faro::bench {

struct FamilyCase {
  std::string what;
  std::vector<std::uint64_t> extents;
  std::vector<int> order;
  std::uint64_t width = 2;
  std::vector<int> free = {0};  // axes

  FamilyMap map() const {
    FamilyMap made{.extents = {}, .order = order, .element_bytes = width};
    for (const std::uint64_t extent : extents) made.extents.push_back(exactly(extent));
    for (const int axis : free) {
      FamilyExtent& extent = made.extents[static_cast<std::size_t>(axis)];
      extent = up_to(extent.most + 64);
    }
    return made;
  }
  /// The free extents of a call, each by so much more.
  std::vector<std::uint64_t> call(std::uint64_t more = 0) const {
    std::vector<std::uint64_t> made;
    for (const int axis : free) made.push_back(extents[static_cast<std::size_t>(axis)] + more);
    return made;
  }
};

inline std::vector<FamilyCase> family_cases() {
  return {
      {"tokens x heads x 128 to heads first, small", {300, 8, 128}, {1, 0, 2}},
      {"the same, large", {32768, 32, 128}, {1, 0, 2}},
      {"batch x tokens x heads x 64", {8, 2048, 16, 64}, {0, 2, 1, 3}, 2, {0, 1}},
      {"keys transposed", {256, 2048, 64}, {0, 2, 1}, 2, {0, 1}},
      {"a matrix of 4 bytes", {5000, 7001}, {1, 0}, 4, {0, 1}},
      {"a matrix of 2 bytes, small", {700, 512}, {1, 0}, 2, {0}},
      {"channels last", {64, 64, 112, 112}, {0, 2, 3, 1}, 2, {0, 2, 3}},
      {"channels first, 3 of bytes", {64, 224, 224, 3}, {0, 3, 1, 2}, 1, {0, 1, 2}},
      {"sequence first", {32, 4000, 1024}, {1, 0, 2}, 2, {0, 1}},
      {"five axes turned round", {28, 29, 30, 31, 33}, {4, 3, 2, 1, 0}, 4, {0, 1, 2, 3, 4}},
  };
}

}  // namespace faro::bench
