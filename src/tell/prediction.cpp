#include "tell/prediction.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/affine_params.hpp"
#include "plan/cpu/affine_cost.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/index_candidates.hpp"
#include "plan/planners.hpp"
#include "plan/solvers.hpp"
#include "tell/axes_cost.hpp"
#include "tell/counts/counting.hpp"
#include "tell/counts/pass_tables.hpp"
#include "unit_bytes.hpp"

namespace faro {
namespace {

using kernels::CompiledTile;
using kernels::kCompiledTiles;
using machine::AccessCounts;
using machine::CountingMemory;

constexpr const char* kOperation = "predict the memory accesses of a pass";

CountingMemory memory_of(const Plan& plan, const Pass& pass) {
  CountingMemory memory({.shared_bytes = static_cast<std::size_t>(pass.launch->shared_bytes),
                         .geometry = detail::geometry_of(plan.target())});
  memory.add_virtual_input(pass.bytes_read);
  memory.add_virtual_output(pass.bytes_written);
  return memory;
}

// --- tiles

using RunTile = void (*)(CountingMemory&, const Pass&);

// Block 0 of a pass, by the compiled kernel of this index.
template <std::size_t index>
void run_tile(CountingMemory& memory, const Pass& pass) {
  constexpr CompiledTile kernel = kCompiledTiles[index];
  constexpr kernels::AffineTileShape shape = kernel.shape;
  const CountingMemory::Launch launch{.blocks = 1, .threads = static_cast<std::uint32_t>(shape.threads())};
  const auto run = [&](const auto& params) {
    memory.run(
        launch,
        [&](auto& m, auto block, auto thread) { kernels::load_tile<shape>(m, params, block, thread); },
        [&](auto& m, auto block, auto thread) { kernels::store_tile<shape>(m, params, block, thread); });
  };
  if constexpr (kernel.blocked) {
    run(kernels::make_affine_blocked_params(pass.tile, shape, pass.arrays, memory.geometry()));
  } else {
    run(kernels::make_affine_tile_params(pass.tile, shape, pass.arrays, *pass.placement));
  }
}

constexpr auto kRunTile = []<std::size_t... index>(std::index_sequence<index...>) {
  return std::array<RunTile, sizeof...(index)>{run_tile<index>...};
}
(std::make_index_sequence<kernels::kCompiledTileCount>{});

RunTile find_kernel(const CompiledTile& kernel) {
  for (std::size_t i = 0; i < kRunTile.size(); ++i) {
    if (kCompiledTiles[i].shape == kernel.shape && kCompiledTiles[i].blocked == kernel.blocked) {
      return kRunTile.at(i);
    }
  }
  fail(ErrorCode::unsupported, kOperation, "a target with a tile kernel that is not compiled",
       "one of kernels::kCompiledTiles");
}

AccessCounts predict_tiles(const Plan& plan, const Pass& pass) {
  const RunTile run = find_kernel(*pass.launch->tile);
  CountingMemory memory = memory_of(plan, pass);
  run(memory, pass);
  AccessCounts counts = memory.counts();
  counts *= pass.launch->blocks;
  return counts;
}

// --- vectors

AccessCounts run_vectors(const Plan& plan, const Pass& pass, const kernels::AffineSegmentsParams& params,
                         std::uint64_t block) {
  CountingMemory memory = memory_of(plan, pass);
  detail::by_unit_bytes(static_cast<std::uint64_t>(pass.launch->vector_bytes), [&](auto bytes) {
    memory.run({.blocks = 1, .threads = kernels::kSegmentsThreads, .first_block = block},
               [&](auto& m, auto b, auto thread) { kernels::move_vector<bytes()>(m, params, b, thread); });
  });
  return memory.counts();
}

AccessCounts predict_vectors(const Plan& plan, const Pass& pass) {
  const int vector_bits = detail::log2_floor(static_cast<std::uint64_t>(pass.launch->vector_bytes)) -
                          detail::log2_floor(plan.unit_bytes());
  const auto params = kernels::make_affine_segments_params(pass.map, vector_bits, pass.arrays);
  AccessCounts counts;
  const std::uint64_t full_blocks = params.vectors / kernels::kSegmentsThreads;
  if (full_blocks > 0) {
    counts = run_vectors(plan, pass, params, 0);
    counts *= full_blocks;
  }
  if (full_blocks < params.blocks()) counts += run_vectors(plan, pass, params, full_blocks);
  return counts;
}

// --- blocks that differ

// A pass by its own kernel, with `tables` where it reads any.
std::optional<PassCounts> count_blocks_of(const Plan& plan, const Pass& pass,
                                          const detail::PassTables& tables, detail::CountedBlocks which) {
  detail::CountedArrays arrays{.arrays = pass.arrays, .array_bytes = pass.bytes_read / pass.arrays};
  if (pass.gpu->part_bytes > 0) {
    arrays = {.arrays = 1, .array_bytes = pass.gpu->array_bytes, .written = pass.gpu->part_bytes};
  }
  // A pass between others may take arrays one after another.
  const bool in_turns =
      pass.kind == PassKind::axes && pass.launch->blocks != pass.gpu->kernels.front().blocks;
  if (in_turns) arrays.arrays = 1;
  auto counted = detail::count_blocks(*pass.gpu, arrays, detail::geometry_of(plan.target()), tables, which);
  if (!counted) return std::nullopt;
  if (in_turns) counted->counts *= pass.arrays;
  return PassCounts{.counts = std::move(counted->counts),
                    .counted = detail::to_text(*counted) + (in_turns ? ", of one array" : "")};
}

}  // namespace

machine::AccessCounts predict(const Plan& plan, std::size_t pass) {
  const Pass& of = plan.passes().at(pass);
  if (!of.launch) {
    fail(ErrorCode::unsupported, kOperation,
         "a pass of kind " + std::string(name(of.kind)) + " on " + name(plan.target().engine),
         "a pass that is launched on a GPU");
  }
  if (plan.problem().placement == Placement::in_place) {
    fail(ErrorCode::unsupported, kOperation, "a pass in place", "a pass out of place",
         "it reads and writes every segment once");
  }
  return of.launch->tile ? predict_tiles(plan, of) : predict_vectors(plan, of);
}

namespace {

// What the curves' times of a pass are to be multiplied by on another device than theirs: of a random
// access's time three quarters are device memory's, and go by the rate of a copy; the rest is what the caches
// and the multiprocessors take, which are alike (docs/notes/prediction-experiments.md, an H100 beside an
// H200).
double device_over_curves(const Plan& plan, const std::optional<Calibration>& rates) {
  constexpr double kOfMemory = 0.77;
  if (!rates || rates->copy.gb_per_s <= 0 || plan.way() == nullptr) return 1;
  // Copies that no cache holds: shorter ones say nothing of device memory.
  constexpr std::uint64_t kWidth = 16;
  constexpr std::uint64_t kElements = std::uint64_t{1} << 26;
  const auto of_curves = curves_of(plan.target()).predict_us(IndexKernel::copy, kWidth, kElements);
  if (!of_curves) return 1;
  const double here = rates->copy.microseconds(static_cast<double>(2 * kWidth * kElements));
  return 1 + kOfMemory * (here / *of_curves - 1);
}

}  // namespace

namespace {

// Whether what the pass costs is the same whatever the index array says: columns, chunks and rows that go by
// way of shared memory, whose conflicts hide, and elements that are moved where they lie.
bool lies_alike(const Pass& pass) {
  const auto* const chunk = std::get_if<detail::ChunkKernel>(&pass.gpu->kernels.front().id);
  return pass.kind == PassKind::columns || pass.kind == PassKind::place || pass.kind == PassKind::pick ||
         (chunk != nullptr && chunk->place == detail::ChunkPlace::in_global);
}

// Passes on a CPU whose planners predicted no time: boxes of axes by what they do, and others by the curve of
// its copy, which in place moves as many bytes. Affine tiles and segments have curves of their own. Elements
// that go one by one, of small arrays and exceptions, are gathered.
std::optional<double> cpu_us(const IndexCalibration& curves, const Plan& plan, const Pass& pass) {
  constexpr std::uint64_t kWidth = 16;
  const bool one_by_one = pass.kind == PassKind::direct || pass.kind == PassKind::patch;
  if (one_by_one) {
    const std::uint64_t width = std::max<std::uint64_t>(1, plan.problem().element_bytes);
    return curves.predict_us(IndexKernel::gather, width, std::max<std::uint64_t>(1, pass.bytes_read / width));
  }
  if (pass.cpu != nullptr && std::holds_alternative<detail::CpuAxes>(pass.cpu->kernel))
    return pass.bytes_read == 0 ? std::nullopt : detail::axes_us(*pass.cpu, curves);
  auto us =
      curves.predict_us(IndexKernel::copy, kWidth, std::max<std::uint64_t>(1, pass.bytes_read / kWidth));
  if (!us || pass.cpu == nullptr) return us;
  if (const auto* const affine = std::get_if<detail::CpuAffine>(&pass.cpu->kernel);
      affine != nullptr && !pass.orbits && (pass.kind == PassKind::tile || pass.kind == PassKind::segments)) {
    const auto by_curves = detail::affine_us(
        curves, {.pass = pass, .unit_bytes = affine->unit_bytes, .streamed = pass.cpu->streamed},
        pass.cpu->threads);
    if (by_curves) return by_curves;
  }
  const auto over_copy = detail::cpu_solver_of(*pass.cpu).over_copy;
  if (over_copy != nullptr) *us *= over_copy(*pass.cpu);
  return us;
}

// The driver's copy: it moves the array in order, here as warps do whose lanes have vectors of 16 bytes.
AccessCounts count_copy(const Pass& pass, const machine::MemoryGeometry& geometry) {
  constexpr std::uint64_t kVector = 16;
  const auto units = [](std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit; };
  const auto side = [&](std::uint64_t bytes) {
    return machine::GlobalCounts{
        .requests = units(bytes, kVector * static_cast<std::uint64_t>(geometry.warp_size)),
        .bytes = bytes,
        .sectors = units(bytes, static_cast<std::uint64_t>(geometry.sector_bytes)),
        .lines = units(bytes, static_cast<std::uint64_t>(geometry.line_bytes))};
  };
  AccessCounts counts;
  counts.global_loads = side(pass.bytes_read);
  counts.global_stores = side(pass.bytes_written);
  return counts;
}

}  // namespace

struct PassCounter::State {
  const Plan& plan;
  detail::CountedBlocks which = detail::CountedBlocks::sampled;
  std::optional<Calibration> rates = {};
  std::optional<detail::ScheduleTables> tables = {};
  bool tables_made = false;
  std::shared_ptr<const IndexCalibration> curves = {};  // of a CPU
  std::vector<std::optional<PassCounts>> counted = {};
  std::vector<bool> done = {};

