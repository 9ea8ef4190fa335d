// What the tests of the kernels for axes share: the definition, runs that are held against it, and shapes in
// words.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
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

using StridedAxes = std::vector<layout::StridedAxis>;

inline std::string describe(const StridedAxes& axes, int unit_bytes) {
  std::string text = "axes";
  for (const layout::StridedAxis& axis : axes) {
    text += " (" + std::to_string(axis.extent) + ", " + std::to_string(axis.in) + ", " +
            std::to_string(axis.out) + ")";
  }
  return text + ", " + std::to_string(unit_bytes) + " bytes, fastest of the output first";
}

inline StridedAxes normal(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  return layout::unit_axes(Axes(shape, order), 1, 1).axes;
}

// --- the oracle: for every unit of the output, its coordinates, then its place in the input

inline std::vector<std::uint64_t> sources(const StridedAxes& axes) {
  std::vector<std::uint64_t> from(faro::detail::unit_count(axes));
  for (std::uint64_t y = 0; y < from.size(); ++y) {
    for (const layout::StridedAxis& axis : axes)
      from[y] += y / static_cast<std::uint64_t>(axis.out) % axis.extent * static_cast<std::uint64_t>(axis.in);
  }
  return from;
}

/// Every unit is where the definition says.
inline void expect_moved(const StridedAxes& axes, std::size_t unit_bytes, std::span<const std::byte> in,
                         std::span<const std::byte> out) {
  const std::vector<std::uint64_t> from = sources(axes);
  for (std::size_t y = 0; y < from.size(); ++y) {
    ASSERT_EQ(std::memcmp(&in[from[y] * unit_bytes], &out[y * unit_bytes], unit_bytes), 0) << "unit " << y;
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
inline machine::AccessCounts expect_moved(const StridedAxes& axes, int unit_bytes, const SkewedArrays& run,
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
  EXPECT_EQ(memory.counts().global_stores.bytes, faro::detail::unit_count(axes) * unit);
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
