// A pass: one reading and one writing of the whole data, whatever carries it out.
//
//     permutation                  passes
//     affine, out of place         one of kind copy, segments, tile or direct; arrays left over: one more
//     affine, in place             tiles, segments or small arrays whose orbits change places, one a factor
//     axes, roll, flip             axes, of rolled ones some; cyclic
//     multiplication               modular
//     computed map                 computed
//     a map with exceptions        those of the map, and patch
//     index array                  indexed | window | runs | spread ... spread, place | pick, collect ...
//                                  | place, columns, place and the like
//     transposition in place       sweeps: rows, columns, and a rotation where panels are narrow
//
// Every pass says which kernel moves it, how that is launched or which threads share it out, which buffers it
// reads and writes, which tables of a schedule it needs, and how many bytes it moves; on a GPU explain() adds
// what the kernel's own phases count on the counting memory. An engine runs what is written here and decides
// nothing.
//
// Example, of axes(12345 6789; 1 0) with elements of 4 bytes, on a GPU and on a CPU:
//
//     pass 1     axes, input -> output, 335 MB read, 335 MB written
//       kernel   axes turned, units of 4 bytes, rows of 256 and lines of 512 bytes
//       launch   5,247 blocks of 288 threads and 35 KiB
//
//       kernel   boxes of 128 x 128 elements, turned in registers
//       threads  2, each by way of 72 KiB, written past the caches
//
// Kinds copy to direct are of affine maps: they have a map and a tile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/layout/tile.hpp"
#include "faro/permutation/affine.hpp"

namespace faro {

namespace detail {
struct CpuPass;
struct GpuPass;
}  // namespace detail

enum class PassKind {
  copy,
  segments,
  tile,
  direct,
  axes,      // a permutation of axes
  cyclic,    // a roll or a flip
  window,    // small displacements, a tile with its margins
  runs,      // long runs, a piece of output
  indexed,   // gather or scatter by the index array itself
  spread,    // a level of a partition: chunks to the runs of their buckets
  collect,   // the same backwards
  place,     // the last pass of a partition, or rows: every chunk permuted within itself
  pick,      // the same backwards
  columns,   // the middle pass of rows, columns, rows
  sweep,     // of a transposition in place
  modular,   // a multiplication modulo the count
  computed,  // by a formula, tile by tile
  patch,     // elements that go elsewhere than the passes before brought them
};

/// "copy", "segments", "tile", ….
const char* name(PassKind kind) noexcept;

/// Where a pass reads or writes. `data` is the one array of a plan in place.
enum class PassBuffer { input, output, workspace, data };
const char* name(PassBuffer buffer) noexcept;

/// A table of a schedule that a pass reads beside its input.
struct PassTable {
  std::string name;         // "places", "entries", …
  std::uint64_t bytes = 0;  // of one array's schedule, which all arrays share
};

/// How a pass is put on a GPU: by a compiled tile kernel (kind tile), one thread a vector
/// (kernels/affine_segments.hpp; kinds segments and direct), or the kernel named (all others).
struct Launch {
  std::optional<kernels::CompiledTile> tile = {};  // kind tile
  /// Kind tile, for arrays that are aligned to the unit only: the first of the target's tiles with
  /// vector_bits 0 that holds the map's tile; none: one thread a unit.
  std::optional<kernels::CompiledTile> unaligned_tile = {};
  int vector_bytes = 0;            // that a thread moves at a time, in arrays that are aligned to it
  std::uint64_t blocks = 0;        // of all arrays; of a sweep, of all launches
  int threads = 0;                 // a block
  std::uint64_t shared_bytes = 0;  // a block
  /// Other kinds: the kernel in words, that of arrays which are not as aligned (empty: the same), and how
  /// often kernels are launched, a group of arrays after another.
  std::string kernel = {};
  std::string unaligned_kernel = {};
  std::uint64_t launches = 1;
};

/// How a pass is put on a CPU.
struct Team {
  std::string kernel = {};           // in words
  int threads = 1;                   // that share it out
  bool streamed = false;             // written past the caches where the output is aligned
  std::uint64_t thread_bytes = 0;    // of the workspace, that a thread uses
  std::uint64_t arrays_at_once = 0;  // that go through all passes before others do; 0: all
};

/// One reading and one writing of the whole array.
///
/// Indices are in *units* of unit_bytes. Elements wider than the target's widest unit are low index bits that
/// the map leaves alone; 2^folded_batch_bits arrays of a batch are high index bits that it leaves alone.
struct Pass {
  PassKind kind = PassKind::direct;
  Affine map;                // affine kinds: on units, element bits low, the problem's map, batch bits high
  std::uint64_t arrays = 1;  // affine kinds: of 2^map.bits() units; others: of the batch
  layout::Tile tile;         // kinds segments and tile; its blocks cover one array
  std::optional<layout::Xor> placement;  // kind tile on a GPU: free of conflicts (theorem 2)
  std::optional<Launch> launch;          // on a GPU, every kind but copies, which are the driver's
  std::optional<Team> team = {};         // on a CPU, every kind
  /// In place, kinds segments, tile and direct: which blocks of `tile` change places. Its tile is `tile`.
  std::optional<layout::InPlaceTile> orbits;
  std::uint64_t offset = 0;  // of the first array, in bytes: arrays left over are further on

  std::uint64_t segment_bytes = 0;  // affine kinds: contiguous bytes read, and written, at a time
  std::uint64_t bytes_read = 0;     // of all arrays
  std::uint64_t bytes_written = 0;
  std::uint64_t segments_read = 0;
  std::uint64_t segments_written = 0;

  PassBuffer source = PassBuffer::input;
  PassBuffer target = PassBuffer::output;
  std::string what = {};               // other kinds: what is done, in words
  std::vector<PassTable> tables = {};  // kinds of index arrays
  std::optional<double> curve_us =
      {};  // other kinds: of all arrays, by the measured curves, if there are any

  /// What the CUDA engine launches: kernels by their identity, with parameters. Null on a CPU.
  std::shared_ptr<const detail::GpuPass> gpu = {};
  /// What the CPU engine runs: a loop and its parameters. Null on a GPU.
  std::shared_ptr<const detail::CpuPass> cpu = {};
};

}  // namespace faro
