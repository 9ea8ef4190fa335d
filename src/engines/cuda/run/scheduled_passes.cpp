#include "engines/cuda/run/scheduled_passes.hpp"

#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "kernels/partition_params.hpp"

namespace faro::cuda {
namespace {

using faro::detail::GpuPass;

std::unique_ptr<const PlanSchedule> make_schedule(const Plan& plan, const schedule::IndexSchedule* made) {
  if (!has_schedule(plan)) return nullptr;
  if (made == nullptr) return std::make_unique<const PlanSchedule>(plan);
  return std::make_unique<const PlanSchedule>(plan, *made);
}

std::vector<GpuPass> passes_of(const Plan& plan) {
  std::vector<GpuPass> made;
  for (const Pass& pass : plan.passes()) {
    FARO_CHECK(pass.gpu != nullptr);
    made.push_back(*pass.gpu);
  }
  return made;
}

}  // namespace

ScheduledPasses::ScheduledPasses(const Plan& plan, const schedule::IndexSchedule* made,
                                 std::optional<PassChange> change)
    : least_unit_(plan.given().view ? 1 : kernels::units_of_element(plan.given().element_bytes).unit_bytes),
      change_(std::move(change)),
      schedule_(make_schedule(plan, made)),
      aligned_(load(passes_of(schedule_ ? schedule_->plan() : plan))) {}

LoadedPasses ScheduledPasses::load(const std::vector<GpuPass>& passes) const {
  LoadedPasses::TablesOf tables;
  if (schedule_) tables = [this](const GpuPass& pass) { return schedule_->tables_of(pass); };
  return LoadedPasses(passes, tables, change_ ? &*change_ : nullptr);
}

const LoadedPasses& ScheduledPasses::of(std::uintptr_t addresses) const {
  if (!schedule_ || aligned_.empty()) return aligned_;
  const std::uint64_t unit = aligned_[0].pass().kernels.back().in_alignment;
  const std::uint64_t alignment = addresses & (~addresses + 1);
  if (addresses % unit == 0 || alignment < least_unit_) return aligned_;  // which refuses what has less
  const std::lock_guard lock(mutex_);
  auto& loaded = narrower_[alignment];
  if (loaded == nullptr) {
    loaded = std::make_unique<const LoadedPasses>(
        load(faro::detail::solve_by_units(*schedule_->plan().index_plan(), alignment)));
  }
  return *loaded;
}

}  // namespace faro::cuda
