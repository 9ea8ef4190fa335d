// What the tests of the kernels in place share: a memory that is literally one array, and knows whose every
// byte is.
//
// The first block that loads a byte owns it. Wrong, and thrown at once: a load of a byte that another block
// has loaded, or that anybody has stored; a store of a byte that the block has not loaded, or that another
// thread loaded in the same phase, since only a barrier lies between the phases.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/affine_in_place.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/in_place_tiles.hpp"

namespace faro::kernels {

class Owners {
 public:
  explicit Owners(std::size_t bytes) : bytes_(bytes) {}

  struct Who {
    std::uint64_t block;
    std::uint32_t thread;
    int phase;
  };

  void load(std::uint64_t at, int count, const Who& who) {
    for (std::uint64_t i = at; i < at + static_cast<std::uint64_t>(count); ++i) {
      Byte& byte = bytes_.at(i);
      if (byte.is_stored) fail("loaded after it was stored", i, who);
      if (byte.is_loaded && byte.by.block != who.block) fail("loaded by two blocks", i, who);
      byte = {.is_loaded = true, .is_stored = false, .by = who};
    }
  }
  void store(std::uint64_t at, int count, const Who& who) {
    for (std::uint64_t i = at; i < at + static_cast<std::uint64_t>(count); ++i) {
      Byte& byte = bytes_.at(i);
      if (byte.is_stored) fail("stored twice", i, who);
      if (!byte.is_loaded || byte.by.block != who.block) fail("stored by another block", i, who);
      if (byte.by.phase == who.phase && byte.by.thread != who.thread)
        fail("stored in the same phase", i, who);
      byte.is_stored = true;
    }
  }

 private:
  struct Byte {
    bool is_loaded = false;
    bool is_stored = false;
    Who by = {};
  };

  [[noreturn]] static void fail(const char* what, std::uint64_t at, const Who& who) {
    throw std::runtime_error("byte " + std::to_string(at) + " " + what + ", block " +
                             std::to_string(who.block) + ", thread " + std::to_string(who.thread));
  }

  std::vector<Byte> bytes_;
};

/// The counting memory, told to the owners.
struct OwnedMemory {
  machine::CountingMemory* memory;
  Owners* owners;
  Owners::Who who;

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    owners->load(offset, bytes, who);
    return memory->load_global<bytes>(buffer, offset);
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    owners->store(offset, bytes, who);
    memory->store_global<bytes>(buffer, offset, packet);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) const {
    return memory->load_shared<bytes>(address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    memory->store_shared<bytes>(address, packet);
  }
  void idle() const { memory->idle(); }
  void converge() const { memory->converge(); }
};

/// One array of bytes between guard zones.
struct InPlaceArray {
  std::vector<std::byte> before;
  std::vector<std::byte> bytes;  // with the zones

