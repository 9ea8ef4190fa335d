// Axes whose fastest one is another on the other side, without shared memory: a thread reads some runs of the
// input, turns the elements in registers, and writes runs of the output.
//
//     4 x 2, elements of 4 bytes      reads 2 runs of 4           writes 4 runs of 2
//                                     a0 a1 a2 a3                 a0 b0 | a1 b1 | a2 b2 | a3 b3
//                                     b0 b1 b2 b3
//
// No thread waits for another, and no lanes meet in a bank. Which tile is a thread's are the digits of its
// number: the first of them are neighbours on either side, so that a warp has whole sectors of both
// (plan/gpu/value_turns.hpp). What is left of a line is read by threads nearby, from the first-level cache.
// Where runs of the output go on along the input's fastest axis, a thread has one element of that: a warp's
// writes then follow one another.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_rows.hpp"

namespace faro::kernels {

inline constexpr int kAxesRegistersThreads = 256;

/// Elements of a thread.
struct AxesRegistersShape {
  int element_bytes = 4;
  int in = 4;   // side by side in the input
  int out = 4;  // and in the output

  constexpr int in_bytes() const { return element_bytes * in; }
  constexpr int out_bytes() const { return element_bytes * out; }

  friend constexpr bool operator==(const AxesRegistersShape&, const AxesRegistersShape&) = default;
};

/// The shapes that are compiled, numbered: of each width a whole vector of either side, or half of one, or a
/// single element of the input.
inline constexpr int kAxesRegistersShapes = 4 * 6;
constexpr AxesRegistersShape axes_registers_shape(int number) {
  const int bytes = 1 << number / 6;
  const int most = 16 / bytes;
  const int kind = number % 3;
  return {.element_bytes = bytes,
          .in = kind == 0   ? most
                : kind == 1 ? most / 2
                            : 1,
          .out = number / 3 % 2 == 0 ? most : most / 2};
}

struct AxesRegistersParams {
  struct Axis {
    device::Division32 extent;
    std::int64_t in_step;  // bytes
    std::int64_t out_step;
  };
  static constexpr int kMostDigits = 32;

  std::uint64_t tiles;    // below 2^31
  std::int64_t in_pitch;  // bytes from run to run
  std::int64_t out_pitch;
  std::int32_t axes;
  std::uint64_t first_vector;  // tile of this launch
  Axis axis[kMostDigits];      // digits of a tile's number, the least first

  constexpr std::uint64_t vectors() const { return tiles; }
};
static_assert(sizeof(AxesRegistersParams) <= 4096, "kernel parameters are at most 4 KiB");

namespace registers {

// A run, in words.
template <int bytes>
constexpr int kRunWords = bytes < 4 ? 1 : bytes / 4;

template <int bytes, device::Memory Memory>
constexpr void load_run(Memory& memory, std::uint64_t at, std::uint32_t (&run)[kRunWords<bytes>]) {
  const auto packet = memory.template load_global<bytes>(device::kInput, at);
  FARO_UNROLL
  for (int w = 0; w < kRunWords<bytes>; ++w) run[w] = packet.unit[w];
}

// Word `word` of the run of elements number `column` of all runs: of at most four words, a selection of bytes
// for each two.
template <int element_bytes, int runs, int words>
constexpr std::uint32_t turned_word(const std::uint32_t (&from)[runs][words], int column, int word) {
  if constexpr (element_bytes % 4 == 0) {
    constexpr int parts = element_bytes / 4;
    return from[word / parts][column * parts + word % parts];
  } else {
    std::uint32_t half[2]{};
    FARO_UNROLL
    for (int h = 0; h < 2; ++h) {
      const int low = 4 * word + 2 * h;  // bytes of the run
      const int high = low + 1;
      const int low_at = column * element_bytes + low % element_bytes;
      const int high_at = column * element_bytes + high % element_bytes;
      half[h] =
          device::select_bytes(from[low / element_bytes][low_at / 4], from[high / element_bytes][high_at / 4],
                               static_cast<std::uint32_t>(low_at % 4 | (4 + high_at % 4) << 4));
    }
    return device::select_bytes(half[0], half[1], 0x5410);
  }
}

}  // namespace registers

/// The whole kernel. Requires: thread < kAxesRegistersThreads; threads past the last are left out.
template <AxesRegistersShape shape, device::Memory Memory>
constexpr void move_axes_registers(Memory& memory, const AxesRegistersParams& p, std::uint64_t block,
                                   std::uint32_t thread) {
  const std::uint64_t number = p.first_vector + block * kAxesRegistersThreads + thread;
  if (number >= p.tiles) return;
  auto left = static_cast<std::uint32_t>(number);
  std::int64_t in = 0;
  std::int64_t out = 0;
  FARO_NO_UNROLL
  for (int a = 0; a < p.axes; ++a) {
    std::uint32_t digit = left;
    left = p.axis[a].extent.divide(digit);
    in += digit * p.axis[a].in_step;
    out += digit * p.axis[a].out_step;
  }
  std::uint32_t read[shape.out][registers::kRunWords<shape.in_bytes()>];
  FARO_UNROLL
  for (int j = 0; j < shape.out; ++j) {
    registers::load_run<shape.in_bytes()>(memory, static_cast<std::uint64_t>(in + j * p.in_pitch), read[j]);
  }
  FARO_UNROLL
  for (int i = 0; i < shape.in; ++i) {
    device::Packet<shape.out_bytes()> run;
    FARO_UNROLL
    for (int w = 0; w < shape.out_bytes() / 4; ++w)
      run.unit[w] = registers::turned_word<shape.element_bytes>(read, i, w);
    memory.template store_global<shape.out_bytes()>(device::kOutput,
                                                    static_cast<std::uint64_t>(out + i * p.out_pitch), run);
  }
}

}  // namespace faro::kernels
