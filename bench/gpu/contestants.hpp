// Contestants that take turns, timed by the device's clock.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "faro/stream.hpp"

namespace faro::bench::gpu {

struct Contestant {
  std::string name;
  std::function<void(Stream)> queue;  // one sample's work
  int calls = 1;                      // that it is made of
  int rounds = 1;                     // turns that it takes
};

/// One Timing of a call for each contestant. Every one goes once a round, each round beginning one further
/// on. A turn is two samples of which the second counts: the first pays for what the one before left in the
/// L2 cache to be written, tens of MiB after a cudaMemcpy, which is 1.5% of 4 GiB.
std::vector<Timing> take_turns(const cuda::StreamClock& clock, const std::vector<Contestant>& contestants);

}  // namespace faro::bench::gpu
