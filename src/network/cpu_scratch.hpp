// Buffers of one size, made when they are first needed and lent from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace faro::network::cpu {

class ScratchPool {
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kAlignment}); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;
  struct Shelf {
    std::mutex mutex;
    std::vector<Memory> idle;
  };

 public:
  static constexpr std::size_t kAlignment = 4096;

  explicit ScratchPool(std::uint64_t bytes = 0) : bytes_(bytes), shelf_(std::make_unique<Shelf>()) {}

  /// A buffer for as long as this lives.
  class Loan {
   public:
    Loan(Shelf& shelf, Memory memory) : shelf_(&shelf), memory_(std::move(memory)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (memory_ == nullptr) return;
      const std::lock_guard lock(shelf_->mutex);
      shelf_->idle.push_back(std::move(memory_));
    }
    std::byte* data() const { return memory_.get(); }

   private:
    Shelf* shelf_;
    Memory memory_;
  };

  /// The bytes are those of the last borrower, zero at first. Errors: std::bad_alloc.
  Loan lend() const {
    {
      const std::lock_guard lock(shelf_->mutex);
      if (!shelf_->idle.empty()) {
        Loan loan(*shelf_, std::move(shelf_->idle.back()));
        shelf_->idle.pop_back();
        return loan;
      }
    }
    return {*shelf_, Memory(new (std::align_val_t{kAlignment}) std::byte[bytes_]())};
  }

 private:
  std::uint64_t bytes_;
  std::unique_ptr<Shelf> shelf_;
};

}  // namespace faro::network::cpu
