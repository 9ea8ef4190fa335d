#include "faro/group.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/array_checks.hpp"
#include "api/group_parts.hpp"
#include "api/group_state.hpp"
#include "faro/error.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

using detail::GroupPart;
using detail::GroupPointers;
using detail::GroupProblem;
using detail::GroupWork;
using detail::kPlanningGroup;
using detail::kRunningGroup;
using detail::of_member;

void require_one(const GroupMember& what) {
  const bool has_problem = what.problem.view || !detail::is_no_permutation(what.problem.permutation);
  const int given = (has_problem ? 1 : 0) + (what.plan != nullptr ? 1 : 0) + (what.rows != nullptr ? 1 : 0);
  if (given != 1) {
    fail(ErrorCode::value, kPlanningGroup,
         given == 0 ? "nothing that is done to it" : "more than one of a problem, a plan and rows",
         "one of a problem, a plan and rows");
  }
  if (what.arithmetic == nullptr) return;
  if (!has_problem) {
    fail(ErrorCode::value, kPlanningGroup, "arithmetic with a plan or rows", "a problem with arithmetic");
  }
  if (what.arithmetic->addend)
    fail(ErrorCode::unsupported, kPlanningGroup, "an addend", "arithmetic without one", "plan it by itself");
  if (what.problem.placement == Placement::in_place) {
    fail(ErrorCode::unsupported, kPlanningGroup, "arithmetic in place", "two arrays", "plan it by itself");
  }
}

Engine engine_of_kept(const GroupMember& what) {
  return what.plan != nullptr ? what.plan->engine() : what.rows->plan().target().engine;
}

Engine group_engine(std::span<const GroupPart> parts, Engine asked) {
  if (asked != Engine::automatic) return asked;
  for (const GroupPart& part : parts) {
    if (part.what.plan != nullptr || part.what.rows != nullptr) return engine_of_kept(part.what);
  }
  return Engine::cpu;
}

// How the arrays of a kept plan lie, or of rows, which are dense.
GroupProblem arrays_of_kept(const GroupMember& what) {
  if (what.plan != nullptr) return GroupProblem::of(what.plan->plan().given(), nullptr);
  GroupProblem made{.problem = {}, .arithmetic = nullptr, .in = {}, .out = {}};
  made.in.element_bytes = made.in.moved_bytes = what.rows->plan().in_bytes();
  made.out.element_bytes = made.out.moved_bytes = what.rows->plan().out_bytes();
  return made;
}

void add_part(Group::State& state, detail::GroupProblems& problems, const GroupPart& part) {
  const GroupMember& what = part.what;
  require_one(what);
  GroupWork work{.member = part.member,
                 .plan = what.plan,
                 .rows = what.rows,
                 .in_offset = what.in_offset_bytes,
                 .out_offset = what.out_offset_bytes};
  if (work.has_problem()) {
    work.problem = problems.add(what.problem, what.arithmetic);
    work.moved_bytes = problems.moved_bytes(work.problem);
    state.kept_of.push_back(0);
  } else {
    if (engine_of_kept(what) != state.engine) {
      fail(ErrorCode::value, kPlanningGroup, fmt::format("a plan of engine {}", name(engine_of_kept(what))),
           fmt::format("one of the group's, {}", name(state.engine)));
    }
    state.kept_of.push_back(state.kept.size());
    state.kept.push_back(arrays_of_kept(what));
    work.moved_bytes = state.kept.back().moved_bytes();
  }
  state.moved_bytes += work.moved_bytes;
  state.parts.push_back(work);
  state.ins[part.member] = what.in;
  state.outs[part.member] = what.out;
}

std::unique_ptr<const Group::State> made_state(std::unique_ptr<Group::State> state,
                                               std::span<const GroupPart> parts, std::size_t members) {
  state->members = members;
  state->ins.assign(members, nullptr);
  state->outs.assign(members, nullptr);
  detail::GroupProblems problems;
  for (const GroupPart& part : parts) of_member(part.member, [&] { add_part(*state, problems, part); });
  state->problems = problems.take();
  for (const GroupWork& part : state->parts) {
    const bool lacks = state->outs[part.member] == nullptr;
    if (lacks && part.moved_bytes > 0) state->has_pointers = false;
  }
  if (state->has_pointers) state->check(state->kept_pointers());
  state->plan_work();
  return state;
}

}  // namespace

Group::Group(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

const Group::State& Group::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a group", "one that was moved from", "the group that it was moved to");
}

std::size_t Group::size() const { return state().members; }
Engine Group::engine() const { return state().engine; }
std::uint64_t Group::workspace_bytes() const { return state().workspace_bytes(); }
std::uint64_t Group::launches() const { return state().launches(); }
std::uint64_t Group::moved_bytes() const { return state().moved_bytes; }
std::optional<double> Group::predicted_us() const { return state().predicted_us(); }

void Group::run(Stream stream) const { run({}, {}, {}, stream); }

void Group::run(std::span<const void* const> ins, std::span<void* const> outs, Stream stream) const {
  const State& of = state();
  if (ins.size() != of.members || outs.size() != of.members) {
    fail(ErrorCode::value, kRunningGroup, fmt::format("{} inputs and {} outputs", ins.size(), outs.size()),
         fmt::format("{} of each, one for every member", of.members));
  }
  if (of.members == 0) return;
  run(ins, outs, {}, stream);
}

void Group::run(std::span<const void* const> ins, std::span<void* const> outs, Workspace workspace,
                Stream stream) const {
  const State& of = state();
  detail::check_stream(of.engine, stream);
  if (ins.empty() && outs.empty()) {
    if (!of.has_pointers) {
      fail(ErrorCode::value, kRunningGroup, "a group that was made without pointers",
           "pointers of each array", "run(ins, outs)");
    }
    return of.run(of.kept_pointers(), true, workspace, stream);
  }
  if (ins.size() != of.members || outs.size() != of.members) return run(ins, outs, stream);  // refuses
  const GroupPointers at{ins, outs};
  of.check(at);
  of.run(at, false, workspace, stream);
}

void Group::run_table(const void* const* device_pointers, Stream stream) const {
  if (device_pointers == nullptr)
    fail(ErrorCode::value, kRunningGroup, "a null table", "an array of addresses on the device");
  state().run_table(device_pointers, stream);
}

std::string Group::explain() const {
  const State& of = state();
  std::string text =
      fmt::format("{:<14}{}, {}, {} read and written, engine {}\n", "group", count_text(of.members, "array"),
                  count_text(of.problems.size(), "problem"), size_text(of.moved_bytes), name(of.engine));
  text += of.explain_work();
  if (const auto us = of.predicted_us()) text += fmt::format("{:<14}{:.4g} us\n", "predicted", *us);
  return text;
}

Group plan_group(std::span<const GroupMember> members, const GroupOptions& options) {
  std::vector<GroupPart> parts;
  parts.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) parts.push_back({.what = members[i], .member = i});
  return detail::plan_group(parts, members.size(), options);
}

Group detail::plan_group(std::span<const GroupPart> parts, std::size_t members, const GroupOptions& options) {
  const bool on_gpu = group_engine(parts, options.engine) == Engine::cuda;
  return Group(
      made_state(on_gpu ? group_on_gpu(options.device) : group_on_cpu(options.threads), parts, members));
}

}  // namespace faro
