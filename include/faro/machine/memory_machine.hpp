// The memory machines as computers: they run programs on real data and tell the exact time.
//
// A program is a list of phases, the same that the project's GPU kernels are made of (device/memory.hpp), so
// both run here. Every access of a lane is a word's address; lanes of a warp make the same accesses in the
// same order, and their k-th ones are one access of the warp. round_timer.hpp says what that costs.
//
//     MemoryMachine machine({.kind = MachineKind::dmm, .width = 4, .latency = 3, .threads = 8});
//     machine.add_buffer(a);                                        // buffer 0, and 1: bytes that outlive it
//     machine.add_buffer(b);
//     machine.run({}, [](auto& m, std::uint64_t block, std::uint32_t thread) {
//       m.template store_global<4>(1, 4 * thread, m.template load_global<4>(0, 4 * (thread ^ 1)));
//     });
//     machine.report().time;                                        // 2 rounds of 2 + 3 - 1 units: 8
//
// Where things are. On the DMM and the UMM there is one memory: the buffers lie in it one after another, each
// at a multiple of w words, and then the shared memories of the blocks, likewise. On the HMM the buffers are
// in the UMM, and each block's shared memory is in its DMM, from a multiple of w words on. An access wider
// than a word asks for several words, a narrower one for the word that it is in.
//
// Blocks. A block takes whole warps; its last one may be partly full. What does not fit into the p threads at
// once runs in *waves* of as many blocks as fit. The blocks of a wave run together: the k-th accesses of all
// their warps since the last barrier are one round, and a barrier is one of the whole wave. Block b of a wave
// sits on DMM b mod k. Shared memory is zero when a wave begins.
//
// Threads run one after another within a phase, so a thread sees the stores of those before it: a phase that
// depends on that, or on the opposite, has a race. Where several store to one word the last thread's value
// stays.
//
// These throw ErrorCode::internal, naming block, thread and address: an access out of bounds, not aligned to
// its size, or of another kind or size than the warp's other lanes make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "faro/device/memory.hpp"
#include "faro/machine/machine_options.hpp"
#include "faro/machine/round_timer.hpp"
#include "faro/machine/timeline.hpp"

namespace faro::machine {

class MemoryMachine {
 public:
  struct Launch {
    std::uint64_t blocks = 1;
    std::uint64_t threads = 0;       // a block; 0: all of the machine's
    std::uint64_t shared_bytes = 0;  // a block
  };

  /// Errors: as check().
  explicit MemoryMachine(const MachineOptions& options);

  /// The next buffer, read and written; gives its number, from 0. Requires: the bytes outlive this.
  int add_buffer(std::span<std::byte> bytes);

  /// Runs `phases` for every block, with a barrier between two and after the last, and adds to report().
  /// A phase is called as phase(machine, std::uint64_t block, std::uint32_t thread).
  /// Errors: ErrorCode::value for a block larger than the machine, before anything runs;
  ///         ErrorCode::internal as listed above, ErrorCode::value for time past 64 bits: the buffers then
  ///         hold what was stored so far, and the report what was timed before the last barrier.
  template <typename... Phases>
  void run(const Launch& launch, Phases&&... phases) {
    begin_launch(launch);
    for (std::uint64_t first = 0; first < launch.blocks; first += blocks_per_wave_) {
      begin_wave(first, launch.blocks - first);
      (run_phase(phases), ...);
    }
  }

  // The interface of device::Memory, for programs. Addresses are byte offsets.
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    const Buffer& from = buffer_at(buffer, offset, bytes);
    ask<bytes>(Kind::global_load, from.first_word + (offset >> word_shift_));
    device::Packet<bytes> packet;
    std::memcpy(packet.unit, from.bytes + offset, bytes);
    return packet;
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) {
    const Buffer& to = buffer_at(buffer, offset, bytes);
    ask<bytes>(Kind::global_store, to.first_word + (offset >> word_shift_));
    std::memcpy(to.bytes + offset, packet.unit, bytes);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    require_shared(address, bytes);
    ask<bytes>(Kind::shared_load, shared_first_word_ + (address >> word_shift_));
    device::Packet<bytes> packet;
    std::memcpy(packet.unit, shared_ + address, bytes);
    return packet;
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    require_shared(address, bytes);
    ask<bytes>(Kind::shared_store, shared_first_word_ + (address >> word_shift_));
    std::memcpy(shared_ + address, packet.unit, bytes);
  }

  /// This lane takes no part in the warp's current access. A lane that stops early need not say so.
  void idle() {
    if (next_ == asked_end_) grow();
    ++next_;
  }

  const MachineOptions& options() const { return timer_.options(); }
  const MachineReport& report() const { return timer_.report(); }
  /// Empty unless MachineOptions::timeline_units asks for it.
  Timeline timeline() const { return timer_.timeline(); }

