// What a group is made of, of either engine: its problems, which members share, and their parts with where
// arrays lie. group_on_cpu.cpp and group_on_gpu.cpp say how they are carried out.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/group_problems.hpp"
#include "faro/error.hpp"
#include "faro/group.hpp"

namespace faro {
namespace detail {

inline constexpr const char* kPlanningGroup = "plan a group";
inline constexpr const char* kRunningGroup = "run a group";
inline constexpr std::uint64_t kWorkspaceAlignment = 256;

/// Errors of `work` name the member.
template <typename Work>
auto of_member(std::size_t member, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    ErrorReport report = error.report();
    report.got = fmt::format("member {}: {}", member, report.got);
    throw Error(std::move(report));
  }
}

/// The pointers of a run, one of each for every member.
struct GroupPointers {
  std::span<const void* const> ins;
  std::span<void* const> outs;
};

/// A part of a member as it is carried out.
struct GroupWork {
  std::size_t member = 0;
  std::size_t problem = 0;               // of those that are shared
  const ExecutablePlan* plan = nullptr;  // or kept
  const ExecutableRows* rows = nullptr;  // or these
  std::int64_t in_offset = 0;
  std::int64_t out_offset = 0;
  std::uint64_t moved_bytes = 0;

  bool has_problem() const { return plan == nullptr && rows == nullptr; }
  const std::byte* in(const GroupPointers& at) const {
    return static_cast<const std::byte*>(at.ins[member]) + in_offset;
  }
  std::byte* out(const GroupPointers& at) const {
    return static_cast<std::byte*>(at.outs[member]) + out_offset;
  }
};

/// A plan that runs by itself: all of what it moves.
inline void run_plan(const ExecutablePlan& plan, const void* in, void* out, Workspace workspace,
                     Stream stream) {
  const Plan& of = plan.plan();
  const bool lent = workspace.data != nullptr && plan.workspace_bytes() > 0;
  if (of.problem().placement == Placement::in_place) {
    if (lent) return plan.run(out, of.array_bytes(), workspace, stream);
    return plan.run(out, of.array_bytes(), stream);
  }
  if (of.given().view) {
    const std::uint64_t width = of.given().element_bytes;
    return plan.run(in, of.in_bytes() / width, out, of.out_bytes() / width, stream);
  }
  if (lent) return plan.run(in, out, of.array_bytes(), workspace, stream);
  plan.run(in, out, of.array_bytes(), stream);
}

inline void run_arithmetic(const ExecutableArithmetic& plan, const void* in, void* out, Stream stream) {
  plan.run({in, plan.in_count()}, out, plan.out_count(), {}, stream);
}

inline void run_rows(const ExecutableRows& rows, const std::byte* in, std::byte* out, Stream stream) {
  rows.run(std::span(in, rows.plan().in_bytes()), std::span(out, rows.plan().out_bytes()), stream);
}

}  // namespace detail

struct Group::State {
  Engine engine = Engine::cpu;
  int threads = 0;
  int device = 0;
  std::size_t members = 0;
  std::vector<detail::GroupProblem> problems;
  std::vector<detail::GroupWork> parts;
  std::vector<detail::GroupProblem> kept;  // how arrays of kept plans and rows lie, by part
  std::vector<std::size_t> kept_of;        // of parts; or of none
  std::vector<const void*> ins;            // that it was made with
  std::vector<void*> outs;
  bool has_pointers = true;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  /// Once its parts are known.
  virtual void plan_work() = 0;
  virtual void run(const detail::GroupPointers& at, bool are_kept, Workspace workspace,
                   Stream stream) const = 0;
  virtual void run_table(const void* const* /*addresses*/, Stream /*stream*/) const {
    fail(ErrorCode::unsupported, detail::kRunningGroup, "addresses on a device for engine cpu",
         "pointers of the host", "plan for engine cuda");
  }
  virtual std::uint64_t workspace_bytes() const { return 0; }
  virtual std::uint64_t launches() const = 0;
  virtual std::string explain_work() const = 0;
  virtual std::optional<double> predicted_us() const = 0;

  std::uint64_t moved_bytes = 0;  // of all parts

  const detail::GroupProblem& arrays_of(std::size_t part) const {
    return parts[part].has_problem() ? problems[parts[part].problem] : kept[kept_of[part]];
  }

  detail::GroupPointers kept_pointers() const { return {ins, outs}; }

  /// What may be wrong with pointers. Errors: ErrorCode::value.
  void check(const detail::GroupPointers& at) const;

 private:
  void check_null(const detail::GroupPointers& at) const;
  void check_memory(const detail::GroupPointers& at) const;
  void check_overlaps(const detail::GroupPointers& at) const;
  void check_each_overlap(const detail::GroupPointers& at) const;
};

namespace detail {

/// Without parts yet. Errors: ErrorCode::device.
std::unique_ptr<Group::State> group_on_cpu(int threads);
std::unique_ptr<Group::State> group_on_gpu(int device);

}  // namespace detail
}  // namespace faro
