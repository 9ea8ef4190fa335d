// The warp of a GPU, as the exchanges see it (aos_registers.hpp). Empty but for CUDA compilers; no CUDA
// header is needed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/aos_registers.hpp"

#if defined(__CUDACC__)

namespace faro::device::aos {

template <int bytes>
struct MachineWord;
template <>
struct MachineWord<4> {
  using Type = unsigned int;
};
template <>
struct MachineWord<8> {
  using Type = uint2;
};
template <>
struct MachineWord<16> {
  using Type = uint4;
};

/// All 32 lanes, converged. Memory is any that a pointer reaches.
struct CudaWarp {
  static constexpr int kLanes = 32;
  template <typename V>
  using Each = V;

  FARO_DEVICE std::uint32_t lane() const {
    std::uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    __builtin_assume(lane < 32);
    return lane;
  }

  template <int bytes>
  FARO_DEVICE Packet<bytes> select(bool condition, const Packet<bytes>& a, const Packet<bytes>& b) const {
    Packet<bytes> selected;
    FARO_UNROLL
    for (int k = 0; k < Packet<bytes>::kUnits; ++k) {
      const std::uint32_t of_a = a.unit[k];
      const std::uint32_t of_b = b.unit[k];
      selected.unit[k] = condition ? of_a : of_b;
    }
    return selected;
  }

  FARO_DEVICE std::uint32_t shuffle(std::uint32_t value, std::uint32_t lane) const {
    return __shfl_sync(0xffff'ffffU, value, static_cast<int>(lane));
  }
  FARO_DEVICE std::uint64_t shuffle(std::uint64_t value, std::uint32_t lane) const {
    return __shfl_sync(0xffff'ffffU, static_cast<unsigned long long>(value), static_cast<int>(lane));
  }
  template <int bytes>
  FARO_DEVICE Packet<bytes> shuffle(const Packet<bytes>& value, std::uint32_t lane) const {
    Packet<bytes> taken;
    FARO_UNROLL
    for (int k = 0; k < Packet<bytes>::kUnits; ++k) taken.unit[k] = shuffle(value.unit[k], lane);
    return taken;
  }

  FARO_DEVICE std::uint64_t widen(std::uint64_t value) const { return value; }

  template <int bytes>
  FARO_DEVICE Packet<4> word(const Packet<bytes>& packet, std::uint32_t k) const {
    return {{packet.unit[k]}};
  }
  template <int bytes>
  FARO_DEVICE void set_word(Packet<bytes>& packet, std::uint32_t k, const Packet<4>& value) const {
    packet.unit[k] = value.unit[0];
  }

  template <int bytes, typename Unit>
  FARO_DEVICE Packet<bytes> load(const std::byte* base, Unit unit, std::uint32_t more, bool wanted) const {
    using Word = typename MachineWord<bytes>::Type;
    Word word{};
    if (wanted) word = reinterpret_cast<const Word*>(base)[std::uint64_t{unit} + more];
    return __builtin_bit_cast(Packet<bytes>, word);
  }
  template <int bytes, typename Unit>
  FARO_DEVICE void store(std::byte* base, Unit unit, std::uint32_t more, const Packet<bytes>& value,
                         bool wanted) const {
    using Word = typename MachineWord<bytes>::Type;
    if (wanted) reinterpret_cast<Word*>(base)[std::uint64_t{unit} + more] = __builtin_bit_cast(Word, value);
  }
};

}  // namespace faro::device::aos

#endif
