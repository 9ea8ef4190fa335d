// What the tests of the kernels for axes share: the definition, runs that are held against it, and shapes in
// words.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/permutation/axes.hpp"
#include "kernels/axes_params.hpp"
#include "layout/unit_axes.hpp"

namespace faro::kernels {

using layout::UnitAxes;

// --- the oracle: for every unit, its coordinates, then their place in the output

inline std::vector<std::uint64_t> targets(const std::vector<std::uint64_t>& shape,
                                          const std::vector<int>& order) {
  const std::size_t n = shape.size();
  std::vector<std::uint64_t> result;
  std::vector<std::uint64_t> coordinate(n, 0);
  const std::uint64_t count =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  for (std::uint64_t x = 0; x < count; ++x) {
    std::uint64_t y = 0;
    for (const int a : order)
      y = y * shape[static_cast<std::size_t>(a)] + coordinate[static_cast<std::size_t>(a)];
    result.push_back(y);
    for (std::size_t a = n; a-- > 0;) {
      if (++coordinate[a] < shape[a]) break;
      coordinate[a] = 0;
    }
  }
  return result;
}

inline std::string describe(const UnitAxes& axes, int unit_bytes) {
  std::string text = "axes(";
  for (const std::uint64_t e : axes.shape) text += std::to_string(e) + " ";
  text += ";";
  for (const int a : axes.order) text += " " + std::to_string(a);
  return text + "), " + std::to_string(unit_bytes) + " bytes";
}

inline UnitAxes normal(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  return layout::unit_axes(Axes(shape, order), 1, 1);
}

/// Every unit is where the definition says.
inline void expect_moved(const UnitAxes& axes, std::size_t unit_bytes, std::span<const std::byte> in,
                         std::span<const std::byte> out) {
  const std::vector<std::uint64_t> target = targets(axes.shape, axes.order);
  for (std::size_t x = 0; x < target.size(); ++x) {
    ASSERT_EQ(std::memcmp(&in[x * unit_bytes], &out[target[x] * unit_bytes], unit_bytes), 0) << "unit " << x;
  }
}

/// Buffers with an array from the skew to the end.
struct SkewedArrays {
  std::uint64_t in_end = 0;
  std::uint64_t out_end = 0;
  std::uint32_t in_skew = 0;
  std::uint32_t out_skew = 0;
  std::size_t shared_bytes = 0;
};

/// Runs kernel(memory) on random bytes: every unit is moved, each byte of them stored once, none before them.
inline machine::AccessCounts expect_moved(const UnitAxes& axes, int unit_bytes, const SkewedArrays& run,
                                          std::mt19937_64& random, const auto& kernel) {
  std::vector<std::byte> in(run.in_end);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  std::vector<std::byte> out(run.out_end, kPoison);
  machine::CountingMemory memory({.shared_bytes = run.shared_bytes});
  memory.add_input(in);
  memory.add_output(out);
  kernel(memory);
  const auto unit = static_cast<std::size_t>(unit_bytes);
  expect_moved(axes, unit, std::span(in).subspan(run.in_skew), std::span(out).subspan(run.out_skew));
  for (std::uint32_t i = 0; i < run.out_skew; ++i) EXPECT_EQ(out[i], kPoison);
  EXPECT_EQ(memory.counts().global_stores.bytes, axes.count() * unit);
  return memory.counts();
}

/// Aligned in a third of the cases.
inline AxesLinesOptions random_skews(int unit_bytes, std::mt19937_64& random) {
  const auto unit = static_cast<std::uint32_t>(unit_bytes);
  AxesLinesOptions options;
  if (random() % 3 == 0) return options;
  options.in_skew = static_cast<std::uint32_t>(random() % 16 / unit * unit);
  options.out_skew = static_cast<std::uint32_t>(random() % 32 / unit * unit);
  return options;
}

}  // namespace faro::kernels
