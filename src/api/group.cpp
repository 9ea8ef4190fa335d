#include "faro/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "api/array_checks.hpp"
#include "api/group_parts.hpp"
#include "api/group_problems.hpp"
#include "api/planning.hpp"
#include "disjoint.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_group.hpp"
#include "engines/cuda_values.hpp"
#include "faro/error.hpp"
#include "permutation/route_checks.hpp"
#include "plan/moved_values.hpp"
#include "plan/value_plan.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

using detail::GroupPart;
using detail::GroupProblem;
using detail::LaidArray;
using detail::RunArray;

constexpr const char* kPlanningGroup = "plan a group";
constexpr const char* kRunningGroup = "run a group";
constexpr std::uint64_t kWorkspaceAlignment = 256;
constexpr std::uint64_t kWidestVector = 16;

// Errors of `work` name the member.
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

// The pointers of a run, one of each for every member.
struct GroupPointers {
  std::span<const void* const> ins;
  std::span<void* const> outs;
};

// --- what members are made of

// A part of a member as it is carried out.
struct PartWork {
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

// A plan that runs by itself: all of what it moves.
void run_plan(const ExecutablePlan& plan, const void* in, void* out, Workspace workspace, Stream stream) {
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

void run_arithmetic(const ExecutableArithmetic& plan, const void* in, void* out, Stream stream) {
  plan.run({in, plan.in_count()}, out, plan.out_count(), {}, stream);
}

void run_rows(const ExecutableRows& rows, const std::byte* in, std::byte* out, Stream stream) {
  rows.run(std::span(in, rows.plan().in_bytes()), std::span(out, rows.plan().out_bytes()), stream);
}

}  // namespace

// --- both engines

struct Group::State {
  Engine engine = Engine::cpu;
  int threads = 0;
  int device = 0;
  std::size_t members = 0;
  std::vector<GroupProblem> problems;
  std::vector<PartWork> parts;
  std::vector<GroupProblem> kept;    // how arrays of kept plans and rows lie, by part
  std::vector<std::size_t> kept_of;  // of parts; or of none
  std::vector<const void*> ins;      // that it was made with
  std::vector<void*> outs;
  bool has_pointers = true;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  virtual void run(const GroupPointers& at, bool are_kept, Workspace workspace, Stream stream) const = 0;
  virtual void run_table(const void* const* /*addresses*/, Stream /*stream*/) const {
    fail(ErrorCode::unsupported, kRunningGroup, "addresses on a device for engine cpu",
         "pointers of the host", "plan for engine cuda");
  }
  virtual std::uint64_t workspace_bytes() const { return 0; }
  virtual std::uint64_t launches() const = 0;
  virtual std::string explain_work() const = 0;
  virtual std::optional<double> predicted_us() const = 0;

  std::uint64_t moved_bytes() const {
    std::uint64_t bytes = 0;
    for (const PartWork& part : parts) bytes += part.moved_bytes;
    return bytes;
  }

  const GroupProblem& arrays_of(std::size_t part) const {
    return parts[part].has_problem() ? problems[parts[part].problem] : kept[kept_of[part]];
  }

  GroupPointers kept_pointers() const { return {ins, outs}; }

  // --- what may be wrong with pointers

  void check(const GroupPointers& at) const {
    check_null(at);
    check_memory(at);
    check_overlaps(at);
  }

