#include "engines/cuda/run/loaded_pass.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/transpose_kernels.hpp"
#include "engines/cuda/rows/patch_step.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/value_program.hpp"
#include "faro/error.hpp"
#include "kernels/computed_launch.hpp"
#include "kernels/index_steps.hpp"
#include "kernels/modular_launch.hpp"
#include "rounding.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {
namespace {

namespace plan = faro::detail;
using plan::GpuKernel;
using plan::GpuPass;

// --- from identity to entry

struct EntryOf {
  const GpuKernel& kernel;

  KernelEntry operator()(const plan::CopyKernel& /*the driver's*/) const { return {}; }
  KernelEntry operator()(const plan::AffineTileKernel& k) const { return tile_kernel(k.tile); }
  KernelEntry operator()(const plan::SegmentsKernel& k) const { return segments_kernel(k.vector_bytes); }
  KernelEntry operator()(const plan::OrbitKernel& k) const {
    return {in_place_tile_kernel(k.tile), threads()};
  }
  KernelEntry operator()(const plan::SwapKernel& k) const { return {swap_kernel(k.access_bytes), threads()}; }
  KernelEntry operator()(const plan::SmallKernel& k) const {
    return {small_kernel(k.element_bytes), threads()};
  }
  KernelEntry operator()(const plan::SweepKernel& k) const {
    return transpose_kernel(std::get<plan::GpuTransposeLaunch>(kernel.params), k.unit_bytes);
  }
  KernelEntry operator()(const plan::ReversalKernel& k) const {
    return {reversal_kernel(k.unit_bytes, k.as), threads()};
  }
  KernelEntry operator()(const plan::CyclicWholeKernel& k) const {
    return {whole_cyclic_kernel(k.unit_bytes, k.as), threads()};
  }
  KernelEntry operator()(const plan::SquaresKernel& k) const {
    return {squares_kernel(k.unit_bytes, k.several_units), threads()};
  }
  KernelEntry operator()(const plan::AxesBoxKernel& k) const { return axes_box_kernel(k.shape); }
  KernelEntry operator()(const plan::AxesWholeKernel& k) const { return axes_whole_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::AxesLinesKernel& k) const { return axes_lines_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::AxesPlaneKernel& k) const {
    return axes_plane_kernel(k.shape, k.aligned);
  }
  KernelEntry operator()(const plan::AxesTurnedKernel& k) const {
    return axes_turned_kernel(k.shape, k.words);
  }
  KernelEntry operator()(const plan::AxesSkinnyKernel& k) const { return axes_skinny_kernel(k.shape); }
  KernelEntry operator()(const plan::AxesRowsKernel& k) const { return axes_rows_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::AxesElementsKernel& k) const {
    return axes_elements_kernel(k.unit_bytes, k.units);
  }
  KernelEntry operator()(const plan::AxesRegistersKernel& k) const { return axes_registers_kernel(k.shape); }
  KernelEntry operator()(const plan::ViewRowsKernel& k) const { return view_rows_kernel(k.shape); }
  KernelEntry operator()(const plan::CyclicKernel& k) const {
    return cyclic_kernel(k.unit_bytes, k.reversed, k.several_units);
  }
  // Values, which are launched as they are made: launch_value().
  KernelEntry operator()(const plan::ModularKernel& /*k*/) const { return {}; }
  KernelEntry operator()(const plan::ComputedKernel& /*k*/) const { return {}; }
  KernelEntry operator()(const plan::PatchKernel& /*k*/) const { return {}; }
  KernelEntry operator()(const plan::WindowKernel& k) const {
    return window_kernel(k.unit_bytes, k.backwards, k.vectors, k.direct);
  }
  KernelEntry operator()(const plan::RunsKernel& k) const { return runs_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::DirectKernel& k) const {
    return direct_kernel(k.unit_bytes, k.index_bytes, k.way, k.kind);
  }
  KernelEntry operator()(const plan::LevelKernel& k) const {
    if (k.variant == plan::LevelKernel::kInGlobal) return level_in_global_kernel(k.unit.unit_bytes, k.way);
    return level_kernel(k.unit, k.way, k.variant);
  }
  KernelEntry operator()(const plan::ChunkKernel& k) const {
    if (k.place == plan::ChunkPlace::in_global) return chunk_in_global_kernel(k.unit.unit_bytes, k.way);
    return chunk_kernel(k.unit, k.way, k.place == plan::ChunkPlace::large);
  }
  KernelEntry operator()(const plan::ColumnsKernel& k) const {
    return k.in_global ? columns_in_global_kernel(k.unit_bytes, k.way) : columns_kernel(k.unit_bytes, k.way);
  }

