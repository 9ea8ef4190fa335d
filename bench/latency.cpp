#include "bench/latency.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "io/buffer.hpp"

namespace faro::bench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kLines = kBytes / kLineBytes;

// A linear congruential generator modulo a power of two, with an odd increment and a multiplier that is 1
// modulo 4, visits every residue before it repeats (Hull and Dobell, 1962): one cycle through all lines.
std::uint64_t line_after(std::uint64_t line) {
  return (line * 0x5851f42d4c957f2d + 0x14057b7ef767814f) % kLines;
}

}  // namespace

double idle_memory_latency_ns() {
  constexpr int kSamples = 31;
  constexpr int kHops = 1 << 15;
  const io::Buffer buffer(kBytes, io::PageKind::huge);
  std::byte* const data = buffer.data();
  for (std::uint64_t line = 0; line < kLines; ++line) {
    const std::uint64_t next_byte = line_after(line) * kLineBytes;
    std::memcpy(data + line * kLineBytes, &next_byte, sizeof(next_byte));
  }
  std::vector<double> samples_ns;
  std::uint64_t at = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int hop = 0; hop < kHops; ++hop) std::memcpy(&at, data + at, sizeof(at));
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    samples_ns.push_back(elapsed.count() / kHops);
  }
  FARO_CHECK(at < kBytes);  // also keeps the chase from being optimised away
  return median(samples_ns);
}

}  // namespace faro::bench
