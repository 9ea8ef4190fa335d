// Functions fused into a permutation, out[y] = f(in[x]), of every rung; every element type; and arrays of up
// to 2^40 elements, of which one block is run.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "emitted/emitted_check.hpp"
#include "faro/permutation/affine.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace emit_run_map_test {

using emit::Options;
using emit::Rung;

constexpr Rung kRungs[] = {Rung::naive, Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass};

// --- functions

// f on bytes, of a function on values.
template <typename T, typename F>
std::function<void(std::byte*, std::uint64_t, std::uint64_t)> on_bytes(F f) {
  return [f](std::byte* bytes, std::uint64_t x, std::uint64_t y) {
    T v;
    std::memcpy(&v, bytes, sizeof v);
    v = f(v, x, y);
    std::memcpy(bytes, &v, sizeof v);
  };
}

struct Four {
  std::uint32_t x, y, z, w;
};

struct Fused {
  const char* element;
  const char* expression;
  std::function<void(std::byte*, std::uint64_t, std::uint64_t)> function;
};

const std::vector<Fused>& fused() {
  static const std::vector<Fused> list = {
      {"uint32_t", "v * 2 + x",
       on_bytes<std::uint32_t>([](auto v, auto x, auto) { return static_cast<std::uint32_t>(v * 2 + x); })},
      {"uint32_t", "v ^ (x << 16) ^ y", on_bytes<std::uint32_t>([](auto v, auto x, auto y) {
         return static_cast<std::uint32_t>(v ^ x << 16 ^ y);
       })},
      {"uint8_t", "v + 3 * x - y", on_bytes<std::uint8_t>([](auto v, auto x, auto y) {
         return static_cast<std::uint8_t>(v + 3 * x - y);
       })},
      {"uint16_t", "y",
       on_bytes<std::uint16_t>([](auto, auto, auto y) { return static_cast<std::uint16_t>(y); })},
      {"int64_t", "v - (long long)x * 1000000007 + y",
       on_bytes<std::uint64_t>([](auto v, auto x, auto y) { return v - x * 1000000007U + y; })},
      {"double", "0.5 * x + y", on_bytes<double>([](double, auto x, auto y) {
         return 0.5 * static_cast<double>(x) + static_cast<double>(y);
       })},
      {"uint4", "make_uint4(v.w, x, v.y, y)", on_bytes<Four>([](Four v, auto x, auto y) {
         return Four{v.w, static_cast<std::uint32_t>(x), v.y, static_cast<std::uint32_t>(y)};
       })},
  };
  return list;
}

TEST(EmittedMap, FusesFunctionsIntoEveryRung) {
  EmittedBatch batch;
  std::uint64_t seed = 9;
  for (const Fused& f : fused()) {
    for (const Rung rung : kRungs) {
      const bool any_map = rung == Rung::naive || rung == Rung::two_pass || rung == Rung::one_pass;
      for (const int n : {0, 3, 10}) {
        if (n < 10 && !any_map) continue;
        Options options;
        options.rung = rung;
        options.element = f.element;
        options.map = f.expression;
        const Affine map = any_map ? maps::random_bmmc(n, ++seed) : maps::random_bpc(n, ++seed);
        EXPECT_TRUE(batch.add({.map = map, .options = options, .function = f.function}));
      }
    }
  }
  batch.check();
}

// x and y are indices of the array that is permuted, in the second kernel of two, too, and f is applied once.
TEST(EmittedMap, TwoPassesApplyItOnce) {
  EmittedBatch batch;
  Options options;
  options.rung = Rung::two_pass;
  options.map = "3 * v + (x ^ 5 * y) + 1";
  const auto f = on_bytes<std::uint32_t>(
      [](auto v, auto x, auto y) { return static_cast<std::uint32_t>(3 * v + (x ^ 5 * y) + 1); });
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    EXPECT_TRUE(batch.add({.map = maps::random_bmmc(11, seed), .options = options, .function = f}));
  }
  batch.check();
}

// The authors' own: tiled kernels of both factors, for every map.
TEST(EmittedMap, ThePublishedPair) {
  EmittedBatch batch;
  std::uint64_t seed = 300;
  for (const Rung rung : {Rung::tile, Rung::banks, Rung::iters}) {
    for (const char* const element : {"uint8_t", "uint32_t", "uint64_t", "uint4"}) {
      for (const int n : {0, 1, 5, 10, 12}) {
        Options options;
        options.rung = rung;
        options.element = element;
        options.both_factors = true;
        EXPECT_TRUE(batch.add({.map = maps::random_bmmc(n, ++seed), .options = options})) << name(rung) << n;
      }
    }
  }
  Options options;
  options.rung = Rung::banks;
  options.both_factors = true;
  options.map = "3 * v + y";
  const auto f =
      on_bytes<std::uint32_t>([](auto v, auto, auto y) { return static_cast<std::uint32_t>(3 * v + y); });
  EXPECT_TRUE(batch.add({.map = maps::random_bmmc(11, 1), .options = options, .function = f}));
  batch.check();
  options.map = "v + x";
  EXPECT_EQ(test::report_of([&] { emit::emit(maps::random_bmmc(11, 1), options); }).code,
            ErrorCode::unsupported);
  options.map = {};
  options.rung = Rung::one_pass;
  EXPECT_EQ(test::report_of([&] { emit::emit(maps::random_bmmc(11, 1), options); }).code, ErrorCode::value);
}

// --- element types

