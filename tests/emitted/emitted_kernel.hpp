// Runs emitted kernels on the CPU, thread by thread, on a memory that counts (machine::CountingMemory) or
// that tells the time (machine::MemoryMachine).
//
// The kernel's pointers are to pages that cannot be touched: whatever the text reads or writes is reported by
// address (cuda_on_cpu.hpp), becomes an offset and goes to the memory, which holds the bytes.
//
//     in      [ guard | the input  | guard ]     an address here is an offset of buffer 0
//     out     [ guard | the output | guard ]     ... of buffer 1
//     any other place                            shared memory, from the lowest address the block uses
//
// A thread is run once for every phase, from its beginning: loads of former phases are answered from its log,
// stores ignored, and the barrier that ends the phase jumps out of it. So a phase ends for all threads before
// the next begins, with no second stack anywhere.
//
// Found besides what the memory finds: a barrier that some threads of a block do not reach, and a shared
// store that overtakes another thread's load in the same phase.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "emitted/emitted_library.hpp"
#include "emitted/untouchable.hpp"
#include "faro/device/memory.hpp"
#include "faro/emit/emit.hpp"

namespace faro::testing {

/// What was found out of a kernel before it is run: by one block of it that moves nothing.
struct KernelShape {
  std::uint64_t phases = 0;
  std::uintptr_t shared_base = 0;
  std::uint64_t shared_bytes = 0;  // from there to the last byte used
};

/// One kernel of a library, ready to run on a memory.
template <typename Memory>
class EmittedKernel {
 public:
  /// `array_bytes`: of the input and of the output.
  EmittedKernel(const EmittedLibrary& library, const emit::Kernel& kernel, std::uint64_t array_bytes,
                std::uint64_t first_block = 0, const void* added = nullptr)
      : addend(added),
        function_(library.function(kernel.name)),
        state_(library.state()),
        kernel_(kernel),
        in_(array_bytes),
        out_(array_bytes),
        logs_(threads()) {
    find_stack();
    explore(first_block);
  }

  std::uint32_t threads() const { return static_cast<std::uint32_t>(kernel_.threads_x * kernel_.threads_y); }
  const KernelShape& shape() const { return shape_; }

  /// One thread's phase; to be called for all threads of a block in turn, phase after phase.
  void run_phase(Memory& memory, std::uint64_t phase, std::uint64_t block, std::uint32_t thread) {
    memory_ = &memory;
    if (thread == 0) begin_phase(phase, block);
    if (phase == 0) logs_[thread].clear();
    const bool waits = run_thread(phase, block, thread);
    waiting_ += waits ? 1 : 0;
    if (thread + 1 != threads()) return;
    if (waiting_ != 0 && waiting_ != threads())
      fail(std::to_string(threads() - waiting_) + " threads miss a barrier");
    if ((waiting_ != 0) != (phase + 1 < shape_.phases)) fail("blocks differ in their barriers");
  }

  /// Where not null, every access is added to it.
  std::vector<TracedAccess>* trace = nullptr;
  /// What is added, in memory that it reads and nothing counts.
  const void* addend = nullptr;

 private:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kMany = kNobody - 1;
  struct Reader {
    std::uint64_t phase = 0;
    std::uint32_t thread = kNobody;
  };

  void find_stack() {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) throw std::runtime_error("no stack");
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    state_.stack_low = reinterpret_cast<std::uintptr_t>(low);
    state_.stack_bytes = bytes;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(kernel_.name + ", block " + std::to_string(block_) + ", thread " +
                             std::to_string(thread_) + ", phase " + std::to_string(phase_) + ": " + what);
  }

  void explore(std::uint64_t block) {
    exploring_ = true;
    shape_ = {};
    lowest_ = std::numeric_limits<std::uintptr_t>::max();
    highest_ = 0;
    for (std::uint64_t phase = 0; shape_.phases == 0; ++phase) {
      std::uint32_t waiting = 0;
      for (std::uint32_t thread = 0; thread < threads(); ++thread) {
        if (phase == 0) logs_[thread].clear();
        waiting += run_thread(phase, block, thread) ? 1 : 0;
      }
      if (waiting != 0 && waiting != threads())
        fail(std::to_string(threads() - waiting) + " threads miss a barrier");
      if (waiting == 0) shape_.phases = phase + 1;
    }
    if (highest_ != 0) {
      shape_.shared_base = lowest_ / 128 * 128;
      shape_.shared_bytes = highest_ - shape_.shared_base;
    }
    readers_.resize(shape_.shared_bytes);
    exploring_ = false;
  }

  void begin_phase(std::uint64_t phase, std::uint64_t block) {
    phase_ = phase;
    block_ = block;
    waiting_ = 0;
    ++phase_of_run_;
  }

  // Whether the thread came to a barrier at the end of the phase.
  bool run_thread(std::uint64_t phase, std::uint64_t block, std::uint32_t thread) {
    phase_ = phase;
    block_ = block;
    thread_ = thread;
    passed_ = 0;
    replayed_ = 0;
    const auto x = static_cast<unsigned>(kernel_.threads_x);
    const auto y = static_cast<unsigned>(kernel_.threads_y);
    state_.thread_idx = {thread % x, thread / x, 0};
    state_.block_idx = {static_cast<unsigned>(block), 0, 0};
    state_.block_dim = {x, y, 1};
    state_.grid_dim = {static_cast<unsigned>(kernel_.blocks), 1, 1};
    state_.load = [](const void* from, void* to, unsigned bytes) { current_->load(from, to, bytes); };
    state_.store = [](void* to, const void* from, unsigned bytes) { current_->store(to, from, bytes); };
    state_.barrier = [] { current_->barrier(); };
    current_ = this;
    if (setjmp(end_of_phase_) != 0) return true;  // the text has no destructors
    function_(in_.array(), out_.array(), addend);
    return false;
  }

