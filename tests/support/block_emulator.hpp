// Kernels written over cuda::Block, run on the host: every thread of a block is a coroutine with a stack of
// its own, which stops where it waits for others.
//
//     emulate(kernel, {.order = Order::backward});
//
// A warp runs until all of it waits for the rest of the block, then the next one in the order asked for, and
// likewise lanes between two waits of a warp; so one that reads what another writes without a barrier between
// them meets it in some order before and in some after. Fails with std::runtime_error where the threads of a
// warp or block wait for different things, or one has ended that others wait for.
//
// swapcontext() enters a stack for the first time only: it asks the kernel for the mask of signals at every
// switch, which took nine tenths of these tests' time. After that _setjmp() and _longjmp() switch.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "engines/cuda/kernels/device_block.hpp"

namespace faro::testing {

enum class Order { forward, backward, shuffled };

struct Emulation {
  Order order = Order::forward;
  bool by_ballots = false;  // lanes_with() as a GPU works it out, rather than at once
};

/// The threads of one block at a time.
class BlockThreads {
 public:
  enum class Wait { none, barrier, warp_barrier, ballot, match, shuffle, shuffle_up, ended };

  BlockThreads(std::uint32_t threads, const Emulation& how)
      : how_(how), threads_(threads), warps_(threads / cuda::kWarpLanes), lanes_(cuda::kWarpLanes) {
    std::iota(warps_.begin(), warps_.end(), 0U);
    std::iota(lanes_.begin(), lanes_.end(), 0U);
    if (how.order == Order::backward) {
      std::reverse(warps_.begin(), warps_.end());
      std::reverse(lanes_.begin(), lanes_.end());
    }
    for (std::uint32_t t = 0; t < threads; ++t) begin(t);
  }
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;
  ~BlockThreads() = default;

  template <typename Body>
  void run(const Body& body) {
    body_ = &body;
    call_ = [](const void* function, std::uint32_t thread) { (*static_cast<const Body*>(function))(thread); };
    for (Thread& thread : threads_) thread.wait = Wait::none;
    while (!ended()) {
      if (how_.order == Order::shuffled) std::shuffle(warps_.begin(), warps_.end(), random_);
      bool moved = false;
      for (const std::uint32_t warp : warps_) {
        while (advance(warp)) moved = true;
      }
      complete_block();
      if (!moved && !ended()) throw std::runtime_error("threads of a block wait for each other in vain");
    }
  }

  /// Makes the running thread wait for the others, and gives what came of it.
  std::uint32_t wait_for(Wait what, std::uint32_t value, std::uint32_t lanes = 0) {
    Thread& own = threads_[running_];
    own.wait = what;
    own.value = value;
    own.lanes = lanes;
    leave(own);
    return own.result;
  }

 private:
  static constexpr std::size_t kStackBytes = std::size_t{32} << 10;

  struct Thread {
    ucontext_t context{};
    jmp_buf place{};  // where it waits
    bool entered = false;
    std::unique_ptr<std::byte[]> stack;
    Wait wait = Wait::none;
    std::uint32_t value = 0;
    std::uint32_t lanes = 0;
    std::uint32_t result = 0;
  };