 private:
  int threads() const { return kernel.threads; }
};

// Of a map that is worked out: kernels that are values, which are launched as they are made.
bool is_map(const GpuKernel& kernel) {
  return std::holds_alternative<plan::ModularKernel>(kernel.id) ||
         std::holds_alternative<plan::ComputedKernel>(kernel.id);
}
bool is_value(const GpuKernel& kernel) {
  return is_map(kernel) || std::holds_alternative<plan::PatchKernel>(kernel.id);
}

template <typename Queue>
void move_map(Queue&& queue, const plan::KernelId& id, const PassArrays& arrays) {
  if (const auto* const modular = std::get_if<plan::ModularKernel>(&id)) {
    return kernels::multiply(queue, {.map = modular->map,
                                     .element_bytes = modular->element_bytes,
                                     .batch = arrays.count,
                                     .in = arrays.in,
                                     .out = arrays.out});
  }
  const auto& computed = std::get<plan::ComputedKernel>(id);
  kernels::move_computed(queue, {.map = computed.map,
                                 .element_bytes = computed.element_bytes,
                                 .batch = arrays.count,
                                 .in = arrays.in,
                                 .out = arrays.out});
}

KernelEntry load(const GpuKernel& kernel) {
  if (is_value(kernel)) return {};
  KernelEntry entry = std::visit(EntryOf{kernel}, kernel.id);
  FARO_CHECK(entry.function != nullptr && entry.threads == kernel.threads);
  entry.shared_bytes = static_cast<int>(kernel.shared_bytes);
  entry.cluster_blocks = static_cast<std::int16_t>(kernel.cluster_blocks);
  return loaded(entry, kernel.carveout);
}

// --- what addresses add to the params

// The pointers of a launch, in the order in which kernels take them.
struct Pointers {
  const std::byte* in;  // or the one array
  const std::byte* out;
};

// What a launch is made from, beside its params.
struct Launched {
  const GpuPass& pass;
  const GpuKernel& kernel;
  std::uint64_t target_shift = 0;
  std::uint64_t number = 0;  // in its series
};

// Every alternative but the last asks for more than the unit.
std::uint64_t unit_bytes_of(const GpuPass& pass) { return pass.kernels.back().in_alignment; }

template <typename Params>
void place(Params& params, std::uint32_t in_skew, std::uint32_t out_skew) {
  params.in = {.begin = in_skew + params.in.begin, .end = in_skew + params.in.end};
  params.out = {.begin = out_skew + params.out.begin, .end = out_skew + params.out.end};
}

template <typename Params>
void place_vectors(Params& params, Pointers& at, std::uint64_t out_alignment,
                   std::uint64_t in_alignment = kVector) {
  const Address from = split(at.in, in_alignment);
  const Address to = split(at.out, out_alignment);
  place(params, from.skew, to.skew);
  at = {from.base, to.base};
}

void patch(kernels::AxesLinesParams& params, Pointers& at, const Launched& /*by*/) {
  place_vectors(params, at, kernels::kLineSector);
}
void patch(kernels::AxesBoxParams& params, Pointers& at, const Launched& by) {
  if (!std::get<plan::AxesBoxKernel>(by.kernel.id).shape.ragged) return;
  const auto unit = static_cast<std::uint64_t>(std::get<plan::AxesBoxKernel>(by.kernel.id).shape.unit_bytes);
  const Address from = split(at.in);
  const Address to = split(at.out, kernels::kLineSector);
  params.skew(from.skew / unit, to.skew / unit);
  at = {from.base, to.base};
}
// Small arrays lie as far past a sector in shared memory as in the input.
void patch(kernels::AxesWholeParams& params, Pointers& at, const Launched& /*by*/) {
  place_vectors(params, at, kernels::kLineSector, kernels::kLineSector);
}
void patch(kernels::AxesElementsParams& params, Pointers& at, const Launched& /*by*/) {
  const Address from = split(at.in);
  params.in = {.begin = from.skew + params.in.begin, .end = from.skew + params.in.end};
  params.in_first += from.skew;
  at.in = from.base;
}
void patch(kernels::AxesRowsParams& params, Pointers& at, const Launched& /*by*/) {
  place_vectors(params, at, kVector);
}
void patch(kernels::CyclicParams& params, Pointers& at, const Launched& /*by*/) {
  place_vectors(params, at, kVector);
}
// In place: where the one array begins after an address that is aligned to vectors.
template <typename Params>
void begin_in_vector(Params& params, Pointers& at, std::uint64_t alignment = kVector) {
  const Address from = split(at.in, alignment);
  params.begin = from.skew;
  at = {from.base, at.out};
}
void patch(kernels::ReversalParams& params, Pointers& at, const Launched& /*by*/) {
  begin_in_vector(params, at);
}
void patch(kernels::CyclicWholeParams& params, Pointers& at, const Launched& /*by*/) {
  begin_in_vector(params, at);
}
void patch(kernels::SquaresParams& params, Pointers& at, const Launched& /*by*/) {
  begin_in_vector(params, at, kernels::kSquareSector);
}
void patch(kernels::RunsParams& params, Pointers& at, const Launched& /*by*/) {
  place_vectors(params, at, kVector);
}
void patch(kernels::WindowParams& params, Pointers& at, const Launched& /*by*/) {
  const Address from = split(at.in);
  const Address to = split(at.out);
  params.in = {.begin = from.skew, .end = from.skew + params.in.end};
  params.out_skew = to.skew;
  at = {from.base, to.base};
}
void patch(kernels::PartitionParams& params, Pointers& at, const Launched& by) {
  const bool runs_written = by.pass.kind == PassKind::spread;
  const std::byte* const runs = runs_written ? at.out : at.in;
  const std::uintptr_t chunks =
      by.pass.in_place ? addresses(at.in, at.out) : address(runs_written ? at.in : at.out);
  if (chunks % kVector != 0) params.vectors = 0;
  params.run_skew = static_cast<std::uint32_t>(address(runs) % kernels::kLineBytes / unit_bytes_of(by.pass));
}
void patch(plan::GpuTransposeLaunch& params, Pointers& at, const Launched& by) {
  params = plan::in_series(params, by.number);
  const std::uint64_t skew_bytes = address(at.in) % kernels::kC2rVectorBytes;
  const auto skew = static_cast<std::uint32_t>(skew_bytes / by.kernel.in_alignment);
  if (plan::set_skew(params, skew)) at = {at.in - skew_bytes, at.out - skew_bytes};
}

// Units, log2, that a kernel's complement counts in: tiles count in units, vectors in what a thread moves.
int shifted_bits(const Launched& by) {
  const auto* const segments = std::get_if<plan::SegmentsKernel>(&by.kernel.id);
  if (segments == nullptr) return 0;
  return std::countr_zero(segments->vector_bytes) - std::countr_zero(unit_bytes_of(by.pass));
}
void patch(kernels::AffineTileParams& params, Pointers& /*at*/, const Launched& by) {
  params.complement ^= by.target_shift;
}
void patch(kernels::AffineBlockedParams& params, Pointers& /*at*/, const Launched& by) {
  params.tile.complement ^= by.target_shift;
}
void patch(kernels::AffineSegmentsParams& params, Pointers& /*at*/, const Launched& by) {
  params.complement ^= by.target_shift >> shifted_bits(by);
}
template <typename Params>
void patch(Params& /*params*/, Pointers& /*at*/, const Launched& /*by*/) {}

// What a kernel takes by value.
template <typename Params>
void* value_of(Params& params) {
  return &params;
}
void* value_of(plan::GpuHugeStep& step) { return &step.params; }
void* value_of(plan::GpuTransposeLaunch& launch) {
  return std::visit([](auto& params) { return value_of(params); }, launch.params);
}

// --- numbers that change

kernels::ConvertedArrays converted(const PassChange& change, const Pointers& at, const AddedArrays& added) {
  kernels::ConvertedArrays made;
  made.in = change.rounds_first ? change.as_it_is(at.in) : at.in;
  auto* const out = const_cast<std::byte*>(change.rounds_first ? at.out : change.as_it_is(at.out));
  made.out = out;
  made.factors = *change.factors;
  if (change.rounds_first) return made;
  // An output that begins inside a vector is counted from the vector's beginning.
  const auto before = static_cast<std::int64_t>(address(out) - address(added.out)) /
                      static_cast<std::int64_t>(change.changed_bytes());
  made.first = static_cast<std::uint64_t>(before);
  if (const auto& addend = change.arithmetic.addend)
    made.addend = added.addend + before * static_cast<std::int64_t>(bytes_of(addend->number));
  return made;
}

template <int bytes, typename Place, bool negated>
std::string text_of(const kernels::MoveModularTiles<bytes, Place, negated>& /*kernel*/) {
  return fmt::format("MoveModularTiles<{}, std::uint{}_t, {}>", bytes, 8 * sizeof(Place), negated);
}
const char* parts_text(const kernels::HealpixParts& /*parts*/) { return "HealpixParts"; }
const char* parts_text(const kernels::HilbertParts<2>& /*parts*/) { return "HilbertParts<2>"; }
const char* parts_text(const kernels::HilbertParts<0>& /*parts*/) { return "HilbertParts<0>"; }
template <typename Parts, int bytes>
std::string text_of(const kernels::MoveComputedParts<Parts, bytes>& kernel) {
  return fmt::format("MoveComputedParts<faro::kernels::{}, {}>", parts_text(kernel.parts), bytes);
}

struct MapCompiler {
  const PassChange& change;
  std::vector<RuntimeKernel>& to;