TEST(EmittedMap, EveryElementTypeIsMovedWhole) {
  EmittedBatch batch;
  std::set<int> widths;
  std::uint64_t seed = 100;
  for (const emit::ElementType& type : emit::element_types()) {
    widths.insert(type.bytes);
    Options options;
    options.element = std::string(type.name);
    options.rung = kRungs[++seed % std::size(kRungs)];
    EXPECT_TRUE(batch.add({.map = maps::random_bpc(10, seed), .options = options})) << type.name;
  }
  EXPECT_EQ(widths, (std::set<int>{1, 2, 4, 8, 16}));
  batch.check();
}

// --- arrays larger than memory

// A memory whose input holds its own indices, 8 bytes each, and whose output checks what it is given.
class IndexMemory {
 public:
  IndexMemory(const Affine& map, std::uint64_t shared_bytes) : map_(map), shared_(shared_bytes) {}

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    EXPECT_EQ(buffer, 0);
    device::Packet<bytes> packet{};
    if constexpr (bytes % 8 == 0) {
      for (std::uint64_t i = 0; i < bytes / 8; ++i) {
        const std::uint64_t index = offset / 8 + i;
        std::memcpy(reinterpret_cast<std::byte*>(packet.unit) + 8 * i, &index, 8);
      }
    }
    return packet;
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) {
    EXPECT_EQ(buffer, 1);
    for (std::uint64_t i = 0; i < bytes / 8; ++i) {
      std::uint64_t index = 0;
      std::memcpy(&index, reinterpret_cast<const std::byte*>(packet.unit) + 8 * i, 8);
      if (offset / 8 + i != map_(index)) ++wrong;
      largest = std::max(largest, std::max(index, map_(index)));
      ++stored;
    }
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    device::Packet<bytes> packet;
    std::memcpy(packet.unit, &shared_.at(address), bytes);
    return packet;
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    std::memcpy(&shared_.at(address), packet.unit, bytes);
  }

  std::uint64_t stored = 0;
  std::uint64_t wrong = 0;
  std::uint64_t largest = 0;

 private:
  Affine map_;
  std::vector<std::byte> shared_;
};

TEST(EmittedMap, OneBlockOfHugeArrays) {
  std::vector<emit::Source> sources;
  std::vector<std::string> commands;
  EmittedLibrary library;
  for (const int n : {24, 31, 32, 33, 35, 40}) {
    for (const Rung rung : kRungs) {
      Options options;
      options.rung = rung;
      options.element = "uint64_t";
      options.name = "k" + std::to_string(sources.size());
      const bool any_map = rung == Rung::naive || rung == Rung::two_pass || rung == Rung::one_pass;
      const Affine map = any_map ? maps::random_bmmc(n, 7) : maps::random_bpc(n, 7);
      const std::string command = describe(EmittedCase{.map = map, .options = options});
      try {
        sources.push_back(emit::emit(map, options));
      } catch (const Error& error) {
        // A grid has at most 2^31 - 1 blocks.
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << command << error.what();
        EXPECT_GE(n, 35) << command << error.what();
        EXPECT_NE(rung, Rung::one_pass) << command << error.what();
        continue;
      }
      commands.push_back(command);
      library.add(options.name, sources.back());
    }
  }
  library.build();
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const emit::Kernel& kernel : sources[i].kernels) {
      EXPECT_LT(kernel.blocks, std::uint64_t{1} << 31) << commands[i];
      const std::uint64_t array_bytes = std::uint64_t{8} << kernel.map.bits();
      std::uint64_t largest = 0;
      for (const std::uint64_t block : {std::uint64_t{0}, random() % kernel.blocks, kernel.blocks - 1}) {
        EmittedKernel<IndexMemory> emitted(library, kernel, array_bytes, block);
        IndexMemory memory(kernel.map, kernel.shared_bytes);
        for (std::uint64_t phase = 0; phase < emitted.shape().phases; ++phase) {
          for (std::uint32_t t = 0; t < emitted.threads(); ++t) emitted.run_phase(memory, phase, block, t);
        }
        EXPECT_EQ(memory.wrong, 0U) << kernel.name << ", block " << block << "\n  " << commands[i];
        EXPECT_EQ(memory.stored, (std::uint64_t{1} << kernel.map.bits()) / kernel.blocks) << commands[i];
        largest = std::max(largest, memory.largest);
        if (HasFailure()) return;
      }
      EXPECT_GE(largest, std::uint64_t{1} << (kernel.map.bits() - 1)) << commands[i];
    }
  }
}

// The prediction for arrays past any memory is that of each of their blocks, times their number.
TEST(EmittedMap, PredictionsOfHugeArrays) {
  for (const Rung rung : kRungs) {
    Options options;
    options.rung = rung;
    const Affine map = maps::bit_reversal(30);
    const emit::Source source = emit::emit(map, options);
    EmittedLibrary library;
    library.add(options.name, source);
    library.build();
    for (const emit::Kernel& kernel : source.kernels) {
      for (const std::uint64_t block : {kernel.blocks / 2, kernel.blocks - 1}) {
        machine::AccessCounts counts = run_one_block(library, kernel, std::uint64_t{4} << 30, block, nullptr);
        counts *= kernel.blocks;
        EXPECT_EQ(counts, kernel.predicted) << describe(EmittedCase{.map = map, .options = options});
      }
    }
  }
}

}  // namespace emit_run_map_test
}  // namespace faro::testing
