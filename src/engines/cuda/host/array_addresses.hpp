// What kernels ask of the addresses of arrays, whichever program runs them. No CUDA header is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faro/error.hpp"

namespace faro::cuda {

/// The widest access of a kernel in bytes, and the alignment that has no slower kernel.
inline constexpr std::uint64_t kVector = 16;

inline std::uintptr_t address(const void* array) { return reinterpret_cast<std::uintptr_t>(array); }

/// The addresses of both arrays, ORed: aligned as the lesser aligned of the two.
inline std::uintptr_t addresses(const void* in, const void* out) { return address(in) | address(out); }

inline bool aligned(const void* in, const void* out, std::uint64_t bytes) {
  return addresses(in, out) % bytes == 0;
}

/// An array's address as kernels take it, and what is left of it.
struct Address {
  const std::byte* base = nullptr;
  std::uint32_t skew = 0;
};

inline Address split(const void* array, std::uint64_t alignment = kVector) {
  const auto skew = static_cast<std::uint32_t>(address(array) % alignment);
  return {.base = static_cast<const std::byte*>(array) - skew, .skew = skew};
}

struct AlignmentWords {
  const char* operation = "run";
  const char* what = "arrays";
  const char* remedy = "";
};

/// Errors: ErrorCode::value for addresses (ORed, if several) that are no multiple of `bytes`, a power of two.
inline void require_aligned(std::uintptr_t all, std::uint64_t bytes, const AlignmentWords& words = {}) {
  if (all % bytes == 0) return;
  const auto text = [&](std::uint64_t alignment) {
    return std::string(words.what) + " aligned to " + std::to_string(alignment) + " bytes";
  };
  fail(ErrorCode::value, words.operation, text(all & (~all + 1)), text(bytes), words.remedy);
}

/// Errors: ErrorCode::value for no workspace where one is needed.
inline void require_lent(const void* workspace, std::uint64_t bytes) {
  if (bytes == 0 || workspace != nullptr) return;
  fail(ErrorCode::value, "run", "a null workspace", std::to_string(bytes) + " bytes of the device",
       "lend workspace_bytes() of the plan");
}

}  // namespace faro::cuda
