#include "network/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "faro/device/memory.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/network_tile.hpp"
#include "network/launches.hpp"
#include "network/table_loads.hpp"
#include "size_text.hpp"

namespace faro::network {
namespace {

using kernels::AffineTileParams;
using kernels::AffineTileShape;
using machine::CountingMemory;

// The kernel's shape is a constant for the compiler and a value here, so the accesses are made again from the
// index tables; network_launches_test holds them against the kernel itself.
template <typename Word>
Word select_xor(const Word* columns, int count, std::uint32_t x) {
  Word sum = 0;
  for (int i = 0; i < count; ++i) sum ^= (x >> i & 1) != 0 ? columns[i] : 0;
  return sum;
}

enum class Memory { global, shared };
enum class Direction { load, store };

// One access whose width is known at run time only. The data is of no interest.
void access(CountingMemory& memory, Memory which, Direction direction, std::uint64_t offset, int bytes) {
  const auto typed = [&]<int width>(std::integral_constant<int, width>) {
    if (which == Memory::global && direction == Direction::load) {
      static_cast<void>(memory.load_global<width>(device::kInput, offset));
    } else if (which == Memory::global) {
      memory.store_global<width>(device::kOutput, offset, {});
    } else if (direction == Direction::load) {
      static_cast<void>(memory.load_shared<width>(static_cast<std::uint32_t>(offset)));
    } else {
      memory.store_shared<width>(static_cast<std::uint32_t>(offset), {});
    }
  };
  switch (bytes) {
    case 4:
      return typed(std::integral_constant<int, 4>{});
    case 8:
      return typed(std::integral_constant<int, 8>{});
    default:
      return typed(std::integral_constant<int, 16>{});
  }
}

// Where vector `vector` lies in a row-wise array, to be XORed onto the block's address.
std::uint64_t vector_offset(const AffineTileShape& shape, const std::uint64_t* rows, std::uint32_t vector) {
  const int in_row = shape.segment_bits - shape.vector_bits;
  return select_xor(rows, shape.row_bits, vector >> in_row) ^ std::uint64_t{kernels::low_bits(vector, in_row)}
                                                                  << shape.vector_bits;
}

void load_tile(CountingMemory& memory, const AffineTileShape& shape, const AffineTileParams& params,
               std::uint32_t thread) {
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t vector = thread | static_cast<std::uint32_t>(i) << shape.thread_bits;
    access(memory, Memory::global, Direction::load,
           vector_offset(shape, params.source_row, vector) << shape.width_bits, shape.vector_bytes());
  }
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t vector = thread | static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint32_t address = vector << shape.vector_bits ^ select_xor(params.swizzle + shape.vector_bits,
                                                                           shape.vector_count_bits(), vector);
    access(memory, Memory::shared, Direction::store,
           std::uint64_t{address ^ kernels::low_bits(address, shape.vector_bits)} << shape.width_bits,
           shape.vector_bytes());
  }
}

void apply_group(CountingMemory& memory, const kernels::NetworkShape& shape,
                 const kernels::NetworkGroup& group, std::uint32_t thread) {
  const std::uint32_t base =  // of block 0
      group.lane_address[thread % kernels::kLanes] ^ group.warp_address[thread / kernels::kLanes];
  for (const Direction direction : {Direction::load, Direction::store}) {
    for (int i = 0; i < shape.registers(); ++i) {
      const std::uint32_t address =
          base ^ select_xor(group.register_address, shape.register_bits, static_cast<std::uint32_t>(i));
      access(memory, Memory::shared, direction, address, shape.tile.element_bytes());
    }
  }
}

void store_tile(CountingMemory& memory, const AffineTileShape& shape, const AffineTileParams& params,
                std::uint32_t thread) {
  const auto complement = static_cast<std::uint32_t>(params.complement);
  const std::uint32_t column_shift = kernels::low_bits(complement, shape.segment_bits);
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t vector = thread | static_cast<std::uint32_t>(i) << shape.thread_bits;
    for (int k = 0; k < shape.components(); ++k) {
      const std::uint32_t place =
          (vector << shape.vector_bits | static_cast<std::uint32_t>(k)) ^ column_shift;
      const std::uint32_t element = select_xor(params.read_address, shape.tile_bits(), place);
      access(memory, Memory::shared, Direction::load, std::uint64_t{element} << shape.width_bits,
             shape.element_bytes());
    }
    const std::uint64_t target =
        (params.complement ^ column_shift) ^ vector_offset(shape, params.target_row, vector);
    access(memory, Memory::global, Direction::store, target << shape.width_bits, shape.vector_bytes());
  }
}

}  // namespace

std::vector<LaunchCounts> predict(const Plan& plan) {
  std::vector<LaunchCounts> result;
  if (plan.passes().empty()) return result;
  const kernels::NetworkShape shape = kernel_shape(plan, Access::vectors);
  const std::vector<NetworkLaunch> launches = make_launches(plan);
  const auto tables = count_table_loads(launches, plan.problem().element, shape);
  for (const NetworkLaunch& launch : launches) {
    CountingMemory memory({static_cast<std::size_t>(shape.tile.tile_bytes()), {}});
    memory.add_virtual_input(plan.array_bytes());
    memory.add_virtual_output(plan.array_bytes());
    const std::size_t groups = launch.tables.groups.size();
    const auto phase = [&](CountingMemory& m, std::uint64_t number, std::uint64_t /*block*/,
                           std::uint32_t thread) {
      if (number == 0) {
        load_tile(m, shape.tile, launch.params, thread);
      } else if (number <= groups) {
        apply_group(m, shape, launch.tables.groups[number - 1], thread);
      } else {
        store_tile(m, shape.tile, launch.params, thread);
      }
    };
    memory.run_each({1, static_cast<std::uint32_t>(shape.tile.threads())}, groups + 2, phase);
    LaunchCounts counts{launch.pass,
                        groups,
                        launch.tables.layers.size(),
                        memory.counts(),
                        tables[result.size()],
                        launch.params.blocks(),
                        shape.tile.threads(),
                        static_cast<std::uint64_t>(shape.tile.tile_bytes())};
    counts.counts *= launch.params.blocks();
    result.push_back(std::move(counts));
  }
  return result;
}

