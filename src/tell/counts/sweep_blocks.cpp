// Blocks of the kernels in place: orbits of an affine map, and sweeps of a transposition.
#include <type_traits>
#include <utility>

#include "faro/error.hpp"
#include "kernels/affine_in_place.hpp"
#include "kernels/in_place_tiles.hpp"
#include "plan/gpu/sweep_phases.hpp"
#include "tell/counts/block_phases.hpp"

namespace faro::detail {
namespace {

using machine::CountingMemory;
using Thread = std::uint32_t;

// --- orbits

struct OrbitBlock {
  const GpuKernel& kernel;
  CountingMemory& memory;
  std::uint64_t block;

  template <typename... Phases>
  void run(int threads, const Phases&... phases) const {
    memory.run({.blocks = 1, .threads = static_cast<std::uint32_t>(threads), .first_block = block},
               phases...);
  }

  // A cluster is run as one block, whose groups have a tile of the shared memory each.
  template <kernels::AffineTileShape shape, typename Params>
  void run_orbit(const Params& params) const {
    const auto threads = static_cast<std::uint32_t>(kernel.threads);
    const auto of_cluster = [&](const auto& phase) {
      return [&, threads](CountingMemory& m, std::uint64_t cluster, Thread thread) {
        const Thread rank = thread / threads;
        kernels::SharedPart<CountingMemory> own{&m, rank * static_cast<std::uint32_t>(kernel.shared_bytes)};
        const std::uint64_t number = cluster * static_cast<std::uint64_t>(kernel.cluster_blocks) + rank;
        phase(own, kernels::own_tiles<shape>(params.orbits, number, thread % threads), thread % threads);
      };
    };
    const auto load = [&](auto& m, const auto& own, Thread t) {
      kernels::load_orbit<shape>(m, params, own, t);
    };
    const auto store = [&](auto& m, const auto& own, Thread t) {
      kernels::store_orbit<shape>(m, params, own, t);
    };
    run(kernel.threads * kernel.cluster_blocks, of_cluster(load), of_cluster(store));
  }
  bool operator()(const OrbitKernel& k) const {
    return any_index<kernels::kInPlaceTileCount>([&](auto index) {
      constexpr kernels::CompiledTile tile = kernels::kInPlaceTiles[index];
      using Params =
          std::conditional_t<tile.blocked, kernels::BlockedInPlaceParams, kernels::AffineInPlaceParams>;
      if (!(k.tile == tile)) return false;
      run_orbit<tile.shape>(std::get<Params>(kernel.params));
      return true;
    });
  }
  bool operator()(const SwapKernel& k) const {
    by_unit_bytes(k.access_bytes, [&](auto bytes) {
      const auto& p = std::get<kernels::AffineSwapParams>(kernel.params);
      run(kernel.threads, [&](CountingMemory& m, std::uint64_t b, Thread t) {
        kernels::swap_vectors<decltype(bytes)::value>(m, p, b, t);
      });
    });
    return true;
  }
  bool operator()(const SmallKernel& k) const {
    by_unit_bytes(k.element_bytes, [&](auto bytes) {
      const auto& p = std::get<kernels::AffineSmallParams>(kernel.params);
      run(
          kernel.threads,
          [&](CountingMemory& m, std::uint64_t b, Thread t) {
            kernels::load_small<decltype(bytes)::value>(m, p, b, t);
          },
          [&](CountingMemory& m, std::uint64_t b, Thread t) {
            kernels::store_small<decltype(bytes)::value>(m, p, b, t);
          });
    });
    return true;
  }
  template <typename Other>
  bool operator()(const Other& /*of another family*/) const {
    return false;
  }
};

// --- sweeps

constexpr std::uint64_t kLine = 128;
constexpr std::uint64_t kScratch = std::uint64_t{1} << 61;  // where they begin, far from the array
constexpr std::uint64_t kRows = std::uint64_t{1} << 62;
constexpr std::uint64_t kEverything = std::uint64_t{1} << 63;

// Array, scratch and copied rows as one memory: lanes of a warp may access several.
struct SweepMemory : CountedShared {
  std::uint64_t array = 0;  // where the launch counts the array's bytes from

  std::uint64_t place(int buffer, std::uint64_t offset) const {
    if (buffer < kernels::kC2rScratchIn) return array + offset;
    return (buffer < kernels::kC2rRowsIn ? kScratch : kRows) + offset;
  }
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    return memory.load_global<bytes>(device::kInput, place(buffer, offset));
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    memory.store_global<bytes>(device::kOutput, place(buffer, offset), packet);
  }
  void copy_to_shared(int buffer, std::uint64_t offset, std::uint32_t address) const {
    constexpr bool cached = false;
    memory.copy_past_registers<kernels::kC2rVectorBytes, cached>(device::kInput, place(buffer, offset),
                                                                 address);
  }
};

void run_sweep(const GpuKernel& kernel, CountingMemory& memory, const BlockAt& at, std::uint64_t unit_bytes) {
  GpuTransposeLaunch launch = std::get<GpuTransposeLaunch>(kernel.params);
  std::uint64_t array = at.first_byte % kLine;
  const std::uint64_t skew = array % kernels::kC2rVectorBytes;
  if (set_skew(launch, static_cast<std::uint32_t>(skew / unit_bytes))) array -= skew;
  memory.add_virtual_input(kEverything);
  memory.add_virtual_output(kEverything);
  const auto phase = [&](const auto& body) {
    return [&](CountingMemory& m, std::uint64_t block, Thread thread) {
      SweepMemory of{{m}, array};
      body(of, block, thread);
    };
  };
  const CountingMemory::Launch one{.blocks = 1, .threads = launch.threads, .first_block = at.block};
  by_unit_bytes(unit_bytes, [&](auto unit) {
    with_phases<decltype(unit)::value>(launch,
                                       [&](const auto&... phases) { memory.run(one, phase(phases)...); });
  });
}

}  // namespace

bool run_orbit_phases(const GpuKernel& kernel, CountingMemory& memory, std::uint64_t block) {
  return std::visit(OrbitBlock{kernel, memory, block}, kernel.id);
}

bool run_sweep_phases(const GpuKernel& kernel, CountingMemory& memory, const BlockAt& at) {
  const auto* const sweep = std::get_if<SweepKernel>(&kernel.id);
  if (sweep == nullptr) return false;
  run_sweep(kernel, memory, at, sweep->unit_bytes);
  return true;
}

void run_phases(const GpuKernel& kernel, CountingMemory& memory, const BlockAt& at,
                const PassTables& tables) {
  if (run_sweep_phases(kernel, memory, at)) return;
  memory.add_virtual_input(at.bytes);
  memory.add_virtual_output(at.bytes);
  if (run_axes_phases(kernel, memory, at.block) || run_orbit_phases(kernel, memory, at.block) ||
      run_exchange_phases(kernel, memory, at.block) || run_modular_phases(kernel, memory, at.block) ||
      run_computed_phases(kernel, memory, at.block))
    return;
  FARO_CHECK(tables.read != nullptr && run_index_phases(kernel, memory, at, tables));
}

}  // namespace faro::detail