  void begin(std::uint32_t t) {
    Thread& thread = threads_[t];
    thread.stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = nullptr;  // it never returns
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&thread.context, reinterpret_cast<void (*)()>(&enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }

  // Runs each thread of a warp to its next wait. Whether any could.
  bool advance(std::uint32_t warp) {
    if (how_.order == Order::shuffled) std::shuffle(lanes_.begin(), lanes_.end(), random_);
    bool moved = false;
    for (const std::uint32_t lane : lanes_) {
      const std::uint32_t t = warp * cuda::kWarpLanes + lane;
      if (threads_[t].wait != Wait::none) continue;
      moved = true;
      running_ = t;
      resume(threads_[t]);
      if (error_ != nullptr) std::rethrow_exception(error_);
    }
    complete_warp(warp);
    return moved;
  }

  // The scheduler runs a thread until it waits.
  [[gnu::noinline]] void resume(Thread& thread) {
    if (_setjmp(scheduler_place_) != 0) return;
    if (thread.entered) _longjmp(thread.place, 1);
    thread.entered = true;
    swapcontext(&scheduler_, &thread.context);
  }

  // A thread waits until the scheduler resumes it.
  [[gnu::noinline]] void leave(Thread& thread) {
    if (_setjmp(thread.place) == 0) _longjmp(scheduler_place_, 1);
  }

  static void enter(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<BlockThreads*>(std::uintptr_t{high} << 32 | low);
    const std::uint32_t t = self->running_;
    for (;;) {  // one block after another
      try {
        self->call_(self->body_, t);
      } catch (...) {
        self->error_ = std::current_exception();
      }
      self->threads_[t].wait = Wait::ended;
      self->leave(self->threads_[t]);
    }
  }

  bool ended() const {
    return std::all_of(threads_.begin(), threads_.end(),
                       [](const Thread& t) { return t.wait == Wait::ended; });
  }

  void complete_warp(std::uint32_t warp) {
    Thread* const lanes = threads_.data() + warp * cuda::kWarpLanes;
    const Wait what = lanes[0].wait;
    if (what == Wait::none || what == Wait::barrier || what == Wait::ended) return;
    for (std::uint32_t l = 0; l < cuda::kWarpLanes; ++l) {
      if (lanes[l].wait == Wait::none) return;
      if (lanes[l].wait != what) throw std::runtime_error("lanes of a warp wait for different things");
    }
    std::uint32_t ballot = 0;
    for (std::uint32_t l = 0; l < cuda::kWarpLanes; ++l) {
      ballot |= (lanes[l].value != 0 ? 1U : 0U) << l;
      if (lanes[l].lanes != lanes[0].lanes) throw std::runtime_error("lanes of a warp name different ones");
    }
    for (std::uint32_t l = 0; l < cuda::kWarpLanes; ++l) {
      std::uint32_t result = 0;
      if (what == Wait::ballot) result = ballot;
      if (what == Wait::shuffle) result = lanes[lanes[l].lanes].value;
      if (what == Wait::shuffle_up) result = lanes[l >= lanes[l].lanes ? l - lanes[l].lanes : l].value;
      if (what == Wait::match) {
        for (std::uint32_t other = 0; other < cuda::kWarpLanes; ++other) {
          if (lanes[other].value == lanes[l].value) result |= 1U << other;
        }
        result &= lanes[l].lanes;
      }
      lanes[l].result = result;
      lanes[l].wait = Wait::none;
    }
  }

  void complete_block() {
    const auto waits = [](const Thread& t) { return t.wait == Wait::barrier; };
    if (std::none_of(threads_.begin(), threads_.end(), waits)) return;
    if (!std::all_of(threads_.begin(), threads_.end(), waits)) {
      const bool any_ended = std::any_of(threads_.begin(), threads_.end(),
                                         [](const Thread& t) { return t.wait == Wait::ended; });
      if (any_ended) throw std::runtime_error("threads wait at a barrier for one that has ended");
      return;
    }
    for (Thread& thread : threads_) thread.wait = Wait::none;
  }

  Emulation how_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> warps_;  // in the order of their turns
  std::vector<std::uint32_t> lanes_;
  std::mt19937 random_{1};
  ucontext_t scheduler_{};
  jmp_buf scheduler_place_{};
  std::uint32_t running_ = 0;
  const void* body_ = nullptr;
  void (*call_)(const void*, std::uint32_t) = nullptr;
  std::exception_ptr error_;
};

/// cuda::Block by those threads, matching at once.
class EmulatedBlock {
 public:
  EmulatedBlock(BlockThreads& threads, std::uint32_t thread, std::uint64_t index, std::uint64_t blocks,
                std::byte* shared)
      : threads_(threads), thread_(thread), index_(index), blocks_(blocks), shared_(shared) {}

