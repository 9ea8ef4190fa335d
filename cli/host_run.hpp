// A plan on arrays of the host, whichever engine it is for: the CPU's runs where they are, the GPU's fetches
// them in pieces.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/progress.hpp"
#include "engines/cpu/run_watch.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"

namespace faro::cli {

double milliseconds_since(std::chrono::steady_clock::time_point start);

class HostRun {
 public:
  /// Keeps a reference to `plan`. `options` are for engine cuda; a plan with a map, or of an index array,
  /// takes the array in one piece, and a view both of its arrays.
  HostRun(const ExecutablePlan& plan, const cuda::StagingOptions& options);

  void operator()(std::span<const std::byte> in, std::span<std::byte> out) const;

  bool is_of_view() const { return plan_.plan().given().view.has_value(); }
  /// That arrays travel in; 0 where they stay.
  std::uint64_t pieces() const;
  /// Milliseconds to make what they travel through; 0 where they stay.
  double setup_ms() const { return setup_ms_; }

 private:
  void run_view_on_device(std::span<const std::byte> in, std::span<std::byte> out) const;

  const ExecutablePlan& plan_;
  cuda::StagingOptions options_;
  std::optional<cuda::StagedExecutor> staged_;
  double setup_ms_ = 0;
};

/// Shows how far a run on the CPU has come, of arrays that take a while: "permuting: 43% of 186 GiB, …". What
/// a device does is not seen from here: "permuting 186 GiB".
class ShownRun {
 public:
  ShownRun(Progress& progress, const std::string& doing, Engine engine, std::uint64_t bytes);

 private:
  std::optional<cpu::RunWatch> watch_;
};

struct Outcome {
  std::uint64_t pieces = 0;
  double setup_ms = 0;
  double milliseconds = 0;
  double copy_gb_per_s = 0;  // 0 where the copy was not timed
  double share_of_copy = 0;
};

/// Runs the plan once. One run says how long it took, and too little of its share of a copy, which is not
/// timed.
Outcome run_once(const HostRun& permute, std::span<const std::byte> in, std::span<std::byte> out);

/// Runs the plan in turns with a plain copy between the same buffers, several times; arrays of more than 64
/// MiB and views, which move another number of bytes, once, without a copy.
Outcome run_timed(const HostRun& permute, std::span<const std::byte> in, std::span<std::byte> out,
                  int threads);

/// Checks every element. `plan_file`: that the schedule was read from, if it was; what is wrong is then its
/// fault. Errors: ErrorCode::verification, naming the first that is wrong.
void verify(const Problem& problem, const std::byte* in, const std::byte* out, int threads,
            const std::string& plan_file = "");

}  // namespace faro::cli
