// A pass as the CPU engine runs it: which loop, with which parameters and tables, shared out among how many
// threads, written past the caches or through them; and the table of solvers that make such passes.
//
//     affine                      all arrays at once, those of a batch that are left over in a pass apart
//     index array, axes, roll     the arrays of a group go through all passes, then those of the next group
//     transposition in place      the sweeps over an array, arrays one after another or each by one thread
//
// Solvers (cpu_solver.hpp) make passes from the work that they are given, each complete. What there is:
//
//     axes_solver        axes, box by box                       by registers or by a table; long elements
//     cyclic_solver      a roll or a flip
//     modular_solver     a multiplication modulo the count
//     computed_solver    a computed map, tile by tile             element by element where it has no tiles
//     patch_solver       exceptions to a map
//     local_solver       small displacements; long runs
//     entries_solver     gather and scatter
//     partition_solver   levels, and a last pass                by entries where no thread can hold a chunk
//     matrix_solver      rows, columns, rows; as published      the same
//     sweep_solver       transposition in place
//     affine_solver      affine maps, out of place and in place
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "faro/permutation/strided.hpp"
#include "faro/plan/index_plan.hpp"
#include "faro/plan/transpose_plan.hpp"
#include "faro/problem/pass.hpp"
#include "faro/problem/problem.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "kernels/partition_params.hpp"
#include "layout/cache_box.hpp"
#include "plan/cpu/cpu_workspace.hpp"
#include "plan/cpu/transpose_workers.hpp"
#include "plan/index_form.hpp"

namespace faro::detail {

using kernels::Way;

class ComputedTiles;

// --- loops, and what each of them is given beside the arrays

/// Kinds copy to direct. The pass has the map, the tile and its orbits.
struct CpuAffine {
  std::uint64_t unit_bytes = 1;
  std::uint64_t vector_bytes = 64;  // of the widest registers that may be taken
  bool fetches_ahead = false;       // in place
  bool in_runs = false;             // out of place, tiles are read and written in runs of some lines
};

/// Long elements in pieces; boxes plane by plane in registers, element by element, or, where elements are
/// lines and more, run by run of the output; boxes larger than the caches plane by plane in groups of
/// columns, reading, turning and writing at once; a few rows interleaved in registers, or taken apart.
enum class AxesMove : std::uint8_t { pieces, planes, table, lines, groups, channels };
/// The arrays of a batch are an axis. With a stage, what is written past the caches is put together before;
/// elements of whole lines need none where the output begins at a line, and may go one by one in the order of
/// the input then, as may rows of whole lines that are read backwards.
struct CpuAxes {
  layout::CacheBox box;
  AxesMove move = AxesMove::table;
  bool staged = false;
  bool one_by_one = false;
  bool second_level = false;  // boxes are fetched into that cache, not the first
  bool by_input = false;      // boxes follow one another as the input lies; else as both sides do in turns
};

/// A box that is transposed in registers: axes along the rows of the input's side, and along those of the
/// output's, fastest first. Both lie together in memory.
struct TurnedAxes {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> rows;
};
TurnedAxes turned_axes(const layout::CacheBox& box, bool through_caches = false);

/// Rows that lie apart on one side, and an element of each beside the others' on the other side.
struct ChannelAxes {
  std::size_t channel = 0;
  std::size_t row = 0;
  bool parts = false;  // rows are the output's; else the input's
};
/// Requires: AxesMove::channels.
ChannelAxes channel_axes(const layout::CacheBox& box);
struct CpuCyclic {
  Cyclic cyclic;
};
/// In place: elements 0 .. shift change places end for end, and those behind them.
struct CpuReversal {
  std::uint64_t shift = 0;
};
struct CpuModular {
  Modular map;
};
/// Null where there are no tiles.
struct CpuComputed {
  Computed map;
  std::shared_ptr<const ComputedTiles> tiles;
};
/// Elements that go elsewhere than the passes before brought them; of every array of the batch.
struct CpuPatch {
  std::vector<Exception> exceptions;
  std::uint64_t batch = 1;
};
/// Gather or scatter by the entries.
struct CpuEntries {
  Way way = Way::backwards;
  bool fetches_ahead = false;
  bool from_schedule = false;  // entries are not the schedule, but worked out from it
};
struct CpuWindow {
  Way way = Way::forwards;
  std::uint32_t window = 0;
};
struct CpuRuns {
  Way way = Way::forwards;
  std::uint64_t runs = 0;
};
struct CpuLevel {
  schedule::PartitionShape shape;
  int level = 0;
  Way way = Way::forwards;
  ChunkPart part;
};
/// The last pass of a partition.
struct CpuChunks {
  schedule::PartitionShape shape;
  Way way = Way::forwards;
  ChunkPart part;
};
/// The rows of a matrix; its lists of places are the pass's table.
struct CpuRows {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  Way way = Way::forwards;
  MatrixPart part;
};
struct CpuColumns {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  Way way = Way::forwards;
  MatrixPart part;
};

enum class CpuSweepKind : std::uint8_t { whole, square, panels, rows, shared_rows, columns };
/// The longer rows, n elements each, and m of them; C2R where the array had them (kernels/c2r_index.hpp).
struct CpuSweep {
  CpuSweepKind kind = CpuSweepKind::rows;
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t between = 1;  // kind square: squares side by side
  bool r2c = false;
  Panels panels = Panels::none;
  bool one_early = false;        // rows lie one place early between the sweeps
  bool by_blocks = false;        // kind rows: not element by element
  Strip strip;                   // kinds columns and panels: columns at a time
  std::uint64_t part_bytes = 0;  // of the row that is borrowed, for each thread of this sweep

