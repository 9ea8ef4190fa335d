// The memory that a kernel's phases are written against.
//
// A kernel is a list of *phases*. Within a phase threads do not see each other's shared stores; between two
// phases there is a barrier, and a thread carries nothing in registers from one phase to the next. A phase is
// a function
//
//     phase(memory, parameters, block, thread)
//
// whose only effects are the four calls below, each one instruction of the warp: lanes of one warp make the
// same calls in the same order (a lane may stop early), which is what lets a machine that runs them one after
// another put the warp's accesses together again. So the same source is
//
//     on a GPU                 DirectMemory, or an engine's own with its cache hints: plain loads and stores
//     in tests and `explain`   machine::CountingMemory: checked, counted, on the CPU
//
// A lane that has no part in an access that other lanes of its warp make calls idle() in its place: a real
// machine masks the lane off and needs no call, one that counts the accesses of lanes does. Where lanes go
// their own ways for a while, converge() tells such a machine where they meet again.
//
// Addresses are byte offsets, aligned to the packet: into a numbered buffer of the launch, or into the
// block's shared memory. No CUDA header is needed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "faro/device/packet.hpp"

namespace faro::device {

inline constexpr int kInput = 0;  // buffer numbers of a kernel that reads one array and writes another
inline constexpr int kOutput = 1;

template <typename M>
concept Memory = requires(M memory, int buffer, std::uint64_t offset, std::uint32_t address,
                          Packet<4> packet) {
  { memory.template load_global<4>(buffer, offset) } -> std::same_as<Packet<4>>;
  { memory.template store_global<4>(buffer, offset, packet) } -> std::same_as<void>;
  { memory.template load_shared<4>(address) } -> std::same_as<Packet<4>>;
  { memory.template store_shared<4>(address, packet) } -> std::same_as<void>;
};

/// The calling lane sits out the warp's current access.
template <typename M>
constexpr void idle(M& memory) {
  if constexpr (requires { memory.idle(); }) memory.idle();
}

/// The lanes of a warp meet: those that made fewer calls since they last met wait for the others. A lane that
/// is done is not waited for.
template <typename M>
constexpr void converge(M& memory) {
  if constexpr (requires { memory.converge(); }) memory.converge();
}

/// Real memory, nothing checked. Requires: buffers and `shared` aligned to the widest packet used
/// (unchecked).
struct DirectMemory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* shared = nullptr;

  template <int bytes>
  constexpr Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    const std::byte* base = buffer == kInput ? input : output;
    return *reinterpret_cast<const Packet<bytes>*>(base + offset);
  }
  template <int bytes>
  constexpr void store_global(int /*buffer: only the output is written*/, std::uint64_t offset,
                              const Packet<bytes>& packet) const {
    *reinterpret_cast<Packet<bytes>*>(output + offset) = packet;
  }
  template <int bytes>
  constexpr Packet<bytes> load_shared(std::uint32_t address) const {
    return *reinterpret_cast<const Packet<bytes>*>(shared + address);
  }
  template <int bytes>
  constexpr void store_shared(std::uint32_t address, const Packet<bytes>& packet) const {
    *reinterpret_cast<Packet<bytes>*>(shared + address) = packet;
  }
};

}  // namespace faro::device
