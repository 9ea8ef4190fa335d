// What the tests of the CPU engine share: arrays between guard zones, one obvious loop, and the list of
// kernels that a plan reaches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/tile/kernel.hpp"
#include "engines/cpu/tile/program.hpp"
#include "faro/plan/plan.hpp"
#include "plan_support.hpp"

namespace faro::testing {

// Instrumented code is ten times slower: there the sweeps take a sample.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FARO_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FARO_INSTRUMENTED 1
#endif
#endif
#ifndef FARO_INSTRUMENTED
#define FARO_INSTRUMENTED 0
#endif
inline constexpr bool kInstrumented = FARO_INSTRUMENTED != 0;

inline constexpr std::size_t kGuardBytes = 128;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::byte kPoison{0xa5};

/// Steele, Lea and Flood's generator.
struct SplitMix64 {
  std::uint64_t state = 0;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
};

/// An array between guard zones, some bytes past a line; all is poisoned.
class Guarded {
 public:
  Guarded(std::uint64_t bytes, std::size_t past_line)
      : memory_(bytes + 2 * kGuardBytes + 2 * kAlignment, kPoison), bytes_(bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
    data_ = kGuardBytes + (kAlignment - begin % kAlignment) % kAlignment + past_line;
  }
  std::byte* data() { return memory_.data() + data_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::vector<std::byte>& memory() const { return memory_; }
  bool guards_intact() const {
    const auto poisoned = [](std::byte b) { return b == kPoison; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(data_);
    return std::all_of(memory_.begin(), begin, poisoned) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), poisoned);
  }

 private:
  std::vector<std::byte> memory_;
  std::uint64_t bytes_;
  std::size_t data_ = 0;
};

/// An input of exactly its size (an instrumented build sees every byte read past it) and an output between
/// guard zones, all poisoned; each `offset` bytes past a cache line.
class Arrays {
 public:
  Arrays(std::uint64_t bytes, std::size_t in_offset, std::size_t out_offset, std::uint64_t seed)
      : bytes_(bytes),
        in_offset_(in_offset),
        out_offset_(out_offset),
        seed_(seed),
        in_(allocate(in_offset + bytes)),
        out_(allocate(out_bytes())) {
    std::fill_n(in_.get(), in_offset, kPoison);
    std::fill_n(out_.get(), out_bytes(), kPoison);
    for_each_word([&](std::uint64_t at, const std::byte* word, std::size_t size) {
      std::memcpy(in_.get() + in_offset_ + at, word, size);
      return true;
    });
  }

  std::uint64_t bytes() const { return bytes_; }
  const std::byte* in() const { return in_.get() + in_offset_; }
  std::byte* out() { return out_.get() + kGuardBytes + out_offset_; }

  bool input_intact() const {
    return for_each_word([&](std::uint64_t at, const std::byte* word, std::size_t size) {
      return std::memcmp(in_.get() + in_offset_ + at, word, size) == 0;
    });
  }
  bool guards_intact() const {
    return poisoned(0, kGuardBytes + out_offset_) &&
           poisoned(kGuardBytes + out_offset_ + bytes_, out_bytes());
  }
  bool untouched() const { return poisoned(0, out_bytes()) && input_intact(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  static Memory allocate(std::uint64_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, std::max<std::uint64_t>(1, bytes)) != 0) throw std::bad_alloc();
    return Memory(static_cast<std::byte*>(memory));
  }
  std::uint64_t out_bytes() const { return bytes_ + out_offset_ + 2 * kGuardBytes; }
  bool poisoned(std::uint64_t from, std::uint64_t to) const {
    return std::all_of(out_.get() + from, out_.get() + to, [](std::byte b) { return b == kPoison; });
  }
  // Calls visit(offset, bytes, size) with the input as it was drawn, while it returns true.
  template <typename Visit>
  bool for_each_word(Visit visit) const {
    SplitMix64 random{seed_};
    for (std::uint64_t at = 0; at < bytes_; at += 8) {
      const std::uint64_t value = random();
      std::byte word[8];
      std::memcpy(word, &value, 8);
      if (!visit(at, word, static_cast<std::size_t>(std::min<std::uint64_t>(8, bytes_ - at)))) return false;
    }
    return true;
  }

