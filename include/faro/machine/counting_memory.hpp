// The counting memory: runs a kernel's phases on the CPU, on real buffers, and counts what every warp access
// costs.
//
// Threads run one after another, phase by phase. Each lane leaves a log; when the last lane of a warp is
// done, the k-th entries of its lanes are one request of the warp, and its addresses are grouped and counted
// one by one. Nothing about the addresses is assumed, linear or otherwise: this is the referee of the
// layouts, not another derivation of them.
//
//     lane 0   load 0x00   load 0x80   store 0x100          request 0: load  0x00 0x04 0x08 ...
//     lane 1   load 0x04   load 0x84   store 0x104    -->   request 1: load  0x80 0x84 0x88 ...
//     ...                                                   request 2: store 0x100 0x104 ...
//
// It is also the referee of the kernels. These throw ErrorCode::internal, naming block, thread and address:
//   - an access out of bounds, or not aligned to its size;
//   - a shared load of bytes that the block has not stored, or that another thread stored in the same phase
//     (a race);
//   - two threads' stores to one shared byte in one phase; a second store to a byte of output; any load of
//     output or store to input;
//   - lanes of a warp whose k-th accesses differ in kind;
//   - a shared load, in the same phase, of bytes that are copied from global memory past registers.
// Not found: a shared store that overtakes another thread's load in the same phase.
//
// A *virtual* buffer has a size and no bytes: loads give zeros, stores vanish, and everything above is
// checked all the same. With it one block of a kernel over an array of terabytes is run and counted.
//
// Use:
//     CountingMemory memory({.shared_bytes = 1024});
//     memory.add_input(in);                              // buffers 0 and 1,
//     memory.add_output(out);                            // each with byte offsets from 0
//     memory.run({.blocks = 4, .threads = 64},
//                [&](auto& m, std::uint64_t block, std::uint32_t thread) {
//                  load_tile<shape>(m, params, block, thread);
//                },
//                [&](auto& m, std::uint64_t block, std::uint32_t thread) {
//                  store_tile<shape>(m, params, block, thread);
//                });
//     memory.counts().shared_loads.max_congestion();
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "faro/device/memory.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/machine/congestion.hpp"

namespace faro::machine {

class CountingMemory {
 public:
  struct Options {
    std::size_t shared_bytes = 0;
    MemoryGeometry geometry = {};
  };
  struct Launch {
    std::uint64_t blocks = 0;
    std::uint32_t threads = 0;      // a block; the last warp may be partly filled
    std::uint64_t first_block = 0;  // blocks are numbered from here
  };

  explicit CountingMemory(const Options& options);

  /// The next buffer, numbered from 0. Requires: the bytes outlive this.
  void add_input(std::span<const std::byte> bytes);
  /// Every byte may be stored once.
  void add_output(std::span<std::byte> bytes);
  /// The same without bytes, for runs of a few blocks.
  void add_virtual_input(std::uint64_t bytes);
  void add_virtual_output(std::uint64_t bytes);

  /// Runs `phases` for every block, with a barrier between two, and adds to counts().
  /// Errors: ErrorCode::internal as listed above; the output then holds what was stored so far.
  template <typename... Phases>
  void run(const Launch& launch, Phases&&... phases) {
    for (std::uint64_t block = launch.first_block; block - launch.first_block < launch.blocks; ++block) {
      begin_block(block);
      (run_phase(launch, block, phases), ...);
    }
  }

  /// The same where the number of phases is known at run time only: `phase` is called as
  /// phase(memory, std::uint64_t phase_number, std::uint64_t block, std::uint32_t thread), numbers from 0.
  /// Law: run(launch, a, b) and run_each(launch, 2, p), where p calls a or b, do the same.
  /// Errors: as run().
  template <typename Phase>
  void run_each(const Launch& launch, std::uint64_t phase_count, Phase&& phase) {
    for (std::uint64_t block = launch.first_block; block - launch.first_block < launch.blocks; ++block) {
      begin_block(block);
      for (std::uint64_t number = 0; number < phase_count; ++number) {
        const auto numbered = [&](CountingMemory& memory, std::uint64_t in_block, std::uint32_t thread) {
          phase(memory, number, in_block, thread);
        };
        run_phase(launch, block, numbered);
      }
    }
  }

  const AccessCounts& counts() const { return counts_; }
  const MemoryGeometry& geometry() const { return options_.geometry; }

  /// Whether every byte of every output that is not virtual has been stored.
  bool output_complete() const;

  // The interface of device::Memory, for kernels.
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    return as_packet<bytes>(global_load(buffer, offset, bytes));
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) {
    std::memcpy(global_store(buffer, offset, bytes), packet.unit, bytes);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    return as_packet<bytes>(shared_load(address, bytes));
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    std::memcpy(shared_store(address, bytes), packet.unit, bytes);
  }
  /// From global to shared memory past registers, there after the phase: counted as a global load, and not as
  /// a shared store, which is another instruction. `cached`: through the first-level cache, as copies of
  /// fewer than 16 bytes always are.
  template <int bytes, bool cached = true>
  void copy_past_registers(int buffer, std::uint64_t offset, std::uint32_t address) {
    static_assert(cached || bytes == 16);
    const std::byte* const from =
        global_load(buffer, offset, bytes, cached ? Kind::global_load : Kind::copy_past_cache);
    log_.back().to = address;
    std::memcpy(shared_target(address, bytes, kNoThread), from, bytes);
  }
  /// The same of a virtual buffer whose bytes are known.
  template <int bytes>
  void copy_past_registers(int buffer, std::uint64_t offset, std::uint32_t address,
                           const device::Packet<bytes>& known) {
    copy_past_registers<bytes>(buffer, offset, address);
    std::memcpy(shared_.data() + address, known.unit, bytes);
  }
  void idle() { log(Kind::idle, -1, 0, 0); }
  void converge() { log(Kind::converge, -1, 0, 0); }