  template <typename Map>
  void run(const Map& map) {
    const std::string type = map_type_text(change.arithmetic, change.rounds_first, text_of(map));
    to.push_back(compile(kernel_source(type), change.device)->kernel(kValueKernelName));
  }
};

struct MapLauncher {
  const PassChange& change;
  const RuntimeKernel& kernel;
  const PassArrays& arrays;
  Stream stream;

  template <typename Map>
  void run(const Map& map) {
    kernels::ChangedMapArrays<Map> launched{converted(change, {arrays.in, arrays.out}, arrays.added), map};
    void* arguments[] = {&launched};
    kernel.launch(map.blocks(), static_cast<int>(Map::kThreads), 1, map.shared_bytes(), arguments, stream);
  }
};

// The blocks of a launch: those of the plan, or one more where the vectors of an output that begins inside
// one are one more.
template <typename Params>
std::uint64_t blocks_of(const Params& params, const GpuKernel& kernel, std::uint64_t planned) {
  if constexpr (requires { params.vectors(); }) {
    return plan::ceil_div(params.vectors(), kernel.first_step);
  } else {
    return planned;
  }
}

// Those of steps (kernels/index_steps.hpp).
template <typename Params>
inline constexpr bool kIsOfStep =
    std::is_same_v<Params, kernels::DirectParams> || std::is_same_v<Params, kernels::PartitionParams> ||
    std::is_same_v<Params, kernels::ColumnsParams> || std::is_same_v<Params, kernels::WindowParams> ||
    std::is_same_v<Params, kernels::RunsParams>;

// Where a launch begins among the blocks of all.
template <typename Params>
void begin_at(Params& params, std::uint64_t first) {
  if constexpr (requires { params.first_tile; }) params.first_tile = first;
  if constexpr (requires { params.first_block; }) params.first_block = first;
  if constexpr (requires { params.first_vector; }) params.first_vector = first;
}

// --- words

bool is_sweep(const GpuPass& pass) { return pass.launched == plan::Kernels::in_sequence; }

AlignmentWords alignment_words(const GpuPass& pass) {
  if (is_sweep(pass)) {
    return {.what = "an array", .remedy = "begin where an element begins, in an allocation of its own"};
  }
  if (pass.source == PassBuffer::data) return {.operation = "run in place", .what = "an array"};
  return {};
}

const char* operation_of(const GpuPass& pass) {
  if (is_sweep(pass)) return "transpose in place";
  return pass.source == PassBuffer::data ? "run in place" : "run";
}

bool has_chunks(const GpuPass& pass) {
  return pass.kind == PassKind::spread || pass.kind == PassKind::collect || pass.kind == PassKind::place ||
         pass.kind == PassKind::pick;
}

}  // namespace