  void check_null(const GroupPointers& at) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].moved_bytes == 0) continue;
      const std::size_t member = parts[i].member;
      const GroupProblem& of = arrays_of(i);
      const char* const what = at.outs[member] == nullptr                    ? "a null output"
                               : at.ins[member] == nullptr && !of.in_place() ? "a null input"
                                                                             : nullptr;
      if (what != nullptr)
        fail(ErrorCode::value, kRunningGroup, fmt::format("member {}: {}", member, what), "an array");
      if (of.in_place() && at.ins[member] != nullptr && at.ins[member] != at.outs[member]) {
        fail(ErrorCode::value, kRunningGroup,
             fmt::format("member {}: two arrays for a plan in place", member), "one array, as its output");
      }
    }
  }

  void check_memory(const GroupPointers& at) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].moved_bytes == 0) continue;
      const std::size_t member = parts[i].member;
      of_member(member, [&] {
        const void* const in = arrays_of(i).in_place() ? at.outs[member] : at.ins[member];
        if (engine != Engine::cuda)
          return detail::check_on_host(in, at.outs[member], "a group of engine cuda");
        cuda::require_accessible(in, "input", device);
        cuda::require_accessible(at.outs[member], "output", device);
      });
    }
  }

  // Ranges first: most groups have none that meet.
  void check_overlaps(const GroupPointers& at) const {
    struct Range {
      std::uintptr_t begin;
      std::uintptr_t end;
      bool is_output;
      std::size_t part;
    };
    std::vector<Range> ranges;
    ranges.reserve(2 * parts.size());
    const auto add = [&](const LaidArray& laid, bool is_output, std::size_t part) {
      auto begin = reinterpret_cast<std::uintptr_t>(laid.address);
      std::uintptr_t end = begin + laid.element_bytes;
      for (std::size_t axis = 0; axis < laid.extents.size(); ++axis) {
        const std::int64_t reach =
            laid.stride_bytes[axis] * (static_cast<std::int64_t>(laid.extents[axis]) - 1);
        (reach < 0 ? begin : end) += static_cast<std::uintptr_t>(reach);
      }
      ranges.push_back({begin, end, is_output, part});
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].moved_bytes == 0) continue;
      const GroupProblem& of = arrays_of(i);
      add(of.out.at(parts[i].out(at)), true, i);
      if (!of.in_place()) add(of.in.at(parts[i].in(at)), false, i);
      if (parts[i].rows != nullptr) {
        const RowNumbers& entries = row_numbers(parts[i].rows->plan().move());
        add({entries.data, entries.count * static_cast<std::uint64_t>(entries.type.bytes)}, false, i);
      }
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    // The farthest ends of what begins before: an output meets whatever ends past its begin.
    std::uintptr_t any_end = 0;
    std::uintptr_t output_end = 0;
    bool meet = false;
    for (const Range& range : ranges) {
      meet = meet || range.begin < (range.is_output ? any_end : output_end);
      any_end = std::max(any_end, range.end);
      if (range.is_output) output_end = std::max(output_end, range.end);
    }
    if (meet) check_each_overlap(at);
  }

  // Element by element, by names that tell the members.
  void check_each_overlap(const GroupPointers& at) const {
    std::vector<std::string> names;
    names.reserve(2 * parts.size());
    const auto named = [&](const char* what, std::size_t member) {
      names.push_back(fmt::format("the {} of member {}", what, member));
      return names.back().c_str();
    };
    std::vector<RunArray> outputs;
    std::vector<RunArray> inputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].moved_bytes == 0) continue;
      const GroupProblem& of = arrays_of(i);
      outputs.push_back({named("output", parts[i].member), of.out.at(parts[i].out(at))});
      if (!of.in_place()) inputs.push_back({named("input", parts[i].member), of.in.at(parts[i].in(at))});
      if (parts[i].rows != nullptr)
        inputs.push_back({"entries", detail::laid(row_numbers(parts[i].rows->plan().move()))});
    }
    detail::check_disjoint(kRunningGroup, outputs, inputs,
                           "members have no order, so what one writes no other reads");
  }
};

namespace {

// --- engine cpu

// What a thread does with an array of a problem.
class CpuWork {
 public:
  CpuWork(const GroupProblem& of, int threads) {
    const PlanOptions options{.engine = Engine::cpu, .threads = threads};
    if (of.arithmetic != nullptr) {
      if (of.problem.view) {
        runs_.emplace<ExecutableArithmetic>(faro::plan(*of.problem.view, *of.arithmetic, options));
      } else {
        runs_.emplace<ExecutableArithmetic>(faro::plan(of.problem, *of.arithmetic, options));
      }
      return;
    }
    in_place_ = of.in_place();
    detail::Decision decision = detail::decide(of.problem, options);
    runs_.emplace<cpu::Executor>(decision.plan);
  }

