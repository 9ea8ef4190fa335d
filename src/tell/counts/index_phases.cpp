// Blocks of the kernels that follow a schedule's tables: windows, runs, gather and scatter, partitions, rows
// and columns.
#include <cstring>
#include <utility>

#include "kernels/indexed_direct.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_in_global.hpp"
#include "kernels/partition_runs.hpp"
#include "kernels/row_column.hpp"
#include "kernels/runs.hpp"
#include "kernels/window.hpp"
#include "plan/gpu/sweep_phases.hpp"
#include "tell/counts/block_phases.hpp"

namespace faro::detail {
namespace {

using machine::CountingMemory;
using Thread = std::uint32_t;
using Block = std::uint64_t;

constexpr std::uint64_t kAnyLength = std::uint64_t{1} << 62;
constexpr int kTables = 3;  // buffers after the input and the output, at most

// The counting memory, whose tables have the bytes that their source gives.
struct TabledMemory : CountedShared {
  const PassTables& tables;

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    const device::Packet<bytes> zeros = memory.load_global<bytes>(buffer, offset);
    return buffer < kernels::kPlaces ? zeros : of_table<bytes>(buffer, offset);
  }
  template <int bytes>
  device::Packet<bytes> of_table(int buffer, std::uint64_t offset) const {
    device::Packet<bytes> packet;
    std::byte read[bytes];
    tables.read(buffer - kernels::kPlaces, offset, {read, bytes});
    std::memcpy(packet.unit, read, bytes);
    return packet;
  }
  template <int bytes>
  void copy_to_shared(int buffer, std::uint64_t offset, std::uint32_t address) const {
    if (buffer < kernels::kPlaces) return memory.copy_past_registers<bytes>(buffer, offset, address);
    memory.copy_past_registers<bytes>(buffer, offset, address, of_table<bytes>(buffer, offset));
    memory.idle();  // other lanes sit out a load and a store
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    memory.store_global<bytes>(buffer, offset, packet);
  }
};

// The tables of runs, 8 bytes an entry, as one buffer: lanes that search are at different tables.
struct RunTable {
  TabledMemory& memory;

  std::uint64_t operator()(int buffer, std::uint64_t index) const {
    const int table = buffer - kernels::kRunBegins;
    device::Packet<8> packet = memory.memory.load_global<8>(
        kernels::kRunBegins, (static_cast<std::uint64_t>(table) << 60) + 8 * index);
    std::byte read[8];
    memory.tables.read(table, 8 * index, read);
    std::memcpy(packet.unit, read, sizeof(read));
    return kernels::as_number(packet);
  }
  void idle() const { memory.idle(); }
};

struct IndexBlock {
  const GpuKernel& kernel;
  CountingMemory& memory;
  const PassTables& tables;
  std::uint64_t block;

  template <typename Params>
  const Params& params() const {
    return std::get<Params>(kernel.params);
  }
  // Phases are phase(memory, params, block, thread, more ...).
  template <typename Params, typename... Phases>
  void run(const Phases&... phases) const {
    TabledMemory tabled{{memory}, tables};
    const auto with = [&](const auto& phase) {
      return [&](CountingMemory& /*the same*/, Block b, Thread t) { phase(tabled, params<Params>(), b, t); };
    };
    memory.run({.blocks = 1, .threads = static_cast<std::uint32_t>(kernel.threads), .first_block = block},
               with(phases)...);
  }

  // --- small displacements

