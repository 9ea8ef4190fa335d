#include "engines/cpu/pass_program.hpp"

#include <algorithm>
#include <variant>

#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::cpu {
namespace {

struct MakeProgram {
  const CpuPass& pass;
  const SharedSchedule& schedule;

  Program operator()(const detail::CpuAxes&) const { return axes_program(pass); }
  Program operator()(const detail::CpuCyclic&) const { return cyclic_program(pass); }
  Program operator()(const detail::CpuReversal&) const { return reversal_program(pass); }
  Program operator()(const detail::CpuModular&) const { return modular_program(pass); }
  Program operator()(const detail::CpuComputed&) const { return computed_program(pass); }
  Program operator()(const detail::CpuPatch&) const { return patch_program(pass); }
  Program operator()(const detail::CpuEntries&) const { return entries_program(pass, schedule); }
  Program operator()(const detail::CpuWindow&) const { return window_program(pass, schedule); }
  Program operator()(const detail::CpuRuns&) const { return runs_program(pass, schedule); }
  Program operator()(const detail::CpuLevel&) const { return level_program(pass, schedule); }
  Program operator()(const detail::CpuChunks&) const { return chunks_program(pass, schedule); }
  Program operator()(const detail::CpuRows&) const { return rows_program(pass, schedule); }
  Program operator()(const detail::CpuColumns&) const { return columns_program(pass, schedule); }
  Program operator()(const detail::CpuSweep&) const { return sweep_program(pass); }
  Program operator()(const detail::CpuAffine&) const {
    FARO_CHECK(false);  // made from the plan's pass, which has the map
    return nullptr;
  }
};

std::byte* at_page(std::byte* memory) {
  constexpr std::uintptr_t page = detail::kPageBytes;
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(memory) % page;
  return past == 0 ? memory : memory + (page - past);
}

}  // namespace

Program make_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::visit(MakeProgram{pass, schedule}, pass.kernel);
}

PassSequence::PassSequence(const std::vector<CpuPass>& passes, const SharedSchedule& schedule) {
  for (const CpuPass& pass : passes) add(pass, schedule);
}

void PassSequence::add(const Pass& pass, const SharedSchedule& schedule) {
  FARO_CHECK(pass.cpu != nullptr);
  if (!std::holds_alternative<detail::CpuAffine>(pass.cpu->kernel)) return add(*pass.cpu, schedule);
  run_ = pass.cpu->run;
  passes_.push_back({.program = pass.orbits ? affine_in_place_program(pass) : affine_program(pass),
                     .source = pass.source,
                     .target = pass.target,
                     .offset = pass.offset});
}

void PassSequence::add(const CpuPass& pass, const SharedSchedule& schedule) {
  run_ = pass.run;
  // A patch counts arrays itself, and follows passes that may count them otherwise.
  if (!std::holds_alternative<detail::CpuPatch>(pass.kernel)) {
    arrays_ = pass.arrays;
    array_bytes_ = pass.array_bytes();
  }
  passes_.push_back({.program = make_program(pass, schedule),
                     .source = pass.source,
                     .target = pass.target,
                     .in_offset = pass.in_offset,
                     .out_offset = pass.out_offset});
}

void PassSequence::run(const std::byte* in, std::byte* out, std::byte* workspace,
                       const ConvertedEnds& converted) const {
  if (passes_.empty()) return;
  const detail::CpuWorkspace& lent = run_.workspace;
  std::byte* const memory = lent.bytes() != 0 && lent.from_page ? at_page(workspace) : workspace;
  const std::uint64_t group = run_.arrays_at_once == 0 ? arrays_ : run_.arrays_at_once;
  const std::uint64_t turns = run_.arrays_at_once == 0 ? 1 : faro::detail::ceil_div(arrays_, group);
  // Where threads take turns for themselves, it tells of turns, else of passes.
  const bool one_by_one = turns == 1 || run_.turns_at_once <= 1;
  RunWatch* const watch = RunWatch::of_this_thread();
  if (watch != nullptr) watch->begin_pass(0, 1);
  const auto take_turn = [&](std::uint64_t turn, std::byte* own) {
    const std::uint64_t first = turn * group;
    for (std::size_t k = 0; k < passes_.size(); ++k) {
      const Placed& pass = passes_[k];
      if (watch != nullptr && one_by_one)
        watch->begin_pass(turn * passes_.size() + k, turns * passes_.size());
      const std::uint64_t at = first * array_bytes_ + pass.offset;
      std::byte* const between = memory + lent.threads_bytes();
      const bool from_between = pass.source == PassBuffer::workspace;
      const bool to_between = pass.target == PassBuffer::workspace;
      const bool is_last = k + 1 == passes_.size();
      std::byte* const kept = converted.between != nullptr ? converted.between : out;
      const std::byte* const given = pass.source == PassBuffer::input ? in : kept;
      pass.program->run({.in = from_between ? between : given + at + pass.in_offset,
                         .out = to_between ? between : (is_last ? out : kept) + at + pass.out_offset,
                         .arrays = std::min(group, arrays_ - first),
                         .memory = own,
                         .read = k == 0 ? converted.read : nullptr,
                         .written = is_last ? converted.written : nullptr});
    }
  };
  if (one_by_one) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) take_turn(turn, memory);
    return;
  }
  share_out_by_rank(turns, run_.turns_at_once, [&](Share share) {
    std::byte* const own = memory == nullptr ? nullptr : memory + share.rank * lent.part_bytes;
    for (std::uint64_t turn = share.begin; turn < share.end; ++turn) take_turn(turn, own);
  });
}

}  // namespace faro::cpu
