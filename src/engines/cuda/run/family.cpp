#include <cuda_runtime_api.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/run/loaded_pass.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_family.hpp"
#include "faro/error.hpp"
#include "kernels/axes_family.hpp"
#include "kernels/family_rows.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {
namespace {

using faro::detail::FamilyCall;
using faro::detail::FamilyPlan;

constexpr const char* kRunningFamily = "run a family";

// The widest unit of an element by itself, which arrays are aligned to.
std::uint64_t own_unit(std::uint64_t element_bytes) {
  return std::min<std::uint64_t>(kVector, element_bytes & (~element_bytes + 1));
}

// The passes of shapes that come again. A shape is planned in a microsecond or two at first, without a search
// of boxes; when it comes again, or is to be replayed as a graph, as any other is, in a tenth of a
// millisecond or two, which is kept.
class KeptShapes {
 public:
  using Pass = std::shared_ptr<const faro::detail::GpuPass>;

  /// Null of a shape that is new, and of one that is no single pass. `at_once`: of a new one, too.
  template <typename AtOnce>
  Pass find(const faro::detail::AxisMap& units, const AtOnce& at_once) {
    Kept made{.number = number_of(units), .units = units};
    {
      const std::lock_guard lock(mutex_);
      const auto found = place_of(made);
      if (found != kept_.end() && found->is_planned) return found->pass;
      if (found == kept_.end() && !at_once()) {
        keep(found, std::move(made));
        return nullptr;
      }
    }
    made.is_planned = true;
    if (auto pass = faro::detail::searched_pass(units))
      made.pass = std::make_shared<const faro::detail::GpuPass>(*std::move(pass));
    const std::lock_guard lock(mutex_);
    Pass pass = made.pass;
    const auto place = place_of(made);
    keep(place, std::move(made));
    return pass;
  }

 private:
  struct Kept {
    std::uint64_t number = 0;  // worked out from the units: most others have another
    faro::detail::AxisMap units;
    bool is_planned = false;
    Pass pass = nullptr;
  };
  static constexpr std::size_t kMost = 64;

  static std::uint64_t number_of(const faro::detail::AxisMap& units) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    std::uint64_t number = units.unit;
    for (const faro::detail::StridedAxis& axis : units.axes) {
      for (const std::uint64_t part :
           {axis.extent, static_cast<std::uint64_t>(axis.in), static_cast<std::uint64_t>(axis.out)})
        number = (number ^ part) * kOdd;
    }
    return number;
  }
  std::vector<Kept>::iterator place_of(const Kept& of) {
    return std::find_if(kept_.begin(), kept_.end(),
                        [&](const Kept& kept) { return kept.number == of.number && kept.units == of.units; });
  }
  // In place of the same shape, or of the one that came first.
  void keep(std::vector<Kept>::iterator at, Kept made) {
    if (at != kept_.end()) {
      *at = std::move(made);
    } else if (kept_.size() < kMost) {
      kept_.push_back(std::move(made));
    } else {
      kept_[next_++ % kMost] = std::move(made);
    }
  }

  std::mutex mutex_;
  std::vector<Kept> kept_;
  std::size_t next_ = 0;
};

// A part is moved by a kernel of ordinary plans, copied, or cut into boxes of the widest units.
template <typename Visitor>
void choose_way(const FamilyCall& call, const kernels::FamilyView& part, std::uintptr_t in,
                std::uintptr_t out, const Visitor& visitor) {
  const std::uint64_t width = call.plan().map.element_bytes;
  kernels::FamilyView view = part;
  const std::uint64_t own = kernels::cut_into_units(view, width, own_unit(width));
  const bool is_dense = view.axes == 1 && view.axis[0].in == view.axis[0].out &&
                        view.axis[0].in == static_cast<std::int64_t>(own);
  if (view.axes == 0 || is_dense) return visitor.copy(part, call);
  const auto units = faro::detail::axis_map(view, own);
  // Elements and rows that stay are a plan's without a search.
  if (const auto rows = faro::detail::quick_rows_kernel(units, in, out)) return visitor.kernel(*rows);
  if (const KeptShapes::Pass pass = visitor.kept(units)) {
    const auto fits = [&](const faro::detail::GpuKernel& kernel) {
      return in % kernel.in_alignment == 0 && out % kernel.out_alignment == 0;
    };
    const auto found = std::find_if(pass->kernels.begin(), pass->kernels.end(), fits);
    if (found != pass->kernels.end()) return visitor.kernel(*found);
  }
  if (const auto kernel = faro::detail::quick_kernel(units, in, out)) return visitor.kernel(*kernel);
  view = part;
  const std::uint64_t widest = kernels::cut_into_units(view, width, kVector | in | out);
  visitor.boxes(view, widest);
}

}  // namespace

