// Drawn families of shapes, and one obvious loop over their elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/problem/family_map.hpp"

namespace faro::family_test {

/// A family and the extents of one call of it.
struct FamilyCase {
  FamilyMap map;
  std::vector<std::uint64_t> extents;  // of all axes of the input

  std::vector<std::uint64_t> free() const {
    std::vector<std::uint64_t> found;
    for (std::size_t a = 0; a < extents.size(); ++a) {
      if (map.extents[a].is_free) found.push_back(extents[a]);
    }
    return found;
  }
  std::uint64_t count() const {
    return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
  }
  std::uint64_t bytes() const { return count() * map.element_bytes; }
  bool flips(std::size_t axis) const {
    return std::find(map.flipped.begin(), map.flipped.end(), static_cast<int>(axis)) != map.flipped.end();
  }
  std::string text() const {
    std::string text = "elements of " + std::to_string(map.element_bytes) + " bytes, axes";
    for (std::size_t a = 0; a < extents.size(); ++a) {
      text += " " + std::to_string(extents[a]) + (map.extents[a].is_free ? "*" : "") + (flips(a) ? "-" : "");
      if (!map.shifts.empty() && map.shifts[a] != 0) text += "+" + std::to_string(map.shifts[a]);
    }
    text += " to";
    for (const int axis : map.order) text += " " + std::to_string(axis);
    return text;
  }
};

/// Calls use(from, to) with the numbers of the elements in both dense arrays.
template <typename Use>
void for_each_element(const FamilyCase& call, const Use& use) {
  const std::size_t n = call.extents.size();
  std::vector<std::uint64_t> index(n);
  const std::uint64_t count = call.count();
  for (std::uint64_t x = 0; x < count; ++x) {
    std::uint64_t left = x;
    for (std::size_t a = n; a-- > 0;) {
      const std::uint64_t extent = call.extents[a];
      index[a] = left % extent;
      left /= extent;
      if (call.flips(a)) index[a] = extent - 1 - index[a];
      if (call.map.shifts.empty()) continue;
      const auto all = static_cast<std::int64_t>(extent);
      index[a] = (index[a] + static_cast<std::uint64_t>((call.map.shifts[a] % all + all) % all)) % extent;
    }
    std::uint64_t to = 0;
    for (std::size_t place = 0; place < n; ++place) {
      const std::size_t a = call.map.order.empty() ? place : static_cast<std::size_t>(call.map.order[place]);
      to = to * call.extents[a] + index[a];
    }
    use(x, to);
  }
}

inline std::vector<std::uint8_t> moved(const FamilyCase& call, const std::uint8_t* in) {
  std::vector<std::uint8_t> out(call.bytes());
  const std::uint64_t width = call.map.element_bytes;
  for_each_element(call, [&](std::uint64_t from, std::uint64_t to) {
    std::memcpy(out.data() + to * width, in + from * width, width);
  });
  return out;
}

/// A call whose free axes are the bits of `free_axes`, each of which may have twice as many elements, or 8.
inline FamilyCase family_case(std::uint64_t element_bytes, const std::vector<std::uint64_t>& extents,
                              const std::vector<int>& order, unsigned free_axes) {
  FamilyCase call{.map = {.extents = {}, .order = order, .element_bytes = element_bytes}, .extents = extents};
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const bool is_free = (free_axes >> a & 1) != 0;
    call.map.extents.push_back(is_free ? up_to(std::max<std::uint64_t>(2 * extents[a], 8))
                                       : exactly(extents[a]));
  }
  return call;
}

/// Up to five axes of at most `most` elements together: few of an axis, as a rule, now and then none, one or
/// many; some flipped, some rolled.
inline FamilyCase drawn_family(std::mt19937& random, std::uint64_t most) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  constexpr std::uint64_t kWidths[] = {1, 2, 4, 8, 16, 3, 6, 12, 24};
  const unsigned rank = 1 + below(5);
  std::vector<std::uint64_t> extents;
  std::uint64_t left = most;
  for (unsigned a = 0; a < rank; ++a) {
    std::uint64_t extent = below(12) == 0 ? below(2) : 1 + below(below(3) == 0 ? 200 : 9);
    extent = std::min(extent, left);
    if (extent > 0) left /= extent;
    extents.push_back(extent);
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  FamilyCase call = family_case(kWidths[below(9)], extents, order, below(64));
  call.map.shifts.resize(rank);
  for (unsigned a = 0; a < rank; ++a) {
    if (below(4) == 0) call.map.flipped.push_back(static_cast<int>(a));
    if (below(6) == 0) call.map.shifts[a] = static_cast<std::int64_t>(below(600)) - 300;
  }
  return call;
}

}  // namespace faro::family_test
