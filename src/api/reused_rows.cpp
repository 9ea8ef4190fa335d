#include "api/reused_rows.hpp"

#include <algorithm>
#include <utility>

#include "engines/cuda_index.hpp"
#include "plan/row_partition.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

// Below, what is at random stays in the caches.
constexpr std::uint64_t kLeastReusedBytes = std::uint64_t{32} << 20;

bool pays(const RowPlan& plan) {
  const std::uint64_t width = plan.layout().row_bytes;
  if (plan.target().engine != Engine::cuda || plan.layout().outer != 1 || (width != 4 && width != 8))
    return false;
  if (std::max(plan.in_bytes(), plan.out_bytes()) < kLeastReusedBytes) return false;
  const auto* const add = std::get_if<Add>(&plan.move());
  if (add != nullptr) return width == bytes_of(add->number);
  return true;
}

}  // namespace

std::shared_ptr<const ReusedRows> ReusedRows::of(const RowPlan& plan) {
  if (!pays(plan)) return nullptr;
  auto sorted = cuda::sorted_rows(plan);
  if (!sorted) return nullptr;
  const int device = plan.target().device;
  const bool takes = std::holds_alternative<Take>(plan.move());
  const Indexed order = cuda::indexed_on_device(sorted->items->data(), row_numbers(plan.move()).count,
                                                {.bytes = 4, .is_signed = false},
                                                takes ? Direction::scatter : Direction::gather, device);
  const PlanOptions options{.engine = Engine::cuda, .device = device};
  if (takes) {
    Plan gathered = plan_only(Problem{.permutation = cuda::redirected(order, Direction::gather),
                                      .element_bytes = plan.layout().row_bytes},
                              options);
    if (auto passes = cuda::TakePasses::of(plan, *sorted, gathered))
      return std::shared_ptr<const ReusedRows>(new ReusedRows(plan, std::move(gathered), std::move(passes)));
  }
  ExecutablePlan permutation =
      faro::plan(Problem{.permutation = order, .element_bytes = plan.layout().row_bytes}, options);
  return std::shared_ptr<const ReusedRows>(new ReusedRows(plan, *std::move(sorted), std::move(permutation)));
}

ReusedRows::ReusedRows(const RowPlan& plan, cuda::SortedRows sorted, ExecutablePlan permutation)
    : plan_(plan), sorted_(std::move(sorted)), permutation_(std::move(permutation)) {}

ReusedRows::ReusedRows(const RowPlan& plan, Plan permutation, std::unique_ptr<const cuda::TakePasses> passes)
    : plan_(plan), passes_(std::move(passes)), planned_(std::move(permutation)) {}

std::uint64_t ReusedRows::stream_bytes() const {
  return row_numbers(plan_.move()).count * plan_.layout().row_bytes;
}

std::uint64_t ReusedRows::workspace_bytes() const {
  if (passes_) return passes_->workspace_bytes();
  constexpr std::uint64_t kAligned = 256;
  return round_up(stream_bytes(), kAligned) + permutation_->workspace_bytes();
}

void ReusedRows::run(const void* in, void* out, void* workspace, Stream stream) const {
  if (passes_) return passes_->run(in, out, workspace, stream);
  const std::uint64_t bytes = stream_bytes();
  const Workspace rest{
      .data = static_cast<std::byte*>(workspace) + (workspace_bytes() - permutation_->workspace_bytes()),
      .bytes = permutation_->workspace_bytes()};
  if (takes()) {
    cuda::take_sorted(plan_, sorted_, in, workspace, stream);
    permutation_->run(workspace, out, bytes, rest, stream);
    return;
  }
  permutation_->run(in, workspace, bytes, rest, stream);
  if (std::holds_alternative<Put>(plan_.move()))
    return cuda::put_sorted(plan_, sorted_, workspace, out, stream);
  cuda::add_sorted(plan_, sorted_, workspace, out, stream);
}

std::string ReusedRows::explain() const {
  if (passes_) {
    return "\nreused: elements are permuted to where they go, and the first pass of that takes them:\n" +
           planned_->explain();
  }
  return std::string("\nreused: ") +
         (takes() ? "elements are taken in the order of the entries, then permuted to where they go:\n"
          : std::holds_alternative<Put>(plan_.move())
              ? "elements are permuted into the order of the entries, then put where they go, in order:\n"
              : "elements are permuted into the order of the entries, then added up side by side:\n") +
         permutation_->explain();
}

}  // namespace faro::detail