bool can_change(const GpuPass& pass) {
  return !pass.kernels.empty() && std::all_of(pass.kernels.begin(), pass.kernels.end(), [](const auto& each) {
    return is_map(each) || step_type_text({}, false, each).has_value();
  });
}

LoadedPass::LoadedPass(std::shared_ptr<const GpuPass> pass, std::vector<const void*> tables,
                       const PassChange& change)
    : pass_(std::move(pass)), tables_(std::move(tables)), change_(change) {
  FARO_CHECK(can_change(*pass_) && tables_.size() == pass_->tables.size());
  for (const GpuKernel& kernel : pass_->kernels) {
    if (is_map(kernel)) {
      move_map(MapCompiler{change, changed_}, kernel.id, {.count = 1});
      continue;
    }
    const std::string type = *step_type_text(change.arithmetic, change.rounds_first, kernel);
    changed_.push_back(compile(kernel_source(type), change.device)->kernel(kValueKernelName));
  }
}

template <typename Params>
void LoadedPass::launch_changed(std::size_t index, Params params, const PassArrays& arrays,
                                std::uint64_t planned, Stream stream) const {
  const GpuKernel& kernel = pass_->kernels[index];
  Pointers at{arrays.in, arrays.out};
  patch(params, at, {*pass_, kernel});
  kernels::ChangedArrays<Params> launched{converted(*change_, at, arrays.added), {}, params};
  for (std::size_t i = 0; i < tables_.size(); ++i)
    launched.tables[i] = static_cast<const std::byte*>(tables_[i]);
  const std::uint64_t blocks = blocks_of(params, kernel, planned);
  for (std::uint64_t done = 0; done < blocks; done += kMaxGridBlocks) {
    if (kernel.first_step > 0) begin_at(params, done * kernel.first_step);
    launched.p = params;
    void* arguments[] = {&launched};
    changed_[index].launch(std::min(kMaxGridBlocks, blocks - done), kernel.threads, 1, kernel.shared_bytes,
                           arguments, stream);
  }
}

