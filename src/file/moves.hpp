// What takes a tile's rows, as they lie in memory, to the output's: the plan that a sweep holds for its
// tiles.
//
//     engine cpu     the CPU engine's plan of the tile's permutation
//                    of affine maps of elements of other widths than 2^k: cosets that a core's cache holds,
//                    element by element (the theorem of the tile one level down)
//     engine cuda    the same plan for a device: the tile travels there, is permuted, and travels back. The
//                    first tile goes both ways, and all later ones the faster
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "faro/file.hpp"
#include "faro/plan/plan.hpp"

namespace faro::file {

/// By any number of threads of its own, one call at a time.
class TileMove {
 public:
  virtual ~TileMove() = default;
  /// x and y hold the tile's rows of either side, and as much memory as the sweep's largest tile. In a move
  /// in place both are one. Where numbers are changed anything may be left in x.
  virtual void run(std::byte* x, std::byte* y) const = 0;
};

using SharedMove = std::shared_ptr<const TileMove>;

/// So many are kept for tiles to come: more than there are kinds at the ends of arrays, as a rule.
inline constexpr std::size_t kMostMoves = 256;

/// In place, of a tile whose rows are written as they were read.
SharedMove resting_move();

/// Which of two ways is faster, found out by the first call.
class EngineTrial {
 public:
  using Way = std::function<void()>;
  /// Calls `device`, which is warmed up first, and `host`, or the faster of both where that is known. All of
  /// them leave the same result. `bytes` are those of the result.
  void run(const Way& device, const Way& host, std::uint64_t bytes);

  /// The one taken: cuda until one call was made.
  Engine chosen() const;
  /// "12 GB/s by cuda, 3.4 by cpu"; empty before the first call.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  bool is_known_ = false;
  bool is_host_ = false;
  std::string text_;
};

/// The moves of one sweep, or of some passes over one file.
class MoveMaker {
 public:
  /// Errors: ErrorCode::device for engine cuda without a device.
  explicit MoveMaker(const Options& options);

  /// Errors: those of Plan, but for affine maps of elements of any width. Requires: engine cpu for what is in
  /// place (checked), since a device's trial would move it more than once.
  SharedMove make(const Problem& problem) const;

  /// What make() would carry out, for the engine that was asked for.
  TilePlan explain(const Problem& problem) const;

  Engine engine() const;
  std::string engine_text() const;

 private:
  struct Device;

  SharedMove with_device(SharedMove host, std::function<void(const std::byte*, std::byte*)> run,
                         std::uint64_t in_bytes, std::uint64_t out_bytes) const;

  int threads_;
  Target target_;
  std::shared_ptr<Device> device_;  // null for engine cpu
};

}  // namespace faro::file
