// A pass as the CUDA engine launches it: which kernels, for which addresses, on which buffers, with which
// tables; and the table of solvers that make them.
//
//     out of place, in place     kernels are alternatives, the first whose addresses are aligned is launched
//     sweep                      kernels are launched one after another, or series of them in turns
//
// Solvers (gpu_solver.hpp) make passes from the work that they are given, each complete. What there is:
//
//     axes_solver        axes, tiled                                          (axes_choice.hpp says which)
//     cyclic_solver      a roll or a flip
//     modular_solver     a multiplication modulo the count; exceptions to a map
//     computed_solver    a computed map
//     window_solver      small displacements
//     runs_solver        long runs
//     direct_solver      gather and scatter
//     partition_solver   levels, and a last pass
//     row_column_solver  rows, columns, rows; as published, with transposes
//     sweep_solver       transposition in place
//     exchange_solver    rolls, flips, and equal axes that change places, in place
//     affine_solver      affine maps, out of place and in place
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/permutation/indexed.hpp"
#include "faro/plan/index_plan.hpp"
#include "faro/plan/transpose_plan.hpp"
#include "faro/problem/pass.hpp"
#include "plan/gpu/axes_choice.hpp"
#include "plan/gpu/gpu_kernel.hpp"
#include "plan/index_form.hpp"

namespace faro::detail {

struct IndexWork;

/// Whether one kernel of several is launched, or all.
enum class Kernels { first_aligned, in_sequence };

struct GpuPass {
  PassKind kind = PassKind::copy;
  std::vector<GpuKernel> kernels;  // alternatives: the widest accesses first
  Kernels launched = Kernels::first_aligned;
  std::vector<TableId> tables = {};  // after input and output, in this order
  PassBuffer source = PassBuffer::input;
  PassBuffer target = PassBuffer::output;
  std::uint64_t copy_bytes = 0;  // of kind copy: of all arrays of a launch

  /// Every block writes only what it has read itself, so input and output may be one array.
  bool in_place = false;
  /// Kernels count the blocks of one array, and a launch takes as many arrays as fit a grid.
  bool blocks_of_one_array = false;
  /// How much a part moves, one of several, each from the input to the output; 0: all.
  std::uint64_t part_bytes = 0;
  std::string what = {};

  // Groups of arrays take turns, each of which goes through all passes: one array at a time where there is a
  // workspace for one. Passes of one plan agree on this. Affine passes count all arrays as one.
  std::uint64_t arrays = 1;
  std::uint64_t array_bytes = 0;
  std::uint64_t arrays_at_once = 1;
  std::uint64_t offset = 0;  // of the pass's first array, in bytes, in whatever it reads and writes

  /// For axes and views by boxes: that of aligned arrays.
  std::shared_ptr<const layout::StridedBox> box = nullptr;

  std::uint64_t workspace_bytes = 0;  // of the whole plan
  std::uint64_t rows_offset = 0;      // of a sweep: where its workspace has the rows that it copies
};

// --- passes of permutations that are not affine

/// What a solver is given: like arrays of like elements, and the schedule's sizes.
struct PassWork {
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  Way way = Way::forwards;
  IndexForm form;
  std::uint64_t shared_bytes = 0;  // most that a block may have
  AxesVariant axes = {};
  std::optional<int> level_variant = {};  // of kernels::kCompiledPartitions; none: what suits
  std::uint64_t widest_unit = 16;         // bytes

