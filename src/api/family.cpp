#include "faro/family.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "api/array_checks.hpp"
#include "api/planning.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda_family.hpp"
#include "faro/error.hpp"
#include "plan/family_plan.hpp"

namespace faro {
namespace {

using detail::FamilyCall;

constexpr const char* kRunFamily = "run a family";

void require_given(const void* in, const void* out) {
  if (in == nullptr || out == nullptr)
    fail(ErrorCode::value, kRunFamily, in == nullptr ? "a null input" : "a null output", "an array");
}

// Arrays with the strides of a call, which may reach between one another's elements.
void check_strided(const FamilyCall& call, const void* in, const void* out) {
  const kernels::FamilyView view = call.view();
  std::vector<std::uint64_t> extents;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  const auto* first_in = static_cast<const std::byte*>(in);
  const auto* first_out = static_cast<const std::byte*>(out);
  for (std::size_t a = 0; a < static_cast<std::size_t>(view.axes); ++a) {
    const kernels::FamilyAxis& axis = view.axis[a];
    extents.push_back(call.extent(a));
    from.push_back(axis.in);
    to.push_back(axis.out);
    if (axis.out < 0) first_out -= axis.out * static_cast<std::int64_t>(call.extent(a) - 1);
    if (axis.in < 0) first_in -= axis.in * static_cast<std::int64_t>(call.extent(a) - 1);
  }
  const std::uint64_t width = call.plan().map.element_bytes;
  detail::check_disjoint(kRunFamily, detail::RunArray{"output", {first_out, width, extents, to}},
                         {{"input", {first_in, width, extents, from}}}, "a family moves out of place");
}

void check_arrays(const FamilyCall& call, const void* in, const void* out, bool own_output) {
  require_given(in, out);
  const std::uint64_t in_bytes = call.in_bytes();
  const std::uint64_t out_bytes = call.out_bytes();
  if (own_output) return check_strided(call, in, out);
  if (!detail::share_bytes({in, in_bytes}, {out, out_bytes})) return;
  if (!call.is_dense()) return check_strided(call, in, out);
  detail::check_disjoint(kRunFamily, detail::RunArray{"output", {out, out_bytes}},
                         {{"input", {in, in_bytes}}}, "a family moves out of place");
}

// Threads as options say, and from where on such arrays are written past the caches.
Target target_for(const detail::FamilyPlan& plan, const PlanOptions& options) {
  Target target = cpu::target(options.threads);
  cpu::plan_by_curves(target, plan.most_elements * plan.map.element_bytes);
  return target;
}

// A call that a CPU has run, for the next one of the same extents.
struct LastRun {
  std::vector<std::uint64_t> extents;
  std::unique_ptr<const cpu::FamilyRun> run;
};

}  // namespace

struct ShapeFamily::State {
  detail::FamilyPlan plan;
  Target target;                                          // of engine cpu
  std::unique_ptr<const cuda::FamilyExecutor> on_device;  // of engine cuda
  // By a number that is worked out from the extents: batches and lengths come again.
  static constexpr unsigned kNumberBits = 4;
  mutable std::array<std::atomic<std::shared_ptr<const LastRun>>, std::size_t{1} << kNumberBits> last_runs{};

  static std::size_t number_of(std::span<const std::uint64_t> extents) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    std::uint64_t number = 0;
    for (const std::uint64_t extent : extents) number = (number ^ extent) * kOdd;
    return static_cast<std::size_t>(number >> (64 - kNumberBits));
  }

  void run_on_cpu(const FamilyCall& call, std::span<const std::uint64_t> extents, bool own_strides,
                  const void* in, void* out) const {
    if (own_strides) return cpu::FamilyRun(call, target).run(in, out);
    auto& last = last_runs[number_of(extents)];
    auto made = last.load();
    if (made == nullptr ||
        !std::equal(extents.begin(), extents.end(), made->extents.begin(), made->extents.end())) {
      made = std::make_shared<const LastRun>(
          LastRun{{extents.begin(), extents.end()}, std::make_unique<const cpu::FamilyRun>(call, target)});
      last.store(made);
    }
    made->run->run(in, out);
  }
};

ShapeFamily::ShapeFamily(const FamilyMap& map, const PlanOptions& options) {
  detail::check_threads(options.threads, "plan a family");
  auto made = std::make_unique<State>();
  made->plan = detail::plan_family(map);
  if (options.engine == Engine::cuda) {
    made->on_device = std::make_unique<const cuda::FamilyExecutor>(options.device);
  } else {
    made->target = target_for(made->plan, options);
  }
  state_ = std::move(made);
}

ShapeFamily::ShapeFamily(ShapeFamily&&) noexcept = default;
ShapeFamily& ShapeFamily::operator=(ShapeFamily&&) noexcept = default;
ShapeFamily::~ShapeFamily() = default;

void ShapeFamily::run(std::span<const std::uint64_t> extents, const void* in, void* out, Stream stream,
                      const FamilyStrides& strides) const {
  const FamilyCall call(state_->plan, extents, strides);
  detail::check_stream(engine(), stream);
  if (call.count() == 0) return;
  check_arrays(call, in, out, !strides.out.empty());
  if (state_->on_device != nullptr) return state_->on_device->run(call, in, out, stream);
  detail::check_on_host(in, out, "make the family for engine cuda");
  state_->run_on_cpu(call, extents, !strides.in.empty() || !strides.out.empty(), in, out);
}

void ShapeFamily::run_on_device(const DeviceExtents& extents, const void* in, void* out,
                                Stream stream) const {
  if (state_->on_device == nullptr) {
    fail(ErrorCode::unsupported, kRunFamily, "extents in a device's memory for engine cpu",
         "extents of the host, run(extents, in, out)", "make the family for engine cuda");
  }
  if (extents.bytes != 4 && extents.bytes != 8)
    fail(ErrorCode::value, kRunFamily, "extents of " + std::to_string(extents.bytes) + " bytes",
         "4 or 8 bytes");
  require_given(in, out);
  detail::require_bounded(state_->plan, kRunFamily);
  if (free_extents() == 0) return run({}, in, out, stream);
  if (extents.data == nullptr)
    fail(ErrorCode::value, kRunFamily, "null extents", "extents in the device's memory");
  state_->on_device->run_on_device(state_->plan, extents, in, out, stream);
}

std::vector<std::uint64_t> ShapeFamily::out_shape(std::span<const std::uint64_t> extents) const {
  const FamilyCall call(state_->plan, extents, {});
  std::vector<std::uint64_t> shape;
  for (const int axis : map().order) shape.push_back(call.extent(static_cast<std::size_t>(axis)));
  return shape;
}

std::uint64_t ShapeFamily::in_bytes(std::span<const std::uint64_t> extents) const {
  return FamilyCall(state_->plan, extents, {}).in_bytes();
}

std::uint64_t ShapeFamily::out_bytes(std::span<const std::uint64_t> extents) const {
  return FamilyCall(state_->plan, extents, {}).out_bytes();
}

std::string ShapeFamily::explain(std::span<const std::uint64_t> extents) const {
  const FamilyCall call(state_->plan, extents, {});
  return state_->on_device != nullptr ? cuda::explain_family(call)
                                      : cpu::FamilyRun::explain(call, state_->target);
}

const FamilyMap& ShapeFamily::map() const { return state_->plan.map; }
Engine ShapeFamily::engine() const { return state_->on_device != nullptr ? Engine::cuda : Engine::cpu; }
std::size_t ShapeFamily::free_extents() const { return state_->plan.free.size(); }

}  // namespace faro
