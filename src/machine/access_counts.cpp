#include "faro/machine/access_counts.hpp"

#include <algorithm>

namespace faro::machine {

GlobalCounts& GlobalCounts::operator+=(const GlobalCounts& other) {
  requests += other.requests;
  bytes += other.bytes;
  sectors += other.sectors;
  lines += other.lines;
  return *this;
}

void SharedCounts::add_phase(int congestion) {
  const auto c = static_cast<std::size_t>(congestion);
  if (phases_by_congestion.size() <= c) phases_by_congestion.resize(c + 1);
  ++phases_by_congestion[c];
  ++phases;
  wavefronts += c;
}

SharedCounts& SharedCounts::operator+=(const SharedCounts& other) {
  requests += other.requests;
  bytes += other.bytes;
  phases += other.phases;
  wavefronts += other.wavefronts;
  phases_by_congestion.resize(std::max(phases_by_congestion.size(), other.phases_by_congestion.size()));
  for (std::size_t c = 0; c < other.phases_by_congestion.size(); ++c) {
    phases_by_congestion[c] += other.phases_by_congestion[c];
  }
  return *this;
}

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  global_loads += other.global_loads;
  global_stores += other.global_stores;
  shared_loads += other.shared_loads;
  shared_stores += other.shared_stores;
  return *this;
}

}  // namespace faro::machine
