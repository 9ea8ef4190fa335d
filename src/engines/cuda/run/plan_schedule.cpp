#include "engines/cuda/run/plan_schedule.hpp"

#include <string>
#include <utility>
#include <variant>

#include "engines/cuda_index.hpp"
#include "faro/error.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {
namespace {

// The index array that the schedule is made from.
Indexed indexed_of(const Plan& plan) { return std::get<Indexed>(plan.problem().permutation); }

void require_on_device(const Indexed& indexed, int device) {
  if (indexed.on_host() || *indexed.device() == device) return;
  fail(ErrorCode::value, "plan", "an index array on device " + std::to_string(*indexed.device()),
       "one of the host or of device " + std::to_string(device), "plan for that device");
}

DeviceIndexSchedule make_schedule(const IndexPlan& plan, const Indexed& indexed, int device) {
  require_on_device(indexed, device);
  const IndexMethod method = plan.chosen().method;
  if (method == IndexMethod::row_column || method == IndexMethod::row_column_5) {
    return upload(schedule::row_column_schedule(indexed.on_host() ? indexed : to_host(indexed)), device);
  }
  return make_device_schedule(plan.chosen(), to_device(indexed, device), plan.recognition().displacement);
}

// Whether a schedule is what the plan's passes were made for.
struct IsPlanned {
  const IndexPlan& plan;

  bool method(IndexMethod wanted) const { return plan.chosen().method == wanted; }
  bool operator()(const schedule::DirectSchedule& /*any*/) const { return method(IndexMethod::direct); }
  bool operator()(const schedule::WindowSchedule& made) const {
    return method(IndexMethod::window) && plan.recognition().displacement == made.window;
  }
  bool operator()(const schedule::RunsSchedule& made) const {
    return method(IndexMethod::runs) && plan.recognition().runs == made.target.size();
  }
  bool operator()(const schedule::PartitionSchedule& made) const {
    return method(IndexMethod::partition) && plan.chosen().shape == made.shape;
  }
  bool operator()(const schedule::RowColumnSchedule& /*any*/) const {
    return method(IndexMethod::row_column) || method(IndexMethod::row_column_5);
  }
};

void require_planned(const Plan& plan, const schedule::IndexSchedule& made) {
  const IndexPlan& index = *plan.index_plan();
  if (made.count != index.count()) {
    fail(ErrorCode::value, "plan", "a schedule of " + std::to_string(made.count) + " elements",
         "one of " + std::to_string(index.count()) + ", as the plan's arrays have");
  }
  const auto* const indexed = std::get_if<Indexed>(&plan.problem().permutation);
  const bool same_way = indexed == nullptr || indexed->direction() == made.applied;
  if (same_way && std::visit(IsPlanned{index}, made.what)) return;
  fail(ErrorCode::value, "plan", "a schedule that was made otherwise",
       "one for " + to_text(index.chosen()) + (same_way ? "" : ", the other way round"),
       "make the plan for this schedule");
}

// A direct plan for these entries.
Plan direct_plan(const Plan& plan, const Indexed& indexed, std::uint64_t repeats) {
  Problem problem = plan.problem();
  problem.permutation = indexed;
  const IndexChoice choice{.method = IndexMethod::direct,
                           .chunk_bits = {},
                           .level_bits = {},
                           .scheduled = true,
                           .repeats = repeats};
  return {problem, plan.target(), plan.index_plan()->recognition(), choice};
}

// Whether passes read the entries of a gather.
bool gathers(const std::vector<Pass>& passes) {
  if (passes.empty() || passes.front().gpu->kernels.empty()) return false;
  const auto* const direct = std::get_if<faro::detail::DirectKernel>(&passes.front().gpu->kernels.front().id);
  return direct != nullptr && direct->way == kernels::Way::backwards;
}

}  // namespace

bool has_schedule(const Plan& plan) { return plan.index_plan() != nullptr; }

PlanSchedule::PlanSchedule(const Plan& plan) : source_(indexed_of(plan)), plan_(plan) {
  schedule_ = make_schedule(*plan.index_plan(), *source_, plan.target().device);
  finish();
}

PlanSchedule::PlanSchedule(const Plan& plan, const schedule::IndexSchedule& made) : plan_(plan) {
  require_planned(plan, made);
  schedule_ = upload(made, plan.target().device);
  if (const auto* const direct = std::get_if<DeviceDirect>(&schedule_.what)) {
    given_ = made;
    plan_ = direct_plan(plan, direct->indexed, plan.index_plan()->repeats());
  }
  finish();
}

void PlanSchedule::finish() {
  if (const auto* const runs = std::get_if<DeviceRuns>(&schedule_.what)) {
    FARO_CHECK(plan_.index_plan()->recognition().runs == runs->target.size());
  }
  turn_round();
  tables_.emplace(schedule_);
}

// The inverse array, made once, which more than one run must pay for.
void PlanSchedule::turn_round() {
  auto* const direct = std::get_if<DeviceDirect>(&schedule_.what);
  if (direct == nullptr || schedule_.applied == Direction::gather || !gathers(plan_.passes())) return;
  try {
    direct->indexed = redirected(direct->indexed, Direction::gather);
    schedule_.applied = Direction::gather;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device) throw;
    plan_ = direct_plan(plan_, direct->indexed, 1);  // a plan for one run does without
  }
}

schedule::IndexSchedule PlanSchedule::fetched() const {
  if (given_) return *given_;
  const auto host_source = [&] { return source_->on_host() ? *source_ : to_host(*source_); };
  if (source_ && std::holds_alternative<DeviceDirect>(schedule_.what)) {
    return schedule::direct_schedule(host_source());
  }
  schedule::IndexSchedule made = download(schedule_);
  if (!schedule_.fingerprint && source_) made.fingerprint = schedule::fingerprint(host_source());
  return made;
}

}  // namespace faro::cuda
