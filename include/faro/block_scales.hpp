// Numbers of 8 and 4 bits with a scale for each block of them along one axis, made and undone while they are
// moved.
//
//     wide    f32, f16, bf16; any strides         data    dense; 8 bits, or two of 4 to a byte
//        x x x x … x x x x                            q q q q … q q q q       q = round(x / s)
//        `-- a block --´                              `-- one scale s --´     x = s q (global)
//
//     format      numbers        of a block   scale                        of blocks
//     mxfp8_e4m3  e4m3fn         32           e8m0, a power of two         floor or ceil of the largest, below
//     mxfp8_e5m2  e5m2           32           likewise
//     mxfp4       e2m1           32           likewise
//     nvfp4       e2m1           16           e4m3fn of largest / 6        times a global scale
//
// So a matrix is transposed and quantised in one sweep: the strides say where the wide array's numbers lie,
// the extents are those of the data. Blocks lie along any axis of the two. A power of two is the largest that
// is at most the block's largest number, divided by the largest of the type: that of the standard; or, by
// ScaleRounding::ceil, the smallest by which nothing saturates, as NVIDIA's libraries have it. Of an infinity
// the first is as of any number beyond the largest, the second the largest that there is. A block with a NaN
// has a scale that is one. Numbers of 4 bits come in pairs along the last axis, the first of a pair in the
// lower half of the byte.
//
// Scales lie row-major, in the axes' order, with as many along the axis as there are blocks; by strides of
// their own; or in tiles of 128 x 4 as matrix products of a GPU read them: then they are a matrix, of the
// axis's blocks as columns and all other axes as rows, filled up with zeros.
//
//     faro::BlockScaling turned{.extents = {columns, rows}, .strides = {1, columns}, .axis = 1};
//     const auto plan = faro::plan_blocks(turned);
//     plan.quantize(weights, data, scales);        // data: the transposed, blocks along its rows
//
// Source: OCP Microscaling Formats (MX) Specification, 1.0, sections 5.1, 6.3; cuBLAS, 1D block scaling
// factors layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "faro/number.hpp"
#include "faro/stream.hpp"

namespace faro {

struct PlanOptions;  // faro/faro.hpp

enum class BlockFormat { mxfp8_e4m3, mxfp8_e5m2, mxfp4, nvfp4 };
/// "mxfp8_e4m3", …; numbers of a block; and bits of one in the data.
const char* name(BlockFormat format) noexcept;
std::uint64_t block_of(BlockFormat format) noexcept;
std::uint64_t bits_of(BlockFormat format) noexcept;

/// Of scales that are powers of two.
enum class ScaleRounding { floor, ceil };
enum class ScaleLayout { strided, tiled };

struct BlockScaling {
  BlockFormat format = BlockFormat::mxfp8_e4m3;
  Number wide = Number::f32;                // or f16, bf16
  std::vector<std::uint64_t> extents = {};  // of the data, which is dense, row-major
  std::vector<std::int64_t> strides = {};   // of the wide array, in numbers, an axis each; empty: as the data
  std::uint64_t first = 0;                  // where its index 0 lies
  std::size_t axis = 0;                     // along which blocks are, of the extents
  ScaleRounding rounding = ScaleRounding::floor;
  double global_scale = 1;  // of nvfp4: all scales are divided by it, and numbers are multiplied
  ScaleLayout layout = ScaleLayout::strided;
  std::vector<std::int64_t> scale_strides = {};  // of a layout that is strided; empty: dense, row-major
};

/// Cheap to move; every const member may be called from many threads at once.
class ExecutableBlocks {
 public:
  ExecutableBlocks(ExecutableBlocks&&) noexcept;
  ExecutableBlocks& operator=(ExecutableBlocks&&) noexcept;
  ~ExecutableBlocks();

  /// Reads wide_count() numbers; writes data_bytes() and scale_bytes(), of strided scales those alone that
  /// are of a block. Errors, both: ErrorCode::value for null pointers, arrays that overlap, and arrays of
  /// other memory than the engine's; nothing is written then. Cost: one sweep. Engine cpu takes any
  /// alignment, and allocates some hundred KiB a thread; of engine cuda arrays are the device's, the wide one
  /// aligned to its numbers, and the work is queued on `stream`.
  void quantize(const void* wide, void* data, void* scales, Stream stream = {}) const;
  /// The other way: each number times its scale, in f32, rounded to the wide type.
  void dequantize(const void* data, const void* scales, void* wide, Stream stream = {}) const;

  /// What the arrays have at least.
  std::uint64_t wide_count() const;
  std::uint64_t data_bytes() const;
  std::uint64_t scale_bytes() const;
  std::string explain() const;

  struct State;

 private:
  explicit ExecutableBlocks(std::unique_ptr<State> state);
  friend ExecutableBlocks plan_blocks(const BlockScaling& scaling, const PlanOptions& options);
  const State& state() const;

  std::unique_ptr<State> state_;
};

/// Plans for the engine, threads and device of `options`; Engine::automatic is the CPU's. A kernel of a GPU
/// that does not come with the library is compiled by NVRTC when it first runs, and kept in the user's
/// folder. Errors: ErrorCode::value for an axis that is not there or has no whole number of blocks, a last
/// axis of an odd number of 4 bits each, strides and scale strides of another rank or by which two numbers or
/// scales share a place, arrays past 2^62 bytes, and a global scale that is not finite and above 0, or is of
/// powers of two; ErrorCode::unsupported for another wide type; ErrorCode::device for an engine that this
/// build or machine has not.
ExecutableBlocks plan_blocks(const BlockScaling& scaling, const PlanOptions& options);
/// The same on the CPU.
ExecutableBlocks plan_blocks(const BlockScaling& scaling);

}  // namespace faro
