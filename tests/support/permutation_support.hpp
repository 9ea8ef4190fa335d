// What the tests of permutations share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "refusal.hpp"

namespace faro {

/// pi(0), pi(1), …
inline std::vector<std::uint64_t> targets(const Permutation& permutation) {
  std::vector<std::uint64_t> result(element_count(permutation));
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  for (std::uint64_t i = 0; i < result.size(); ++i) {
    if (indexed == nullptr) {
      result[i] = apply(permutation, i);
    } else if (indexed->direction() == Direction::scatter) {
      result[i] = indexed->entry(i);
    } else {
      result[indexed->entry(i)] = i;
    }
  }
  return result;
}

/// A permutation of any form as an index array.
inline Indexed as_array(const Permutation& permutation, Direction direction) {
  const Permutation scatter = direction == Direction::scatter ? permutation : inverse(permutation);
  return {targets(scatter), direction};
}

/// All ways to write `count` as a product of up to `most_axes` extents above 1, in every order; of 1 the
/// empty shape.
inline std::vector<std::vector<std::uint64_t>> shapes_of(std::uint64_t count, std::size_t most_axes) {
  if (count == 1) return {{}};
  std::vector<std::vector<std::uint64_t>> shapes;
  if (most_axes == 0) return shapes;
  for (std::uint64_t extent = 2; extent <= count; ++extent) {
    if (count % extent != 0) continue;
    for (auto& rest : shapes_of(count / extent, most_axes - 1)) {
      rest.insert(rest.begin(), extent);
      shapes.push_back(std::move(rest));
    }
  }
  return shapes;
}

}  // namespace faro
