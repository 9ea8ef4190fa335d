// A paged cache of keys and values moved between two engines' layouts, all layers at once.
//
//     const faro::CacheHeads of{.heads = 8, .width = 128};
//     const auto move = faro::plan_cache_move({.of = of,
//                                              .from = faro::CacheLayout::nhd(bf16, blocks, 16, of),
//                                              .to = faro::CacheLayout::hnd(f8_e4m3fn, others, 64, of)},
//                                             arrays);       // keys and values of each layer, in and out
//     move.run({.from = table, .to = other_table, .tokens = 2048}, stream);
//
// The layouts are described in faro/permutation/paged_cache.hpp. Arrays are those of an engine that runs, so
// a plan keeps their addresses; tables and numbers of tokens change from run to run. On a GPU a run is one
// launch, whatever the number of arrays and sequences, reads tables that lie there, waits for nothing, and
// may be captured in a graph. On the host one team of threads has all blocks of all arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/paged_cache.hpp"
#include "faro/problem/target.hpp"
#include "faro/stream.hpp"

namespace faro {

namespace cuda {
class CacheExecutor;
}  // namespace cuda

struct CacheOptions {
  int threads = 0;  // 0: what OpenMP would use
  /// `automatic`: cuda for arrays in a device's memory.
  Engine engine = Engine::automatic;
  int device = cuda::kCurrentDevice;  // of engine cuda
};

/// Every const member may be called from many threads at once.
class ExecutableCacheMove {
 public:
  /// Moves the first tokens of each sequence; the rest of the target stays.
  ///
  /// Engine cpu: everything is checked before anything is written. Errors: ErrorCode::value for tables that
  /// do not fit the tokens, and naming the first entry that is no block, or a block of the target that is
  /// named twice.
  ///
  /// Engine cuda: tables and lengths of the device; queued on `stream`. Tokens in a block that there is none
  /// of are left out, and check() tells of it; of a target's block that is named twice any is there in the
  /// end. Errors: ErrorCode::value for tables that do not fit the tokens or are not the device's;
  /// ErrorCode::device.
  ///
  /// Requires: tables that are none of the target's memory (unchecked).
  void run(const CacheTables& tables, Stream stream = {}) const;

  /// Engine cuda: waits for the stream. Errors: ErrorCode::value for entries and lengths that runs since the
  /// last check() found wrong. Engine cpu: nothing, for run() tells.
  void check(Stream stream = {}) const;

  bool on_gpu() const { return on_device_ != nullptr; }
  std::string explain() const;

 private:
  ExecutableCacheMove(const CacheMove& move, std::span<const CacheArrays> arrays,
                      const CacheOptions& options);
  friend ExecutableCacheMove plan_cache_move(const CacheMove& move, std::span<const CacheArrays> arrays,
                                             const CacheOptions& options);
  CacheMove move_;
  std::vector<CacheArrays> arrays_;
  int threads_;
  std::shared_ptr<const cuda::CacheExecutor> on_device_;  // of engine cuda
};

/// Errors: ErrorCode::value for extents of 0, parts that do not divide a head, scales that are not finite and
/// above 0, null pointers, arrays that overlap, or that are not in the engine's memory, of engine cuda also
/// for such that are not aligned to a number; ErrorCode::unsupported for numbers that are not converted
/// (f32, f16, bf16 and 8-bit floats are); ErrorCode::device.   Cost: of engine cuda a copy of 24 bytes an
/// array.
ExecutableCacheMove plan_cache_move(const CacheMove& move, std::span<const CacheArrays> arrays,
                                    const CacheOptions& options = {});

}  // namespace faro