  std::uint64_t bytes_;
  std::size_t in_offset_;
  std::size_t out_offset_;
  std::uint64_t seed_;
  Memory in_;
  Memory out_;
};

/// The oracle: for every array b and every x, out[b][pi(x)] is in[b][x]. What is wrong first, in words.
inline std::optional<std::string> first_wrong(const Problem& problem, const std::byte* in,
                                              const std::byte* out) {
  const auto& map = std::get<Affine>(problem.permutation);
  const std::uint64_t width = problem.element_bytes;
  const std::uint64_t count = std::uint64_t{1} << map.bits();
  for (std::uint64_t b = 0; b < problem.batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x) {
      if (std::memcmp(in + (b * count + x) * width, out + (b * count + map(x)) * width, width) == 0) continue;
      return "array " + std::to_string(b) + ": in[" + std::to_string(x) + "] is not at out[" +
             std::to_string(map(x)) + "]";
    }
  }
  return std::nullopt;
}

/// A problem on a target, with the places of its arrays.
struct EngineCase {
  Problem problem;
  Target target;
  std::size_t in_offset = 0;
  std::size_t out_offset = 0;
  std::uint64_t seed = 1;
};

/// A line to paste, and what the command line cannot say.
inline std::string describe(const EngineCase& c) {
  return describe(c.problem) + "\n  vectors of " + std::to_string(c.target.vector_bytes) +
         ", segments up to " + std::to_string(c.target.segment_bytes_max) + ", units up to " +
         std::to_string(c.target.unit_bytes_max) + ", streamed past " +
         std::to_string(c.target.streaming_bytes) + " bytes, " + std::to_string(c.target.threads) +
         " threads, " + cpu::simd_target() + ", in + " + std::to_string(c.in_offset) + ", out + " +
         std::to_string(c.out_offset) + ", seed " + std::to_string(c.seed);
}

/// The kernels that were run, by name: "copy", "segments streamed", "tail", "tile 64/1 exchange 6 streamed"
/// (vectors of 64 bytes, units of 1), "staged", "several arrays", …
using Reached = std::set<std::string>;

inline std::string tile_kernel_name(std::uint64_t register_bytes, std::uint64_t unit_bytes, int exchange_bits,
                                    bool streamed) {
  return "tile " + std::to_string(register_bytes) + "/" + std::to_string(unit_bytes) + " exchange " +
         std::to_string(exchange_bits) + (streamed ? " streamed" : " cached");
}

inline void note_kernels(const Plan& plan, std::size_t out_offset, Reached& reached) {
  const std::uint64_t unit = plan.unit_bytes();
  std::uint64_t offset = out_offset;
  for (const Pass& pass : plan.passes()) {
    const bool large = pass.bytes_read > plan.target().streaming_bytes;
    const std::string stores = large ? " streamed" : " cached";
    switch (pass.kind) {
      case PassKind::copy:
        reached.insert("copy" + stores);
        break;
      case PassKind::segments:
        reached.insert("segments" + stores);
        break;
      case PassKind::direct:
        reached.insert(&pass == &plan.passes().front() ? "direct" : "tail");
        break;
      case PassKind::tile: {
        const cpu::TileProgram program(pass, unit,
                                       std::min(cpu::widest_vector_bytes(unit), plan.target().vector_bytes));
        const bool streamed = large && offset % kAlignment == 0;
        reached.insert(tile_kernel_name(cpu::register_bytes(program), unit, program.exchange_bits, streamed));
        reached.insert(program.staged ? "staged" : "straight");
        if (pass.arrays > 1) reached.insert("several arrays");
        if (large && !streamed) reached.insert("misaligned");
        break;
      }
      default:
        ADD_FAILURE() << name(pass.kind) << " is a GPU's";
    }
    offset += pass.bytes_read;
  }
}