  std::uint64_t workspace_bytes() const {
    const auto* const executor = std::get_if<cpu::Executor>(&runs_);
    return executor == nullptr ? 0 : executor->workspace_bytes();
  }

  void run(const std::byte* in, std::byte* out, std::byte* workspace) const {
    if (const auto* const arithmetic = std::get_if<ExecutableArithmetic>(&runs_))
      return run_arithmetic(*arithmetic, in, out, {});
    const auto& executor = std::get<cpu::Executor>(runs_);
    if (in_place_) return executor.run_in_place(out, workspace);
    executor.run(in, out, workspace);
  }

 private:
  std::variant<std::monostate, cpu::Executor, ExecutableArithmetic> runs_;
  bool in_place_ = false;
};

// Arrays that one thread moves in a row.
struct CpuBatch {
  std::size_t begin = 0;  // of State::small
  std::size_t end = 0;
};

struct CpuState final : Group::State {
  std::vector<std::optional<CpuWork>> by_one;   // of problems, by one thread
  std::vector<std::optional<CpuWork>> by_team;  // or by all
  std::vector<std::size_t> large;               // parts, one after another
  std::vector<std::size_t> small;               // the heaviest first
  std::vector<CpuBatch> batches;
  std::uint64_t thread_bytes = 0;  // of workspace, of each thread

  void plan_work() {
    by_one.resize(problems.size());
    by_team.resize(problems.size());
    const std::uint64_t all = moved_bytes();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const PartWork& part = parts[i];
      if (!part.has_problem() || is_large(part, all)) {
        large.push_back(i);
      } else {
        small.push_back(i);
      }
      if (!part.has_problem()) continue;
      std::optional<CpuWork>& work = (is_large(part, all) ? by_team : by_one)[part.problem];
      if (work) continue;
      const bool by_all = is_large(part, all);
      of_member(part.member, [&] { work.emplace(problems[part.problem], by_all ? threads : 1); });
      if (!by_all) thread_bytes = std::max(thread_bytes, work->workspace_bytes());
    }
    std::erase_if(small, [&](std::size_t i) { return parts[i].moved_bytes == 0; });
    std::erase_if(large, [&](std::size_t i) { return parts[i].moved_bytes == 0; });
    const auto heavier = [&](std::size_t a, std::size_t b) {
      return parts[a].moved_bytes > parts[b].moved_bytes;
    };
    std::stable_sort(small.begin(), small.end(), heavier);
    make_batches(all);
  }

  // An array that others could not make up for while one thread moves it.
  bool is_large(const PartWork& part, std::uint64_t all) const {
    constexpr std::uint64_t kLeast = std::uint64_t{512} << 10;
    constexpr std::uint64_t kLarge = std::uint64_t{16} << 20;
    if (threads <= 1 || part.moved_bytes < kLeast) return false;
    return part.moved_bytes >= kLarge || part.moved_bytes > all / (4 * static_cast<std::uint64_t>(threads));
  }