  void barrier() {
    if (passed_++ == phase_) std::longjmp(end_of_phase_, 1);
  }

  void load(const void* from, void* to, unsigned bytes) {
    std::vector<std::byte>& log = logs_[thread_];
    if (passed_ < phase_) {
      std::memcpy(to, log.data() + replayed_, bytes);
      replayed_ += bytes;
      return;
    }
    if (exploring_) {
      note_shared(from, bytes);
      std::memset(to, 0, bytes);
    } else {
      switch (bytes) {
        case 1:
          load_bytes<1>(from, to);
          break;
        case 2:
          load_bytes<2>(from, to);
          break;
        case 4:
          load_bytes<4>(from, to);
          break;
        case 8:
          load_bytes<8>(from, to);
          break;
        case 16:
          load_bytes<16>(from, to);
          break;
        default:
          fail("a load of " + std::to_string(bytes) + " bytes");
      }
    }
    const auto* loaded = static_cast<const std::byte*>(to);
    log.insert(log.end(), loaded, loaded + bytes);
  }

  void store(void* to, const void* from, unsigned bytes) {
    if (passed_ < phase_) return;
    if (exploring_) return note_shared(to, bytes);
    switch (bytes) {
      case 1:
        return store_bytes<1>(to, from);
      case 2:
        return store_bytes<2>(to, from);
      case 4:
        return store_bytes<4>(to, from);
      case 8:
        return store_bytes<8>(to, from);
      case 16:
        return store_bytes<16>(to, from);
      default:
        fail("a store of " + std::to_string(bytes) + " bytes");
    }
  }

  void note_shared(const void* address, unsigned bytes) {
    if (in_.contains(address) || out_.contains(address)) return;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    lowest_ = std::min(lowest_, at);
    highest_ = std::max(highest_, at + bytes);
  }

  template <int bytes>
  void load_bytes(const void* from, void* to) {
    device::Packet<bytes> packet;
    if (in_.contains(from)) {
      note(TracedAccess::Kind::global_load, in_.offset(from), bytes);
      packet = memory_->template load_global<bytes>(0, in_.offset(from));
    } else if (out_.contains(from)) {
      packet = memory_->template load_global<bytes>(1, out_.offset(from));
    } else {
      const std::uint32_t offset = shared_offset(from);
      note(TracedAccess::Kind::shared_load, offset, bytes);
      packet = memory_->template load_shared<bytes>(offset);
      for (std::uint32_t i = offset; i < offset + bytes && i < readers_.size(); ++i) {
        Reader& reader = readers_[i];
        const bool alone = reader.phase != phase_of_run_ || reader.thread == thread_;
        reader = {phase_of_run_, alone ? thread_ : kMany};
      }
    }
    std::memcpy(to, packet.unit, bytes);
  }

  template <int bytes>
  void store_bytes(void* to, const void* from) {
    device::Packet<bytes> packet;
    std::memcpy(packet.unit, from, bytes);
    if (out_.contains(to)) {
      note(TracedAccess::Kind::global_store, out_.offset(to), bytes);
      memory_->template store_global<bytes>(1, out_.offset(to), packet);
    } else if (in_.contains(to)) {
      fail("a store to the input");
    } else {
      const std::uint32_t offset = shared_offset(to);
      for (std::uint32_t i = offset; i < offset + bytes && i < readers_.size(); ++i) {
        if (readers_[i].phase == phase_of_run_ && readers_[i].thread != thread_) {
          fail("a store to shared byte " + std::to_string(i) +
               " that another thread loads in the same phase");
        }
      }
      note(TracedAccess::Kind::shared_store, offset, bytes);
      memory_->template store_shared<bytes>(offset, packet);
    }
  }

  std::uint32_t shared_offset(const void* address) const {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - shape_.shared_base;
    // Far outside, the memory would take it modulo 2^32.
    if (offset > std::numeric_limits<std::uint32_t>::max() - 16) fail("an access outside of all memories");
    return static_cast<std::uint32_t>(offset);
  }

  void note(TracedAccess::Kind kind, std::uint64_t offset, unsigned bytes) {
    if (trace != nullptr) {
      trace->push_back({.kind = kind, .bytes = bytes, .block = block_, .thread = thread_, .offset = offset});
    }
  }

  static inline EmittedKernel* current_ = nullptr;

  EmittedLibrary::Function function_;
  CudaOnCpu& state_;
  emit::Kernel kernel_;
  Untouchable in_;
  Untouchable out_;
  KernelShape shape_;
  Memory* memory_ = nullptr;

  bool exploring_ = false;
  std::uintptr_t lowest_ = 0;
  std::uintptr_t highest_ = 0;

  std::uint64_t phase_ = 0;
  std::uint64_t phase_of_run_ = 0;
  std::uint64_t block_ = 0;
  std::uint32_t thread_ = 0;
  std::uint64_t passed_ = 0;  // barriers, by this thread
  std::uint32_t waiting_ = 0;
  std::size_t replayed_ = 0;                  // bytes of the log
  std::vector<std::vector<std::byte>> logs_;  // what each thread of the block has loaded so far
  std::vector<Reader> readers_;               // of every shared byte
  std::jmp_buf end_of_phase_{};
};

}  // namespace faro::testing
