// The automorphism X -> X^k of polynomials modulo X^n + 1, n = 2^m, on their values in bit-reversed order.
//
//     place p has the value at psi^(2 i + 1), i = rev(p); psi is a root of order 2 n
//     f(X^k) at psi^(2 i + 1) is f at psi^((2 i + 1) k), which is number (k i + (k - 1) / 2) mod n
//
//     n = 8, k = 3      p       0 1 2 3 4 5 6 7      out[p] = in[rev(3 rev(p) + 1 mod 8)]
//                       from    4 5 7 6 2 3 0 1
//
// The low bits of a number modulo 2^m depend on low bits alone, and they are the high bits of its place: so
// every aligned block of 2^s places comes whole from one such block, and what is left is the same within it.
// A thread reads where it is told to, and a warp whole lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::kernels {

/// The lowest `bits` bits of x in the opposite order; all others have to be 0.
constexpr std::uint64_t reversed_bits(std::uint64_t x, int bits) {
  constexpr std::uint64_t kMasks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                      0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (int k = 0; k < 6; ++k) x = (x & kMasks[k]) << (1 << k) | (x >> (1 << k) & kMasks[k]);
  return bits == 0 ? 0 : x >> (64 - bits);
}

/// Where the value at place p comes from.
struct EvaluationOrder {
  int bits = 0;              // m
  std::uint64_t factor = 1;  // odd, below 2 n

  constexpr std::uint64_t source(std::uint64_t place) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t number = factor * reversed_bits(place, bits) + (factor - 1) / 2;
    return reversed_bits(number & mask, bits);
  }
};

/// kBytes: an element.
template <int kBytes>
struct MoveEvaluations {
  using Element = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kEach = 8;  // of a thread, a block apart

  EvaluationOrder order;
  std::uint64_t batch = 1;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t elements() const { return batch << order.bits; }
  constexpr std::uint64_t blocks() const { return (elements() + kOfBlock - 1) / kOfBlock; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t mask = (std::uint64_t{1} << order.bits) - 1;
    const std::uint64_t first = block.index() * kOfBlock + block.thread();
    const auto* const from = reinterpret_cast<const Element*>(in);
    auto* const to = reinterpret_cast<Element*>(out);
    Element held[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t at = first + std::uint64_t{k} * kThreads;
      if (at < elements()) held[k] = from[(at & ~mask) + order.source(at & mask)];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t at = first + std::uint64_t{k} * kThreads;
      if (at < elements()) to[at] = held[k];
    }
  }

 private:
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;
};

}  // namespace faro::kernels
