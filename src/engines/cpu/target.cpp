// This machine's sizes, as a plan's target.
#include <omp.h>
#include <unistd.h>

#include <string>

#include "engines/cpu.hpp"
#include "engines/cpu/tile/kernel.hpp"
#include "threads.hpp"

namespace faro::cpu {
namespace {

// A size in bytes that the system knows, or `otherwise`.
std::uint64_t system_bytes(int name, std::uint64_t otherwise) {
  const long value = sysconf(name);
  return value > 0 ? static_cast<std::uint64_t>(value) : otherwise;
}

}  // namespace

Target target(int threads) {
  Target t;
  t.engine = Engine::cpu;
  t.threads = threads > 0 ? threads : detail::thread_count();
  t.vector_bytes = 64;  // a cache line, also where registers are narrower
  t.page_bytes = system_bytes(_SC_PAGESIZE, 4096);
  // Measured (docs/notes/cpu-experiments.md): small tiles, whose lines survive in the caches from their
  // fetching to their use, beat long segments; the order of the blocks makes long reads of short segments.
  t.segment_bytes_max = 1024;
  t.tile_bytes_max = kMaxTileBytes;
  t.direct_bytes_max = 128;
  // Input and output together past half of the last level, which others use as well.
  t.streaming_bytes = system_bytes(_SC_LEVEL3_CACHE_SIZE, std::uint64_t{16} << 20) / 4;
  t.name = std::to_string(t.threads) + (t.threads == 1 ? " thread, " : " threads, ") + simd_target();
  return t;
}

}  // namespace faro::cpu
