// One block of a kernel on the counting memory, all its phases: what the GPU has in src/engines/cuda/kernels,
// by the same functions of src/kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include "faro/machine/counting_memory.hpp"
#include "plan/gpu/gpu_kernel.hpp"

namespace faro::detail {

/// Which block, of arrays that begin where. A cluster of blocks is run as one: `block` is then its number.
struct BlockAt {
  std::uint64_t block = 0;
  std::uint64_t bytes = 0;       // of the arrays of the launch
  std::uint64_t first_byte = 0;  // where these begin, in an array that is aligned to 128
};

/// What a pass's kernel reads in its tables: `to.size()` bytes of table number `table`, in the order of
/// GpuPass::tables, from byte `offset` on.
struct PassTables {
  std::function<void(int table, std::uint64_t offset, std::span<std::byte> to)> read = {};
};

/// The counting memory under one that places buffers in another way: what both have alike.
struct CountedShared {
  machine::CountingMemory& memory;

  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) const {
    return memory.load_shared<bytes>(address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    memory.store_shared<bytes>(address, packet);
  }
  void idle() const { memory.idle(); }
  void converge() const { memory.converge(); }
};

/// Calls run(std::integral_constant<std::size_t, index>()) with 0, 1, … until it gives true. Whether it did.
template <std::size_t count, typename Run>
bool any_index(const Run& run) {
  return [&]<std::size_t... index>(std::index_sequence<index...>) {
    return (run(std::integral_constant<std::size_t, index>()) || ...);
  }
  (std::make_index_sequence<count>());
}

/// Requires: a kernel of axes or rolls and flips (axes_phases), of orbits (orbit_phases), of exchanges
/// (exchange_phases), of multiplications (modular_phases), of computed maps (computed_phases), of a sweep
/// (sweep_block), or of a schedule (index_phases) with its tables; arrays aligned to 128 bytes; a memory
/// without buffers, and with the shared memory of the kernel's cluster. Errors: those of the counting memory;
/// ErrorCode::internal for other kernels, and for tables that are not those of the kernel.
void run_phases(const GpuKernel& kernel, machine::CountingMemory& memory, const BlockAt& at,
                const PassTables& tables = {});

bool run_axes_phases(const GpuKernel& kernel, machine::CountingMemory& memory, std::uint64_t block);
bool run_orbit_phases(const GpuKernel& kernel, machine::CountingMemory& memory, std::uint64_t block);
bool run_exchange_phases(const GpuKernel& kernel, machine::CountingMemory& memory, std::uint64_t block);
bool run_modular_phases(const GpuKernel& kernel, machine::CountingMemory& memory, std::uint64_t block);
bool run_computed_phases(const GpuKernel& kernel, machine::CountingMemory& memory, std::uint64_t block);
bool run_sweep_phases(const GpuKernel& kernel, machine::CountingMemory& memory, const BlockAt& at);
bool run_index_phases(const GpuKernel& kernel, machine::CountingMemory& memory, const BlockAt& at,
                      const PassTables& tables);

}  // namespace faro::detail
