// What a pass of a GPU takes, from its counts: the terms that the solvers' costs are made of.
//
//     device memory     bytes  / copy                            moved, tables included, times `bytes`
//                     + 32 x sectors, less bytes / copy          beyond the bytes, times `load_sectors`, …
//                     + 128 x lines, less bytes / copy           beyond the bytes, times `load_lines`, …
//     multiprocessors   requests, accesses and wavefronts / cycles   of warps, times theirs
//                     + parts / cycles                           requests beyond those of whole vectors
//                     + blocks / resident / cycles               how long a block takes, with so many at once
//
// A copy is the driver's, and a cycle one of all multiprocessors together: both are the calibration's
// (faro/problem/target.hpp), so factors are numbers without a unit; `blocks` is cycles of one multiprocessor.
// Filling and draining the device adds a fixed time to each launch. cost_us() is the sum of all.
// overlapped_us() is for kernels whose blocks are many and small: device memory and the multiprocessors work
// at the same time, so it is nearly the longer of both,
//
//     (memory^6 + multiprocessors^6)^(1/6)                       12% more where they are equal
//
// (of kernels whose threads wait for one load after another, by a lower power: `power`), and a part of device
// memory's time, `clocked`, goes by the clock, at an H200's rate of a copy: on an H100, which copies at seven
// tenths of that, these kernels lose less of it.
//
// Sectors beyond the bytes are those that neighbours ask for again, from a cache, or write in part; lines
// beyond them tell of rows that begin anywhere. Each kernel has its own factors, fitted to measurements on an
// H200 and an H100 (docs/notes/prediction-experiments.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "faro/machine/access_counts.hpp"
#include "faro/problem/pass.hpp"
#include "faro/problem/target.hpp"

namespace faro::detail {

/// A pass with what it was counted to do.
struct CountedPass {
  const Pass& pass;
  const machine::AccessCounts& counts;
  const std::optional<Calibration>& rates;

