// Groups on a GPU: a launch for each family of kernels that groups have, and launches of their own for what
// has none.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "api/group_state.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_group.hpp"
#include "engines/cuda_values.hpp"
#include "faro/error.hpp"
#include "plan/moved_values.hpp"
#include "plan/value_plan.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

using detail::GroupPointers;
using detail::GroupProblem;
using detail::GroupWork;
using detail::kRunningGroup;
using detail::of_member;

constexpr std::uint64_t kWidestVector = 16;

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

  void plan_work() override {
    const PlanOptions options{.engine = Engine::cuda, .device = device};
    Target target = cuda::target(device);
    device = target.device;
    // What is small alone is not where there is much of it: its tiles are those of large arrays.
    if (moved_bytes / 2 > target.small_bytes_max) target.small_bytes_max = 0;
    rates = target.calibration;
    std::vector<std::optional<std::vector<detail::GpuPass>>> passes(problems.size());
    plans.resize(problems.size());
    arithmetic.resize(problems.size());
    changed.resize(problems.size());
    std::vector<bool> is_planned(problems.size(), false);
    for (const GroupWork& part : parts) {
      if (!part.has_problem() || is_planned[part.problem]) continue;
      is_planned[part.problem] = true;
      of_member(part.member, [&] { plan_problem(part.problem, target, options, passes[part.problem]); });
    }
    set_past();
    std::vector<detail::GroupArray> arrays;
    std::map<const ExecutableRows*, std::size_t> of_rows;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const GroupWork& part = parts[i];
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
    for (detail::GroupLaunch& launch : told.launches) {
      launch.blocks = {};
      launch.boxes = {};
    }
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
  bool add_changes(const GroupWork& part, std::vector<detail::GroupArray>& arrays) {
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

  detail::GroupArray array_of(const GroupWork& part,
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
    return executor ? detail::round_up(2 * members * sizeof(void*), detail::kWorkspaceAlignment) : 0;
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
      const GroupWork& part = parts[each.part];
      of_member(part.member, [&] {
        if (each.arithmetic != nullptr)
          return detail::run_arithmetic(*each.arithmetic, part.in(at), part.out(at), stream);
        detail::run_plan(*each.plan, part.in(at), part.out(at), of_own, stream);
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
    if (reinterpret_cast<std::uintptr_t>(workspace.data) % detail::kWorkspaceAlignment != 0) {
      fail(ErrorCode::value, kRunningGroup,
           fmt::format("a workspace that is not aligned to {} bytes", detail::kWorkspaceAlignment),
           "one that is");
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
    return rates->copy.microseconds(static_cast<double>(moved_bytes)) + launched;
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
      const GroupWork& part = parts[each.part];
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

}  // namespace

std::unique_ptr<Group::State> detail::group_on_gpu(int device) {
  auto state = std::make_unique<CudaState>();
  state->engine = Engine::cuda;
  state->device = cuda::ordinal_of(device);
  return state;
}

}  // namespace faro
