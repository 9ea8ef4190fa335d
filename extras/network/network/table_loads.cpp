#include "network/table_loads.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "faro/machine/counting_memory.hpp"
#include "network/device_tables.hpp"
#include "network/kernel_source.hpp"

namespace faro::network {
namespace {

using kernels::LayerCode;
using kernels::NetworkGroup;
using kernels::NetworkLayer;
using machine::CountingMemory;
using machine::GlobalCounts;

// The loads of one thread, in the kernel's order.
struct TableReader {
  CountingMemory& memory;
  const NetworkLaunch& launch;
  const TableOffsets& at;
  const kernels::NetworkShape& shape;
  std::uint64_t power_bytes;  // of a power of w
  bool has_codes;             // whether the kernel has code for several groups, of which it chooses

  void word(std::uint64_t offset) const { static_cast<void>(memory.load_global<4>(device::kInput, offset)); }
  void pair(std::uint64_t offset) const { static_cast<void>(memory.load_global<8>(device::kInput, offset)); }
  void power(std::uint64_t offset) const {
    if (power_bytes == 8) {
      pair(offset);
    } else {
      static_cast<void>(memory.load_global<16>(device::kInput, offset));
    }
  }

  void layer(std::uint64_t number, const KernelLayer& layer, std::uint32_t thread) const {
    const LayerCode& code = layer.code;
    const std::uint64_t begin = at.layers + number * sizeof(NetworkLayer);
    if (code.flips && !is_elementwise(launch.op.kind)) {
      pair(begin + offsetof(NetworkLayer, first_block));
      word(begin + offsetof(NetworkLayer, first_thread));
    }
    if (is_fourier(launch.op.kind) && !layer.squares) {
      word(begin + offsetof(NetworkLayer, number));
      const std::uint64_t powers =
          (std::uint64_t{launch.tables.layers[number].number} << at.thread_bits) + thread;
      power(at.threads + powers * power_bytes);
    }
  }
  void group(std::size_t number, std::uint32_t thread) const {
    const NetworkGroup& of = launch.tables.groups[number];
    const std::uint64_t begin = at.groups + number * sizeof(NetworkGroup);
    word(begin + offsetof(NetworkGroup, lane_address) + std::uint64_t{thread % kernels::kLanes} * 4);
    word(begin + offsetof(NetworkGroup, warp_address) + std::uint64_t{thread / kernels::kLanes} * 4);
    for (int bit = 0; bit < shape.register_bits; ++bit) {
      word(begin + offsetof(NetworkGroup, register_address) + static_cast<std::uint64_t>(bit) * 4);
    }
    if (has_codes) word(begin + offsetof(NetworkGroup, code));
    if (!needs_pair_number(launch.op.kind)) word(begin + offsetof(NetworkGroup, blocks_differ));
    if (of.blocks_differ != 0) {  // digits of block 0; others are as many sectors
      for (int d = 0; d * kernels::kBlockDigitBits < launch.params.block_bits; ++d)
        word(begin + offsetof(NetworkGroup, block_address) +
             static_cast<std::uint64_t>(d) * kernels::kBlockDigitValues * 4);
    }
    const GroupCode codes = group_code(launch, of, shape);
    const bool flips =
        std::any_of(codes.begin(), codes.end(), [](const KernelLayer& l) { return l.code.flips; });
    if ((flips && !is_elementwise(launch.op.kind)) || is_fourier(launch.op.kind)) {
      word(begin + offsetof(NetworkGroup, first_layer));
    }
    for (std::size_t i = 0; i < codes.size(); ++i) layer(of.first_layer + i, codes[i], thread);
  }
};

// Powers that blocks look up digit by digit, up to the highest that is not 0: a load of a warp each.
std::uint64_t block_digits(const kernels::AffineTileParams& params) {
  std::uint64_t sum = 0;
  for (int bit = 0; bit < params.block_bits; bit += kernels::kPowerDigitBits) {
    const std::uint64_t blocks = std::uint64_t{1} << params.block_bits;
    sum += blocks - (std::uint64_t{1} << bit);
  }
  return sum * (params.blocks() >> params.block_bits);
}

bool is_known(const NetworkLaunch& launch) {
  if (launch.op.kind == OperatorKind::user) return false;
  if (!is_fourier(launch.op.kind)) return true;
  return std::all_of(launch.tables.layers.begin(), launch.tables.layers.end(),
                     [](const NetworkLayer& layer) { return layer.disjoint != 0; });
}

}  // namespace

std::vector<std::optional<GlobalCounts>> count_table_loads(const std::vector<NetworkLaunch>& launches,
                                                           const ElementType& element,
                                                           const kernels::NetworkShape& shape) {
  // Groups of one kernel share their code.
  std::vector<std::pair<const NetworkLaunch*, GroupCode>> codes;
  for (const NetworkLaunch& launch : launches) {
    for (const NetworkGroup& group : launch.tables.groups) {
      GroupCode code = group_code(launch, group, shape);
      const bool is_known = std::any_of(codes.begin(), codes.end(), [&](const auto& other) {
        return same_kernel(other.first->op, launch.op) && other.second == code;
      });
      if (!is_known) codes.emplace_back(&launch, std::move(code));
    }
  }
  std::vector<std::optional<GlobalCounts>> result(launches.size());
  if (codes.size() > kMostCodes) return result;
  DeviceTables tables;
  const std::vector<TableOffsets> offsets = add_tables(tables, launches, element, shape);
  const auto threads = static_cast<std::uint32_t>(shape.tile.threads());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const NetworkLaunch& launch = launches[i];
    if (!is_known(launch)) continue;
    const bool has_codes = std::count_if(codes.begin(), codes.end(), [&](const auto& code) {
                             return same_kernel(code.first->op, launch.op);
                           }) > 1;
    CountingMemory memory({.shared_bytes = 0, .geometry = {}});
    memory.add_virtual_input(tables.bytes().size());
    memory.run_each(
        {.blocks = 1, .threads = threads}, launch.tables.groups.size(),
        [&](CountingMemory& m, std::uint64_t group, std::uint64_t /*block*/, std::uint32_t thread) {
          TableReader{m, launch, offsets[i], shape, element.bytes(), has_codes}.group(group, thread);
        });
    GlobalCounts counts = memory.counts().global_loads;
    counts *= launch.params.blocks();
    if (is_fourier(launch.op.kind)) {
      const std::uint64_t warps = (threads + kernels::kLanes - 1) / kernels::kLanes;
      std::uint64_t looked_up = 0;  // layers
      for (const NetworkGroup& group : launch.tables.groups) {
        const GroupCode code = group_code(launch, group, shape);
        looked_up += static_cast<std::uint64_t>(
            std::count_if(code.begin(), code.end(), [](const KernelLayer& l) { return !l.squares; }));
      }
      const std::uint64_t loads = block_digits(launch.params) * warps * looked_up;
      counts += {.requests = loads,
                 .bytes = loads * std::min(threads, kernels::kLanes) * element.bytes(),
                 .sectors = loads,
                 .lines = loads};
    }
    result[i] = counts;
  }
  return result;
}

}  // namespace faro::network