 private:
  enum class Kind : std::uint32_t { global_load = 1, global_store = 2, shared_load = 3, shared_store = 4 };
  struct Buffer {
    std::byte* bytes;
    std::uint64_t size;
    std::uint64_t first_word;
  };
  // The k-th access of the current warp: its words so far, with room for those of all lanes.
  struct Asked {
    std::uint64_t* begin = nullptr;
    std::uint64_t* end = nullptr;
    std::uint32_t what = 0;  // kind and size; 0: no lane has asked yet
  };

  static constexpr std::uint32_t what_of(Kind kind, int bytes) {
    return static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(bytes) << 8;
  }

  template <int bytes>
  void ask(Kind kind, std::uint64_t word) {
    if (next_ == asked_end_) grow();
    Asked& asked = *next_++;
    if (asked.what != what_of(kind, bytes)) open(asked, what_of(kind, bytes), word);
    std::uint64_t* end = asked.end;
    *end++ = word;
    for (std::uint64_t more = static_cast<std::uint64_t>(bytes) >> word_shift_; more > 1; --more) {
      *end++ = ++word;
    }
    asked.end = end;
  }

  const Buffer& buffer_at(int buffer, std::uint64_t offset, std::uint64_t bytes) const {
    if (static_cast<std::size_t>(buffer) >= buffers_.size()) fail_buffer(buffer, offset);
    const Buffer& b = buffers_[static_cast<std::size_t>(buffer)];
    if (offset % bytes != 0 || offset >= b.size || b.size - offset < bytes)
      fail_access("global access", offset, bytes);
    return b;
  }
  void require_shared(std::uint64_t address, std::uint64_t bytes) const {
    if (address % bytes != 0 || address + bytes > shared_bytes_) fail_access("shared access", address, bytes);
  }

  template <typename Phase>
  void run_phase(Phase& phase) {
    for (std::uint64_t i = 0; i < blocks_in_wave_; ++i) {
      begin_block(i);
      for (std::uint64_t thread = 0; thread < threads_;) {
        timer_.begin_warp(dmm_);
        const std::uint64_t end = thread + options().width < threads_ ? thread + options().width : threads_;
        for (; thread < end; ++thread) {
          thread_ = thread;
          next_ = asked_.data();
          phase(*this, block_, static_cast<std::uint32_t>(thread));
          const auto made = static_cast<std::size_t>(next_ - asked_.data());
          if (made > used_) used_ = made;
        }
        end_warp();
      }
    }
    timer_.end_phase();
  }

  void begin_launch(const Launch& launch);
  void begin_wave(std::uint64_t first_block, std::uint64_t blocks_left);
  void begin_block(std::uint64_t number_in_wave);
  void grow();
  void open(Asked& asked, std::uint32_t what, std::uint64_t word);
  std::uint64_t* room_for(std::uint64_t words);
  std::uint64_t words_of_access(std::uint32_t what) const;
  void end_warp();

  [[noreturn]] void fail_access(const std::string& what) const;
  [[noreturn]] void fail_buffer(int buffer, std::uint64_t offset) const;
  [[noreturn]] void fail_access(const char* kind, std::uint64_t at, std::uint64_t bytes) const;

  RoundTimer timer_;
  int word_shift_;
  std::vector<Buffer> buffers_;
  std::uint64_t buffer_words_ = 0;  // all of them, a multiple of w

  // The current launch, wave, block and thread.
  std::uint64_t threads_ = 0;  // a block
  std::uint64_t shared_bytes_ = 0;
  std::uint64_t shared_stride_words_ = 0;  // from one block's shared memory to the next, a multiple of w
  std::uint64_t blocks_per_wave_ = 1;
  std::uint64_t first_block_ = 0;
  std::uint64_t blocks_in_wave_ = 0;
  std::vector<std::byte> shared_of_wave_;
  std::uint64_t block_ = 0;
  std::uint64_t dmm_ = 0;
  std::byte* shared_ = nullptr;
  std::uint64_t shared_first_word_ = 0;
  std::uint64_t thread_ = 0;

  // The current warp: what its lanes have asked for, access by access.
  std::vector<Asked> asked_;
  Asked* next_ = nullptr;       // the current lane's next access, in asked_
  Asked* asked_end_ = nullptr;  // of asked_
  std::size_t used_ = 0;        // the longest lane's accesses
  // The words of all accesses, in chunks that never move.
  std::vector<std::vector<std::uint64_t>> chunks_;
  std::size_t chunk_ = 0;       // the current one
  std::size_t chunk_used_ = 0;  // words of it
};

}  // namespace faro::machine
