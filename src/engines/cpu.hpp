// The CPU engine: plans run on all cores, one tile of cache at a time.
//
// A tile is a few cache lines: they are read, permuted in registers, and written with stores that bypass the
// caches, while the lines of later tiles are on their way. docs/notes/cpu-experiments.md tells what that
// costs and what was measured. For an index array, a partition pass scatters a chunk in the L2 cache and
// writes its runs with stores that bypass the caches (docs/notes/index-experiments.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "faro/permutation/modular.hpp"
#include "faro/permutation/take.hpp"
#include "faro/plan/plan.hpp"
#include "faro/plan/row_plan.hpp"
#include "faro/problem/target.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "kernels/evaluation_order.hpp"
#include "plan/family_plan.hpp"

namespace faro::cpu {

/// The instruction set that the kernels were dispatched to: "AVX3_DL", "AVX2", "NEON", "SCALAR", ….
std::string simd_target();

/// This machine as a plan's target. `threads` 0: what OpenMP would use (OMP_NUM_THREADS respected).
Target target(int threads = 0);

/// Copies bytes with `threads` threads, bypassing the caches beyond the last-level cache's size: the fastest
/// plain copy, against which everything is measured. Any alignment. Requires: no overlap (unchecked).
void copy(const void* in, void* out, std::uint64_t bytes, int threads = 0);

struct ConvertedEnds;  // engines/cpu/pass_program.hpp

/// A plan made ready to run here, of any permutation and placement: its tables and its schedule are made
/// once. Runs allocate nothing where a workspace is lent, or none is needed.
class Executor {
 public:
  /// Requires: a plan whose target is this engine (checked). Errors: ErrorCode::value for an index array on a
  /// device.   Cost: of an index array, two sweeps of it a pass.
  explicit Executor(const Plan& plan);
  /// With a schedule that was made before, of any machine and shape, for a plan with an index_plan()
  /// (checked). The plan then only says widths, batch and target; its chosen() may differ. Errors:
  /// ErrorCode::value where its count is not the plan's.
  Executor(const Plan& plan, std::shared_ptr<const schedule::IndexSchedule> schedule);
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;
  ~Executor();

  /// Runs the plan once, all arrays of the batch. May be called from many threads at once, each with its own
  /// workspace. Uses at most 17 KiB of each thread's stack. `workspace`: workspace_bytes() of the host, any
  /// alignment; null: allocated and returned by the run.
  /// Requires: a plan for two arrays (checked); they hold plan.in_bytes() and plan.out_bytes() and do not
  /// overlap (unchecked here, checked by faro::ExecutablePlan). Any alignment; an output that is not aligned
  /// to the vector width is written through the caches.
  void run(const void* in, void* out, void* workspace = nullptr) const;

  /// The same of one array whose numbers are converted as the first pass reads them, or as the last writes
  /// them. Requires: passes that do so (plan/moved_values.hpp), one of the sides at most (checked).
  void run_converted(const void* in, void* out, const ConvertedEnds& converted) const;

  /// The same in place, of a plan that is (checked): data[b][pi(x)] = data[b][x] as it was. Any alignment.
  void run_in_place(void* data, void* workspace = nullptr) const;

  /// Bytes that a run needs; of the schedule's passes, which may be others than the plan's.
  std::uint64_t workspace_bytes() const;

  /// The schedule of an index array that is carried out as such; else null.
  std::shared_ptr<const schedule::IndexSchedule> schedule() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Measures the curves of this machine. `quick`: fewer sizes and widths, some seconds.   Cost: 20 s.
IndexCalibration tune(int threads = 0, bool quick = false);

/// The processor in words that tell it from others: "AMD EPYC, family 25, model 17".
const std::string& processor();

/// What to plan with on this machine: the kept curves, else nearest_curves(). For work of kMeasuredBytes and
/// more, unless FARO_MEASURE is `never`, the built-in ones as far as they hold here: a few runs, once a
/// process, tell how much faster or slower this machine copies, gathers and moves tiles. The source says
/// which. Cost: a look at the kept file; measuring, a tenth of a second and 64 MiB.
inline constexpr std::uint64_t kMeasuredBytes = std::uint64_t{16} << 20;
std::shared_ptr<const IndexCalibration> curves_for(const Target& target, std::uint64_t bytes);

/// The curves that come with faro of the processor whose registers and caches are most like this one's.
const IndexCalibration& nearest_curves();

/// Gives a target the curves for work of so many bytes, and from where on they write past the caches.
void plan_by_curves(Target& target, std::uint64_t bytes);

/// From arrays of how many bytes on this machine writes past the caches: as curves tell, and input and output
/// together at most half of the last level, which others use as well.
std::uint64_t streaming_bytes(const IndexCalibration& curves);

// Rows moved by a row plan (faro/plan/row_plan.hpp), on all cores.

/// Moves the rows of two arrays of plan.in_bytes() and plan.out_bytes(). Entries are checked again, block by
/// block. Requires: no overlap (unchecked). Errors: ErrorCode::value for an entry that names no row, the
/// first of them where they were not checked before, after rows may have been written; std::bad_alloc where
/// there is no workspace.
void run_rows(const RowPlan& plan, const std::byte* in, std::byte* out);

/// One call of a family (faro/family.hpp), made ready to run: the pass of each part of its view. Cost: a
/// microsecond or two.
class FamilyRun {
 public:
  FamilyRun(const detail::FamilyCall& call, const Target& target);
  ~FamilyRun();
  FamilyRun(const FamilyRun&) = delete;
  FamilyRun& operator=(const FamilyRun&) = delete;

  /// Requires: arrays that do not overlap (unchecked). Any number of threads at once.
  void run(const void* in, void* out) const;
  /// What the first part's pass does, for a reader.
  static std::string explain(const detail::FamilyCall& call, const Target& target);

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// Multiplications modulo a number of elements, moved by their two matrices (faro/permutation/modular.hpp) in
// one sweep and without an index array.

struct ModularArrays {
  std::uint64_t element_bytes = 1;  // 1 to 4096
  std::uint64_t batch = 1;
};

/// out[b][map(x)] = in[b][x]. Any alignment. Requires: arrays of batch count element_bytes bytes that do not
/// overlap (unchecked). Cost: a sweep; 32 KiB of each thread's stack.
void permute(const Modular& map, const ModularArrays& arrays, const std::byte* in, std::byte* out,
             int threads = 0);

/// The same, negated where sign_factor x mod 2 count is count or more; elements are numbers. Requires:
/// sign_factor mod count is the map's factor, and is odd (unchecked).
struct ModularSigns {
  std::uint64_t sign_factor = 1;  // below 2 count
  Number number = Number::u64;
  std::span<const std::uint64_t> moduli = {};  // of integers: array b has moduli[b mod their number]; none: 0
};
void permute_negated(const Modular& map, const ModularSigns& signs, std::uint64_t batch, const std::byte* in,
                     std::byte* out, int threads = 0);

/// Values of polynomials in bit-reversed order.
void permute_evaluations(const kernels::EvaluationOrder& order, const ModularArrays& arrays,
                         const std::byte* in, std::byte* out, int threads = 0);

}  // namespace faro::cpu
