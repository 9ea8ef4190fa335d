// The popular kernels with arithmetic; others are compiled by NVRTC (value_source.cpp).
#include <type_traits>

#include "engines/cuda/kernels/value_kernel.cuh"
#include "engines/cuda/value_program.hpp"
#include "kernels/number_types.hpp"
#include "kernels/value_box.hpp"
#include "kernels/value_registers.hpp"
#include "kernels/value_turned.hpp"

namespace faro::cuda {
namespace {

using kernels::number_of;
using kernels::NumberProgram;
using kernels::ValueOrder;

template <typename From, typename To, typename Computed, unsigned kFlags, typename Addend>
ValueKernel described(Function function) {
  ValueKernel which{.from = number_of<From>(),
                    .to = number_of<To>(),
                    .computed = number_of<Computed>(),
                    .function = function,
                    .flags = kFlags};
  if constexpr (!std::is_same_v<Addend, kernels::NoAddend>) which.addend = number_of<Addend>();
  return which;
}

// Every way to move numbers of a program, by vectors of 16 bytes where nothing is in the way.
template <typename From, typename To, typename Computed = float, typename Applied = kernels::Identity,
          unsigned kFlags = 0, typename Addend = kernels::NoAddend>
const void* find(const ValueKernel& wanted, Function function = Function::identity) {
  using Program = NumberProgram<From, To, Computed, Applied, kFlags, Addend>;
  constexpr int kIn = 16 / sizeof(From);
  constexpr int kOut =
      16 / (std::is_same_v<Addend, kernels::NoAddend> || sizeof(To) > sizeof(Addend) ? sizeof(To)
                                                                                     : sizeof(Addend));
  constexpr int kBoth = kIn < kOut ? kIn : kOut;
  ValueKernel which = described<From, To, Computed, kFlags, Addend>(function);
  which.direct = true;
  which.in = which.out = kBoth;
  if (which == wanted) return value_kernel<kernels::MoveValueRuns<Program, kBoth>>();
  // Pixels of bytes become planes.
  if constexpr (std::is_same_v<From, std::uint8_t>) {
    constexpr int kChannels = 3;
    which.columns = kChannels;
    if (which == wanted)
      return value_kernel<
          kernels::MoveValueColumns<Program, kChannels, kBoth, kernels::Interleaved::input>>();
    which.columns = 0;
  }
  which.direct = false;
  which.in = kIn;
  which.out = kOut;
  constexpr int kTurned = kOut < int{kernels::kTurnedVectors} ? kOut : int{kernels::kTurnedVectors};
  if constexpr (kIn > 1 && kTurned > 1) {
    which.turned = true;
    which.out = kTurned;
    if (which == wanted) return value_kernel<kernels::MoveTurnedValues<Program, kIn, kTurned>>();
    which.turned = false;
    which.out = kOut;
  }
  which.copied = true;
  which.loads = which.stores = ValueOrder::by_steps;
  using kernels::MoveCopiedValues;
  using kernels::ValueFactorsOf;
  if (which == wanted)
    return value_kernel<MoveCopiedValues<Program, kIn, kOut, ValueOrder::by_steps, ValueOrder::by_steps,
                                         ValueFactorsOf::all>>();
  which.loads = which.stores = ValueOrder::by_table;
  if (which == wanted)
    return value_kernel<MoveCopiedValues<Program, kIn, kOut, ValueOrder::by_table, ValueOrder::by_table,
                                         ValueFactorsOf::all>>();
  return nullptr;
}

}  // namespace

const void* compiled_value_kernel(const ValueKernel& wanted) {
  using kernels::BrainHalf;
  using kernels::Half;
  using kernels::Identity;
  using kernels::ProgramStep;
  constexpr unsigned kLinear = kernels::ProgramStep::scale | kernels::ProgramStep::offset;
  using C64 = kernels::Complex<float>;
  using C128 = kernels::Complex<double>;
  const void* const found[] = {
      find<std::uint8_t, float>(wanted),
      find<std::uint8_t, Half>(wanted),
      find<std::uint8_t, BrainHalf>(wanted),
      find<std::uint8_t, float, float, Identity, kLinear>(wanted),
      find<std::uint8_t, Half, float, Identity, kLinear>(wanted),
      find<std::uint8_t, BrainHalf, float, Identity, kLinear>(wanted),
      find<float, Half>(wanted),
      find<float, BrainHalf>(wanted),
      find<Half, float>(wanted),
      find<BrainHalf, float>(wanted),
      find<float, double, double>(wanted),
      find<double, float, double>(wanted),
      find<Half, kernels::Float8E4M3>(wanted),
      find<BrainHalf, kernels::Float8E4M3>(wanted),
      find<Half, kernels::Float8E4M3, float, Identity, ProgramStep::scale>(wanted),
      find<BrainHalf, kernels::Float8E4M3, float, Identity, ProgramStep::scale>(wanted),
      find<Half, kernels::Float8E5M2, float, Identity, ProgramStep::scale>(wanted),
      find<BrainHalf, kernels::Float8E5M2, float, Identity, ProgramStep::scale>(wanted),
      find<float, float, float, Identity, ProgramStep::scale>(wanted),
      find<double, double, double, Identity, ProgramStep::scale>(wanted),
      find<C64, C64, C64, Identity, ProgramStep::scale>(wanted),
      find<C128, C128, C128, Identity, ProgramStep::scale>(wanted),
      find<float, float, float, Identity, 0, float>(wanted),
      find<float, float, float, Identity, ProgramStep::scale, float>(wanted),
      find<double, double, double, Identity, ProgramStep::scale, double>(wanted),
      find<C64, C64, C64, Identity, ProgramStep::scale, C64>(wanted),
      find<C128, C128, C128, Identity, ProgramStep::scale, C128>(wanted),
      find<C64, C64, C64, kernels::Conjugate>(wanted, Function::conjugate),
      find<C128, C128, C128, kernels::Conjugate>(wanted, Function::conjugate),
  };
  for (const void* const function : found) {
    if (function != nullptr) return function;
  }
  return nullptr;
}

}  // namespace faro::cuda
