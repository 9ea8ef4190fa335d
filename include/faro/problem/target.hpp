// The machine a plan is made for: the two facts that each memory level contributes to theorem 1, a segment
// and a capacity, and the few sizes that order the blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/kernels/affine_tile_index.hpp"

namespace faro {

// From counts to time: what a short measurement of a GPU gives, and how a pass's counted sectors and
// wavefronts become microseconds.
//
//     microseconds = the longer of    fixed + bytes of all sectors / rate      of device memory
//                                     wavefronts / rate                        of shared memory
//
// A pass that moves whole sectors without bank conflicts takes what device memory takes, so one line through
// two sizes says it all; a kernel whose shared memory collides crosses over to the second term. Rates differ
// a little between kernels (a tile's rows are scattered, a copy's are not), hence one rate for each kind.
//
// Example: an H200 moves 2 x 4 GiB through its 4-byte tiles at 4,000 GB/s: 2.15 ms.
//
// It holds where arrays are much larger than the device's cache, from 256 MiB on; smaller ones are faster
// than it says.

/// Time of moving bytes: a line.
struct TransferRate {
  double fixed_us = 0;  // whatever the size: filling and draining the device
  double gb_per_s = 0;  // 1e9 bytes a second, read and written; 0: not known

  double microseconds(double bytes) const { return fixed_us + bytes / (gb_per_s * 1e3); }
};

/// Predicted times hold for arrays from this size on.
inline constexpr std::uint64_t kPredictableBytes = std::uint64_t{256} << 20;

struct Calibration {
  static constexpr int kWidths = 5;  // units of 1, 2, 4, 8 and 16 bytes

  std::string source;                       // whose rates, in words: "NVIDIA H200, measured just now"
  TransferRate copy;                        // the driver's copy
  TransferRate vectors;                     // passes of kind segments and direct
  std::array<TransferRate, kWidths> tiles;  // passes of kind tile, by log2 of the unit's bytes
  double shared_wavefronts_per_us = 0;      // of all multiprocessors together; 0: not known

  /// The line through two measurements. Requires: large.bytes > small.bytes (unchecked).
  struct Sample {
    double bytes = 0;
    double microseconds = 0;
  };
  static TransferRate line(const Sample& small, const Sample& large) {
    const double slope = (large.microseconds - small.microseconds) / (large.bytes - small.bytes);
    const double fixed = small.microseconds - slope * small.bytes;
    // Noise may turn the line down; then it goes through the origin and the large sample.
    if (slope <= 0 || fixed < 0) return {.fixed_us = 0, .gb_per_s = large.bytes / large.microseconds / 1e3};
    return {.fixed_us = fixed, .gb_per_s = 1e-3 / slope};
  }
};

// From sizes to time for index arrays: measured curves, and the sums that predictions are made of.
//
//     curve     microseconds of one pass over 2^10, 2^12 .. 2^30 elements, straight between in the logarithms
//     direct    gather, scatter                                       by width
//     partition a level with chunks of 2^c and runs of 2^r elements   by width; a few (c, r)
//     place     the last pass with chunks of 2^c                      by width
//     window, runs (bytes of a run)                                   by width
//     schedule  making a partition's, chunks of 2^c                   by width of the index
//     check     whether a device's array is a permutation             likewise
//
// Curves carry what no formula does: caches, launch times, translation misses. `faro tune` measures them on
// the machine at hand and keeps them in a file; without that, those of the nearest machine that faro was
// measured on serve.

/// Microseconds by number of elements, both ascending.
struct TimeCurve {
  struct Point {
    std::uint64_t elements = 0;
    double microseconds = 0;
  };
  std::vector<Point> points;

  bool empty() const { return points.empty(); }
  /// Straight in the logarithms between points, and by the last slope of 1 beyond the ends (by the first
  /// point's time below). Requires: not empty (checked).
  double microseconds(std::uint64_t elements) const;
};

enum class IndexKernel {
  gather,
  scatter,
  spread,
  collect,
  place,
  pick,
  window,
  runs,
  copy,
  schedule,
  check,
  tile,
  streamed_tile,
  segments,
  streamed_segments
};
/// spread: a partition level forwards; collect: backwards. place: the last pass forwards; pick: backwards.
/// schedule: making a partition's schedule, with all its levels, from an array of indices; check: seeing that
/// an array of a device's memory is a permutation, which such a schedule comes with; element_bytes of both is
/// an index's. tile, segments: affine passes of a CPU by one thread, through the caches; streamed: past them.
const char* name(IndexKernel kernel) noexcept;

struct IndexCurve {
  IndexKernel kernel = IndexKernel::gather;
  int element_bytes = 4;
  int chunk_bits = 0;  // spread, collect, place, pick, schedule; tile: bits that registers exchange
  int run_bits = 0;    // spread, collect: mean elements of a run, log2; runs, segments: likewise; tile: sides
                       // that share sets of a cache, 1 source, 2 target, 3 both
  TimeCurve curve;
};

/// How many times the price that comes with faro something costs that a CPU does for axes, of all their
/// passes of a kind (tell/axes_cost.hpp).
struct PriceFactor {
  std::string kind;   // "groups", "planes", …
  std::string count;  // "ns reads", "lines held", …
  double factor = 1;
};

struct IndexCalibration {
  std::string source;  // whose, in words: "NVIDIA H200, `faro tune`, 2026-11-21"
  std::vector<IndexCurve> curves;
  std::vector<PriceFactor> axes = {};

