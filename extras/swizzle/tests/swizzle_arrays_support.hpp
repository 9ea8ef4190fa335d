// What goes into completed sketches and what must come out, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faro/swizzle/program.hpp"
#include "swizzle_kernels_support.hpp"

namespace faro::testing {

/// Inputs by array number: small numbers, exact in float too; all bits where `bits`.
template <typename T>
std::vector<std::vector<T>> swizzle_inputs(const SwizzleKernel& kernel, bool bits) {
  std::vector<std::vector<T>> inputs;
  std::uint64_t state = 12345;
  for (const auto& array : kernel.program.arrays()) {
    auto& values = inputs.emplace_back();
    if (array.kind != swizzle::ArrayKind::input) continue;
    for (std::int64_t k = 0; k < array.size; ++k) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      values.push_back(static_cast<T>(bits ? state >> 11U : (state >> 33U) % 50));
    }
  }
  return inputs;
}

inline constexpr int kSwizzlePoison = 77;
inline constexpr std::size_t kSwizzleGuard = 64;  // elements before and behind an output

/// What the interpreter leaves in each output, poison where nothing is written.
template <typename T>
std::vector<std::vector<T>> swizzle_expected(const SwizzleKernel& kernel,
                                             const std::vector<std::vector<T>>& inputs) {
  std::vector<std::vector<T>> outputs;
  for (const auto& array : kernel.program.arrays())
    outputs.emplace_back(array.kind == swizzle::ArrayKind::output ? static_cast<std::size_t>(array.size) : 0,
                         T{kSwizzlePoison});
  std::vector<std::span<const T>> in(inputs.begin(), inputs.end());
  std::vector<std::span<T>> out(outputs.begin(), outputs.end());
  swizzle::run<T>(kernel.program, kernel.valuation, in, out);
  return outputs;
}

}  // namespace faro::testing
