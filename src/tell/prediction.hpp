// What a pass will do to a GPU's memories: sectors, requests and wavefronts, as a profiler counts them.
//
// Nothing is modelled. The very phases that run on the device are run on the counting memory
// (faro/machine/counting_memory.hpp), for one block, and the counts are multiplied by the number of blocks:
//
//     tile 0 of 2^18   --load_tile, store_tile-->   512 + 512 sectors, 128 + 128 wavefronts     x 2^18
//
// Why one block stands for all: its addresses are XORs, address(block, thread) = address(block) ^
// address(thread), so a warp of another block touches a coset of the same subspace. A shift by XOR maps
// sectors to sectors and banks to banks one to one, since both are aligned groups of a power of two; what is
// counted is the same. Only the last block of a pass without tiles may be partly idle, and is run by itself.
// (Tests hold this against full runs, which walk every block and assume nothing.)
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "faro/machine/access_counts.hpp"
#include "faro/plan/plan.hpp"

namespace faro {

/// The counts of plan.passes()[pass], for arrays that are aligned to 128 bytes.
/// Errors: ErrorCode::unsupported where the pass is not launched: on a CPU, and copies, which are the
/// driver's; and in place.   Cost: one block on the CPU, up to some milliseconds; any size of array.
machine::AccessCounts predict(const Plan& plan, std::size_t pass);

/// What a pass's accesses are, and which blocks were run to know.
struct PassCounts {
  machine::AccessCounts counts;
  std::string counted;   // "one block, which stands for all", "258 of 5247 blocks: …"
  bool bounded = false;  // at most so many: what the index array says is not at hand
};

/// Counts the passes of a plan, and prices them. Keeps what is dear: the schedule of an index array, and what
/// has been counted.
class PassCounter {
 public:
  struct Options {
    bool every_block = false;               // nothing is sampled, which takes as long as it takes
    std::optional<Calibration> rates = {};  // none: the target's
  };
  /// The plan must outlive it.
  explicit PassCounter(const Plan& plan, const Options& options);
  explicit PassCounter(const Plan& plan) : PassCounter(plan, Options{}) {}
  PassCounter(PassCounter&&) noexcept;
  PassCounter& operator=(PassCounter&&) noexcept;
  ~PassCounter();

  /// As predict(), in place too, and for every pass that is launched (tell/counts/counting.hpp). Those that
  /// follow an index array are counted with its schedule where the array is the host's and not past 2^26
  /// elements, else bounded. Nothing for passes that are not launched.   Cost: up to some hundred
  /// milliseconds, and making that schedule.
  const std::optional<PassCounts>& operator()(std::size_t pass) const;

  /// Microseconds that the pass will take, from its counts and the target's calibration: by the cost of the
  /// solver that made it (plan/gpu/pass_cost.hpp). Where counts are a bound, or the target has no
  /// calibration, by the measured curves of its family; so on a CPU. Nothing where neither is known.
  std::optional<double> microseconds(std::size_t pass) const;
  /// The time of all passes together; nothing where one is not known.
  std::optional<double> microseconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whose rates predict_us() goes by, in words.
std::string rates_of(const Plan& plan);

/// PassCounter(plan).microseconds(pass). It holds for arrays from kPredictableBytes on.
std::optional<double> predict_us(const Plan& plan, std::size_t pass);

}  // namespace faro