  /// Microseconds of one kernel on so many elements, from the curves of that kernel whose width and chunk are
  /// nearest (in this order), scaled by the ratio of bytes where the width differs. Where there are several,
  /// by their runs, the one with the most points tells how time grows with the size, the others how much
  /// longer their runs take where they were measured. Nothing without any.
  std::optional<double> predict_us(IndexKernel kernel, std::uint64_t element_bytes, std::uint64_t elements,
                                   int chunk_bits = 0, int run_bits = 0) const;

  std::string to_json() const;
  /// Errors: ErrorCode::file naming the key.
  static IndexCalibration from_json(const std::string& text, const std::string& name);
};

/// Where a machine's curves are kept: $FARO_CACHE, else $XDG_CACHE_HOME/faro, else ~/.cache/faro, and
/// tune-<machine>.json in it; `machine` is a target's name, made fit for a file. Nothing without any of them.
std::optional<std::filesystem::path> calibration_path(const std::string& machine);
/// The kept curves of that machine; nothing where there is no file. Errors: as from_json.
std::optional<IndexCalibration> kept_calibration(const std::string& machine);
/// Keeps them, whole or not at all, in place of what was there. Returns where. Errors: ErrorCode::file.
std::filesystem::path keep_calibration(const std::string& machine, const IndexCalibration& calibration);

/// Curves that come with faro: an H200's, and those of a CPU of two cores (others:
/// problem/built_in_curves.hpp).
const IndexCalibration& built_in_gpu_calibration();
const IndexCalibration& built_in_cpu_calibration();

/// What to plan with for that machine: the kept curves, else `built_in`; where the kept ones cannot be read,
/// also `built_in`, whose source then says so. Never refuses.
std::shared_ptr<const IndexCalibration> calibration_for(const std::string& machine,
                                                        const IndexCalibration& built_in);

/// Most threads a plan may ask for.
inline constexpr int kMaxThreads = 4096;

/// Which engine runs a plan. `automatic` takes the one predicted faster for arrays of the host, which is the
/// CPU: a GPU would have to fetch and return them over its bus.
enum class Engine { automatic, cpu, cuda };

/// "auto", "cpu" or "cuda".
const char* name(Engine engine) noexcept;

struct Target {
  Engine engine = Engine::cpu;
  std::string name;  // the machine in words

  std::uint64_t unit_bytes_max = 16;       // widest element moved as one; wider ones are several units
  std::uint64_t vector_bytes = 64;         // one register; a segment is at least this long
  std::uint64_t segment_bytes_max = 4096;  // longer segments gain nothing
  std::uint64_t tile_bytes_max = 16384;    // capacity: one tile in the fast memory
  std::uint64_t in_place_tile_bytes = 0;   // a CPU's, of tiles of 4 bytes in place; 0: as tile_bytes_max
  std::uint64_t page_bytes = 4096;         // blocks that share pages run one after another
  std::uint64_t page_entries = 2048;       // translations held at once, source and target together
  std::uint64_t streaming_bytes = 0;       // arrays past this bypass the caches when written
  std::uint64_t first_level_bytes = 0;     // a core's data cache; 0: not known
  std::uint64_t direct_bytes_max = 512;    // arrays up to this are moved element by element
  int threads = 1;

  int banks = 0;  // shared memory; 0 where there is none
  int bank_bytes = 4;

  // The GPU's. A tile pass takes the first of `tiles` whose width is the unit's and which can hold the map's
  // tile, or the smallest such where the data is small and many blocks matter more than long segments; arrays
  // that are not aligned to 16 bytes take the first such entry with vector_bits 0.
  int device = 0;  // ordinal
  int multiprocessors = 0;
  std::uint64_t small_bytes_max = 0;  // data up to this is small, all arrays together
  std::vector<kernels::CompiledTile> tiles = {};
  /// Instead of all that: a tile kernel to take, or to refuse the plan.
  std::optional<kernels::CompiledTile> tile = {};
  std::optional<Calibration> calibration = {};  // for predicted times; none: not known

  // For permutations that are not affine (IndexPlan).
  std::uint64_t chunk_bytes_max = 0;  // shared memory of a block, or of a core's cache what a chunk may take
  std::shared_ptr<const IndexCalibration> index_calibration = {};  // null: built in, of the engine
};

/// The target's index_calibration, or what is built in for its engine.
const IndexCalibration& curves_of(const Target& target);

}  // namespace faro