/// Runs a case and holds it to the oracle, with guard zones and an input that must stay as it was.
inline void check(const EngineCase& c, Reached* reached = nullptr) {
  const Plan plan(c.problem, c.target);
  const cpu::Executor executor(plan);
  Arrays arrays(plan.array_bytes(), c.in_offset, c.out_offset, c.seed);
  executor.run(arrays.in(), arrays.out());
  if (const auto wrong = first_wrong(c.problem, arrays.in(), arrays.out())) {
    ADD_FAILURE() << *wrong << "\n  " << describe(c);
  }
  if (!arrays.guards_intact()) ADD_FAILURE() << "written outside the output\n  " << describe(c);
  if (!arrays.input_intact()) ADD_FAILURE() << "the input changed\n  " << describe(c);
  if (reached != nullptr) note_kernels(plan, c.out_offset, *reached);
}

enum class Stores { cached, streamed };

/// This machine, but with tiles and stores past the caches at every size, and with sizes that no tuning
/// changes.
inline Target test_target(std::uint64_t vector_bytes, Stores stores, int threads = 1) {
  Target t = cpu::target(threads);
  t.vector_bytes = vector_bytes;
  t.segment_bytes_max = 64;
  t.tile_bytes_max = 4096;
  t.in_place_tile_bytes = 0;
  t.direct_bytes_max = 0;
  t.streaming_bytes = stores == Stores::streamed ? 0 : ~std::uint64_t{0};
  return t;
}

inline constexpr std::uint64_t kVectorBytes[] = {16, 64};
inline constexpr Stores kStores[] = {Stores::cached, Stores::streamed};

// Widths 1 to 4096, batches that fold, leave a tail, are empty; the tile's sizes, the threads and the
// alignments change from case to case.
template <typename Check>
void sweep_cases(const std::vector<int>& bits, std::uint64_t bytes_max, std::uint64_t sample,
                 const Check& check) {
  std::uint64_t number = 0;
  for (const int n : bits) {
    for (const Affine& map : maps_of(n, static_cast<std::uint64_t>(n))) {
      for (std::uint64_t width = 1; width <= kMaxElementBytes; width *= 2) {
        for (const std::uint64_t batch : {0U, 1U, 2U, 3U, 5U, 64U, 1000U}) {
          if (((batch * width) << n) > bytes_max || ++number % sample != 0) continue;
          const std::uint64_t seed = SplitMix64{number}();
          const std::uint64_t vector = kVectorBytes[seed % 2];
          EngineCase c{
              .problem = {.permutation = map, .element_bytes = width, .batch = batch},
              .target = test_target(vector, kStores[seed / 2 % 2], 1 + static_cast<int>(seed / 4 % 4)),
              .in_offset = static_cast<std::size_t>(seed / 16 % 2 * (seed / 32 % 64)),
              .out_offset = static_cast<std::size_t>(seed / 2048 % 2 * (seed / 4096 % 64)),
              .seed = number};
          c.target.segment_bytes_max = std::uint64_t{64} << (seed >> 20) % 4 * 2;
          if ((seed >> 24) % 4 == 0) c.target.segment_bytes_max = vector;
          if ((seed >> 26) % 4 == 0) c.target.unit_bytes_max = std::uint64_t{1} << (seed >> 28) % 5;
          if ((seed >> 32) % 4 == 0) c.target.direct_bytes_max = 512;
          check(c);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// A map of some family, by the seed.
inline Affine random_map(int n, std::uint64_t seed) {
  switch (seed % 5) {
    case 0:
      return maps::random_bp(n, seed);
    case 1:
      return maps::random_bpc(n, seed);
    case 2:
      return direct_sum(maps::random_bmmc(n / 2, seed), maps::random_bpc(n - n / 2, seed));
    case 3: {  // an involution without any order
      const Affine change = maps::random_bmmc(n, seed);
      return compose(change.inverse(), compose(maps::bit_reversal(n), change));
    }
    default:
      return maps::random_bmmc(n, seed);
  }
}

}  // namespace faro::testing
