// The suites of axes_bench and gpu_axes_bench: permutations of axes that people ask for, and those that are
// hard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace faro::bench {

struct AxesShape {
  std::vector<std::uint64_t> shape;  // of the input, slowest axis first
  std::vector<int> order;
  std::uint64_t element_bytes = 4;

  std::string text() const;
};

struct AxesSuite {
  std::string name;
  std::vector<AxesShape> shapes;
  // Whether it counts in the figures of ranks, primes, channels, attention and skinny together: all of them
  // with 4 bytes, and with channels and attention of 2 bytes.
  bool in_fours = false;
  bool in_twos = false;
};

/// The 57 shapes of the TTC suite with elements of these widths, high ranks, primes, channels and attention
/// with 2 and 4 bytes, skinny, odd extents, planes of short sides, many small arrays.
std::vector<AxesSuite> axes_suites(const std::vector<std::uint64_t>& widths);

/// Awkward ones of some 10^9 elements, of each of these widths, for a GPU alone.
AxesSuite large_axes(const std::vector<std::uint64_t>& widths);

/// Axes of ranks 2 to 6 and elements of 1 to 24 bytes, 64 to 256 MiB each, drawn by this seed.
AxesSuite drawn_axes(std::uint64_t seed, int count);

}  // namespace faro::bench
