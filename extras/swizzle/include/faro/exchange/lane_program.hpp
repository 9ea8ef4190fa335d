// Straight-line code on the 32-bit registers of a warp, which every lane runs alike: what a conversion of
// layouts is made of, before it is a text.
//
//     2 x 2 words of lanes 0 and 1 transposed, p = bit 0 of the lane
//         v2 = p ? v0 : v1                  what the other lane wants
//         v3 = shuffle(v2, lane ^ 1)
//         out 0 = p ? v3 : v0
//         out 1 = p ? v1 : v3
//
// Whatever differs between lanes, a predicate, a selector of bytes or the lane that is asked, is affine in
// the bits of the lane over F2: a constant, and a word to XOR for each bit that is set.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace faro::exchange {

inline constexpr int kMostLaneBits = 6;  // 64 lanes
inline constexpr int kCudaLaneBits = 5;
inline constexpr int kBitsOfWord = 2;  // log2 of the bytes of a register

/// Law: value(l) = constant ^ (XOR of bits[j] over the set bits j of l).
struct LaneValue {
  std::uint32_t constant = 0;
  std::array<std::uint32_t, kMostLaneBits> bits{};

  std::uint32_t operator()(std::uint32_t lane) const;
  bool is_constant() const;
  /// Law: value(l) = l ^ constant, over `lane_bits` bits.
  bool is_exclusive_or(int lane_bits) const;
  friend auto operator<=>(const LaneValue&, const LaneValue&) = default;
};

enum class Operation : std::uint8_t {
  input,    // register a of the arguments
  select,   // lane(l) != 0 ? b : a
  permute,  // byte i is byte (nibble i of lane(l)) of a's four and then b's: __byte_perm
  shuffle,  // a of the lane lane(l)
};

struct Instruction {
  Operation operation = Operation::input;
  int a = 0;  // values of earlier instructions, by their place
  int b = 0;
  LaneValue lane;
  friend auto operator<=>(const Instruction&, const Instruction&) = default;
};

struct InstructionCounts {
  int shuffles = 0;
  int selects = 0;
  int permutes = 0;
  /// Turns of a scheduler: shuffles take two, for a multiprocessor does half as many of them a clock as of
  /// the others. Source: CUDA C++ Programming Guide, throughput of native arithmetic instructions.
  int turns() const { return 2 * shuffles + selects + permutes; }
};

struct LaneProgram {
  int lane_bits = kCudaLaneBits;
  int inputs = 0;
  std::vector<Instruction> instructions;
  std::vector<int> outputs;

  InstructionCounts counts() const;
  /// All lanes together. `registers`: inputs registers of lane 0, then of lane 1, and so on; returns as many
  /// outputs a lane. Requires: registers.size() == inputs << lane_bits (checked).
  std::vector<std::uint32_t> run(std::span<const std::uint32_t> registers) const;
};

}  // namespace faro::exchange
