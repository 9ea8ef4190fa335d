// What the tests of the index arrays' kernels share: passes run on the counting memory, and their oracle.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "drawn.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_in_global.hpp"
#include "kernels/partition_level.hpp"
#include "kernels/partition_runs.hpp"

namespace faro::kernels {

constexpr std::uint64_t kPartitionSeed = 4242;

using machine::AccessCounts;
using machine::CountingMemory;
using schedule::PartitionSchedule;
using schedule::PartitionShape;

/// Elements, and how a kernel for them is compiled.
struct KernelCase {
  std::uint32_t unit_bytes = 4;
  std::uint32_t units = 1;
  std::uint64_t batch = 1;
  int lane_bits = 4;
  std::uint32_t threads = 64;
  bool in_global = false;

  std::uint64_t element_bytes() const { return std::uint64_t{unit_bytes} * units; }
  ElementUnits element() const { return {.unit_bytes = unit_bytes, .units = units}; }
};

inline std::string describe(const KernelCase& c) {
  return std::to_string(c.units) + " x " + std::to_string(c.unit_bytes) + " bytes, batch " +
         std::to_string(c.batch) + ", lanes 2^" + std::to_string(c.lane_bits) + ", threads " +
         std::to_string(c.threads) + (c.in_global ? ", in global" : "");
}

inline std::string describe(const PartitionShape& shape) {
  std::string text = "count " + std::to_string(shape.count) + ", chunk 2^" + std::to_string(shape.chunk_bits);
  for (const int bits : shape.level_bits) text += " +" + std::to_string(bits);
  return text;
}

using Bytes = std::vector<std::byte>;

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

using test::random_bytes;

/// call(std::integral_constant<int, bytes>).
template <typename Call>
void with_bytes(std::uint32_t unit_bytes, const Call& call) {
  switch (unit_bytes) {
    case 1:
      return call(std::integral_constant<int, 1>());
    case 2:
      return call(std::integral_constant<int, 2>());
    case 4:
      return call(std::integral_constant<int, 4>());
    case 8:
      return call(std::integral_constant<int, 8>());
    case 16:
      return call(std::integral_constant<int, 16>());
    default:
      FAIL() << unit_bytes;
  }
}

/// The pass itself, `in` to `out`, counted. `level`: its number, or nothing for the last pass.
class PassRun {
 public:
  PassRun(const PartitionSchedule& schedule, const KernelCase& c) : schedule_(schedule), case_(c) {}

  AccessCounts level(int number, bool forwards, const Bytes& in, Bytes& out) const {
    const PartitionParams params = make_level_params(schedule_.shape, number, case_.element());
    const schedule::PartitionLevel& level = schedule_.levels[static_cast<std::size_t>(number)];
    CountingMemory memory({.shared_bytes = chunk_shared_bytes(params, case_.unit_bytes)});
    add_buffers(memory, in, out, level.places, level.starts, level.offsets);
    with_bytes(case_.unit_bytes, [&](auto bytes) {
      if (case_.in_global) return in_global<bytes(), true>(memory, params, forwards);
      if (case_.units != 1) return level_of<bytes(), false, 4>(memory, params, forwards);
      switch (case_.lane_bits) {
        case 3:
          return level_of<bytes(), true, 3>(memory, params, forwards);
        case 4:
          return level_of<bytes(), true, 4>(memory, params, forwards);
        case 5:
          return level_of<bytes(), true, 5>(memory, params, forwards);
        default:
          FAIL() << case_.lane_bits;
      }
    });
    EXPECT_TRUE(memory.output_complete());
    return memory.counts();
  }

  AccessCounts last(bool forwards, const Bytes& in, Bytes& out) const {
    return chunks(
        make_chunk_params(schedule_.shape.count, static_cast<std::uint32_t>(schedule_.shape.chunk_elements()),
                          case_.element()),
        schedule_.last, forwards, in, out);
  }

  /// Place or pick with any chunk.
  AccessCounts chunks(const PartitionParams& params, const std::vector<std::uint16_t>& places, bool forwards,
                      const Bytes& in, Bytes& out) const {
    CountingMemory memory({.shared_bytes = chunk_shared_bytes(params, case_.unit_bytes)});
    const std::vector<std::uint16_t> none16;
    const std::vector<std::uint32_t> none32;
    add_buffers(memory, in, out, places, none16, none32);
    with_bytes(case_.unit_bytes, [&](auto bytes) {
      if (case_.in_global) return in_global<bytes(), false>(memory, params, forwards);
      if (case_.units == 1) return chunks_of<bytes(), true>(memory, params, forwards);
      return chunks_of<bytes(), false>(memory, params, forwards);
    });
    EXPECT_TRUE(memory.output_complete());
    return memory.counts();
  }

