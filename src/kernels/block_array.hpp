// What a block's threads read and write, in memory or in its shared memory: by its address, on a GPU. What
// counts accesses (tell/counts/counted_arrays.hpp) has types of the same members.
#pragma once

#include <cstdint>

namespace faro::kernels {

template <typename T>
struct BlockArray {
  T* data = nullptr;

  constexpr T get(std::uint64_t i) const { return data[i]; }
  constexpr void put(std::uint64_t i, const T& value) const { data[i] = value; }
  /// Where other threads get() or put() and this one does not.
  constexpr void skip() const {}
  /// Counted from a later element.
  constexpr BlockArray from(std::uint64_t first) const { return {data + first}; }
};

}  // namespace faro::kernels