LoadedPass::LoadedPass(std::shared_ptr<const GpuPass> pass, std::vector<const void*> tables)
    : pass_(std::move(pass)), tables_(std::move(tables)) {
  FARO_CHECK(tables_.size() == pass_->tables.size());
  for (const GpuKernel& kernel : pass_->kernels) entries_.push_back(load(kernel));
  if (pass_->kind != PassKind::patch) return;
  std::vector<std::uint64_t> words;
  for (const Exception& each : *std::get<plan::PatchKernel>(pass_->kernels.front().id).exceptions) {
    words.push_back(each.source);
    words.push_back(each.target);
  }
  int device = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice", "plan");
  exceptions_ = DeviceBuffer<std::uint64_t>::of(words, device);
}

void LoadedPass::launch_value(const PassArrays& arrays, Stream stream, const char* operation) const {
  const plan::KernelId& id = pass_->kernels.front().id;
  RowStream queue(stream, operation);
  if (is_map(pass_->kernels.front())) {
    if (change_) return move_map(MapLauncher{*change_, changed_.front(), arrays, stream}, id, arrays);
    return move_map(queue, id, arrays);
  }
  const auto& patch = std::get<plan::PatchKernel>(id);
  const kernels::ElementUnits element = kernels::units_of_element(patch.element_bytes);
  plan::by_unit_bytes(element.unit_bytes, [&](auto bytes) {
    PatchElements<bytes()> kernel;
    kernel.exceptions = exceptions_.data();
    kernel.number = device::Division64(patch.exceptions->size());
    kernel.units = device::Division64(element.units);
    kernel.count = patch.count;
    kernel.batch = patch.batch;
    kernel.in = arrays.in;
    kernel.out = arrays.out;
    queue.run(kernel);
  });
}

