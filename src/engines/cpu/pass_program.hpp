// What a pass of a plan becomes on the CPU: a program with its tables, behind one interface, and the order in
// which programs take turns.
//
// A program owns its tables and nothing else, so it may run many times at once; what it writes to beside the
// output is lent to it (plan/cpu/cpu_workspace.hpp):
//
//     workspace   | part of thread 0 | part of thread 1 | … | arrays between passes |
//
// Everything else was decided by the plan (plan/cpu/cpu_pass.hpp): which program, for how many threads,
// whether lines are written past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/cpu/values/value_side.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "plan/cpu/cpu_pass.hpp"

namespace faro::cpu {

using detail::CpuPass;
using detail::Way;

/// Some arrays of a batch on their way through a pass. In place `in` is `out`.
struct Step {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t arrays = 0;
  std::byte* memory = nullptr;  // the threads' parts
  // Numbers that are converted on this side, of one array: by it instead of at `in`, or at `out`. Entries
  // that scatter, levels and chunks, multiplications and computed maps do so on either side that their loop
  // goes along in order (plan/moved_values.hpp); axes in groups of columns change them as they are written,
  // and `out` only says how numbers lie beside lines (plan/value_plan.hpp).
  const ValueSide* read = nullptr;
  const ValueSide* written = nullptr;
};

/// Conversions in the first pass of a sequence, or in its last.
struct ConvertedEnds {
  const ValueSide* read = nullptr;
  const ValueSide* written = nullptr;
  /// What passes before the last write instead of the output; null: the output, which is as wide then.
  std::byte* between = nullptr;
};

class PassProgram {
 public:
  PassProgram() = default;
  PassProgram(const PassProgram&) = delete;
  PassProgram& operator=(const PassProgram&) = delete;
  virtual ~PassProgram() = default;

  /// Requires: no overlap but in place. Cost: no allocation.
  virtual void run(const Step& step) const = 0;
};

using Program = std::unique_ptr<const PassProgram>;
using SharedSchedule = std::shared_ptr<const schedule::IndexSchedule>;

/// A program of a pass that is not affine.
class ElementProgram : public PassProgram {
 protected:
  explicit ElementProgram(CpuPass pass) : pass_(std::move(pass)) {}

  const CpuPass& pass() const { return pass_; }
  std::uint64_t count() const { return pass_.count; }
  std::uint64_t element_bytes() const { return pass_.element_bytes; }
  std::uint64_t array_bytes() const { return pass_.array_bytes(); }
  int threads() const { return pass_.threads; }
  bool streamed() const { return pass_.streamed; }
  /// A thread's part of the memory that is lent.
  std::byte* part(const Step& step, std::uint64_t rank) const {
    return step.memory + rank * pass_.run.workspace.part_bytes;
  }

 private:
  CpuPass pass_;
};

/// What lies in the arrays of a batch one after another, cut where an array ends: calls
/// visit(array, first, last) for every part of [begin, end).
template <typename Visit>
void for_each_array(std::uint64_t begin, std::uint64_t end, std::uint64_t count, const Visit& visit) {
  while (begin < end) {
    const std::uint64_t array = begin / count;
    const std::uint64_t stop = end - array * count < count ? end - array * count : count;
    visit(array, begin - array * count, stop);
    begin = array * count + stop;
  }
}

// --- by the kernel of a pass; `schedule` is what the pass's tables are of

Program affine_program(const Pass& pass);           // tile/affine_passes.cpp
Program affine_in_place_program(const Pass& pass);  // in_place/passes.cpp
Program axes_program(const CpuPass& pass);
Program cached_axes_program(const CpuPass& pass);  // of those, what is neither staged nor streamed
Program cyclic_program(const CpuPass& pass);
Program reversal_program(const CpuPass& pass);  // index/cyclic.cpp, in place
Program modular_program(const CpuPass& pass);
Program computed_program(const CpuPass& pass);
Program patch_program(const CpuPass& pass);
/// out[i] = in[entries[i]]; scatter: out[entries[i]] = in[i].
Program entries_program(const CpuPass& pass, const SharedSchedule& schedule);
Program window_program(const CpuPass& pass, const SharedSchedule& schedule);
Program runs_program(const CpuPass& pass, const SharedSchedule& schedule);
Program level_program(const CpuPass& pass, const SharedSchedule& schedule);
Program chunks_program(const CpuPass& pass, const SharedSchedule& schedule);
Program rows_program(const CpuPass& pass, const SharedSchedule& schedule);
Program columns_program(const CpuPass& pass, const SharedSchedule& schedule);
Program sweep_program(const CpuPass& pass);

/// The program of any pass that is not affine.
Program make_program(const CpuPass& pass, const SharedSchedule& schedule);

/// The passes of a plan in their order, ready to run.
class PassSequence {
 public:
  PassSequence() = default;
  /// Passes that are not affine.
  explicit PassSequence(const std::vector<CpuPass>& passes, const SharedSchedule& schedule = nullptr);

  /// One more: of a plan for a CPU, or by itself.
  void add(const Pass& pass, const SharedSchedule& schedule);
  void add(const CpuPass& pass, const SharedSchedule& schedule);

  /// To be lent, at any address.
  std::uint64_t workspace_bytes() const { return run_.workspace.lent_bytes(); }

  /// All arrays. In place `in` is `out`. `workspace`: workspace_bytes(). Cost: no allocation.
  void run(const std::byte* in, std::byte* out, std::byte* workspace,
           const ConvertedEnds& converted = {}) const;

 private:
  struct Placed {
    Program program;
    PassBuffer source = PassBuffer::input;
    PassBuffer target = PassBuffer::output;
    std::uint64_t offset = 0;     // of the pass's arrays, in bytes
    std::uint64_t in_offset = 0;  // and of its part of an array
    std::uint64_t out_offset = 0;
  };
  std::vector<Placed> passes_;
  detail::CpuRun run_;  // of all passes
  std::uint64_t arrays_ = 0;
  std::uint64_t array_bytes_ = 0;
};

}  // namespace faro::cpu
