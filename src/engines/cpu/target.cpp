// This machine's sizes, as a plan's target.
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
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

// The last level of cache that a core has. The C library adds up those of a socket on some processors (384
// MiB on an EPYC whose cores share 32 MiB eight by eight), the kernel knows which cores share one.
std::uint64_t last_level_bytes() {
  constexpr std::uint64_t kUsual = std::uint64_t{16} << 20;
  const std::uint64_t told = system_bytes(_SC_LEVEL3_CACHE_SIZE, kUsual);
  std::uint64_t shared_kib = 0;  // "32768K"
  std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> shared_kib;
  constexpr std::uint64_t kKib = 1024;
  return shared_kib == 0 ? told : std::min(told, shared_kib * kKib);
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
  // Registers narrower than a line go through a buffer in the first level, and gain by longer rows.
  t.tile_bytes_max = widest_vector_bytes(4) == kLineBytes ? 4096 : kMaxTileBytes;
  t.direct_bytes_max = 128;
  // Input and output together past half of the last level, which others use as well.
  static const std::uint64_t last_level = last_level_bytes();
  t.streaming_bytes = last_level / 4;
  t.first_level_bytes = system_bytes(_SC_LEVEL1_DCACHE_SIZE, 0);
  t.name = std::to_string(t.threads) + (t.threads == 1 ? " thread, " : " threads, ") + simd_target();
  return t;
}

}  // namespace faro::cpu
