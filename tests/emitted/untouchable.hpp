// Addresses that stand for an array, and what is noted of accesses to them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace faro::testing {

/// One access of one thread, in bytes from the beginning of its array.
struct TracedAccess {
  enum class Kind : std::uint8_t { global_load, global_store, shared_load, shared_store };
  Kind kind;
  unsigned bytes;
  std::uint64_t block;
  std::uint32_t thread;
  std::uint64_t offset;
  friend bool operator==(const TracedAccess&, const TracedAccess&) = default;
};

/// Addresses without memory behind them, the middle part being an array's.
class Untouchable {
 public:
  explicit Untouchable(std::uint64_t bytes) : bytes_(bytes + 2 * kGuard) {
    base_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED) throw std::runtime_error("no addresses for an array");
  }
  Untouchable(const Untouchable&) = delete;
  Untouchable& operator=(const Untouchable&) = delete;
  ~Untouchable() { munmap(base_, bytes_); }

  std::byte* array() const { return static_cast<std::byte*>(base_) + kGuard; }
  /// Whether the array has it; before it, past 2^63.
  bool contains(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_) < bytes_;
  }
  std::uint64_t offset(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(array());
  }

 private:
  static constexpr std::uint64_t kGuard = std::uint64_t{1} << 37;  // 2^32 elements of 16 bytes
  std::uint64_t bytes_;
  void* base_ = nullptr;
};

}  // namespace faro::testing