// The first alternative for which the arrays are aligned.
std::size_t LoadedPass::chosen(const PassArrays& arrays) const {
  const std::vector<GpuKernel>& kernels = pass_->kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end() - 1, [&](const GpuKernel& kernel) {
    return address(arrays.in) % kernel.in_alignment == 0 && address(arrays.out) % kernel.out_alignment == 0;
  });
  return static_cast<std::size_t>(found - kernels.begin());
}

void LoadedPass::check(const PassArrays& arrays) const {
  if (pass_->kernels.empty()) {
    FARO_CHECK(arrays.target_shift == 0);
    return;
  }
  require_aligned(addresses(arrays.in, arrays.out), unit_bytes_of(*pass_), alignment_words(*pass_));
  if (is_sweep(*pass_)) {
    for (std::size_t i = 0; i < pass_->kernels.size(); ++i) check_grid(i, arrays);
    return;
  }
  const std::size_t index = chosen(arrays);
  const Launched launched{*pass_, pass_->kernels[index], arrays.target_shift};
  FARO_CHECK(arrays.target_shift % (std::uint64_t{1} << shifted_bits(launched)) == 0);
  check_grid(index, arrays);
}

void LoadedPass::check_grid(std::size_t index, const PassArrays& arrays) const {
  const GpuKernel& kernel = pass_->kernels[index];
  if (kernel.first_step > 0) return;  // as many launches as it takes
  const bool of_all = is_sweep(*pass_) && pass_->blocks_of_one_array;
  const bool narrow = in_place() && index > 0 && kernel.in_alignment < kVector;
  require_grid(kernel.blocks * (of_all ? arrays.count : 1), operation_of(*pass_),
               has_chunks(*pass_) ? "choose larger chunks, or split the batch"
               : narrow           ? "align the array to 16 bytes, or split the batch"
                                  : "split the batch");
}

void LoadedPass::launch(const PassArrays& arrays, Stream stream, LaunchWords words) const {
  words.operation = operation_of(*pass_);
  words.in_place = in_place();
  const std::vector<GpuKernel>& kernels = pass_->kernels;
  if (kernels.empty()) {
    if (pass_->copy_bytes > 0) launch_copy(arrays.out, arrays.in, pass_->copy_bytes, stream, words);
    return;
  }
  if (is_value(kernels.front())) return launch_value(arrays, stream, words.operation);
  if (is_sweep(*pass_)) {
    const std::uint64_t counted = pass_->blocks_of_one_array ? arrays.count : 1;
    const auto series_of = [&](std::size_t i) -> const plan::GpuTransposeLaunch& {
      return std::get<plan::GpuTransposeLaunch>(kernels[i].params);
    };
    plan::for_each_in_turn(kernels.size(), series_of, [&](std::size_t i, std::uint64_t number) {
      queue(i, arrays, kernels[i].blocks * counted, stream, words, number);
    });
    return;
  }
  const std::size_t index = chosen(arrays);
  const std::uint64_t blocks = kernels[index].blocks;
  if (!pass_->blocks_of_one_array) return queue(index, arrays, blocks, stream, words);
  const std::uint64_t most = kMaxGridBlocks / blocks;
  for (std::uint64_t first = 0; first < arrays.count; first += most) {
    PassArrays part = arrays;
    part.in += first * pass_->array_bytes;
    part.out += first * pass_->array_bytes;
    queue(index, part, blocks * std::min(most, arrays.count - first), stream, words);
  }
}

