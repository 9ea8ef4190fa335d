// What the C++ library and the C headers of emscripten 3.1 lack, included before every file of the page.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ MADV_WILLNEED
#endif

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 16000
namespace std {

template <typename T>
requires is_unbounded_array_v<T> unique_ptr<T> make_unique_for_overwrite(size_t count) {
  return unique_ptr<T>(new remove_extent_t<T>[count]);
}

}  // namespace std
#endif

#ifndef __cpp_lib_bit_cast
namespace std {

template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

}  // namespace std
#endif

#ifndef __cpp_lib_atomic_ref
namespace std {

// There is one thread.
template <typename T>
class atomic_ref {
 public:
  explicit atomic_ref(T& value) : value_(&value) {}
  T fetch_or(T bits, memory_order = memory_order_seq_cst) const {
    const T before = *value_;
    *value_ = before | bits;
    return before;
  }

 private:
  T* value_;
};

}  // namespace std
#endif
