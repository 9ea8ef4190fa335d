// The popular kernels of rows with arithmetic; others are compiled by NVRTC (value_source.cpp).
#include <algorithm>
#include <utility>

#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/value_program.hpp"
#include "kernels/number_types.hpp"
#include "kernels/program_text.hpp"
#include "kernels/row_values.hpp"

namespace faro::cuda {
namespace {

using kernels::ChangedVectors;
using kernels::Identity;
using kernels::MoveRows;
using kernels::number_of;
using kernels::NumberProgram;
using kernels::RowDirection;

// Both directions, by vectors of 16 bytes of the narrower type, or of 32 of the wider.
template <typename From, typename To, typename Computed = float, unsigned kFlags = 0>
const void* find(RowValueKernel wanted) {
  using Program = NumberProgram<From, To, Computed, Identity, kFlags>;
  constexpr auto kWide = static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));
  constexpr auto kNarrow = static_cast<int>(sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To));
  constexpr int k = std::min(16 / kNarrow, kernels::kMostChangedBytes / kWide);
  const bool takes = std::exchange(wanted.takes, true);
  const RowValueKernel which{.program = kernels::program_text({.from = number_of<From>(),
                                                               .to = number_of<To>(),
                                                               .computed = number_of<Computed>(),
                                                               .flags = kFlags}),
                             .numbers = k};
  if (which != wanted) return nullptr;
  return takes ? value_kernel<MoveRows<RowDirection::take, ChangedVectors<Program, k>>>()
               : value_kernel<MoveRows<RowDirection::put, ChangedVectors<Program, k>>>();
}

}  // namespace

const void* compiled_row_kernel(const RowValueKernel& wanted) {
  using kernels::BrainHalf;
  using kernels::Float8E4M3;
  using kernels::Half;
  constexpr unsigned kScale = kernels::ProgramStep::scale;
  const void* const found[] = {
      find<float, Half>(wanted),
      find<float, BrainHalf>(wanted),
      find<Half, float>(wanted),
      find<BrainHalf, float>(wanted),
      find<float, double, double>(wanted),
      find<double, float, double>(wanted),
      find<std::uint8_t, float>(wanted),
      find<std::uint8_t, Half>(wanted),
      find<std::uint8_t, BrainHalf>(wanted),
      find<std::int8_t, float, float, kScale>(wanted),
      find<std::int8_t, BrainHalf, float, kScale>(wanted),
      find<Half, Float8E4M3>(wanted),
      find<BrainHalf, Float8E4M3>(wanted),
      find<BrainHalf, Float8E4M3, float, kScale>(wanted),
      find<Float8E4M3, BrainHalf>(wanted),
      find<Float8E4M3, BrainHalf, float, kScale>(wanted),
      find<float, float, float, kScale>(wanted),
  };
  for (const void* const function : found) {
    if (function != nullptr) return function;
  }
  return nullptr;
}

}  // namespace faro::cuda