struct FamilyExecutor::State {
  int device = 0;
  std::uint64_t resident = 0;  // blocks that boxes are moved by

  // Kernels that were loaded, for such shared memory.
  struct Loaded {
    const void* function = nullptr;
    std::uint64_t shared_bytes = 0;
    KernelEntry entry;
  };
  static constexpr std::size_t kMostLoaded = 256;
  mutable std::shared_mutex mutex;
  mutable std::vector<Loaded> loaded;
  mutable KeptShapes shapes;

  KernelEntry entry_of(const faro::detail::GpuKernel& kernel) const {
    const void* const function = function_of(kernel);
    {
      const std::shared_lock lock(mutex);
      for (const Loaded& each : loaded) {
        if (each.function == function && each.shared_bytes == kernel.shared_bytes) return each.entry;
      }
    }
    const KernelEntry entry = load_kernel(kernel);
    const std::unique_lock lock(mutex);
    if (loaded.size() == kMostLoaded) loaded.clear();
    loaded.push_back({function, kernel.shared_bytes, entry});
    return entry;
  }
};

namespace {

struct QueuedWay {
  const int device;
  const std::byte* in;
  std::byte* out;
  Stream stream;
  const std::function<KernelEntry(const faro::detail::GpuKernel&)>& entry_of;
  std::uint64_t resident;
  KeptShapes& shapes;

  KeptShapes::Pass kept(const faro::detail::AxisMap& units) const {
    return shapes.find(units, [&] {
      cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
      check(cudaStreamIsCapturing(stream.handle(), &status), "cudaStreamIsCapturing", kRunningFamily);
      return status != cudaStreamCaptureStatusNone;
    });
  }
  void copy(const kernels::FamilyView& part, const FamilyCall& call) const {
    std::uint64_t bytes = call.plan().map.element_bytes;
    for (int a = 0; a < part.axes; ++a) bytes *= part.axis[a].extent;
    launch_copy(out + part.out_first, in + part.in_first, bytes, stream, {.operation = kRunningFamily});
  }
  void kernel(const faro::detail::GpuKernel& kernel) const {
    launch_axes(kernel, entry_of(kernel), in, out, stream, {.operation = kRunningFamily});
  }
  void boxes(const kernels::FamilyView& view, std::uint64_t unit_bytes) const {
    RowStream queue(stream, kRunningFamily);
    faro::detail::by_unit_bytes(unit_bytes, [&](auto unit) {
      kernels::MoveFamily<unit(), false> kernel;
      kernel.what = kernels::make_family_box(view, unit(), address(in), address(out));
      kernel.in = in;
      kernel.out = out;
      kernel.grid = std::min(kernel.what.tiles, resident);
      queue.run(kernel);
    });
  }
};

struct ToldWay {
  std::string& text;

  static KeptShapes::Pass kept(const faro::detail::AxisMap& /*units*/) { return nullptr; }
  void copy(const kernels::FamilyView& /*part*/, const FamilyCall& /*call*/) const { text = "a copy"; }
  void kernel(const faro::detail::GpuKernel& kernel) const { text = to_text(kernel); }
  void boxes(const kernels::FamilyView& view, std::uint64_t unit_bytes) const {
    const kernels::FamilyBox box = kernels::make_family_box(view, static_cast<int>(unit_bytes), 0, 0);
    text = "boxes of " + std::to_string(box.units()) + " units of " + std::to_string(unit_bytes) +
           " bytes, " + (box.direct ? "rows that stay" : "through shared memory");
  }
};

// Blocks that fill a device: as many as a multiprocessor has threads for.
std::uint64_t resident_blocks(int device) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute", "plan a family");
  constexpr std::uint64_t of_multiprocessor = 8;  // of 256 threads
  return static_cast<std::uint64_t>(multiprocessors) * of_multiprocessor;
}