 private:
  static void add_buffers(CountingMemory& memory, const Bytes& in, Bytes& out,
                          const std::vector<std::uint16_t>& places, const std::vector<std::uint16_t>& starts,
                          const std::vector<std::uint32_t>& offsets) {
    memory.add_input(in);
    memory.add_output(out);
    memory.add_input(bytes_of(places));
    memory.add_input(bytes_of(starts));
    memory.add_input(bytes_of(offsets));
  }

  machine::CountingMemory::Launch launch(const PartitionParams& params) const {
    return {.blocks = params.chunks * case_.batch, .threads = case_.threads};
  }

  template <int bytes, bool single, int lane_bits>
  void level_of(CountingMemory& memory, const PartitionParams& params, bool forwards) const {
    const auto descriptors = [&](auto& m, std::uint64_t block, std::uint32_t thread) {
      load_descriptors(m, params, block, thread, case_.threads);
    };
    if (forwards) {
      memory.run(
          launch(params), descriptors,
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            load_placed<bytes, single>(m, params, block, thread, case_.threads);
          },
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            store_runs<bytes, single, lane_bits>(m, params, block, thread, case_.threads);
          });
    } else {
      memory.run(
          launch(params), descriptors,
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            load_runs<bytes, single, lane_bits>(m, params, block, thread, case_.threads);
          },
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            store_picked<bytes, single>(m, params, block, thread, case_.threads);
          });
    }
  }

  template <int bytes, bool single>
  void chunks_of(CountingMemory& memory, const PartitionParams& params, bool forwards) const {
    if (forwards) {
      memory.run(
          launch(params),
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            load_placed<bytes, single>(m, params, block, thread, case_.threads);
          },
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            store_chunk<bytes, single>(m, params, block, thread, case_.threads);
          });
    } else {
      memory.run(
          launch(params),
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            load_chunk<bytes, single>(m, params, block, thread, case_.threads);
          },
          [&](auto& m, std::uint64_t block, std::uint32_t thread) {
            store_picked<bytes, single>(m, params, block, thread, case_.threads);
          });
    }
  }

  template <int bytes, bool level>
  void in_global(CountingMemory& memory, const PartitionParams& params, bool forwards) const {
    memory.run({.blocks = in_global_blocks(params) * case_.batch, .threads = kInGlobalThreads},
               [&](auto& m, std::uint64_t block, std::uint32_t thread) {
                 if (forwards) move_in_global<bytes, level, true>(m, params, block, thread);
                 if (!forwards) move_in_global<bytes, level, false>(m, params, block, thread);
               });
  }

  const PartitionSchedule& schedule_;
  KernelCase case_;
};

/// All passes. Each starts from a poisoned array.
inline Bytes run_schedule(const PartitionSchedule& schedule, const KernelCase& c, bool forwards, Bytes in) {
  const PassRun run(schedule, c);
  const int levels = schedule.shape.levels();
  const auto pass = [&](const auto& go) {
    Bytes out(in.size(), std::byte{0xa5});
    go(out);
    in = out;
  };
  for (int l = 0; forwards && l < levels; ++l) pass([&](Bytes& out) { run.level(l, true, in, out); });
  pass([&](Bytes& out) { run.last(forwards, in, out); });
  for (int l = levels - 1; !forwards && l >= 0; --l) pass([&](Bytes& out) { run.level(l, false, in, out); });
  return in;
}

/// out[entries[i]] = in[i], or out[i] = in[entries[i]], for every array.
template <typename Entry>
Bytes permuted(const std::vector<Entry>& entries, const KernelCase& c, bool forwards, const Bytes& in) {
  Bytes out(in.size());
  const std::uint64_t bytes = c.element_bytes();
  for (std::uint64_t a = 0; a < c.batch; ++a) {
    for (std::uint64_t i = 0; i < entries.size(); ++i) {
      const std::uint64_t here = a * entries.size() + i;
      const std::uint64_t there = a * entries.size() + entries[i];
      std::memcpy(&out[(forwards ? there : here) * bytes], &in[(forwards ? here : there) * bytes], bytes);
    }
  }
  return out;
}

inline std::vector<std::uint32_t> random_entries(std::uint64_t count, std::mt19937_64& random) {
  std::vector<std::uint32_t> entries(count);
  for (std::uint64_t i = 0; i < count; ++i) entries[i] = static_cast<std::uint32_t>(i);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

}  // namespace faro::kernels