  InPlaceArray(std::size_t count, std::mt19937_64& random)
      : before(count), bytes(count + 2 * kGuardBytes, kPoison) {
    for (std::byte& b : before) b = static_cast<std::byte>(random());
    std::copy(before.begin(), before.end(), bytes.begin() + kGuardBytes);
  }
  std::span<std::byte> data() { return std::span(bytes).subspan(kGuardBytes, before.size()); }
};

/// Runs a launch over `data`, input and output at once.
template <typename... Phases>
machine::AccessCounts run_in_place(std::span<std::byte> data, std::size_t shared_bytes,
                                   const machine::CountingMemory::Launch& launch, const Phases&... phases) {
  machine::CountingMemory memory({.shared_bytes = shared_bytes});
  memory.add_input(data);
  memory.add_output(data);
  Owners owners(data.size());
  int number = 0;
  const auto owned = [&](const auto& phase) {
    return [&owners, &phase, own = number++](machine::CountingMemory& m, std::uint64_t block,
                                             std::uint32_t thread) {
      OwnedMemory of{&m, &owners, {.block = block, .thread = thread, .phase = own}};
      phase(of, block, thread);
    };
  };
  memory.run(launch, owned(phases)...);
  return memory.counts();
}

/// A cluster is run as one block, whose groups have a tile of the shared memory each.
template <AffineTileShape shape, typename Params>
machine::AccessCounts run_orbits(std::span<std::byte> data, const Params& params, const OrbitLaunch& grid) {
  const auto together = static_cast<std::uint64_t>(grid.cluster_blocks);
  EXPECT_EQ(grid.blocks % together, 0U);
  const machine::CountingMemory::Launch launch{
      .blocks = grid.blocks / together,
      .threads = static_cast<std::uint32_t>(grid.threads) * static_cast<std::uint32_t>(together)};
  const auto shared_bytes = static_cast<std::size_t>(grid.shared_bytes * together);
  const auto of_cluster = [&](const auto& phase) {
    return [&](auto& m, std::uint64_t cluster, std::uint32_t thread) {
      const auto threads = static_cast<std::uint32_t>(grid.threads);
      const std::uint32_t rank = thread / threads;
      SharedPart<std::remove_reference_t<decltype(m)>> own{
          &m, rank * static_cast<std::uint32_t>(grid.shared_bytes)};
      phase(own, cluster * together + rank, thread % threads);
    };
  };
  const auto load = [&](auto& m, auto block, auto thread) {
    load_orbit<shape>(m, params, own_tiles<shape>(params.orbits, block, thread), thread);
  };
  const auto store = [&](auto& m, auto block, auto thread) {
    store_orbit<shape>(m, params, own_tiles<shape>(params.orbits, block, thread), thread);
  };
  return run_in_place(data, shared_bytes, launch, of_cluster(load), of_cluster(store));
}

template <AffineTileShape shape, typename Params>
machine::AccessCounts run_orbits(std::span<std::byte> data, const Params& params) {
  return run_orbits<shape>(data, params, orbit_launch(shape, params.orbits));
}

template <int bytes>
machine::AccessCounts run_swaps(std::span<std::byte> data, const AffineSwapParams& params,
                                const machine::CountingMemory::Launch& launch) {
  return run_in_place(data, 0, launch, [&](auto& m, auto block, auto thread) {
    swap_vectors<bytes>(m, params, block, thread);
  });
}

template <int bytes>
machine::AccessCounts run_swaps(std::span<std::byte> data, const AffineSwapParams& params) {
  return run_swaps<bytes>(data, params, {.blocks = params.blocks(), .threads = kSwapThreads});
}

template <int bytes>
machine::AccessCounts run_small(std::span<std::byte> data, const AffineSmallParams& params,
                                const machine::CountingMemory::Launch& launch, std::size_t shared_bytes) {
  return run_in_place(
      data, shared_bytes, launch,
      [&](auto& m, auto block, auto thread) { load_small<bytes>(m, params, block, thread); },
      [&](auto& m, auto block, auto thread) { store_small<bytes>(m, params, block, thread); });
}

template <int bytes>
machine::AccessCounts run_small(std::span<std::byte> data, const AffineSmallParams& params) {
  return run_small<bytes>(data, params, {.blocks = params.blocks(), .threads = kSmallThreads},
                          params.shared_bytes());
}

/// Law: data[b][map(x)] is what data[b][x] was, and the guard zones are untouched.
inline void expect_permuted_in_place(const Affine& map, std::size_t element_bytes, InPlaceArray& array) {
  const std::size_t count = std::size_t{1} << map.bits();
  const std::span<std::byte> data = array.data();
  for (std::size_t x = 0; x < data.size() / element_bytes; ++x) {
    const std::size_t y = x / count * count + map(x % count);
    ASSERT_EQ(std::memcmp(&array.before[x * element_bytes], &data[y * element_bytes], element_bytes), 0)
        << "element " << x;
  }
  for (std::size_t i = 0; i < kGuardBytes; ++i) {
    ASSERT_EQ(array.bytes[i], kPoison) << "before the array";
    ASSERT_EQ(array.bytes[array.bytes.size() - 1 - i], kPoison) << "behind the array";
  }
}

}  // namespace faro::kernels