void require_arrays(const void* in, const void* out, std::uint64_t width, int device) {
  require_accessible(in, "input", device);
  require_accessible(out, "output", device);
  require_aligned(addresses(in, out), own_unit(width), {.operation = kRunningFamily});
}

}  // namespace

FamilyExecutor::FamilyExecutor(int device) {
  require_available();
  auto made = std::make_unique<State>();
  made->device = ordinal_of(device);
  made->resident = resident_blocks(made->device);
  state_ = std::move(made);
}

FamilyExecutor::~FamilyExecutor() = default;

void FamilyExecutor::run(const FamilyCall& call, const void* in, void* out, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  require_arrays(in, out, call.plan().map.element_bytes, state.device);
  const std::function<KernelEntry(const faro::detail::GpuKernel&)> entry_of =
      [&](const faro::detail::GpuKernel& kernel) { return state.entry_of(kernel); };
  const QueuedWay way{.device = state.device,
                      .in = static_cast<const std::byte*>(in),
                      .out = static_cast<std::byte*>(out),
                      .stream = stream,
                      .entry_of = entry_of,
                      .resident = state.resident,
                      .shapes = state.shapes};
  call.for_each_part(
      [&](const kernels::FamilyView& part) { choose_way(call, part, address(in), address(out), way); });
}

void FamilyExecutor::run_on_device(const FamilyPlan& plan, const DeviceExtents& extents, const void* in,
                                   void* out, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  require_arrays(in, out, plan.map.element_bytes, state.device);
  require_accessible(extents.data, "extents", state.device);
  require_aligned(address(extents.data), static_cast<std::uint64_t>(extents.bytes),
                  {.operation = kRunningFamily, .what = "extents"});
  // What aligned addresses allow beside the strides of any call.
  const std::uintptr_t all = plan.sure_unit | addresses(in, out);
  RowStream queue(stream, kRunningFamily);
  kernels::FamilyExtents from;
  if (extents.bytes == 4) {
    from.narrow = static_cast<const std::int32_t*>(extents.data);
  } else {
    from.wide = static_cast<const std::int64_t*>(extents.data);
  }
  const std::uint64_t bytes = plan.most_elements * plan.map.element_bytes;
  faro::detail::by_unit_bytes(all & (~all + 1), [&](auto unit) {
    const auto run_parts = [&](auto& kernel, auto& what, std::uint64_t block_bytes) {
      what.extents = from;
      kernel.in = static_cast<const std::byte*>(in);
      kernel.out = static_cast<std::byte*>(out);
      kernel.grid = std::clamp<std::uint64_t>(bytes / block_bytes, 1, state.resident);
      for (what.part = 0; what.part < plan.form.parts(); ++what.part) queue.run(kernel);
    };
    if constexpr (unit() >= 4) {
      constexpr std::uint64_t least_row_bytes = 128;
      constexpr std::uint64_t most_units = std::uint64_t{1} << 31;
      using Rows = kernels::MoveFamilyRows<unit()>;
      if (bytes / unit() < most_units && faro::detail::sure_row_bytes(plan) >= least_row_bytes) {
        Rows kernel{.form = plan.form};
        return run_parts(kernel, kernel, std::uint64_t{Rows::kAhead} * Rows::kThreads * unit());
      }
    }
    kernels::MoveFamily<unit(), true> kernel;
    kernel.what.form = plan.form;
    kernel.what.form.wanted = faro::detail::largest_wanted(plan, unit());
    constexpr std::uint64_t box_bytes = 8 << 10;  // of the smaller ones
    run_parts(kernel, kernel.what, box_bytes);
  });
}

std::string explain_family(const FamilyCall& call) {
  std::string text;
  call.for_each_part([&](const kernels::FamilyView& part) {
    if (text.empty()) choose_way(call, part, 0, 0, ToldWay{text});
  });
  return text.empty() ? "nothing is moved" : text;
}

}  // namespace faro::cuda
