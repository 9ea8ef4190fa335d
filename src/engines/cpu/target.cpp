// This machine's sizes, as a plan's target.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "engines/cpu.hpp"
#include "engines/cpu/tile/kernel.hpp"
#include "faro/threads.hpp"
#include "plan/cpu/affine_cost.hpp"
#include "problem/built_in_curves.hpp"

namespace faro::cpu {
namespace {

// A size in bytes that the system knows, or `otherwise`.
std::uint64_t system_bytes(int name, std::uint64_t otherwise) {
  const long value = sysconf(name);
  return value > 0 ? static_cast<std::uint64_t>(value) : otherwise;
}

// The core's cache of a level that holds data, as the kernel tells it; 0: there is none, or it does not tell.
// The C library knows nothing of the caches of an ARM, and adds up those of a socket on some other processors
// (384 MiB on an EPYC whose cores share 32 MiB eight by eight).
std::uint64_t cache_bytes(int level) {
  constexpr std::uint64_t kKib = 1024;
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int index = 0;; ++index) {
    const std::string cache = folder + std::to_string(index);
    int its_level = 0;
    if (!(std::ifstream(cache + "/level") >> its_level)) return 0;
    std::string type;
    std::ifstream(cache + "/type") >> type;
    std::uint64_t kib = 0;  // "32768K"
    if (its_level == level && type != "Instruction" && std::ifstream(cache + "/size") >> kib)
      return kib * kKib;
  }
}

// Bytes of the last level: the third, or the second where there is no other.
std::uint64_t last_level_bytes() {
  constexpr std::uint64_t kUsual = std::uint64_t{16} << 20;
  for (const int level : {3, 2}) {
    if (const std::uint64_t bytes = cache_bytes(level); bytes != 0) return bytes;
  }
  return system_bytes(_SC_LEVEL3_CACHE_SIZE, kUsual);
}

// "model name", "cpu family" and "model" of the first processor, or what an ARM's lines say instead.
std::string processor_text() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    const std::size_t end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    if (colon == std::string::npos || colon + 2 > line.size() || end == std::string::npos) continue;
    const std::string key = line.substr(0, end + 1);
    const std::string value = line.substr(colon + 2);
    if (key == "model name" || key == "CPU implementer") text.insert(0, value);
    if (key == "cpu family") text += ", family " + value;
    if (key == "model") text += ", model " + value;
    if (key == "CPU part") text += ", part " + value;
  }
  return text.empty() ? "a processor that is not known" : text;
}

}  // namespace

const IndexCalibration& nearest_curves() {
  static const IndexCalibration& nearest =
      detail::built_in_near({.lines_in_registers = widest_vector_bytes(4) == kLineBytes,
                             .first_level_bytes = cache_bytes(1),
                             .second_level_bytes = cache_bytes(2),
                             .last_level_bytes = last_level_bytes()});
  return nearest;
}

std::uint64_t streaming_bytes(const IndexCalibration& curves) {
  static const std::uint64_t most = last_level_bytes() / 4;
  return std::min(most, detail::cached_bytes_by(curves).value_or(most));
}

const std::string& processor() {
  static const std::string text = processor_text();
  return text;
}

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
  t.in_place_tile_bytes = kMaxTileBytes;
  t.direct_bytes_max = 128;
  static const std::uint64_t streaming = streaming_bytes(nearest_curves());
  static const std::uint64_t first_level = cache_bytes(1);
  static const std::uint64_t second_level = cache_bytes(2);
  t.streaming_bytes = streaming;
  t.first_level_bytes = first_level != 0 ? first_level : system_bytes(_SC_LEVEL1_DCACHE_SIZE, 0);
  t.chunk_bytes_max = second_level != 0 ? second_level : system_bytes(_SC_LEVEL2_CACHE_SIZE, 0);
  t.name = std::to_string(t.threads) + (t.threads == 1 ? " thread, " : " threads, ") + simd_target();
  return t;
}

}  // namespace faro::cpu
