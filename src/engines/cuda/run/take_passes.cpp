// Elements taken by a schedule, in as many passes as a permutation of them has (engines/cuda_rows.hpp).
#include <memory>
#include <utility>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/rows/reused_steps.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda/run/schedule_tables.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_rows.hpp"
#include "faro/error.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

struct TakePasses::State {
  int device = 0;
  std::uint64_t width = 4;
  std::uint64_t count = 0;
  std::uint64_t rows = 0;
  std::uint32_t chunk = 1;
  std::uint32_t longest = 1;
  PassBuffer target = PassBuffer::output;
  DeviceBuffer<std::uint32_t> begins;
  DeviceBuffer<std::uint32_t> lengths;
  std::unique_ptr<const DeviceIndexSchedule> schedule;  // whose last places are offsets by now
  std::unique_ptr<const ScheduleTables> tables;
  std::unique_ptr<const LoadedPasses> others;

  const std::uint16_t* offsets() const { return std::get<DevicePartition>(schedule->what).last.data(); }
};

TakePasses::TakePasses(std::unique_ptr<const State> state) : state_(std::move(state)) {}
TakePasses::~TakePasses() = default;

std::unique_ptr<const TakePasses> TakePasses::of(const RowPlan& plan, const SortedRows& sorted,
                                                 const Plan& permutation) {
  const char* const operation = "take";
  const IndexPlan* const index = permutation.index_plan();
  const bool is_gather =
      index != nullptr && std::holds_alternative<Indexed>(permutation.problem().permutation) &&
      std::get<Indexed>(permutation.problem().permutation).direction() == Direction::gather;
  if (!is_gather || index->chosen().method != IndexMethod::partition || permutation.passes().size() < 2)
    return nullptr;
  const std::uint64_t width = plan.layout().row_bytes;
  FARO_CHECK(plan.layout().outer == 1 && (width == 4 || width == 8));
  auto state = std::make_unique<State>();
  state->device = plan.target().device;
  state->width = width;
  state->count = row_numbers(plan.move()).count;
  state->rows = numbered_rows(plan.move());
  state->chunk = static_cast<std::uint32_t>(index->chosen().shape->chunk_elements());
  const auto of_vector = static_cast<std::uint32_t>(kVector / width);
  if (state->chunk % of_vector != 0 || permutation.passes().front().kind != PassKind::pick) return nullptr;
  const DeviceGuard guard(state->device);
  const auto* const keys = reinterpret_cast<const std::uint32_t*>(sorted.keys->data());

  RowStream queue({}, operation);
  FindStretches find;
  find.keys = keys;
  find.count = state->count;
  find.chunk = state->chunk;
  find.of_vector = of_vector;
  state->begins = DeviceBuffer<std::uint32_t>(find.chunks(), state->device);
  state->lengths = DeviceBuffer<std::uint32_t>(find.chunks(), state->device);
  const auto longest = DeviceBuffer<std::uint64_t>::of({0}, state->device);
  find.begins = state->begins.data();
  find.lengths = state->lengths.data();
  find.longest = longest.data();
  queue.run(find);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", operation);
  const std::uint64_t most = longest.download().front();
  if (most * width > TakeChunks<4>::kMostBytes || most > std::uint64_t{1} << 16) return nullptr;
  state->longest = static_cast<std::uint32_t>(most);

  state->schedule = std::make_unique<const DeviceIndexSchedule>(make_device_schedule(
      index->chosen(), std::get<Indexed>(permutation.problem().permutation), std::nullopt));
  state->tables = std::make_unique<const ScheduleTables>(*state->schedule);
  std::vector<Pass> passes = permutation.passes();
  state->target = passes.front().target;
  passes.erase(passes.begin());
  state->others = std::make_unique<const LoadedPasses>(
      passes, [&](const faro::detail::GpuPass& pass) { return state->tables->of(pass); });
  OffsetPlaces offset;
  offset.keys = keys;
  offset.count = state->count;
  offset.chunk = state->chunk;
  offset.begins = state->begins.data();
  offset.places = std::get<DevicePartition>(state->schedule->what).last.data();
  queue.run(offset);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", operation);
  return std::unique_ptr<const TakePasses>(new TakePasses(std::move(state)));
}

std::uint64_t TakePasses::workspace_bytes() const { return state_->others->workspace_bytes(); }

void TakePasses::run(const void* in, void* out, void* workspace, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  require_accessible(in, "input", state.device);
  require_accessible(out, "output", state.device);
  require_aligned(addresses(in, out), state.width, {.operation = "take"});
  RowStream queue(stream, "take");
  const auto take_by = [&]<int kBytes>() {
    TakeChunks<kBytes> kernel;
    kernel.count = state.count;
    kernel.in_count = state.rows;
    kernel.chunk = state.chunk;
    kernel.longest = state.longest;
    kernel.begins = state.begins.data();
    kernel.lengths = state.lengths.data();
    kernel.offsets = state.offsets();
    kernel.in = static_cast<const std::byte*>(in);
    kernel.out = static_cast<std::byte*>(state.target == PassBuffer::workspace ? workspace : out);
    queue.run(kernel);
  };
  state.width == 4 ? take_by.operator()<4>() : take_by.operator()<8>();
  state.others->launch({.in = in, .out = out, .workspace = workspace}, stream);
}

}  // namespace faro::cuda
