// What a pass of a GPU takes, from its counts: the terms that the solvers' costs are made of.
//
//     microseconds  =  fixed                                    of each launch
//                    + bytes  / copy                            moved, tables included, times `bytes`
//                    + 32 x sectors, less bytes / copy          beyond the bytes, times `load_sectors`, …
//                    + 128 x lines, less bytes / copy           beyond the bytes, times `load_lines`, …
//                    + requests, accesses and wavefronts / cycles   of warps, times theirs
//
// A copy is the driver's, and a cycle one of all multiprocessors together: both are the calibration's
// (plan/target.hpp), so factors are numbers without a unit. They say how far a kernel's accesses, its
// instructions and its shared memory overlap: with all of them hidden behind device memory, `bytes` is a
// little more than 1 and the others 0. Sectors beyond the bytes are those that neighbours ask for again, from
// a cache, or write in part; lines beyond them tell of rows that begin anywhere. Each kernel has its own
// factors, fitted to measurements on an H200 and an H100 (docs/notes/prediction-experiments.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "faro/machine/access_counts.hpp"
#include "faro/plan/pass.hpp"
#include "faro/plan/target.hpp"

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
};

/// Bytes that a count of `unit`s stands for, beyond `bytes`.
inline double beyond(std::uint64_t count, double unit, double bytes) {
  return std::max(0.0, unit * static_cast<double>(count) - bytes);
}

/// The sum of the terms; nothing where the rates are not known.
inline std::optional<double> cost_us(const CountedPass& of, const CostFactors& factors) {
  const std::optional<Calibration>& rates = of.rates;
  if (!rates || rates->copy.gb_per_s <= 0 || rates->shared_wavefronts_per_us <= 0) return std::nullopt;
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
  const double cycles = factors.requests * of.requests() + factors.shared_requests * of.shared_requests() +
                        factors.wavefronts * of.wavefronts();
  const double launches = of.pass.launch ? static_cast<double>(of.pass.launch->launches) : 1;
  return launches * rates->copy.fixed_us + copied / (rates->copy.gb_per_s * kBytesPerUs) +
         cycles / rates->shared_wavefronts_per_us;
}

}  // namespace faro::detail
