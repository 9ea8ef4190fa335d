#include "bench/gpu/contestants.hpp"

#include <algorithm>

namespace faro::bench::gpu {

std::vector<Timing> take_turns(const cuda::StreamClock& clock, const std::vector<Contestant>& contestants) {
  const std::size_t count = contestants.size();
  std::vector<std::vector<double>> samples_ms(count);
  int rounds = 0;
  for (const Contestant& contestant : contestants) {
    static_cast<void>(clock.milliseconds(1, contestant.queue));
    rounds = std::max(rounds, contestant.rounds);
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % count;
      const Contestant& contestant = contestants[turn];
      if (round >= contestant.rounds) continue;
      static_cast<void>(clock.milliseconds(1, contestant.queue));
      samples_ms[turn].push_back(clock.milliseconds(1, contestant.queue) / contestant.calls);
    }
  }
  std::vector<Timing> timings;
  for (const std::vector<double>& samples : samples_ms) timings.push_back(summarise(samples));
  return timings;
}

}  // namespace faro::bench::gpu
