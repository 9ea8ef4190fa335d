// The kind of a memory machine and its sizes.
//
//     DMM   w banks; words in different banks are served together           shared memory
//     UMM   one row of w words at a time; words of one row together         device memory
//     HMM   k DMMs, each with its own memory, above one common UMM          a whole GPU
//
//     p = 8 threads, w = 4                        T0 T1 T2 T3 | T4 T5 T6 T7
//     p / w = 2 warps, served in turn              warp 0      | warp 1
//
// All sizes are any positive integers; the one condition is that w divides p.
//
// Source: the DMM and UMM paper of Nakano (2012), section 2; the hierarchical machine of his later papers.
#pragma once

#include <cstdint>
#include <string_view>

#include "faro/machine/congestion.hpp"

namespace faro::machine {

enum class MachineKind { dmm, umm, hmm };

/// "dmm", "umm" or "hmm".
std::string_view name(MachineKind kind) noexcept;

// Sizes past these are refused: they are no machine's, and the time has to fit 64 bits.
// The width's limit is kMaxWidth.
inline constexpr std::uint64_t kMaxLatency = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxThreads = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMaxDmms = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kMaxWordBytes = std::uint64_t{1} << 10;

struct MachineOptions {
  MachineKind kind = MachineKind::dmm;
  std::uint64_t width = 32;          // w: banks, and threads of a warp
  std::uint64_t latency = 1;         // l, time units; of the HMM: of its UMM
  std::uint64_t threads = 32;        // p, of the whole machine; w divides p
  std::uint64_t registers = 0;       // r of a thread, words: what programs may use. The machine needs none
  std::uint64_t dmms = 1;            // k, of the HMM
  std::uint64_t shared_latency = 1;  // time units, of the HMM's DMMs
  std::uint64_t word_bytes = 4;      // a power of two
  bool overlap = false;              // also time asynchronous issue
  std::uint64_t timeline_units = 0;  // record what enters the pipelines in the first so many time units
};

/// Errors: ErrorCode::value for a size that is zero or past its limit, a width that does not divide the
/// threads, a word that is no power of two, DMMs or a shared latency of a machine that has none.
void check(const MachineOptions& options);

}  // namespace faro::machine