double predict_us(const Plan& plan, const LaunchCounts& launch, const Calibration& rates) {
  // Device memory and the visits to registers hide each other in part: nearly the longer of both, fitted to
  // sorts and transforms on an H200 (docs/notes/prediction-experiments.md). Of a visit the cycles are those
  // of the units for integers, of which threads with more elements need fewer an element; Fourier's layers
  // compute besides. A pass that writes elsewhere than it reads pays for writing far apart, one by segments
  // shorter than a line for parts of lines.
  constexpr double kEnds = 2.3;     // cycles of all multiprocessors for 128 bytes, beside the visits
  constexpr double kVisit = 5.5;    // of 16 elements a thread
  constexpr double kLongVisit = 8;  // of 32, ends included
  constexpr double kFourierLayer = 0.8;
  constexpr double kLayer = 1.0;  // where layers are looked up one by one
  constexpr double kElsewhere = 1;
  constexpr double kParts = 2.2;
  constexpr double kLine = 128;
  constexpr double kPower = 3.5;
  const auto array_bytes = static_cast<double>(plan.array_bytes());
  const double bytes = 2 * array_bytes;
  const Pass& pass = plan.passes()[launch.pass];
  const auto lines =
      static_cast<double>(launch.counts.global_loads.lines + launch.counts.global_stores.lines);
  const double parts = kParts * std::max(0.0, kLine * lines - bytes);
  const double memory_us = rates.copy.microseconds(bytes * (pass.in_place ? 1 : 1 + kElsewhere) + parts);
  // The layers of a pass are mostly alike, and a launch has all of them or some.
  if (pass.layers.empty() || rates.shared_wavefronts_per_us <= 0) return memory_us;
  const OperatorKind kind = pass.layers.front().op.kind;
  const bool fourier = kind == OperatorKind::fourier || kind == OperatorKind::inverse_fourier;
  const double of_layer = (fourier ? kFourierLayer : 0) + (launch.tables ? 0 : kLayer);
  const bool long_visits = kernel_shape(plan, Access::vectors).register_bits > 4;
  const auto visits = static_cast<double>(launch.groups);
  const double cycles = ((long_visits ? kLongVisit * visits : kEnds + kVisit * visits) +
                         of_layer * static_cast<double>(launch.layers)) *
                        array_bytes / kLine;
  const double longer = std::max(memory_us, cycles / rates.shared_wavefronts_per_us);
  const double shorter = std::min(memory_us, cycles / rates.shared_wavefronts_per_us);
  return longer * std::pow(1 + std::pow(shorter / longer, kPower), 1 / kPower);
}

std::string kernel_text(const Plan& plan) {
  const kernels::NetworkShape shape = kernel_shape(plan, Access::vectors);
  return fmt::format("tiles of {} in blocks of {} threads, {} elements in registers",
                     count_text(std::uint64_t{1} << shape.tile.tile_bits(), "element"), shape.tile.threads(),
                     shape.registers());
}

std::string explain(const Plan& plan, const std::vector<LaunchCounts>& launches,
                    const std::optional<Calibration>& rates) {
  constexpr double us_per_ms = 1e3;
  constexpr std::uint64_t sector_bytes = machine::MemoryGeometry{}.sector_bytes;
  const double least = static_cast<double>(plan.array_bytes()) / static_cast<double>(sector_bytes);
  std::string text;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const LaunchCounts& launch = launches[i];
    const machine::AccessCounts& counts = launch.counts;
    text += fmt::format(
        "launch {:<6} pass {}; layers: {}; visits to registers: {}; each sector read {:.3g} x, written "
        "{:.3g} x\n"
        "{:14}shared memory: {} wavefronts, congestion {} in stores and {} in loads\n"
        "{:14}device memory: {} requests and {} sectors loaded, {} and {} stored\n"
        "{:14}kernel: {}\n"
        "{:14}launch: {} of {} threads and {} of shared memory\n"
        "{:14}reads {} and writes as much{}\n",
        i + 1, launch.pass + 1, launch.layers, launch.groups,
        static_cast<double>(counts.global_loads.sectors) / least,
        static_cast<double>(counts.global_stores.sectors) / least, "",
        counts.shared_stores.wavefronts + counts.shared_loads.wavefronts,
        counts.shared_stores.max_congestion(), counts.shared_loads.max_congestion(), "",
        counts.global_loads.requests, counts.global_loads.sectors, counts.global_stores.requests,
        counts.global_stores.sectors, "", kernel_text(plan), "", count_text(launch.blocks, "block"),
        launch.threads, size_text(launch.shared_bytes), "", size_text(plan.array_bytes()),
        launch.tables ? fmt::format("; {} loads of tables, from the cache", launch.tables->requests) : "");
    if (!rates) continue;
    text += fmt::format(
        "{:14}time: {:.4g} ms, by the rates of {}{}\n", "", predict_us(plan, launch, *rates) / us_per_ms,
        rates->source,
        plan.array_bytes() < kPredictableBytes ? "; what the device's cache holds may be faster" : "");
  }
  return text;
}

}  // namespace faro::network