  template <int unit>
  void run_window(const WindowKernel& k) const {
    using Params = kernels::WindowParams;
    if (k.direct) {
      if (k.backwards) {
        run<Params>([](auto&... all) { kernels::move_window_directly<unit, true>(all...); });
      } else {
        run<Params>([](auto&... all) { kernels::move_window_directly<unit, false>(all...); });
      }
    } else if (k.backwards) {
      const auto place = [](auto&... all) { kernels::place_window<unit>(all...); };
      if (k.vectors) {
        run<Params>(place, [](auto&... all) { kernels::store_placed<unit, true>(all...); });
      } else {
        run<Params>(place, [](auto&... all) { kernels::store_placed<unit, false>(all...); });
      }
    } else {
      const auto load = [](auto&... all) { kernels::load_window<unit>(all...); };
      if (k.vectors) {
        run<Params>(load, [](auto&... all) { kernels::store_window_vectors<unit>(all...); });
      } else {
        run<Params>(load, [](auto&... all) { kernels::store_window<unit>(all...); });
      }
    }
  }
  bool operator()(const WindowKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes),
                  [&](auto unit) { run_window<decltype(unit)::value>(k); });
    return true;
  }

  // --- runs

  bool operator()(const RunsKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto unit) {
      run<kernels::RunsParams>([](TabledMemory& m, const kernels::RunsParams& p, Block b,
                                  Thread t) { kernels::list_runs(m, p, RunTable{m}, b, t); },
                               [](TabledMemory& m, const kernels::RunsParams& p, Block b, Thread t) {
                                 kernels::move_runs<decltype(unit)::value>(m, p, RunTable{m}, b, t);
                               });
    });
    return true;
  }

  // --- gather and scatter

  template <int unit, int index_bytes, bool gather>
  void run_direct(DirectKind kind) const {
    using Params = kernels::DirectParams;
    switch (kind) {
      case DirectKind::vectors:
        return run<Params>(
            [](auto&... all) { kernels::move_direct_vectors<unit, index_bytes, gather>(all...); });
      case DirectKind::units:
        return run<Params>([](auto&... all) {
          kernels::move_direct_units<unit, index_bytes, gather, kernels::kDirectUnitBatch>(all...);
        });
      case DirectKind::small:
        return run<Params>(
            [](auto&... all) { kernels::move_direct_units<unit, index_bytes, gather, 1>(all...); });
      case DirectKind::one:
        return run<Params>([](auto&... all) { kernels::move_direct_one<unit, index_bytes, gather>(all...); });
    }
  }
  bool operator()(const DirectKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      constexpr int unit = decltype(constant)::value;
      const bool gather = k.way == Way::backwards;
      if (k.index_bytes == 4)
        return gather ? run_direct<unit, 4, true>(k.kind) : run_direct<unit, 4, false>(k.kind);
      return gather ? run_direct<unit, 8, true>(k.kind) : run_direct<unit, 8, false>(k.kind);
    });
    return true;
  }

  // --- partitions

  using Partition = kernels::PartitionParams;

  // A phase of a block of so many threads.
  template <typename Phase>
  auto of_threads(const Phase& phase) const {
    const auto threads = static_cast<std::uint32_t>(kernel.threads);
    return [phase, threads](TabledMemory& m, const Partition& p, Block b, Thread t) {
      phase(m, p, b, t, threads);
    };
  }
  template <int unit, bool single, int lane_bits>
  void run_level(Way way) const {
    const auto descriptors = [](auto&... all) { kernels::load_descriptors(all...); };
    if (way == Way::forwards) {
      // The device has no barrier between the first two, which touch different shared memory.
      return run<Partition>(
          of_threads(descriptors),
          of_threads([](auto&... all) { kernels::load_placed<unit, single>(all...); }),
          of_threads([](auto&... all) { kernels::store_runs<unit, single, lane_bits>(all...); }));
    }
    run<Partition>(of_threads(descriptors),
                   of_threads([](auto&... all) { kernels::load_runs<unit, single, lane_bits>(all...); }),
                   of_threads([](auto&... all) { kernels::store_picked<unit, single>(all...); }));
  }
  template <int unit, bool single>
  void run_level_of(const LevelKernel& k) const {
    if (k.variant == LevelKernel::kInGlobal) return run_in_global<unit, true>(k.way);
    switch (kernels::kCompiledPartitions[k.variant].lane_bits) {
      case 5:
        return run_level<unit, single, 5>(k.way);
      case 4:
        return run_level<unit, single, 4>(k.way);
      default:
        return run_level<unit, single, 3>(k.way);
    }
  }
  template <int unit, bool level>
  void run_in_global(Way way) const {
    if (way == Way::forwards) {
      run<Partition>([](auto&... all) { kernels::move_in_global<unit, level, true>(all...); });
    } else {
      run<Partition>([](auto&... all) { kernels::move_in_global<unit, level, false>(all...); });
    }
  }
  template <int unit, bool single>
  void run_chunk(const ChunkKernel& k) const {
    if (k.place == ChunkPlace::in_global) return run_in_global<unit, false>(k.way);
    if (k.way == Way::forwards) {
      run<Partition>(of_threads([](auto&... all) { kernels::load_placed<unit, single>(all...); }),
                     of_threads([](auto&... all) { kernels::store_chunk<unit, single>(all...); }));
    } else {
      run<Partition>(of_threads([](auto&... all) { kernels::load_chunk<unit, single>(all...); }),
                     of_threads([](auto&... all) { kernels::store_picked<unit, single>(all...); }));
    }
  }
  static_assert(kernels::kCompiledPartitionCount == 4);

  bool operator()(const LevelKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit.unit_bytes), [&](auto constant) {
      constexpr int unit = decltype(constant)::value;
      return k.unit.single ? run_level_of<unit, true>(k) : run_level_of<unit, false>(k);
    });
    return true;
  }
  bool operator()(const ChunkKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit.unit_bytes), [&](auto constant) {
      constexpr int unit = decltype(constant)::value;
      return k.unit.single ? run_chunk<unit, true>(k) : run_chunk<unit, false>(k);
    });
    return true;
  }

  // --- columns

  template <int unit, bool forwards>
  void run_columns(bool in_global) const {
    using Params = kernels::ColumnsParams;
    const auto threads = static_cast<std::uint32_t>(kernel.threads);
    if (in_global) {
      return run<Params>([threads](TabledMemory& m, const Params& p, Block b, Thread t) {
        kernels::move_columns_in_global<unit, forwards>(m, p, b, t, threads);
      });
    }
    run<Params>([threads](TabledMemory& m, const Params& p, Block b,
                          Thread t) { kernels::load_columns<unit, forwards>(m, p, b, t, threads); },
                [threads](TabledMemory& m, const Params& p, Block b, Thread t) {
                  kernels::store_columns<unit, forwards>(m, p, b, t, threads);
                });
  }
  bool operator()(const ColumnsKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      constexpr int unit = decltype(constant)::value;
      return k.way == Way::forwards ? run_columns<unit, true>(k.in_global)
                                    : run_columns<unit, false>(k.in_global);
    });
    return true;
  }

  template <typename Other>
  bool operator()(const Other& /*of another family*/) const {
    return false;
  }
};

}  // namespace

bool run_index_phases(const GpuKernel& kernel, CountingMemory& memory, const BlockAt& at,
                      const PassTables& tables) {
  for (int table = 0; table < kTables; ++table) memory.add_virtual_input(kAnyLength);
  return std::visit(IndexBlock{kernel, memory, tables, at.block}, kernel.id);
}

}  // namespace faro::detail