  std::uint64_t index() const { return index_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint32_t thread() const { return thread_; }
  std::byte* shared() const { return shared_; }

  void barrier() { threads_.wait_for(BlockThreads::Wait::barrier, 0); }
  void warp_barrier() { threads_.wait_for(BlockThreads::Wait::warp_barrier, 0); }
  std::uint32_t ballot(bool condition) {
    return threads_.wait_for(BlockThreads::Wait::ballot, condition ? 1 : 0);
  }
  std::uint32_t shuffle_up(std::uint32_t value, std::uint32_t lanes) {
    return threads_.wait_for(BlockThreads::Wait::shuffle_up, value, lanes);
  }
  std::uint32_t shuffle(std::uint32_t value, std::uint32_t lane) {
    return threads_.wait_for(BlockThreads::Wait::shuffle, value, lane);
  }
  std::uint32_t count_ones(std::uint32_t word) const {
    return static_cast<std::uint32_t>(std::popcount(word));
  }

  std::uint32_t atomic_or(std::uint32_t* word, std::uint32_t bits) {
    const std::uint32_t before = *word;
    *word |= bits;
    return before;
  }
  void atomic_and(std::uint32_t* word, std::uint32_t bits) { *word &= bits; }
  std::uint32_t fetch_add(std::uint32_t* word, std::uint32_t value) {
    const std::uint32_t before = *word;
    *word += value;
    return before;
  }
  void atomic_add(std::uint32_t* word, std::uint32_t value) { *word += value; }
  void atomic_add(std::uint64_t* word, std::uint64_t value) { *word += value; }
  void atomic_min(std::uint64_t* word, std::uint64_t value) { *word = std::min(*word, value); }
  void atomic_max(std::uint64_t* word, std::uint64_t value) { *word = std::max(*word, value); }
  std::uint32_t read(const std::uint32_t* word) const { return *word; }
  std::uint64_t read(const std::uint64_t* word) const { return *word; }
  void write(std::uint32_t* word, std::uint32_t value) const { *word = value; }

 protected:
  BlockThreads& threads_;

 private:
  std::uint32_t thread_;
  std::uint64_t index_;
  std::uint64_t blocks_;
  std::byte* shared_;
};

/// What is copied is there at once.
template <typename Element>
void copy_past_registers(const EmulatedBlock& /*block*/, Element* to, const Element* from) {
  *to = *from;
}
inline void wait_for_copies(const EmulatedBlock& /*block*/) {}

/// The same with a match of its own, which costs one wait instead of one a bit.
class MatchingBlock : public EmulatedBlock {
 public:
  using EmulatedBlock::EmulatedBlock;
  std::uint32_t match(std::uint32_t value, std::uint32_t lanes) {
    return threads_.wait_for(BlockThreads::Wait::match, value, lanes);
  }
};

/// Runs a kernel value, one block after another. Shared memory is exactly as large as the kernel says, and
/// full of garbage.
template <typename Kernel>
void emulate(const Kernel& kernel, const Emulation& how = {}) {
  static_assert(cuda::Block<EmulatedBlock> && cuda::Block<MatchingBlock>);
  BlockThreads threads(Kernel::kThreads, how);
  const std::uint64_t blocks = kernel.blocks();
  for (std::uint64_t n = 0; n < blocks; ++n) {
    const std::uint64_t index = how.order == Order::backward ? blocks - 1 - n : n;
    const std::size_t words = (kernel.shared_bytes() + 15) / 16 * 2;
    std::vector<std::uint64_t> shared(words, 0xdeadbeefdeadbeef);
    auto* const memory = reinterpret_cast<std::byte*>(shared.data());
    threads.run([&](std::uint32_t thread) {
      if (how.by_ballots) {
        EmulatedBlock block(threads, thread, index, blocks, memory);
        kernel(block);
      } else {
        MatchingBlock block(threads, thread, index, blocks, memory);
        kernel(block);
      }
    });
  }
}

/// A device of cuda::IndexWork's kind (engines/cuda/index/index_work.hpp) whose memory is the host's and
/// whose kernels are emulated. Buffers have guard zones, looked at when they are given back.
class HostDevice {
 public:
  explicit HostDevice(const Emulation& how = {}) : how_(how) {}

  template <typename T>
  class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::uint64_t count) : memory_(std::make_unique<std::vector<T>>(count + 2 * kGuard)) {
      auto* const bytes = reinterpret_cast<unsigned char*>(memory_->data());
      std::fill(bytes, bytes + memory_->size() * sizeof(T), kGuardByte);
    }
    Buffer(Buffer&&) noexcept = default;
    Buffer& operator=(Buffer&& other) noexcept {
      std::swap(memory_, other.memory_);
      return *this;
    }
    ~Buffer() {
      if (memory_ == nullptr) return;
      const auto whole = [&](std::size_t from) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_->data() + from);
        return std::all_of(bytes, bytes + kGuard * sizeof(T),
                           [](unsigned char b) { return b == kGuardByte; });
      };
      if (!whole(0) || !whole(memory_->size() - kGuard)) ++guards_written();
    }
    T* data() const { return memory_ == nullptr ? nullptr : memory_->data() + kGuard; }
    std::uint64_t size() const { return memory_ == nullptr ? 0 : memory_->size() - 2 * kGuard; }
    std::uint64_t bytes() const { return size() * sizeof(T); }
    std::vector<T> download() const { return {data(), data() + size()}; }

   private:
    static constexpr std::size_t kGuard = 64;
    static constexpr unsigned char kGuardByte = 0xa5;
    std::unique_ptr<std::vector<T>> memory_;
  };

  /// Guard zones that were written to, so far.
  static int& guards_written() {
    static int number = 0;
    return number;
  }

  template <typename T>
  Buffer<T> buffer(std::uint64_t count) {
    return Buffer<T>(count);
  }
  void fill(void* to, int byte, std::uint64_t bytes) {
    if (bytes > 0) std::memset(to, byte, bytes);
  }
  void send(void* to, const void* from, std::uint64_t bytes) { std::memcpy(to, from, bytes); }
  void fetch(void* to, const void* from, std::uint64_t bytes) { std::memcpy(to, from, bytes); }
  void wait() {}
  void step(const char* /*name*/) {}
  template <typename Kernel>
  void run(const Kernel& kernel) {
    emulate(kernel, how_);
  }

 private:
  Emulation how_;
};

}  // namespace faro::testing