 private:
  enum class Kind : std::uint8_t {
    global_load,
    global_store,
    shared_load,
    shared_store,
    copy_past_cache,  // from global to shared memory
    idle,
    converge
  };
  struct Access {
    std::uint64_t address;
    Kind kind;
    std::uint8_t bytes;
    std::int8_t buffer;  // -1: shared memory
    std::uint8_t lane;
    std::uint32_t to;  // of a copy, in shared memory
  };
  enum class Role : std::uint8_t { input, output };
  /// Who stores a byte that is copied past registers: no thread, so that none may load it in the same phase.
  static constexpr std::uint32_t kNoThread = ~std::uint32_t{0};
  struct Buffer {
    Role role;
    std::uint64_t size;
    const std::byte* input = nullptr;       // of an input that is not virtual
    std::byte* output = nullptr;            // of an output that is not virtual
    std::vector<std::uint8_t> stored = {};  // which bytes of that
    // In a virtual output, byte 64 i + k has been stored iff bit k of [i] is set.
    std::unordered_map<std::uint64_t, std::uint64_t> stored_virtual = {};
  };
  // The state of a byte of shared memory: the phase in which it was stored, counted over the whole run, and
  // by whom.
  struct SharedByte {
    std::uint64_t phase;
    std::uint32_t thread;
  };

  template <int bytes>
  static device::Packet<bytes> as_packet(const std::byte* from) {
    device::Packet<bytes> packet;
    std::memcpy(packet.unit, from, bytes);
    return packet;
  }

  template <typename Phase>
  void run_phase(const Launch& launch, std::uint64_t block, Phase& phase) {
    ++phase_;
    const auto warp_size = static_cast<std::uint32_t>(options_.geometry.warp_size);
    for (std::uint32_t thread = 0; thread < launch.threads; ++thread) {
      begin_thread(thread);
      phase(*this, block, thread);
      if ((thread + 1) % warp_size == 0 || thread + 1 == launch.threads) end_warp();
    }
  }

  void begin_block(std::uint64_t block);
  void begin_thread(std::uint32_t thread);
  void end_warp();
  /// One access of every lane that is not waiting for others, into request_. Returns whether there was one.
  bool next_request();

  const std::byte* global_load(int buffer, std::uint64_t offset, int bytes, Kind kind = Kind::global_load);
  std::byte* global_store(int buffer, std::uint64_t offset, int bytes);
  const std::byte* shared_load(std::uint32_t address, int bytes);
  std::byte* shared_store(std::uint32_t address, int bytes);
  std::byte* shared_target(std::uint32_t address, int bytes, std::uint32_t thread);

  static bool mark_stored(Buffer& buffer, std::uint64_t offset, int bytes);
  Buffer& buffer_for(int buffer, std::uint64_t offset, int bytes, const char* what);
  void log(Kind kind, int buffer, std::uint64_t address, int bytes);
  [[noreturn]] void fail(const char* what, std::uint64_t address, int bytes) const;

  void count_request(std::span<const Access> lanes);
  void count_global(std::span<const Access> lanes, GlobalCounts& counts);
  void count_copy(std::span<const Access> lanes, GlobalCounts& counts);
  void count_shared(std::span<const Access> lanes, SharedCounts& counts);
  /// Whether lanes whose numbers differ by `apart` alone have one address, or one of them none.
  static bool agree(std::span<const Access> lanes, int apart);
  int congestion(std::span<const Access> lanes);
  /// Fills units_ with the units (words, sectors, lines) that each lane touches, lane after lane.
  void list_units(std::span<const Access> lanes, int unit_bytes);
  /// The number of distinct ones.
  std::uint64_t distinct_units(std::span<const Access> lanes, int unit_bytes);

  Options options_;
  std::vector<Buffer> buffers_;
  std::vector<std::byte> shared_;
  std::vector<SharedByte> shared_bytes_;
  AccessCounts counts_;

  std::uint64_t block_ = 0;
  std::uint32_t thread_ = 0;
  std::uint64_t phase_ = 0;  // of the whole run, from 1
  std::uint64_t first_phase_of_block_ = 1;
  std::vector<Access> log_;              // of the current warp, lane after lane
  std::vector<std::size_t> lane_begin_;  // where each lane's log begins
  std::vector<std::size_t> lane_at_;     // scratch: how far each lane's log has been counted
  std::vector<Access> request_;          // scratch
  std::vector<std::uint64_t> units_;     // scratch: words, sectors or lines
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      copied_;  // scratch: sectors of shared memory and lines
  TurnCounter turns_;
  std::byte nowhere_[16];  // what a virtual buffer's stores fall into
};

}  // namespace faro::machine