  void make_batches(std::uint64_t all) {
    constexpr std::uint64_t kBatches = 32;  // a thread
    constexpr std::uint64_t kLeastBatch = std::uint64_t{64} << 10;
    const std::uint64_t wanted =
        std::max(kLeastBatch, all / (kBatches * static_cast<std::uint64_t>(std::max(1, threads))));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < small.size(); ++i) {
      if (bytes == 0) batches.push_back({i, i});
      bytes += parts[small[i]].moved_bytes;
      batches.back().end = i + 1;
      if (bytes >= wanted) bytes = 0;
    }
  }

  void run(const GroupPointers& at, bool /*are_kept*/, Workspace /*workspace*/,
           Stream stream) const override {
    detail::check_stream(Engine::cpu, stream);
    for (const std::size_t i : large) run_large(parts[i], at);
    run_small(at);
  }

  void run_large(const PartWork& part, const GroupPointers& at) const {
    if (part.plan != nullptr) return run_plan(*part.plan, part.in(at), part.out(at), {}, {});
    if (part.rows != nullptr) return run_rows(*part.rows, part.in(at), part.out(at), {});
    by_team[part.problem]->run(part.in(at), part.out(at), nullptr);
  }

  void run_small(const GroupPointers& at) const {
    if (batches.empty()) return;
    const cpu::WatchedWork watched(batches.size());
    const auto team = static_cast<std::size_t>(std::max(1, threads));
    std::vector<std::unique_ptr<std::byte[]>> workspaces(team);
    std::exception_ptr failed;
    std::mutex mutex;
    std::atomic<bool> is_over{false};
    const auto work = [&](std::uint64_t number, std::uint64_t rank) {
      if (is_over.load(std::memory_order_relaxed) || watched.is_ended()) return;
      try {
        if (thread_bytes > 0 && workspaces[rank] == nullptr)
          workspaces[rank] = std::make_unique_for_overwrite<std::byte[]>(thread_bytes);
        for (std::size_t i = batches[number].begin; i < batches[number].end; ++i) {
          const PartWork& part = parts[small[i]];
          by_one[part.problem]->run(part.in(at), part.out(at), workspaces[rank].get());
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::current_exception();
        is_over.store(true, std::memory_order_relaxed);
      }
      watched.did(1);
      if (rank == 0) watched.ask();
    };
    detail::take_turns_at(batches.size(), threads, 1, work);
    if (failed) std::rethrow_exception(failed);
    watched.require_unended();
  }

  std::uint64_t launches() const override { return large.size() + (batches.empty() ? 0 : 1); }

  std::optional<double> predicted_us() const override {
    const Target target = cpu::target(threads);
    const std::uint64_t bytes = moved_bytes() / 2;
    return curves_of(target).predict_us(IndexKernel::copy, 1, std::max<std::uint64_t>(bytes, 1));
  }

  std::string explain_work() const override {
    std::string text;
    if (!large.empty()) {
      text += fmt::format("{:<14}{} by all {} threads, one after another\n", "large",
                          count_text(large.size(), "array"), threads);
    }
    if (!small.empty()) {
      text += fmt::format("{:<14}{} by one thread each, the heaviest first, in {} turns of {} threads\n",
                          "others", count_text(small.size(), "array"), batches.size(), threads);
    }
    return text;
  }
};

// --- engine cuda

// Arrays that have launches of their own.
struct OwnLaunches {
  std::size_t part = 0;
  const ExecutablePlan* plan = nullptr;
  const ExecutableArithmetic* arithmetic = nullptr;
};
// A problem with arithmetic whose parts are views.
struct GroupChanges {
  std::vector<cuda::ValueExecutor> parts = {};
  bool is_compiled = true;  // else what comes is planned by itself
  // By the alignments of both sides, those of all parts.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<detail::GroupValuesWork>> works = {};
};
struct RowLaunches {
  const ExecutableRows* rows = nullptr;
  std::vector<std::size_t> parts = {};
};

struct CudaState final : Group::State {
  detail::GroupLaunches told;  // without their blocks, once they are on the device
  std::optional<cuda::GroupExecutor> executor;
  std::vector<std::uint64_t> in_past;  // of members, past a multiple of detail::kGroupAlignment
  std::vector<std::uint64_t> out_past;
  std::vector<bool> grouped;                           // members of such launches
  std::vector<std::unique_ptr<ExecutablePlan>> plans;  // of problems that groups have no kernels for
  std::vector<std::unique_ptr<ExecutableArithmetic>> arithmetic;
  std::vector<GroupChanges> changed;  // of problems, where they are views
  std::vector<cuda::RuntimeKernel> change_kernels;
  std::map<std::string, std::size_t> change_numbers;  // of those, by their kinds
  std::vector<OwnLaunches> own;
  std::vector<RowLaunches> rows;
  std::uint64_t own_bytes = 0;  // of workspace
  std::optional<Calibration> rates;