  kernels::ElementUnits units() const { return kernels::units_of_element(element_bytes, widest_unit); }
  std::uint64_t array_bytes() const { return count * element_bytes; }
};

/// The passes in their order, with the buffers that they read and write: of the first that can carry the work
/// out. Empty for no elements. Errors: those of axes_choice.hpp; ErrorCode::unsupported past 2^62 bytes.
/// Cost: under a millisecond.
std::vector<GpuPass> solve(const PassWork& work);

/// The passes of an index array by units of at most so many bytes, a power of two: for arrays that are
/// aligned to no more, where an element of the plan is several of the caller's. Its tables are the same.
std::vector<GpuPass> solve_by_units(const IndexPlan& plan, std::uint64_t widest_unit);

/// What is lent while these passes run.
std::uint64_t workspace_bytes(const std::vector<GpuPass>& passes);

/// The work that a way of carrying out an index plan leaves to the GPU.
PassWork work_of(const IndexWork& about, const IndexCandidate& chosen);

/// Every solver of one form. `passes`: as solve(), without buffers.
std::vector<GpuPass> axes_passes(const PassWork& work);
std::vector<GpuPass> cyclic_passes(const PassWork& work);
std::vector<GpuPass> modular_passes(const PassWork& work);
std::vector<GpuPass> computed_passes(const PassWork& work);
std::vector<GpuPass> window_passes(const PassWork& work);
std::vector<GpuPass> runs_passes(const PassWork& work);
std::vector<GpuPass> direct_passes(const PassWork& work);
std::vector<GpuPass> partition_passes(const PassWork& work);
std::vector<GpuPass> row_column_passes(const PassWork& work);

/// Parts of the partition that rows and columns have as well.
GpuPass chunk_pass(const PassWork& work, std::uint64_t chunk_elements, TableKind places);

// --- passes of affine maps and transpositions

/// The pass of an affine map on a GPU, in place or not, with launch where it is no copy. `unit_bits`: log2 of
/// a unit's bytes.
GpuPass affine_pass(const Pass& pass, int unit_bits);

/// The sweeps of a transposition in place, in their order.
std::vector<GpuPass> sweep_passes(const GpuTranspose& plan);
/// How many launches a group of arrays takes of such a sweep.
std::uint64_t launches_of_sweep(const GpuPass& sweep);

/// The passes of rolls and flips in place: plan/reversals.hpp.
std::vector<GpuPass> exchange_passes(const Problem& problem, const Target& target);

/// Whether a transposition in place is one sweep of pairs of tiles, and that sweep.
bool exchanges_tiles(const Rectangle& rectangle);
GpuPass squares_pass(const Rectangle& rectangle, std::uint64_t unit_bytes);

/// The pass of a view in normal form that is no permutation. Errors: those of choose_view().
GpuPass view_pass(const AxisMap& view, std::uint64_t element_bytes, const AxesVariant& variant = {});

/// The kernel of choose_quickly(), or of choose_quick_rows(), or nothing.
std::optional<GpuKernel> quick_kernel(const AxisMap& units, std::uintptr_t in, std::uintptr_t out);
std::optional<GpuKernel> quick_rows_kernel(const AxisMap& units, std::uintptr_t in, std::uintptr_t out);
/// What a plan has for such a view, which boxes are looked for, or nothing where that is more than one pass.
/// Requires, errors: as choose_quickly(). Cost: under a millisecond.
std::optional<GpuPass> searched_pass(const AxisMap& units);

/// What a pass over axes or of a view moves at a time, in words, by the kernel for aligned arrays.
std::string axes_pass_words(const GpuPass& pass);

// --- as a plan shows them

/// The pass of a view in normal form; `array_bytes`: of the longer side. Errors: those of choose_view().
Pass pass_of_view(const AxisMap& view, std::uint64_t element_bytes, std::uint64_t array_bytes);

/// A pass of so many arrays and bytes, with the launch of its first kernel.
Pass shown_pass(GpuPass made, std::uint64_t arrays, std::uint64_t bytes);

/// The pass of exceptions.
Pass gpu_patch(const std::vector<Exception>& exceptions, const Problem& problem);

std::vector<Pass> gpu_passes_of(const IndexWork& about, const IndexCandidate& chosen);
/// The passes of a transposition in place: pairs of tiles that change places, or the sweeps that are planned.
Pass squares_shown(const Rectangle& rectangle, std::uint64_t unit_bytes);
std::vector<Pass> sweeps_shown(const GpuTranspose& plan);
std::vector<Pass> gpu_reversals(const Problem& problem, const Target& target);

}  // namespace faro::detail
