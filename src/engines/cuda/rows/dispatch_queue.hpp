// Rows sent to their places as a queue of one kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/row_dispatch.hpp"

namespace faro::cuda {

struct DispatchWork {
  kernels::RowEntries places;
  kernels::RowEntries taken = {};  // no entries: rows that nothing goes to stay as they are
  kernels::RowFaults* faults = nullptr;
  std::uint64_t keys_per_row = 1;
  std::uint64_t row_bytes = 1;
  const void* in = nullptr;
  void* out = nullptr;
};

/// Of what is sent, a second-level cache may keep so much for whoever reads it next.
inline constexpr std::uint64_t kKeptBytes = 64 << 20;

template <typename Queue>
void dispatch_rows(Queue& queue, const DispatchWork& work) {
  const auto by = [&]<int kBytes>() {
    kernels::DispatchRows<kBytes> kernel;
    kernel.places = work.places;
    kernel.taken = work.taken;
    kernel.faults = work.faults;
    kernel.keys_per_row = work.keys_per_row;
    kernel.parts = kernels::RowParts<kernels::DispatchRows<kBytes>::kThreads>(work.row_bytes / kBytes);
    kernel.in = static_cast<const std::byte*>(work.in);
    kernel.out = static_cast<std::byte*>(work.out);
    kernel.streams = work.places.rows * work.row_bytes > kKeptBytes;
    if (kernel.blocks() > 0) queue.run(kernel);
  };
  const std::uint64_t all =
      work.row_bytes | reinterpret_cast<std::uintptr_t>(work.in) | reinterpret_cast<std::uintptr_t>(work.out);
  constexpr std::uint64_t kWidest = 16;
  constexpr std::uint64_t kWord = 4;
  if (all % kWidest == 0) return by.template operator()<16>();
  if (all % kWord == 0) return by.template operator()<4>();
  by.template operator()<1>();
}

}  // namespace faro::cuda