  void plan_work() {
    const PlanOptions options{.engine = Engine::cuda, .device = device};
    const Target target = cuda::target(device);
    device = target.device;
    rates = target.calibration;
    std::vector<std::optional<std::vector<detail::GpuPass>>> passes(problems.size());
    plans.resize(problems.size());
    arithmetic.resize(problems.size());
    changed.resize(problems.size());
    std::vector<bool> is_planned(problems.size(), false);
    for (const PartWork& part : parts) {
      if (!part.has_problem() || is_planned[part.problem]) continue;
      is_planned[part.problem] = true;
      of_member(part.member, [&] { plan_problem(part.problem, target, options, passes[part.problem]); });
    }
    set_past();
    std::vector<detail::GroupArray> arrays;
    std::map<const ExecutableRows*, std::size_t> of_rows;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const PartWork& part = parts[i];
      if (part.moved_bytes == 0) continue;
      if (part.rows != nullptr) {
        const auto [found, is_new] = of_rows.try_emplace(part.rows, rows.size());
        if (is_new) rows.push_back({.rows = part.rows});
        rows[found->second].parts.push_back(i);
        own_bytes = std::max(own_bytes, part.rows->workspace_bytes());
      } else if (part.has_problem() && !changed[part.problem].parts.empty() &&
                 changed[part.problem].is_compiled &&
                 of_member(part.member, [&] { return add_changes(part, arrays); })) {
        grouped[part.member] = true;
      } else if (part.has_problem() && passes[part.problem]) {
        arrays.push_back(array_of(part, &*passes[part.problem]));
        grouped[part.member] = true;
      } else {
        const ExecutablePlan* const plan = part.plan != nullptr ? part.plan : plans[part.problem].get();
        const ExecutableArithmetic* const changes =
            part.plan != nullptr ? nullptr : arithmetic[part.problem].get();
        own.push_back({.part = i, .plan = plan, .arithmetic = changes});
        if (plan != nullptr) own_bytes = std::max(own_bytes, plan->workspace_bytes());
      }
    }
    told = detail::make_group_launches(arrays);
    if (told.launches.empty()) return;
    std::vector<const void*> addresses;
    if (has_pointers) addresses = all_addresses(kept_pointers());
    executor.emplace(told, members, addresses, change_kernels, device);
    for (detail::GroupLaunch& launch : told.launches) launch.blocks = {};
    told.params = {};
  }

  void plan_problem(std::size_t number, const Target& target, const PlanOptions& options,
                    std::optional<std::vector<detail::GpuPass>>& passes) {
    const GroupProblem& of = problems[number];
    if (of.arithmetic != nullptr) return plan_changes(number, options);
    passes = detail::group_passes(of.problem, target);
    if (!passes) plans[number] = std::make_unique<ExecutablePlan>(faro::plan(of.problem, options));
  }

  // By one launch of all arrays that are changed alike; what is no view, and where the kernel cannot be
  // compiled, by itself.
  void plan_changes(std::size_t number, const PlanOptions& options) {
    const GroupProblem& of = problems[number];
    const Target one_thread = cpu::target(1);
    std::vector<detail::ValuePlan> plans_of_parts;
    if (of.problem.view) {
      plans_of_parts = {detail::make_value_plan(*of.problem.view, *of.arithmetic, one_thread)};
    } else if (const auto views = detail::make_moved_views(of.problem, *of.arithmetic, one_thread)) {
      plans_of_parts = std::get<detail::ViewsOfValues>(views->way).parts;
    }
    std::erase_if(plans_of_parts, [](const detail::ValuePlan& plan) { return plan.count == 0; });
    for (const detail::ValuePlan& plan : plans_of_parts) changed[number].parts.emplace_back(plan, device);
    if (changed[number].parts.empty()) plan_changes_by_itself(number, options);
  }

  void plan_changes_by_itself(std::size_t number, const PlanOptions& options) {
    const GroupProblem& of = problems[number];
    arithmetic[number] = std::make_unique<ExecutableArithmetic>(
        of.problem.view ? faro::plan(*of.problem.view, *of.arithmetic, options)
                        : faro::plan(of.problem, *of.arithmetic, options));
  }

  // False where the kernel cannot be compiled here: then the problem is planned by itself.
  bool add_changes(const PartWork& part, std::vector<detail::GroupArray>& arrays) {
    GroupChanges& of = changed[part.problem];
    const Arithmetic& how = *problems[part.problem].arithmetic;
    detail::GroupArray array = array_of(part);
    const auto aligned = [&](std::uint64_t past, Number number, const char* role) {
      const std::uint64_t widest = std::uint64_t{1} << std::countr_zero(past | kWidestVector);
      if (widest < bytes_of(number)) {
        fail(ErrorCode::value, kRunningGroup, fmt::format("an {} aligned to {} bytes", role, widest),
             fmt::format("aligned to its numbers, {} bytes", bytes_of(number)));
      }
      return widest;
    };
    const std::pair<std::uint64_t, std::uint64_t> alignments{aligned(array.in_past, how.from, "input"),
                                                             aligned(array.out_past, how.to, "output")};
    const auto [works, is_new] = of.works.try_emplace(alignments);
    if (is_new && !make_works(part.problem, alignments, works->second)) {
      of.is_compiled = false;
      plan_changes_by_itself(part.problem, {.engine = Engine::cuda, .device = device});
      return false;
    }
    for (const detail::GroupValuesWork& work : works->second) {
      array.values = &work;
      arrays.push_back(array);
    }
    return true;
  }

  bool make_works(std::size_t problem, const std::pair<std::uint64_t, std::uint64_t>& alignments,
                  std::vector<detail::GroupValuesWork>& works) {
    const detail::ValueAlignment alignment{.in = alignments.first, .out = alignments.second};
    for (const cuda::ValueExecutor& part : changed[problem].parts) {
      const cuda::GroupedValues values = part.grouped(alignment);
      const auto [kind, is_new] = change_numbers.try_emplace(values.kind, change_kernels.size());
      if (is_new) {
        try {
          change_kernels.push_back(part.group_kernel(alignment));
        } catch (const Error& error) {
          change_numbers.erase(kind);
          if (error.code() != ErrorCode::device) throw;
          return false;
        }
      }
      works.push_back({.changes = kind->second,
                       .arrays = values.arrays,
                       .boxes = values.boxes,
                       .shared_bytes = values.shared_bytes});
    }
    return true;
  }

  void set_past() {
    in_past.assign(members, 0);
    out_past.assign(members, 0);
    grouped.assign(members, false);
    if (!has_pointers) return;
    for (std::size_t member = 0; member < members; ++member) {
      in_past[member] = past(ins[member]);
      out_past[member] = past(outs[member]);
    }
  }

  static std::uint64_t past(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % detail::kGroupAlignment;
  }

  detail::GroupArray array_of(const PartWork& part,
                              const std::vector<detail::GpuPass>* passes = nullptr) const {
    const auto moved = [](std::uint64_t past, std::int64_t offset) {
      return (past + static_cast<std::uint64_t>(offset)) % detail::kGroupAlignment;
    };
    return {.passes = passes,
            .member = static_cast<std::uint32_t>(part.member),
            .in_past = moved(in_past[part.member], part.in_offset),
            .out_past = moved(out_past[part.member], part.out_offset),
            .in_offset_bytes = part.in_offset,
            .out_offset_bytes = part.out_offset};
  }

  static std::vector<const void*> all_addresses(const GroupPointers& at) {
    std::vector<const void*> all(at.ins.begin(), at.ins.end());
    all.insert(all.end(), at.outs.begin(), at.outs.end());
    return all;
  }

  // Parameters say how far arrays lie past aligned addresses.
  void check_past(const GroupPointers& at) const {
    const auto check_one = [&](std::size_t member, const char* role, const void* pointer,
                               std::uint64_t wanted) {
      const std::uint64_t got = past(pointer);
      if (!grouped[member] || got == wanted) return;
      fail(ErrorCode::value, kRunningGroup,
           fmt::format("member {}: an {} {} bytes past a multiple of {}", member, role, got,
                       detail::kGroupAlignment),
           wanted == 0 ? std::string("an array at one")
                       : fmt::format("{}, as the group was made with", wanted),
           "plan a group for these arrays");
    };
    for (std::size_t member = 0; member < members; ++member) {
      check_one(member, "input", at.ins[member], in_past[member]);
      check_one(member, "output", at.outs[member], out_past[member]);
    }
  }

  std::uint64_t address_bytes() const {
    return executor ? detail::round_up(2 * members * sizeof(void*), kWorkspaceAlignment) : 0;
  }
  std::uint64_t workspace_bytes() const override { return address_bytes() + own_bytes; }

  void run(const GroupPointers& at, bool are_kept, Workspace workspace, Stream stream) const override {
    if (!are_kept && executor) check_past(at);
    const std::uint64_t needed = workspace_bytes();
    if (workspace.data != nullptr) check_lent(workspace, needed);
    auto* const lent = static_cast<std::byte*>(workspace.data);
    if (executor) {
      if (are_kept) {
        executor->run(stream);
      } else {
        executor->run(all_addresses(at), reinterpret_cast<const void**>(lent), stream);
      }
    }
    if (own.empty() && rows.empty()) return;
    const cuda::StreamMemory taken(lent == nullptr ? own_bytes : 0, device, stream);
    std::byte* const memory =
        lent == nullptr ? static_cast<std::byte*>(taken.data()) : lent + address_bytes();
    const Workspace of_own{.data = memory, .bytes = own_bytes};
    for (const OwnLaunches& each : own) {
      const PartWork& part = parts[each.part];
      of_member(part.member, [&] {
        if (each.arithmetic != nullptr)
          return run_arithmetic(*each.arithmetic, part.in(at), part.out(at), stream);
        run_plan(*each.plan, part.in(at), part.out(at), of_own, stream);
      });
    }
    for (const RowLaunches& each : rows) run_columns(each, at, of_own, stream);
  }

  void run_columns(const RowLaunches& of, const GroupPointers& at, Workspace workspace, Stream stream) const {
    std::vector<RowColumn> columns;
    columns.reserve(of.parts.size());
    const RowPlan& plan = of.rows->plan();
    for (const std::size_t i : of.parts) {
      columns.push_back({.in = std::span(parts[i].in(at), plan.in_bytes()),
                         .out = std::span(parts[i].out(at), plan.out_bytes()),
                         .row_bytes = plan.layout().row_bytes});
    }
    if (of.rows->workspace_bytes() == 0) return of.rows->run(std::span<const RowColumn>(columns), stream);
    of.rows->run(std::span<const RowColumn>(columns), workspace, stream);
  }

  void check_lent(const Workspace& workspace, std::uint64_t needed) const {
    if (workspace.bytes < needed) {
      fail(ErrorCode::value, kRunningGroup, fmt::format("a workspace of {} bytes", workspace.bytes),
           fmt::format("workspace_bytes() of them, {}", needed));
    }
    if (reinterpret_cast<std::uintptr_t>(workspace.data) % kWorkspaceAlignment != 0) {
      fail(ErrorCode::value, kRunningGroup,
           fmt::format("a workspace that is not aligned to {} bytes", kWorkspaceAlignment), "one that is");
    }
    if (needed > 0) cuda::require_accessible(workspace.data, "workspace", device);
  }

  void run_table(const void* const* addresses, Stream stream) const override {
    if (!own.empty() || !rows.empty()) {
      const std::size_t part = own.empty() ? rows.front().parts.front() : own.front().part;
      fail(ErrorCode::unsupported, kRunningGroup,
           fmt::format("member {}, which has launches of its own, and addresses on the device",
                       parts[part].member),
           "pointers of the host", "make a group of the others");
    }
    if (executor) executor->run_table(addresses, stream);
  }

  std::uint64_t launches() const override {
    std::uint64_t all = told.launches.size();
    for (const OwnLaunches& each : own)
      all += each.plan == nullptr ? 1 : std::max<std::uint64_t>(1, each.plan->plan().passes().size());
    for (const RowLaunches& each : rows) {
      constexpr std::uint64_t kTogether = 128;
      all += detail::ceil_div(std::uint64_t{each.parts.size()}, kTogether);
    }
    return all;
  }

  std::optional<double> predicted_us() const override {
    constexpr double kLaunchUs = 2.5;
    if (!rates || rates->copy.gb_per_s <= 0) return std::nullopt;
    const double launched = kLaunchUs * static_cast<double>(std::max<std::uint64_t>(launches(), 1) - 1);
    return rates->copy.microseconds(static_cast<double>(moved_bytes())) + launched;
  }

  std::string explain_work() const override {
    std::string text;
    for (std::size_t i = 0; i < told.launches.size(); ++i) {
      const detail::GroupLaunch& launch = told.launches[i];
      text += fmt::format("{:<14}{}, {}, {} blocks of {} threads", fmt::format("launch {}", i + 1),
                          kernels::name(launch.family.kind), count_text(launch.arrays, "array"), launch.grid,
                          launch.threads);
      if (launch.shared_bytes > 0)
        text += fmt::format(", {} of shared memory a block", size_text(launch.shared_bytes));
      text += '\n';
    }
    for (const OwnLaunches& each : own) {
      const PartWork& part = parts[each.part];
      const Problem& problem =
          part.plan != nullptr ? part.plan->plan().given() : problems[part.problem].problem;
      text += fmt::format("{:<14}member {}: {}{}\n", "by itself", part.member, to_text(problem),
                          each.arithmetic != nullptr                 ? ", with arithmetic"
                          : problem.placement == Placement::in_place ? ", in place"
                                                                     : "");
    }
    for (const RowLaunches& each : rows) {
      text +=
          fmt::format("{:<14}{} by one plan, 128 a launch\n", "rows", count_text(each.parts.size(), "array"));
    }
    if (executor)
      text += fmt::format("{:<14}{} on the device\n", "table", size_text(executor->table_bytes()));
    return text;
  }
};

