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

/// Through shared memory: registers as they are, in accesses of `access_bytes` at most, free of bank
/// conflicts on both sides.
struct SharedExchange {
  int access_bytes = 4;
  int bytes = 0;   // of shared memory a warp
  int stores = 0;  // instructions
  int loads = 0;
  int store_wavefronts = 0;  // of one warp, counted access by access
  int load_wavefronts = 0;
  int least_wavefronts = 0;             // of either side: all its bytes, 128 at a time
  std::vector<f2::Word> store_address;  // byte address of every bit of source place: byte, word, lane
  std::vector<f2::Word> load_address;   // the same of the target
  int turns = 0;
};

struct ConversionOptions {
  int element = 32;   // bits
  int attempts = 48;  // ways that are tried at the same number of shuffles
};

/// Within each warp by itself.
struct Conversion {
  Layout from;
  Layout to;
  int element = 32;
  int lane_bits = kCudaLaneBits;
  int words_from = 0;  // 32-bit registers a lane
  int words_to = 0;
  /// The source place of every bit of a target place: byte in word (2 bits), word, lane.
  std::vector<f2::Word> source;
  LaneProgram program;
  std::vector<Step> steps;
  Bound bound;
  std::optional<SharedExchange> shared;  // of 32 lanes, where no byte has two takers

  bool is_proven() const { return program.counts().shuffles == bound.linear_steps; }
  bool is_best_of_all() const { return program.counts().shuffles == bound.any_program; }
  /// Whether a trip through shared memory takes fewer turns.
  bool is_shared_cheaper() const { return shared && shared->turns < program.counts().turns(); }
};

/// Errors: ErrorCode::value for layouts of different shapes, numbers of lanes or warps, for elements that the
/// one lacks, and for registers that are more than 64 words a lane; ErrorCode::unsupported where elements
/// change warps.
Conversion convert(const Layout& from, const Layout& to, const ConversionOptions& options = {});

/// A header with `__device__ void NAME(const uint32_t (&in)[R], uint32_t (&out)[S], uint32_t lane)`, in which
/// a whole warp takes part; and, if asked for, the same through shared memory. Errors: ErrorCode::unsupported
/// for other than 32 lanes.
struct EmittedConversion {
  std::string name;
  std::string text;
};
struct ConversionEmission {
  std::string name = "convert_layout";
  std::string command = {};  // that writes it again
  bool shared = false;
};
EmittedConversion emit_conversion(const Conversion& conversion, const ConversionEmission& emission);

/// What `faro layout convert` prints.
std::string to_text(const Conversion& conversion);
std::string to_json(const Conversion& conversion);

}  // namespace faro::exchange
