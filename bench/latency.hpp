// What one dependent read of main memory costs here, with nothing else going on.
//
// The share of a copy that a permutation reaches falls as this grows: a copy streams along a page and its
// prefetchers hide the latency, a permutation jumps. Tables from different machines are only comparable
// beside it.
#pragma once

namespace faro::bench {

/// Median nanoseconds of a pointer chase: 256 MiB on huge pages, one pointer a cache line, visited in a
/// random-looking cycle by one thread. Cost: about a second.
double idle_memory_latency_ns();

}  // namespace faro::bench