// --- making one

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
  PartWork work{.member = part.member,
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
  state.parts.push_back(work);
  state.ins[part.member] = what.in;
  state.outs[part.member] = what.out;
}

template <typename State>
std::unique_ptr<const Group::State> made_state(std::unique_ptr<State> state, std::span<const GroupPart> parts,
                                               std::size_t members) {
  state->members = members;
  state->ins.assign(members, nullptr);
  state->outs.assign(members, nullptr);
  detail::GroupProblems problems;
  for (const GroupPart& part : parts) of_member(part.member, [&] { add_part(*state, problems, part); });
  state->problems = problems.take();
  for (const PartWork& part : state->parts) {
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
std::uint64_t Group::moved_bytes() const { return state().moved_bytes(); }
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
                  count_text(of.problems.size(), "problem"), size_text(of.moved_bytes()), name(of.engine));
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
  const Engine engine = group_engine(parts, options.engine);
  if (engine == Engine::cuda) {
    auto state = std::make_unique<CudaState>();
    state->engine = engine;
    state->device = cuda::ordinal_of(options.device);
    return Group(made_state(std::move(state), parts, members));
  }
  auto state = std::make_unique<CpuState>();
  state->engine = engine;
  state->threads = options.threads > 0 ? options.threads : detail::thread_count();
  return Group(made_state(std::move(state), parts, members));
}

}  // namespace faro
