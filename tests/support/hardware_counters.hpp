// The counters that a profiler has of a kernel: requests and sectors of device memory.
#pragma once

#include <cstdint>
#include <ostream>

#include "faro/machine/access_counts.hpp"

namespace faro {

struct Counters {
  std::uint64_t load_requests = 0;
  std::uint64_t store_requests = 0;
  std::uint64_t load_sectors = 0;
  std::uint64_t store_sectors = 0;

  friend bool operator==(const Counters&, const Counters&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counters& c) {
    return out << c.load_requests << " " << c.store_requests << " " << c.load_sectors << " "
               << c.store_sectors;
  }
};

inline Counters counters_of(const machine::AccessCounts& counts) {
  return {counts.global_loads.requests, counts.global_stores.requests, counts.global_loads.sectors,
          counts.global_stores.sectors};
}

}  // namespace faro