  std::uint64_t rows() const { return r2c ? n : m; }
  std::uint64_t columns() const { return r2c ? m : n; }
};

using CpuKernel =
    std::variant<CpuAffine, CpuAxes, CpuCyclic, CpuReversal, CpuModular, CpuComputed, CpuPatch, CpuEntries,
                 CpuWindow, CpuRuns, CpuLevel, CpuChunks, CpuRows, CpuColumns, CpuSweep>;

// --- passes

/// What the passes of a plan have in common.
struct CpuRun {
  std::uint64_t arrays_at_once = 0;  // that go through all passes before others do; 0: all of them
  int turns_at_once = 1;             // threads that take such groups, each for itself
  CpuWorkspace workspace = {};
};

struct CpuPass {
  PassKind kind = PassKind::copy;
  CpuKernel kernel;
  PassBuffer source = PassBuffer::input;
  PassBuffer target = PassBuffer::output;
  std::uint64_t arrays = 1;  // of `count` elements of such a width; kinds past direct
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  std::vector<TableId> tables = {};
  std::string what = {};
  // For a view, and for one of several parts: where the first element of each side lies; of a part how much
  // is moved.
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;
  std::uint64_t part_bytes = 0;  // 0: all
  int threads = 1;               // that share out a group of arrays
  bool streamed = false;         // written past the caches
  CpuRun run = {};

  std::uint64_t array_bytes() const { return count * element_bytes; }
};

/// A core's own caches; of the second level a chunk may take all (Target::chunk_bytes_max).
struct CoreCaches {
  std::uint64_t first_level_bytes = 0;
  std::uint64_t second_level_bytes = 0;

  /// As Intel's servers have it, whose processors read ahead by themselves where reads are long
  /// (docs/notes/axes-experiments.md).
  bool has_large_second_level() const { return second_level_bytes >= std::uint64_t{1280} << 10; }
};
inline CoreCaches core_caches(const Target& target) {
  return {.first_level_bytes = target.first_level_bytes, .second_level_bytes = target.chunk_bytes_max};
}

/// As many of `threads` as `bytes` are worth: below 256 KiB a thread costs more than it brings, and what a
/// core's second level holds of both sides is faster there than brought to another.
int useful_threads(int threads, std::uint64_t bytes, const CoreCaches& caches);

/// What a solver is given: like arrays of like elements, and the machine.
struct CpuWork {
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  Way way = Way::forwards;
  IndexForm form;
  int threads = 1;
  std::uint64_t streaming_bytes = 0;
  CoreCaches caches = {};

  std::uint64_t array_bytes() const { return count * element_bytes; }
  std::uint64_t total_bytes() const { return batch * array_bytes(); }
  std::uint64_t parts() const { return static_cast<std::uint64_t>(threads); }
};

/// The passes in their order, complete but for their words. Empty where nothing is to be moved.
std::vector<CpuPass> solve(const CpuWork& work);

/// The work that a candidate leaves to a CPU; or that a schedule does, of any machine and shape.
CpuWork cpu_work_of(const IndexWork& work, const IndexCandidate& candidate);
CpuWork cpu_work_of(const IndexPlan& plan, const schedule::IndexSchedule& schedule);

/// The parts of that which a schedule knows.
enum class MatrixPasses { three, five };
IndexForm form_of(const schedule::IndexSchedule& schedule, MatrixPasses passes = MatrixPasses::three);
Way way_of(Direction direction);

/// Instead of a schedule's passes: elements are gathered one by one, by entries worked out from it.
CpuPass cpu_gather_by_schedule(const CpuWork& work);

/// The sweeps in their order; none where nothing moves. Arrays of at most `small_bytes` go by way of the
/// stack.
std::vector<CpuPass> cpu_sweeps(const Rectangle& rectangle, const TransposeWorkers& workers,
                                std::uint64_t small_bytes = kSmallTransposeBytes);

/// The pass of an affine map on a CPU, in place or not.
CpuPass cpu_affine_pass(const Pass& pass, std::uint64_t unit_bytes, const Target& target);

/// The pass of a strided view in normal form, complete but for its counts and threads.
CpuPass cpu_strided_pass(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes,
                         bool past_caches, const CoreCaches& caches = {});

// --- as a plan shows them

std::vector<Pass> cpu_passes_of(const IndexWork& work, const IndexCandidate& chosen);
std::vector<Pass> cpu_sweeps_shown(const Rectangle& rectangle, const TransposeWorkers& workers);
/// The passes of rolls and flips in place: reverses_in_place(problem).
std::vector<CpuPass> reversals_of(const Problem& problem);
std::vector<Pass> cpu_reversals(const Problem& problem, const Target& target);
/// The pass of a strided view in normal form, as a plan shows it.
Pass cpu_pass_of(const AxisMap& normal, std::uint64_t element_bytes, const Target& target);
/// The pass of exceptions, after others of which `last` is one (may be null).
Pass cpu_patch(const std::vector<Exception>& exceptions, const Problem& problem, const CpuPass* last);
/// Completes a pass with what the CPU engine runs.
void put_on_cpu(Pass& pass, CpuPass made);

}  // namespace faro::detail
