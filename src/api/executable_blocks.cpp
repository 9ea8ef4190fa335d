// Plans of scaled blocks, together with the engine that runs them.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/array_checks.hpp"
#include "disjoint.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/values/block_sweep.hpp"
#include "engines/cuda_blocks.hpp"
#include "faro/block_scales.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "permutation/axis_map.hpp"
#include "plan/block_plan.hpp"

namespace faro {

struct ExecutableBlocks::State {
  detail::BlockPlan plan;
  std::variant<cpu::BlockSweep, cuda::BlockExecutor> engine;
  std::vector<std::int64_t> wide_stride_bytes;

  State(const detail::BlockPlan& made, std::variant<cpu::BlockSweep, cuda::BlockExecutor> runs)
      : plan(made), engine(std::move(runs)) {
    wide_stride_bytes =
        plan.scaling.strides.empty() ? detail::dense_strides(plan.scaling.extents) : plan.scaling.strides;
    for (std::int64_t& stride : wide_stride_bytes) stride *= width();
  }

  std::int64_t width() const { return static_cast<std::int64_t>(bytes_of(plan.scaling.wide)); }
  const cuda::BlockExecutor* on_device() const { return std::get_if<cuda::BlockExecutor>(&engine); }
  detail::RunArray wide_at(const void* array) const {
    const auto* const begin =
        static_cast<const std::byte*>(array) + static_cast<std::int64_t>(plan.scaling.first) * width();
    return {"wide array",
            {begin, static_cast<std::uint64_t>(width()), plan.scaling.extents, wide_stride_bytes}};
  }
  detail::RunArray data_at(const void* array) const { return {"data", {array, plan.data_bytes}}; }
  detail::RunArray scales_at(const void* array) const { return {"scales", {array, plan.scale_bytes}}; }
};

namespace {

void require_blocks(const char* operation, bool on_device, const void* wide, const void* data,
                    const void* scales) {
  const char* const null = wide == nullptr     ? "a wide array"
                           : data == nullptr   ? "data"
                           : scales == nullptr ? "scales"
                                               : nullptr;
  if (null != nullptr) fail(ErrorCode::value, operation, std::string(null) + " that is null", "an array");
  if (on_device) return;
  constexpr const char* kToHost = "copy it to the host, or plan for engine cuda";
  detail::check_on_host(wide, data, kToHost);
  detail::check_on_host(scales, scales, kToHost);
}

}  // namespace

ExecutableBlocks::ExecutableBlocks(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutableBlocks::ExecutableBlocks(ExecutableBlocks&&) noexcept = default;
ExecutableBlocks& ExecutableBlocks::operator=(ExecutableBlocks&&) noexcept = default;
ExecutableBlocks::~ExecutableBlocks() = default;

const ExecutableBlocks::State& ExecutableBlocks::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a plan", "one that was moved from", "the plan that it was moved to");
}

std::uint64_t ExecutableBlocks::wide_count() const { return state().plan.wide_count; }
std::uint64_t ExecutableBlocks::data_bytes() const { return state().plan.data_bytes; }
std::uint64_t ExecutableBlocks::scale_bytes() const { return state().plan.scale_bytes; }
std::string ExecutableBlocks::explain() const {
  const State& of = state();
  if (of.on_device() == nullptr || of.plan.values.count == 0) return of.plan.explain();
  return of.plan.told_blocks() + of.on_device()->explain();
}

void ExecutableBlocks::quantize(const void* wide, void* data, void* scales, Stream stream) const {
  const State& of = state();
  if (of.plan.values.count == 0) return;
  require_blocks("quantize", of.on_device() != nullptr, wide, data, scales);
  const detail::RunArray outputs[] = {of.data_at(data), of.scales_at(scales)};
  const detail::RunArray inputs[] = {of.wide_at(wide)};
  detail::check_disjoint("quantize", outputs, inputs);
  if (of.on_device() != nullptr) return of.on_device()->quantize(wide, data, scales, stream);
  std::get<cpu::BlockSweep>(of.engine).quantize(
      static_cast<const std::byte*>(wide), static_cast<std::byte*>(data), static_cast<std::byte*>(scales));
}

void ExecutableBlocks::dequantize(const void* data, const void* scales, void* wide, Stream stream) const {
  const State& of = state();
  if (of.plan.values.count == 0) return;
  require_blocks("dequantize", of.on_device() != nullptr, wide, data, scales);
  detail::check_disjoint("dequantize", of.wide_at(wide), {of.data_at(data), of.scales_at(scales)});
  if (of.on_device() != nullptr) return of.on_device()->dequantize(data, scales, wide, stream);
  std::get<cpu::BlockSweep>(of.engine).dequantize(static_cast<const std::byte*>(data),
                                                  static_cast<const std::byte*>(scales),
                                                  static_cast<std::byte*>(wide));
}

ExecutableBlocks plan_blocks(const BlockScaling& scaling, const PlanOptions& options) {
  const detail::BlockPlan plan = detail::make_block_plan(scaling, cpu::target(options.threads));
  if (options.engine == Engine::cuda)
    return ExecutableBlocks(
        std::make_unique<ExecutableBlocks::State>(plan, cuda::BlockExecutor(plan, options.device)));
  return ExecutableBlocks(
      std::make_unique<ExecutableBlocks::State>(plan, cpu::BlockSweep(plan, cpu::target(1))));
}

ExecutableBlocks plan_blocks(const BlockScaling& scaling) { return plan_blocks(scaling, {}); }

}  // namespace faro
