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

/// One Timing of a call for each contestant. Each is run once before timing starts. Every one goes once a
/// round, each round beginning one further on, so that nobody always follows the same rival.
std::vector<Timing> take_turns(const cuda::StreamClock& clock, const std::vector<Contestant>& contestants);

}  // namespace faro::bench::gpu
