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

GlobalCounts& GlobalCounts::operator*=(std::uint64_t times) {
  requests *= times;
  bytes *= times;
  sectors *= times;
  lines *= times;
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

SharedCounts& SharedCounts::operator*=(std::uint64_t times) {
  requests *= times;
  bytes *= times;
  phases *= times;
  wavefronts *= times;
  for (std::uint64_t& count : phases_by_congestion) count *= times;
  if (times == 0) phases_by_congestion.clear();
  return *this;
}

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  global_loads += other.global_loads;
  global_stores += other.global_stores;
  shared_loads += other.shared_loads;
  shared_stores += other.shared_stores;
  return *this;
}

AccessCounts& AccessCounts::operator*=(std::uint64_t times) {
  global_loads *= times;
  global_stores *= times;
  shared_loads *= times;
  shared_stores *= times;
  return *this;
}

}  // namespace faro::machine
