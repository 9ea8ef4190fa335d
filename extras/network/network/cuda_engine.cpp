// Networks on a GPU: launches made on the host, kernels from the run-time compiler, tables in the device's
// memory.
#include "network/cuda_engine.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"
#include "network/device_tables.hpp"
#include "network/kernel_source.hpp"
#include "network/launches.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace {

constexpr std::uint64_t kVectorBytes = 16;
constexpr std::uint32_t kLookedUp = ~std::uint32_t{0};  // a group without code of its own

// A kernel of the plan: for one operator, with the groups that its launches have.
struct KernelPlan {
  Operator op;
  KernelGroups groups;

  // The group's place in `groups`, added if it is new.
  std::uint32_t code_of(const GroupCode& group) {
    std::vector<GroupCode>& codes = groups.codes;
    const auto found = std::find(codes.begin(), codes.end(), group);
    if (found != codes.end()) return static_cast<std::uint32_t>(found - codes.begin());
    if (codes.size() == kMostCodes) {
      groups.others = true;
      return kLookedUp;
    }
    codes.push_back(group);
    return static_cast<std::uint32_t>(codes.size() - 1);
  }
};

// Everything that one launch passes to its kernel but the arrays.
struct Step {
  kernels::AffineTileParams params;
  kernels::NetworkTables tables;
  OperatorArgument op;
  Places places;
  std::size_t kernel = 0;  // of State's
};

}  // namespace

struct CudaExecutor::State {
  State(const Plan& of_plan, int ordinal) : plan(of_plan), device(ordinal) {}

  Plan plan;
  int device;
  std::vector<Step> steps;
  std::vector<KernelPlan> kernel_plans;
  std::unique_ptr<cuda::DeviceArray> tables;
  kernels::NetworkShape shape;
  std::vector<cuda::RuntimeKernel> vector_kernels;
  // The same for arrays that are aligned to their elements only, made when first wanted.
  kernels::NetworkShape element_shape;
  mutable std::once_flag element_kernels_made;
  mutable std::vector<cuda::RuntimeKernel> element_kernels;

  std::vector<cuda::RuntimeKernel> compile_all(const kernels::NetworkShape& of_shape) const {
    std::vector<cuda::RuntimeKernel> compiled;
    for (const KernelPlan& kernel : kernel_plans) {
      KernelSource source =
          kernel_source(kernel.op, plan.problem().element, of_shape, kernel.groups, plan.array_bytes());
      cuda::RuntimeSource unit;
      unit.text = std::move(source.text);
      unit.file_name = "faro_network.cu";
      unit.headers = std::move(source.headers);
      unit.options = {"-default-device"};
      try {
        compiled.push_back(cuda::compile(unit, device)->kernel(kKernelName));
      } catch (const Error& error) {
        if (!is_users(kernel.op.kind)) throw;
        const Program alone = is_elementwise(kernel.op.kind) ? each(kernel.op, 1) : pairs(kernel.op, 1);
        ErrorReport report = error.report();
        report.operation = "network `" + short_text(alone) + "`: " + report.operation;
        throw Error(report);
      }
    }
    return compiled;
  }

  // The number of the kernel for `launch`, whose groups are given their codes.
  std::size_t kernel_for(NetworkLaunch& launch) {
    auto kernel = std::find_if(kernel_plans.begin(), kernel_plans.end(),
                               [&](const KernelPlan& other) { return same_kernel(other.op, launch.op); });
    if (kernel == kernel_plans.end()) kernel = kernel_plans.insert(kernel, {launch.op, {}});
    for (kernels::NetworkGroup& group : launch.tables.groups) {
      group.code = kernel->code_of(group_code(launch, group, shape));
    }
    return static_cast<std::size_t>(kernel - kernel_plans.begin());
  }

  const std::vector<cuda::RuntimeKernel>& kernels_for(std::uint64_t alignment) const {
    if (alignment >= kVectorBytes) return vector_kernels;
    std::call_once(element_kernels_made, [this] { element_kernels = compile_all(element_shape); });
    return element_kernels;
  }
};

