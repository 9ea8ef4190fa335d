// Measured choice: the few ways to carry a plan out on a CPU that a user may wait for, timed by turns.
//
//     as planned             0.31 ms
//     written past caches    0.45 ms
//     segments of 256 bytes  0.27 ms    <-- the best so far
//     ..., one thread        0.24 ms    <-- kept
//
// One thing after another is varied, each from the best so far: the threads last.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faro/plan/plan.hpp"
#include "faro/problem/target.hpp"

namespace faro::detail {

enum class Stores : std::uint8_t { planned, cached, streamed };

/// How a plan differs from the planner's own.
struct CpuChoice {
  Stores stores = Stores::planned;
  std::uint64_t segment_bytes = 0;         // at most; 0: the target's
  std::uint64_t tile_bytes = 0;            // likewise
  std::optional<IndexMethod> method = {};  // none: the planner's
  int threads = 0;                         // 0: the target's
  double microseconds = 0;                 // that it took

  friend bool operator==(const CpuChoice& a, const CpuChoice& b) {
    return a.stores == b.stores && a.segment_bytes == b.segment_bytes && a.tile_bytes == b.tile_bytes &&
           a.method == b.method && a.threads == b.threads;
  }
};

/// "written past the caches, segments of at most 256 bytes, one thread"; "as planned".
std::string to_text(const CpuChoice& choice);

Target chosen(Target target, const CpuChoice& choice);

/// A way that was made ready: `run` once, and what it does, so that equal ones are timed once.
struct ReadyPlan {
  std::string signature;
  std::function<void()> run;
};

/// The best of what `make` makes; ways that it refuses are left out. Cost: at most some seconds, and the
/// runs of a dozen ways.
CpuChoice measured_choice(const Target& target, const std::vector<IndexMethod>& methods,
                          const std::function<ReadyPlan(const CpuChoice&)>& make);

// --- what is kept

/// The key of a problem on this machine.
struct WisdomKey {
  std::string problem;
  std::string machine;
};

/// Errors: ErrorCode::file for a file that cannot be read as wisdom.
std::optional<CpuChoice> remembered(const WisdomKey& key);
/// Keeps it, for this process alone where no file can be written.
void remember(const WisdomKey& key, const CpuChoice& choice);

}  // namespace faro::detail