  double moved_bytes() const { return static_cast<double>(pass.bytes_read + pass.bytes_written); }
  double table_bytes() const {
    double sum = 0;
    for (const PassTable& table : pass.tables) sum += static_cast<double>(table.bytes);
    return sum;
  }
  double sector_bytes() const {
    return 32 * static_cast<double>(counts.global_loads.sectors + counts.global_stores.sectors);
  }
  double requests() const {
    return static_cast<double>(counts.global_loads.requests + counts.global_stores.requests);
  }
  double shared_requests() const {
    return static_cast<double>(counts.shared_loads.requests + counts.shared_stores.requests);
  }
  double wavefronts() const {
    return static_cast<double>(counts.shared_loads.wavefronts + counts.shared_stores.wavefronts);
  }
  /// Requests beyond those that move all bytes as vectors of 16, a warp at a time.
  double parts() const {
    constexpr double warp_bytes = 512;
    const auto beyond = [](std::uint64_t requests, std::uint64_t bytes) {
      return std::max(0.0, static_cast<double>(requests) - static_cast<double>(bytes) / warp_bytes);
    };
    return beyond(counts.global_loads.requests, pass.bytes_read) +
           beyond(counts.global_stores.requests, pass.bytes_written);
  }
  /// Blocks that a multiprocessor holds: by shared memory, and by registers, which are enough for so many
  /// threads.
  double resident_blocks(std::uint64_t threads) const {
    constexpr std::uint64_t shared_bytes = std::uint64_t{228} << 10;
    constexpr std::uint64_t system_bytes = 1024;  // of a block
    constexpr std::uint64_t most = 32;
    if (!pass.launch || pass.launch->threads == 0) return 1;
    const std::uint64_t resident = std::min({most, shared_bytes / (pass.launch->shared_bytes + system_bytes),
                                             threads / static_cast<std::uint64_t>(pass.launch->threads)});
    return static_cast<double>(std::max<std::uint64_t>(1, resident));
  }
  double blocks() const {
    return pass.launch && pass.launch->threads > 0 ? static_cast<double>(pass.launch->blocks) : 0;
  }
};

/// Factors of the terms above.
struct CostFactors {
  double bytes = 1;
  double load_sectors = 0;
  double store_sectors = 0;
  double load_lines = 0;
  double store_lines = 0;
  double requests = 0;
  double shared_requests = 0;
  double wavefronts = 0;
  double parts = 0;
  double blocks = 0;
  std::uint64_t threads = 1024;  // that a multiprocessor's registers are enough for: 64 each
  double clocked = 0.25;         // of device memory's time, what goes by the clock (overlapped_us)
  double power = 6;              // of overlapped_us: the higher, the more hides behind the longer of both
};

/// Bytes that a count of `unit`s stands for, beyond `bytes`.
inline double beyond(std::uint64_t count, double unit, double bytes) {
  return std::max(0.0, unit * static_cast<double>(count) - bytes);
}

/// Whether a cost can be predicted from these rates.
inline bool has_rates(const std::optional<Calibration>& rates) {
  return rates && rates->copy.gb_per_s > 0 && rates->shared_wavefronts_per_us > 0;
}

/// What filling and draining the device takes: of a copy once, and from launch to launch.
inline double launches_us(const CountedPass& of) {
  constexpr double between_us = 5;
  const std::uint64_t launches = of.pass.launch ? of.pass.launch->launches : 1;
  return of.rates->copy.fixed_us + between_us * static_cast<double>(std::max<std::uint64_t>(1, launches) - 1);
}

/// Device memory's terms. Requires: has_rates(of.rates).
inline double memory_us(const CountedPass& of, const CostFactors& factors) {
  constexpr double kCostSector = 32;
  constexpr double kCostLine = 128;
  constexpr double kBytesPerUs = 1e3;  // of a gigabyte a second
  const auto read = static_cast<double>(of.pass.bytes_read) + of.table_bytes();
  const auto written = static_cast<double>(of.pass.bytes_written);
  const machine::GlobalCounts& loads = of.counts.global_loads;
  const machine::GlobalCounts& stores = of.counts.global_stores;
  const double copied = factors.bytes * (read + written) +
                        factors.load_sectors * beyond(loads.sectors, kCostSector, read) +
                        factors.store_sectors * beyond(stores.sectors, kCostSector, written) +
                        factors.load_lines * beyond(loads.lines, kCostLine, read) +
                        factors.store_lines * beyond(stores.lines, kCostLine, written);
  return copied / (of.rates->copy.gb_per_s * kBytesPerUs);
}

/// The multiprocessors' terms. Requires: has_rates(of.rates).
inline double processors_us(const CountedPass& of, const CostFactors& factors) {
  const double cycles = factors.requests * of.requests() + factors.shared_requests * of.shared_requests() +
                        factors.wavefronts * of.wavefronts() + factors.parts * of.parts() +
                        factors.blocks * of.blocks() / of.resident_blocks(factors.threads);
  return cycles / of.rates->shared_wavefronts_per_us;
}

/// The sum of the terms; nothing where the rates are not known.
inline std::optional<double> cost_us(const CountedPass& of, const CostFactors& factors) {
  if (!has_rates(of.rates)) return std::nullopt;
  return launches_us(of) + memory_us(of, factors) + processors_us(of, factors);
}

/// Cycles that are no term of all kernels.
struct OwnCycles {
  double alone = 0;  // what hides behind nothing
  double processors = 0;
};

/// Nearly the longer of both kinds of terms. Nothing where the rates are not known.
inline std::optional<double> overlapped_us(const CountedPass& of, const CostFactors& factors,
                                           const OwnCycles& own = {}) {
  if (!has_rates(of.rates)) return std::nullopt;
  constexpr double bytes_a_cycle = 16.3;
  constexpr double bytes_per_us = 1e3;
  const double cycles_per_us = of.rates->shared_wavefronts_per_us;
  const double share = of.rates->copy.gb_per_s * bytes_per_us / (bytes_a_cycle * cycles_per_us);
  const double memory =
      (memory_us(of, factors) + own.alone / cycles_per_us) * (1 - factors.clocked + factors.clocked * share);
  const double processors = processors_us(of, factors) + own.processors / cycles_per_us;
  const double longer = std::max({memory, processors, 1e-9});
  return launches_us(of) + longer * std::pow(std::pow(memory / longer, factors.power) +
                                                 std::pow(processors / longer, factors.power),
                                             1 / factors.power);
}

}  // namespace faro::detail
