// Tile buffers, made once and lent to whichever thread runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace faro::cpu {

/// `count` buffers of `bytes` bytes. A thread takes one for as long as it works and holds no other, so that
/// whoever waits is served once any thread is done.
class ScratchPool {
 public:
  ScratchPool(int count, std::uint64_t bytes)
      : busy_(std::make_unique<std::atomic_flag[]>(static_cast<std::size_t>(count))),
        count_(static_cast<std::size_t>(count)),
        // Apart by a line more than the size, so that the buffers of two threads never share one.
        stride_((bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment),
        memory_(static_cast<std::byte*>(::operator new (stride_* count_, std::align_val_t{kAlignment}))) {}

  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), slot_(pool.take()) {}
    ~Lease() { pool_.busy_[slot_].clear(std::memory_order_release); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* data() const { return pool_.memory_.get() + slot_ * pool_.stride_; }

   private:
    ScratchPool& pool_;
    std::size_t slot_;
  };

 private:
  static constexpr std::size_t kAlignment = 4096;
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{kAlignment}); }
  };

  std::size_t take() {
    for (;;) {
      for (std::size_t slot = 0; slot < count_; ++slot) {
        if (!busy_[slot].test_and_set(std::memory_order_acquire)) return slot;
      }
      std::this_thread::yield();
    }
  }

  std::unique_ptr<std::atomic_flag[]> busy_;
  std::size_t count_;
  std::size_t stride_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace faro::cpu
