// Data of one layout in registers, converted to another: by renaming, selects and permutations of bytes
// within a lane, and by the fewest shuffles between lanes.
//
//     mma.m16n8k8.C of 32 bits -> mma.m16n8k8.A: every lane keeps half of its elements
//
//     lane 4 g + t has columns     2t      2t + 1        wants columns     t      t + 4
//
// What matters of a layout is the lane in which an element is: lambda, a matrix over F2 from elements to
// lanes. The lane's own registers can be put in any order by instructions that are no shuffle. A step from
// lambda to lambda' has two ranks:
//
//     k    = rank [lambda; lambda'] - lanes     every lane gets its data from 2^k lanes
//     rho  = rank (lambda + lambda')            >= k; equal to it iff a lane is always one of its own 2^k
//
// A shuffle brings one word from one lane, so a direct step of R words a lane takes max(R, 2^k) shuffles,
// less those from the lane itself where rho = k, 2^-k of them; and that many are enough, since a map of
// colours exists that is one-to-one on the words of a sender and of a receiver both (two subspaces of one
// dimension have a common complement). Steps can be chained: K of the whole is at most the sum of the steps'
// k. The planner takes the cheapest chain, and `Bound` says what no chain of linear steps, and what no
// program at all, can beat.
//
// Source: Zhou et al., "Linear layouts", arXiv 2505.23819, for layouts as matrices and shuffles by pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/exchange/lane_program.hpp"
#include "faro/exchange/layout.hpp"

namespace faro::exchange {

/// What a conversion needs at least, in shuffles of one 32-bit word.
struct Bound {
  int any_program = 0;   // of what a lane must receive: words, and lanes that it hears of
  int linear_steps = 0;  // of chains of steps between layouts that are linear over F2, each of them direct
};

/// One direct exchange of a chain.
struct Step {
  int sources = 1;  // lanes from which a lane gets its data, 2^k
  int shuffles = 0;
  bool keeps = false;  // a lane is one of its own sources
};

/// What reaches shared memory: loads and stores of a lane's own registers, or ldmatrix and stmatrix, whose
/// matrices of 8 rows of 16 bytes lie in the registers of all lanes.
enum class AccessKind : std::uint8_t { none, plain, matrix, matrix_transposed };

/// One side of a trip through shared memory.
struct SharedSide {
  AccessKind kind = AccessKind::none;
  int bytes = 0;             // that a lane's registers have of an access; of a matrix 4
  int instructions = 0;      // of a warp, as are:
  int phases = 0;            // that are served one by one: the wavefronts without a conflict
  int wavefronts = 0;        // counted access by access
  int least_wavefronts = 0;  // of these instructions, wherever the bytes are placed: proven by ranks
  std::vector<f2::Word> address = {};  // byte address of every bit of a place: byte, word, lane, warp

  /// "2 stores of 8 bytes", "1 ldmatrix.x4.trans"
  std::string text(bool is_store) const;
};

/// Through shared memory: registers as they are, with the placement that has the fewest conflicts on both
/// sides. Of a conversion from or to a layout in memory, one side.
struct SharedExchange {
  int bytes = 0;  // of shared memory: of a warp, or of all warps where elements change warps
  SharedSide store;
  SharedSide load;
  int turns = 0;  // of a warp

  bool is_free_of_conflicts() const {
    return store.wavefronts == store.phases && load.wavefronts == load.phases;
  }
};

struct ConversionOptions {
  int element = 32;     // bits
  int attempts = 48;    // ways that are tried at the same number of shuffles
  int capability = 90;  // of the GPU: ldmatrix and movmatrix from 75 on, stmatrix from 90 on
};

/// Within each warp by itself, by shuffles or through shared memory; between warps of a block, through shared
/// memory; or between registers and a layout in shared memory that is given.
struct Conversion {
  Layout from;
  Layout to;
  int element = 32;
  int lane_bits = kCudaLaneBits;
  int warp_bits = 0;   // of the warps that exchange elements; 0: each warp by itself
  int words_from = 0;  // 32-bit registers a lane; 0: the layout is in memory
  int words_to = 0;
  int memory_bytes = 0;  // of the layout in memory
  /// The source place of every bit of a target place: byte in word (2 bits), word, lane, warp.
  std::vector<f2::Word> source;
  LaneProgram program;
  std::vector<Step> steps;
  Bound bound;
  /// By register of the target: the one of the source whose 8 x 8 matrix of halves it has transposed, where
  /// that is all that the conversion does and the GPU has movmatrix, from capability 7.5 on. Then code is
  /// written with it in place of the program. Empty otherwise.
  std::vector<int> transposed;
  std::optional<SharedExchange> shared;  // of 32 lanes, where no register of a lane repeats another

  bool is_load() const { return words_from == 0; }
  bool is_store() const { return words_to == 0; }
  /// Whether there is a program of shuffles: elements stay in their warps' registers.
  bool has_program() const { return warp_bits == 0 && !is_load() && !is_store(); }
  bool is_proven() const { return program.counts().shuffles == bound.linear_steps; }
  /// Of the registers' way: of movmatrix two each, as of shuffles.
  int register_turns() const {
    return transposed.empty() ? program.counts().turns() : 2 * static_cast<int>(transposed.size());
  }
  bool is_best_of_all() const { return program.counts().shuffles == bound.any_program; }
  /// Whether a trip through shared memory takes fewer turns, or is the only way.
  bool is_shared_cheaper() const { return !has_program() || (shared && shared->turns < register_turns()); }
};

/// A layout without lanes and warps is one in shared memory, its registers the offsets: the conversion then
/// loads or stores. Errors: ErrorCode::value for layouts of different shapes, numbers of lanes or warps, for
/// elements that the one lacks, for a layout in memory that has an element twice, and for registers that are
/// more than 128 words a lane; ErrorCode::unsupported where elements change warps of other than 32 lanes, or
/// where registers of a lane that hold an element twice would have to go through memory.
Conversion convert(const Layout& from, const Layout& to, const ConversionOptions& options = {});

/// A header with `__device__ void NAME(const uint32_t (&in)[R], uint32_t (&out)[S], uint32_t lane)`, in which
/// a whole warp takes part; if asked for, the same through shared memory, `char* shared` behind `lane`.
/// Between warps it takes `uint32_t thread` for `lane`, and a whole block takes part; of a layout in memory,
/// `const char* shared` stands for `in` or `char* shared` for `out`. Errors: ErrorCode::unsupported for other
/// than 32 lanes.
struct EmittedConversion {
  std::string name;
  std::string text;
  bool is_shared = false;
};
enum class Way : std::uint8_t { registers, shared, cheapest };  // where both exist
struct ConversionEmission {
  std::string name = "convert_layout";
  std::string command = {};  // that writes it again
  Way way = Way::registers;
};
/// `name`, if it is one of C++. Errors: ErrorCode::value.
std::string function_name(const std::string& name);
EmittedConversion emit_conversion(const Conversion& conversion, const ConversionEmission& emission);

/// What `faro layout convert` prints.
std::string to_text(const Conversion& conversion);
std::string to_json(const Conversion& conversion);

}  // namespace faro::exchange
