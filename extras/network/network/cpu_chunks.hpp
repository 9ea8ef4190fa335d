// A pass's layers as chunks: what is done to a tile between one reading and one writing of its buffer.
//
// A vector register holds 2^v elements, 2^q registers are held at once. A layer of direction d pairs register
// i with i ^ c, where c stands for d's bits above the lanes, and lane l with l ^ (the low v bits of d):
//
//     place in the tile      | number of the vector (m - v bits) | lane (v bits) |
//     W, dimension q           spanned by the d's of consecutive layers, lanes left off
//     a group                  the 2^q vectors base ^ W: loaded, taken through all steps, stored
//
// So layers are joined while the directions' upper parts span at most q dimensions; layers within a lane's
// reach are free. Whatever a step needs of a layer's frame is linear, so each step carries one word along,
// the frame's value at the group's base, that changes by one XOR from group to group.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "faro/network/plan.hpp"

namespace faro::network::cpu {

inline constexpr int kMaxRegisterBits = 4;
inline constexpr std::size_t kMaxVectorBytes = 64;

/// What works on the registers of a chunk: the operator, on lanes of a type.
enum class Kernel {
  exchange_i32,
  exchange_i64,
  exchange_u128,  // pairs of lanes, the upper one counts more
  hadamard_u32,
  hadamard_u64,
  hadamard_f32,
  hadamard_f64,
  fourier_f32,
  fourier_f64,
  scalar,  // pair by pair (cpu_scalar.hpp)
};

/// How elements become lanes that compare as signed numbers (two lanes: as an unsigned one), on loading;
/// undone on storing.
enum class Recoding {
  none,
  u32,  // the highest bit flipped
  u64,
  f32,  // the total order of floats as that of signed numbers
  f64,
  key32,      // the key to the upper half of 64 bits
  key32_u32,  // and recoded as above
  key32_f32,
  key64,         // the key to the upper one of two lanes
  key64_signed,  // and recoded to compare unsigned
  key64_f64,
};

/// The vectors of this machine; none where vector_bytes is 0.
struct Vectors {
  std::uint64_t vector_bytes = 0;
  int register_bits = 0;  // q
};

/// Twiddles of a Fourier step: those of a group are local * base[group] * (that of the tile).
struct Twiddles {
  bool local_only = false;  // base and tile are 1
  /// By register and lane, ready for multiplying: the real part twice, then minus and plus the imaginary one;
  /// 2 * kMaxVectorBytes a register, in the type of the lanes.
  std::vector<std::byte> local;
  std::vector<std::complex<double>> base;  // by group
  bool inverse = false;
};

struct Step {
  unsigned partner = 0;              // c
  unsigned lanes = 0;                // elements' lanes l and l ^ lanes meet
  bool straight = false;             // which one is first depends on the group only
  std::uint32_t register_signs = 0;  // bit i: register i's part of it
  std::uint64_t lane_signs = 0;      // bit l: lane l's part; an element of two lanes has two bits
  alignas(kMaxVectorBytes) std::byte lane_index[kMaxVectorBytes] = {};  // lane l's partner, in lanes' width

  // The frame's value (bit 0: is second, the others: the pair's number) at a group's base.
  std::vector<f2::Word> block;  // combined over the bits of the tile's number
  f2::Word constant = 0;

  int bits = 0;  // k of the operator
  Twiddles twiddles;
  const LocalLayer* layer = nullptr;  // of a scalar step
  /// The function of a scalar step with a user's operator: put there by who runs it.
  std::shared_ptr<const HostFunction> host = nullptr;
};

struct Chunk {
  Kernel kernel = Kernel::scalar;
  Recoding on_load = Recoding::none;
  Recoding on_store = Recoding::none;
  std::vector<std::uint64_t> registers;  // bytes, by register
  std::vector<std::uint64_t> walk;       // bytes; the base changes by walk[trailing zeros of the group]
  std::uint64_t groups = 0;
  std::vector<Step> steps;
  /// A step's frame changes by step_walk[trailing zeros of the group * steps + step].
  std::vector<f2::Word> step_walk;
};

/// Whether Twiddles::base is made, which has as many entries as a tile has groups: who only counts chunks
/// does without.
enum class TwiddleTables { made, left_out };

/// The layers of `pass` for tiles of 2^buffer_bits elements (the tile's bits, and those above which no layer
/// sees). Requires: enough of them for one group (checked). Keeps pointers into `pass`.
std::vector<Chunk> make_chunks(const Pass& pass, const ElementType& element, int buffer_bits,
                               const Vectors& vectors, TwiddleTables twiddles = TwiddleTables::made);

/// Bits of the least buffer that holds one group: v + q, or 0 without vectors.
int group_bits(const ElementType& element, const Vectors& vectors);

/// The frame's value at the start of tile `block`.
inline f2::Word start_of(const Step& step, f2::Word block) {
  return step.constant ^ f2::combine(step.block.data(), block);
}

// Which kernel runs an operator on elements of a type, and in what form they are compared.

struct KernelChoice {
  Kernel kernel = Kernel::scalar;
  Recoding recoding = Recoding::none;
};

/// Requires: check_fits(op, element) passes (unchecked). Users' operators have Kernel::scalar.
KernelChoice kernel_for(const Operator& op, const ElementType& element);

/// The bytes of one lane of the kernel's vectors: 4 or 8.
std::uint64_t lane_bytes(Kernel kernel);

// The chunks' kernels, compiled for every instruction set and chosen when they are first called.

/// What changes from tile to tile, one entry a step.
struct TileState {
  f2::Word* frames;                      // at the tile's start (start_of); changed by running
  const std::complex<double>* twiddles;  // of Fourier steps: the tile's part
};

/// This machine's vectors.
Vectors vectors();

/// Runs every group of the tile in `buffer`, aligned to kMaxVectorBytes. Requires: a chunk made for these
/// vectors, of a kernel that its name says (unchecked).
void run_exchange(const Chunk& chunk, TileState tile, std::byte* buffer);
void run_hadamard(const Chunk& chunk, TileState tile, std::byte* buffer);
void run_fourier(const Chunk& chunk, TileState tile, std::byte* buffer);

}  // namespace faro::network::cpu