CudaExecutor::CudaExecutor(const Plan& plan, int device) {
  cuda::require_available();
  state_ = std::make_unique<State>(plan, cuda::ordinal_of(device));
  State& state = *state_;
  if (plan.passes().empty()) {
    if (!plan.normal_form().layers.empty() && plan.array_bytes() != 0) {
      fail(ErrorCode::unsupported, "network on engine cuda", "elementwise functions on arrays of one element",
           "arrays of two elements or more", "take engine cpu");
    }
    return;
  }
  state.shape = kernel_shape(plan, Access::vectors);
  state.element_shape = kernel_shape(plan, Access::elements);

  std::vector<NetworkLaunch> launches = make_launches(plan);
  std::vector<std::size_t> kernels_of_launches;
  kernels_of_launches.reserve(launches.size());
  for (NetworkLaunch& launch : launches) kernels_of_launches.push_back(state.kernel_for(launch));
  DeviceTables tables;
  const std::vector<TableOffsets> offsets = add_tables(tables, launches, plan.problem().element, state.shape);
  state.tables = std::make_unique<cuda::DeviceArray>(tables.bytes().size(), state.device);
  state.tables->upload(tables.bytes().data());
  const std::byte* const base = state.tables->data();
  for (std::size_t i = 0; i < launches.size(); ++i) {
    Step step{};
    step.params = launches[i].params;
    step.tables = {reinterpret_cast<const kernels::NetworkGroup*>(base + offsets[i].groups),
                   reinterpret_cast<const kernels::NetworkLayer*>(base + offsets[i].layers),
                   reinterpret_cast<const kernels::NetworkPairs*>(base + offsets[i].pairs),
                   static_cast<std::uint32_t>(launches[i].tables.groups.size())};
    step.op = operator_argument(launches[i].op, offsets[i], base);
    step.places = launches[i].places;
    step.kernel = kernels_of_launches[i];
    state.steps.push_back(step);
  }
  state.vector_kernels = state.compile_all(state.shape);
}

CudaExecutor::CudaExecutor(CudaExecutor&&) noexcept = default;
CudaExecutor& CudaExecutor::operator=(CudaExecutor&&) noexcept = default;
CudaExecutor::~CudaExecutor() = default;

std::uint64_t CudaExecutor::workspace_bytes() const {
  const bool used = std::any_of(state_->steps.begin(), state_->steps.end(), [](const Step& step) {
    return step.places.source == Place::workspace || step.places.target == Place::workspace;
  });
  return used ? state_->plan.array_bytes() : 0;
}

std::size_t CudaExecutor::launches() const { return state_->steps.size(); }

std::vector<cuda::KernelResources> CudaExecutor::resources() const {
  const State& state = *state_;
  std::vector<cuda::KernelResources> result;
  for (const Step& step : state.steps) {
    const cuda::RuntimeKernel& kernel = state.vector_kernels[step.kernel];
    result.push_back(
        {kernel.registers(),
         kernel.blocks_per_multiprocessor(state.shape.tile.threads(),
                                          static_cast<std::uint64_t>(state.shape.tile.tile_bytes())),
         kernel.local_bytes()});
  }
  return result;
}

void CudaExecutor::run(const void* in, void* out, Stream stream, void* workspace) const {
  const State& state = *state_;
  if (state.plan.array_bytes() == 0) return;
  cuda::require_accessible(in, "input", state.device);
  cuda::require_accessible(out, "output", state.device);
  if (state.steps.empty()) {  // arrays of one element
    if (in != out) cuda::copy(in, out, state.plan.array_bytes(), stream);
    return;
  }
  const cuda::StreamMemory own(workspace == nullptr ? workspace_bytes() : 0, state.device, stream);
  void* const between = workspace == nullptr ? own.data() : workspace;

  const auto bits = std::bit_cast<std::uintptr_t>(in) | std::bit_cast<std::uintptr_t>(out) |
                    std::bit_cast<std::uintptr_t>(between) | kVectorBytes;
  const std::uint64_t alignment = bits & (~bits + 1);
  const std::uint64_t element_bytes = state.plan.problem().element.bytes();
  if (alignment < element_bytes) {
    fail(ErrorCode::value, "run", "an array that is aligned to " + std::to_string(alignment) + " bytes",
         "alignment to the element, " + std::to_string(element_bytes) + " bytes", "move the array");
  }
  const std::vector<cuda::RuntimeKernel>& compiled = state.kernels_for(alignment);
  for (const Step& step : state.steps) {
    const void* source = step.places.source == Place::in          ? in
                         : step.places.source == Place::workspace ? between
                                                                  : out;
    void* target = step.places.target == Place::workspace ? between : out;
    // The runtime's interface takes pointers to what it copies.
    void* arguments[] = {const_cast<kernels::AffineTileParams*>(&step.params),
                         const_cast<kernels::NetworkTables*>(&step.tables),
                         const_cast<std::byte*>(step.op.data()), &source, &target};
    compiled[step.kernel].launch(step.params.blocks(), state.shape.tile.threads(), 1,
                                 static_cast<std::uint64_t>(state.shape.tile.tile_bytes()), arguments,
                                 stream);
  }
}

}  // namespace faro::network