void LoadedPass::queue(std::size_t index, const PassArrays& arrays, std::uint64_t planned, Stream stream,
                       LaunchWords& words, std::uint64_t number) const {
  const GpuKernel& kernel = pass_->kernels[index];
  const auto launch_with = [&](auto params) {  // a copy, of its own
    if constexpr (kIsOfStep<decltype(params)>) {
      if (change_) return launch_changed(index, params, arrays, planned, stream);
    }
    Pointers at{arrays.in, arrays.out};
    patch(params, at, {*pass_, kernel, arrays.target_shift, number});
    std::array<const void*, 5> pointers{at.in, at.out};
    if (in_place()) {
      const std::byte* const rows =
          arrays.workspace == nullptr ? nullptr : arrays.workspace + pass_->rows_offset;
      pointers = {at.in, arrays.workspace, rows};
    } else {
      std::copy(tables_.begin(), tables_.end(), pointers.begin() + 2);
    }
    void* arguments[] = {value_of(params), pointers.data(), &pointers[1],
                         &pointers[2],     &pointers[3],    &pointers[4]};
    const std::uint64_t blocks = blocks_of(params, kernel, planned);
    for (std::uint64_t done = 0; done < blocks; done += kMaxGridBlocks) {
      if (kernel.first_step > 0) begin_at(params, done * kernel.first_step);
      cuda::launch(entries_[index], std::min(kMaxGridBlocks, blocks - done), arguments, stream, words);
      words.begun = true;
    }
  };
  std::visit(launch_with, kernel.params);
}

void LoadedPass::spread_out(std::uint64_t shared_bytes) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    KernelEntry& entry = entries_[i];
    if (entry.shared_bytes == 0 || entry.shared_bytes >= static_cast<int>(shared_bytes)) continue;
    entry.shared_bytes = static_cast<int>(shared_bytes);
    entry = loaded(entry, pass_->kernels[i].carveout);
  }
}

KernelResources LoadedPass::resources() const {
  if (entries_.empty() || entries_.front().function == nullptr) return {};
  KernelResources worst = resources_of(entries_.front());
  if (!is_sweep(*pass_)) return worst;
  for (const KernelEntry& entry : entries_) {
    const KernelResources each = resources_of(entry);
    worst.registers = std::max(worst.registers, each.registers);
    worst.blocks_per_multiprocessor =
        std::min(worst.blocks_per_multiprocessor, each.blocks_per_multiprocessor);
    worst.local_bytes = std::max(worst.local_bytes, each.local_bytes);
  }
  return worst;
}

const void* function_of(const GpuKernel& kernel) { return std::visit(EntryOf{kernel}, kernel.id).function; }

KernelEntry load_kernel(const GpuKernel& kernel) { return load(kernel); }

void launch_axes(const GpuKernel& kernel, const KernelEntry& entry, const void* in, void* out, Stream stream,
                 LaunchWords words) {
  static const GpuPass none;  // axes need nothing of it
  const auto launch_with = [&](auto params) {
    Pointers at{static_cast<const std::byte*>(in), static_cast<const std::byte*>(out)};
    patch(params, at, {none, kernel});
    void* arguments[] = {value_of(params), &at.in, &at.out};
    const std::uint64_t blocks = blocks_of(params, kernel, kernel.blocks);
    for (std::uint64_t done = 0; done < blocks; done += kMaxGridBlocks) {
      begin_at(params, done * kernel.first_step);
      cuda::launch(entry, std::min(kMaxGridBlocks, blocks - done), arguments, stream, words);
      words.begun = true;
    }
  };
  std::visit(launch_with, kernel.params);
}

}  // namespace faro::cuda