  const std::optional<detail::ScheduleTables>& schedule() {
    if (!tables_made)
      tables = detail::ScheduleTables::made(*plan.index_plan(), which == detail::CountedBlocks::all);
    tables_made = true;
    return tables;
  }

  // Those that the plan was made by, else those that are kept, which are read once.
  const IndexCalibration& cpu_curves() {
    if (curves == nullptr) curves = plan.target().index_calibration;
    if (curves == nullptr) curves = calibration_for(plan.target().name, built_in_cpu_calibration());
    return *curves;
  }

  std::optional<PassCounts> count(const Pass& pass, std::size_t index) {
    if (pass.kind == PassKind::copy && plan.target().engine == Engine::cuda && !pass.launch) {
      return PassCounts{.counts = count_copy(pass, detail::geometry_of(plan.target())),
                        .counted = "the driver's copy, taken as warps of 16-byte vectors in order"};
    }
    if (!pass.launch) return std::nullopt;
    if (const auto patched = detail::count_patch(pass, detail::geometry_of(plan.target()))) {
      return PassCounts{.counts = *patched, .counted = "every exception"};
    }
    const bool alike = pass.kind <= PassKind::direct && plan.problem().placement == Placement::out_of_place;
    if (alike) {
      return PassCounts{.counts = predict(plan, index), .counted = "one block, which stands for all"};
    }
    if (!pass.gpu || pass.arrays == 0) return std::nullopt;
    if (pass.gpu->tables.empty()) return count_blocks_of(plan, pass, {}, which);
    if (schedule()) return count_blocks_of(plan, pass, (*schedule())(*pass.gpu), which);
    const auto bound = detail::bounded_blocks(
        *pass.gpu, {.arrays = pass.arrays, .array_bytes = pass.bytes_read / pass.arrays},
        detail::geometry_of(plan.target()));
    if (!bound) return std::nullopt;
    return PassCounts{.counts = bound->counts,
                      .counted = detail::to_text(*bound) + "; at most, whatever the index array says",
                      .bounded = true};
  }
};

PassCounter::PassCounter(const Plan& plan, const Options& options)
    : state_(std::make_unique<State>(
          State{.plan = plan,
                .which = options.every_block ? detail::CountedBlocks::all : detail::CountedBlocks::sampled,
                .rates = options.rates ? options.rates : plan.target().calibration})) {
  state_->counted.resize(plan.passes().size());
  state_->done.resize(plan.passes().size());
}
PassCounter::PassCounter(PassCounter&&) noexcept = default;
PassCounter& PassCounter::operator=(PassCounter&&) noexcept = default;
PassCounter::~PassCounter() = default;

const std::optional<PassCounts>& PassCounter::operator()(std::size_t pass) const {
  const Pass& of = state_->plan.passes().at(pass);
  if (!state_->done[pass]) state_->counted[pass] = state_->count(of, pass);
  state_->done[pass] = true;
  return state_->counted[pass];
}

std::optional<double> PassCounter::microseconds(std::size_t pass) const {
  const Pass& of = state_->plan.passes().at(pass);
  if (state_->plan.target().engine != Engine::cuda) {
    const bool by_target = state_->plan.way() != nullptr || state_->plan.problem().view;
    const IndexCalibration& curves = by_target ? curves_of(state_->plan.target()) : state_->cpu_curves();
    return of.curve_us ? of.curve_us : cpu_us(curves, state_->plan, of);
  }
  const std::optional<PassCounts>& counted = (*this)(pass);
  std::optional<double> by_curves = of.curve_us;
  if (by_curves) *by_curves *= device_over_curves(state_->plan, state_->rates);
  const bool bounded = counted && counted->bounded && !lies_alike(of);
  if (by_curves && (bounded || of.kind == PassKind::indexed)) return by_curves;
  const auto us = detail::gpu_solver_of(of.kind).cost(
      {.pass = of, .counts = counted ? counted->counts : AccessCounts{}, .rates = state_->rates});
  return us ? us : by_curves;
}

std::optional<double> PassCounter::microseconds() const {
  if (state_->plan.array_bytes() == 0 && state_->plan.problem().view) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < state_->plan.passes().size(); ++i) {
    const std::optional<double> us = microseconds(i);
    if (!us) return std::nullopt;
    sum += *us;
  }
  return sum;
}

std::optional<double> predict_us(const Plan& plan) { return PassCounter(plan).microseconds(); }

std::string rates_of(const Plan& plan) {
  if (plan.target().calibration) return plan.target().calibration->source;
  if (plan.way() != nullptr) return curves_of(plan.target()).source;
  return plan.target().engine == Engine::cuda ? ""
         : plan.target().index_calibration
             ? plan.target().index_calibration->source
             : calibration_for(plan.target().name, built_in_cpu_calibration())->source;
}

std::optional<double> predict_us(const Plan& plan, std::size_t pass) {
  return PassCounter(plan).microseconds(pass);
}

}  // namespace faro
