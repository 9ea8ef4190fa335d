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

/// An element as it is fetched, and what the kernel has of it: the same but where an array converts
/// (converting_memory.hpp).
template <typename Array>
constexpr auto fetched(const Array& array, std::uint64_t i) {
  if constexpr (requires { array.fetch(i); }) {
    return array.fetch(i);
  } else {
    return array.get(i);
  }
}
template <typename Array, typename Fetched>
constexpr auto made_of(const Array& array, const Fetched& value) {
  if constexpr (requires { array.fetch(0); }) {
    return array.made(value);
  } else {
    return value;
  }
}

}  // namespace faro::kernels
