// Arrays of numbers as kernels with arithmetic take them, and their factors in a device's memory.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cpu/values/value_run.hpp"
#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/loaded_boxes.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/arithmetic.hpp"
#include "kernels/value_factors.hpp"
#include "plan/gpu/value_tiles.hpp"

namespace faro::cuda {

inline kernels::ValueFactor factor_of(std::complex<double> value, Number computed) {
  kernels::ValueFactor factor;
  cpu::store_factor(computed, value, reinterpret_cast<std::byte*>(factor.bytes));
  return factor;
}

inline std::vector<std::byte> factors_of(const Coefficient& of, Number computed) {
  const std::uint64_t width = bytes_of(computed);
  std::vector<std::byte> values(of.values.size() * width);
  for (std::size_t i = 0; i < of.values.size(); ++i)
    cpu::store_factor(computed, of.values[i], values.data() + i * width);
  return values;
}

/// The alignments of arrays that a kernel can reach. Errors: those of ValueExecutor::run().
inline faro::detail::ValueAlignment required_alignment(const Arithmetic& of, const void* in,
                                                       const void* addend, const void* out, int device) {
  require_accessible(in, "input", device);
  require_accessible(out, "output", device);
  require_aligned(address(in), bytes_of(of.from), {.what = "an input"});
  require_aligned(address(out), bytes_of(of.to), {.what = "an output"});
  faro::detail::ValueAlignment alignment{.in = alignment_of(in), .out = alignment_of(out)};
  if (!of.addend) return alignment;
  require_accessible(addend, "added array", device);
  require_aligned(address(addend), bytes_of(of.addend->number), {.what = "an added array"});
  alignment.addend = alignment_of(addend);
  return alignment;
}

/// Factors that are found by a number's place in the output.
class FactorsOfPlaces {
 public:
  FactorsOfPlaces(const Arithmetic& of, int device) {
    give(of, of.scale, device, scales_, factors_.scale);
    give(of, of.offset, device, offsets_, factors_.offset);
    if (of.addend) factors_.beta = factor_of(of.addend->beta, computed_in(of));
  }

  const kernels::PlacedFactors& get() const { return factors_; }

 private:
  static void give(const Arithmetic& arithmetic, const Coefficient& of, int device,
                   DeviceBuffer<std::byte>& table, kernels::PlacedFactor& to) {
    const Number computed = computed_in(arithmetic);
    to.one = factor_of(of.values.front(), computed);
    if (!of.axis) return;
    table = DeviceBuffer<std::byte>::of(factors_of(of, computed), device);
    to.table = table.data();
    to.inner = device::Division64(faro::detail::numbers_of_step(arithmetic, *of.axis));
    to.extent = device::Division64(of.values.size());
  }

  DeviceBuffer<std::byte> scales_;
  DeviceBuffer<std::byte> offsets_;
  kernels::PlacedFactors factors_;
};

}  // namespace faro::cuda
