// What kernels of rows with arithmetic are given (kernels/row_values.hpp): the same for every program, so
// that one that is compiled at run time is given what any other is.
#pragma once

#include <cstdint>

#include "engines/cuda/rows/row_queue.hpp"
#include "kernels/row_elements.hpp"
#include "kernels/row_values.hpp"
#include "kernels/row_walk.hpp"
#include "plan/gpu/value_rows.hpp"

namespace faro::cuda {

struct ValueRowArrays {
  const void* entries = nullptr;
  const void* in = nullptr;
  void* out = nullptr;
  kernels::RowChanges changes;
};

using AnyChangedVectors = kernels::ChangedVectors<kernels::NumberProgram<float, float, float>, 1>;
using AnyValueRows = kernels::MoveRows<kernels::RowDirection::take, AnyChangedVectors>;
template <kernels::RowDirection kDirection>
using AnyWalkedRows = kernels::WalkRows<kDirection, AnyChangedVectors>;
template <int kTogether>
using AnyValueElements = kernels::MoveElements<kernels::RowDirection::take, AnyChangedVectors, kTogether>;

/// The kernel's value; `faulty`: of Put, where it is told whether this run has a fault.
template <typename Kernel>
Kernel value_row_arguments(const faro::detail::RowValues& of, const faro::detail::ValueRows& rows,
                           const RowMemory& memory, const std::uint32_t* faulty,
                           const ValueRowArrays& arrays) {
  Kernel kernel;
  static_cast<kernels::RowChanges&>(kernel.way) = arrays.changes;
  kernel.shape.entries = entries_of(of.move);
  kernel.shape.entries.data = arrays.entries;
  kernel.shape.arrays.in[0] = static_cast<const std::byte*>(arrays.in);
  kernel.shape.arrays.out[0] = static_cast<std::byte*>(arrays.out);
  kernel.shape.count = device::Division64(of.moved_rows());
  kernel.shape.outer = of.outer;
  kernel.shape.fill = fill_of(of.move);
  kernel.shape.fill_bytes = memory.fill_bytes;
  kernel.shape.fill_pattern = memory.fill_pattern;
  kernel.shape.faults = memory.faults;
  kernel.shape.faulty = faulty;
  if constexpr (requires { kernel.chunks; }) {
    kernel.chunks = rows.pass.chunks;
    kernel.parts = device::Division64(kernel.parts_of(of.moved_rows(), rows.pass.chunks));
  } else {
    kernel.set_vectors(of.numbers / static_cast<std::uint64_t>(rows.numbers));
  }
  if constexpr (requires { kernel.sliced; }) {
    const std::uint64_t slice = rows.slice_vectors(of);
    kernel.sliced = slice > 0;
    if (kernel.sliced) {
      kernel.slice = device::Division64(slice);
      kernel.all_slices = device::Division64(of.outer * of.moved_rows() * slice);
    }
  }
  return kernel;
}

}  // namespace faro::cuda
