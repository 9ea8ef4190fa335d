// A call of a family: the pass that an ordinary plan of each part's view would have, made at once, as a
// program.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/small_move.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::cpu {
namespace {

CpuPass pass_of_part(const kernels::FamilyView& part, const detail::AxisMap& map,
                     const detail::FamilyCall& call, const Target& target) {
  const std::uint64_t width = call.plan().map.element_bytes;
  CpuPass pass = detail::cpu_strided_pass(map.axes, width, call.moved_bytes() > target.streaming_bytes,
                                          detail::core_caches(target));
  pass.count = detail::unit_count(map.axes);
  pass.element_bytes = width;
  pass.in_offset = static_cast<std::uint64_t>(part.in_first);
  pass.out_offset = static_cast<std::uint64_t>(part.out_first);
  pass.threads =
      detail::useful_threads(std::max(1, target.threads), call.moved_bytes(), detail::core_caches(target));
  return pass;
}

}  // namespace

struct FamilyRun::State {
  struct Part {
    std::optional<SmallMove> move;  // instead of a program
    Program program;
    std::uint64_t in_offset = 0;
    std::uint64_t out_offset = 0;
  };
  std::vector<Part> parts;
  std::uint64_t thread_bytes = 0;  // of workspace
  std::uint64_t threads = 1;
};

FamilyRun::FamilyRun(const detail::FamilyCall& call, const Target& target) {
  auto made = std::make_unique<State>();
  call.for_each_part([&](const kernels::FamilyView& part) {
    const std::uint64_t width = call.plan().map.element_bytes;
    const detail::AxisMap map = detail::axis_map(part, width);
    if (const auto move = small_move(map.axes, width)) {
      made->parts.push_back({move, nullptr, static_cast<std::uint64_t>(part.in_first),
                             static_cast<std::uint64_t>(part.out_first)});
      return;
    }
    const CpuPass pass = pass_of_part(part, map, call, target);
    made->thread_bytes = std::max(made->thread_bytes, pass.run.workspace.part_bytes);
    made->threads = static_cast<std::uint64_t>(pass.threads);
    made->parts.push_back({std::nullopt, make_program(pass, nullptr), pass.in_offset, pass.out_offset});
  });
  state_ = std::move(made);
}

FamilyRun::~FamilyRun() = default;

void FamilyRun::run(const void* in, void* out) const {
  const auto run_in = [&](std::byte* memory) {
    for (const State::Part& part : state_->parts) {
      const std::byte* const from = static_cast<const std::byte*>(in) + part.in_offset;
      std::byte* const to = static_cast<std::byte*>(out) + part.out_offset;
      if (part.move) {
        ReadyMove(*part.move).run(from, to);
      } else {
        part.program->run({.in = from, .out = to, .arrays = 1, .memory = memory});
      }
    }
  };
  if (state_->thread_bytes == 0) return run_in(nullptr);
  const std::uint64_t bytes = state_->thread_bytes * state_->threads + detail::kPageBytes;
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  void* begin = memory.get();
  std::size_t room = bytes;
  run_in(static_cast<std::byte*>(std::align(detail::kPageBytes, 1, begin, room)));
}

std::string FamilyRun::explain(const detail::FamilyCall& call, const Target& target) {
  std::string text;
  call.for_each_part([&](const kernels::FamilyView& part) {
    if (!text.empty()) text += "; ";
    const detail::AxisMap map = detail::axis_map(part, call.plan().map.element_bytes);
    text += detail::kCpuAxesSolver.loop(pass_of_part(part, map, call, target));
  });
  return text.empty() ? "nothing is moved" : text;
}

}  // namespace faro::cpu
