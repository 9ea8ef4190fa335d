// A place of the input that is stepped on: a pointer where the memory has one, which saves a GPU the addition
// of the array's own address to each.
//
//     auto from = input_cursor(memory, at);
//     auto word = load_cursor<4>(memory, from);      // of row 0
//     from += pitch;                                 // of row 1
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::kernels {

template <device::Memory Memory>
constexpr auto input_cursor(Memory& memory, std::uint64_t at) {
  if constexpr (requires { memory.input_cursor(at); }) {
    return memory.input_cursor(at);
  } else {
    return at;
  }
}

template <int bytes, device::Memory Memory, typename Cursor>
constexpr device::Packet<bytes> load_cursor(Memory& memory, Cursor cursor) {
  if constexpr (requires { memory.template load_cursor<bytes>(cursor); }) {
    return memory.template load_cursor<bytes>(cursor);
  } else {
    return memory.template load_global<bytes>(device::kInput, cursor);
  }
}

}  // namespace faro::kernels
