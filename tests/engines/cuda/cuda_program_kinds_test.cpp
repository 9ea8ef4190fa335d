// The CUDA engine's launches of axes, rolls, partitions and transpositions in place without a GPU, beside
// cuda_program_test: the kernels are their own phases on plain memory, in exactly the grid that was launched.
// Covers what a launch adds to a plan's parameters, skews above all, groups of arrays that take turns, the
// order of a sweep's kernels, and where scratch and copied rows lie.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine_support.hpp"
#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/transpose_kernels.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_runs.hpp"
#include "kernels/row_column.hpp"
#include "plan/gpu/sweep_phases.hpp"
#include "refusal.hpp"
#include "stand_in_cuda/cuda_runtime_api.h"
#include "tell/counts/block_phases.hpp"
#include "transpose_phases.hpp"

namespace faro::testing {
namespace {

using detail::GpuKernel;
using kernels::Way;
using stand_in::Grid;

std::set<std::string> reached;  // kernels that ran

template <typename Pointer>
Pointer argument(void** arguments, int index) {
  return *static_cast<Pointer*>(arguments[index]);
}

// --- axes, rolls and flips: one memory that checks every access

template <typename Params>
std::uint64_t end_of(const Params& params, std::uint64_t all) {
  if constexpr (requires { params.out.end; }) return params.out.end;
  return all;
}

std::uint64_t bytes_of_arrays;  // of the test at hand

template <typename Params>
cuda::KernelEntry checked_kernel(const detail::KernelId& id, int threads) {
  const auto run = [id](void** arguments, const Grid& grid) {
    const auto& params = *static_cast<const Params*>(arguments[0]);
    const GpuKernel kernel{.id = id,
                           .params = params,
                           .threads = static_cast<int>(grid.threads),
                           .shared_bytes = grid.shared_bytes};
    const std::uint64_t bytes = end_of(params, bytes_of_arrays);
    std::uint64_t in_bytes = bytes;
    if constexpr (requires { params.in.end; }) in_bytes = params.in.end;
    // Vectors end where the array does, or a few bytes behind.
    constexpr std::uint64_t past = 32;
    machine::CountingMemory memory({.shared_bytes = grid.shared_bytes});
    memory.add_input({argument<const std::byte*>(arguments, 1), in_bytes + past});
    memory.add_output({argument<std::byte*>(arguments, 2), bytes + past});
    for (std::uint64_t block = 0; block < grid.blocks; ++block) {
      FARO_CHECK(detail::run_axes_phases(kernel, memory, block));
    }
    reached.insert(detail::to_text(kernel).substr(0, 10));
  };
  return {.function = stand_in::as_kernel(run), .threads = threads};
}

// --- partitions and the like, on plain memory with tables

struct TableMemory {
  const std::byte* bases[5];  // input, output, tables
  std::byte* output;
  std::byte* shared;

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    return *reinterpret_cast<const device::Packet<bytes>*>(bases[buffer] + offset);
  }
  template <int bytes>
  void store_global(int /*buffer*/, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    *reinterpret_cast<device::Packet<bytes>*>(output + offset) = packet;
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) const {
    return *reinterpret_cast<const device::Packet<bytes>*>(shared + address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    *reinterpret_cast<device::Packet<bytes>*>(shared + address) = packet;
  }
};

// Runs phase(memory, params, block, thread) of every block, one after another, with a barrier between two.
template <typename Params, typename... Phases>
stand_in::Closure phases_of(const char* name, int tables, Phases... phases) {
  return [=](void** arguments, const Grid& grid) {
    const auto& params = *static_cast<const Params*>(arguments[0]);
    std::vector<std::byte> shared(grid.shared_bytes + 16);
    auto* const output = argument<std::byte*>(arguments, 2);
    TableMemory memory{{argument<const std::byte*>(arguments, 1), output}, output, shared.data()};
    for (int i = 0; i < tables; ++i) memory.bases[2 + i] = argument<const std::byte*>(arguments, 3 + i);
    for (std::uint64_t block = 0; block < grid.blocks; ++block) {
      const auto each_thread = [&](const auto& phase) {
        for (std::uint32_t thread = 0; thread < grid.threads; ++thread) phase(memory, params, block, thread);
      };
      (each_thread(phases), ...);
    }
    reached.insert(name);
  };
}

template <bool single>
cuda::KernelEntry level_of(Way way) {
  constexpr kernels::CompiledPartition compiled = kernels::kCompiledPartitions[kernels::kManyUnitsPartition];
  constexpr int threads = compiled.threads();
  constexpr auto list = [](auto& m, auto&... at) { kernels::load_descriptors(m, at..., threads); };
  if (way == Way::forwards) {
    return {stand_in::as_kernel(phases_of<kernels::PartitionParams>(
                "spread", 3,
                [=](auto& m, auto&... at) {
                  list(m, at...);
                  kernels::load_placed<4, single>(m, at..., threads);
                },
                [](auto& m, auto&... at) {
                  kernels::store_runs<4, single, compiled.lane_bits>(m, at..., threads);
                })),
            threads};
  }
  return {
      stand_in::as_kernel(phases_of<kernels::PartitionParams>(
          "collect", 3, list,
          [](auto& m, auto&... at) { kernels::load_runs<4, single, compiled.lane_bits>(m, at..., threads); },
          [](auto& m, auto&... at) { kernels::store_picked<4, single>(m, at..., threads); })),
      threads};
}

template <bool single>
cuda::KernelEntry chunk_of(Way way) {
  constexpr int threads = 512;
  if (way == Way::forwards) {
    return {stand_in::as_kernel(phases_of<kernels::PartitionParams>(
                "place", 1, [](auto& m, auto&... at) { kernels::load_placed<4, single>(m, at..., threads); },
                [](auto& m, auto&... at) { kernels::store_chunk<4, single>(m, at..., threads); })),
            threads};
  }
  return {stand_in::as_kernel(phases_of<kernels::PartitionParams>(
              "pick", 1, [](auto& m, auto&... at) { kernels::load_chunk<4, single>(m, at..., threads); },
              [](auto& m, auto&... at) { kernels::store_picked<4, single>(m, at..., threads); })),
          threads};
}

template <bool forwards>
cuda::KernelEntry columns_of() {
  constexpr int threads = kernels::kColumnsThreads;
  return {stand_in::as_kernel(phases_of<kernels::ColumnsParams>(
              forwards ? "columns forwards" : "columns backwards", 1,
              [](auto& m, auto&... at) { kernels::load_columns<4, forwards>(m, at..., threads); },
              [](auto& m, auto&... at) { kernels::store_columns<4, forwards>(m, at..., threads); })),
          threads};
}

// --- sweeps

struct SweepMemory {
  std::byte* array;
  std::byte* scratch;
  std::byte* rows;
  std::byte* shared;

  std::byte* base(int buffer) const {
    if (buffer < kernels::kC2rScratchIn) return array;
    return buffer < kernels::kC2rRowsIn ? scratch : rows;
  }
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    return *reinterpret_cast<const device::Packet<bytes>*>(base(buffer) + offset);
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    *reinterpret_cast<device::Packet<bytes>*>(base(buffer) + offset) = packet;
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) const {
    return *reinterpret_cast<const device::Packet<bytes>*>(shared + address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    *reinterpret_cast<device::Packet<bytes>*>(shared + address) = packet;
  }
};

// A thread block after another, so a kernel whose blocks read what others write would not pass everywhere.
void run_sweep(const detail::GpuTransposeLaunch& launch, std::uint64_t unit_bytes, void** arguments,
               const Grid& grid) {
  std::vector<std::byte> shared(grid.shared_bytes + 16);
  SweepMemory memory{argument<std::byte*>(arguments, 1), argument<std::byte*>(arguments, 2),
                     argument<std::byte*>(arguments, 3), shared.data()};
  const auto run = [&](const auto&... phases) {
    for (std::uint64_t block = 0; block < grid.blocks; ++block) {
      const auto each_thread = [&](const auto& phase) {
        for (std::uint32_t thread = 0; thread < grid.threads; ++thread) phase(memory, block, thread);
      };
      (each_thread(phases), ...);
    }
  };
  detail::by_unit_bytes(unit_bytes,
                        [&](auto unit) { detail::with_phases<decltype(unit)::value>(launch, run); });
}

}  // namespace
}  // namespace faro::testing

// In place of src/engines/cuda/kernels/transpose_kernels.cu, index_kernels.cu and index_*_entries.cu. Kernels
// of partitions are there for units of four bytes.
namespace faro::cuda {

using testing::checked_kernel;

KernelEntry transpose_kernel(const detail::GpuTransposeLaunch& launch, std::uint64_t unit_bytes) {
  const auto run = [launch, unit_bytes](void** arguments, const stand_in::Grid& grid) {
    detail::GpuTransposeLaunch given = launch;
    std::visit(
        [&]<typename Params>(Params& params) {
          if constexpr (std::is_same_v<Params, detail::GpuHugeStep>) {
            params.params = *static_cast<const kernels::C2rHugeRowsParams*>(arguments[0]);
          } else {
            params = *static_cast<const Params*>(arguments[0]);
          }
        },
        given.params);
    testing::run_sweep(given, unit_bytes, arguments, grid);
  };
  return {stand_in::as_kernel(run), static_cast<int>(launch.threads)};
}

KernelEntry axes_box_kernel(const kernels::BoxShape& shape) {
  return checked_kernel<kernels::AxesBoxParams>(detail::AxesBoxKernel{.shape = shape}, shape.threads);
}
KernelEntry axes_lines_kernel(int unit_bytes) {
  return checked_kernel<kernels::AxesLinesParams>(detail::AxesLinesKernel{unit_bytes},
                                                  kernels::kAxesLinesThreads);
}
KernelEntry axes_plane_kernel(const kernels::AxesPlaneShape& shape, bool aligned) {
  return checked_kernel<kernels::AxesLinesParams>(detail::AxesPlaneKernel{shape, aligned}, shape.threads);
}
KernelEntry axes_turned_kernel(const kernels::AxesPlaneShape& shape, bool words) {
  return checked_kernel<kernels::AxesLinesParams>(detail::AxesTurnedKernel{shape, words}, shape.threads);
}
KernelEntry axes_skinny_kernel(const kernels::AxesSkinnyShape& shape) {
  return checked_kernel<kernels::AxesLinesParams>(detail::AxesSkinnyKernel{shape},
                                                  kernels::kAxesSkinnyThreads);
}
KernelEntry axes_whole_kernel(int unit_bytes) {
  return checked_kernel<kernels::AxesWholeParams>(detail::AxesWholeKernel{unit_bytes},
                                                  kernels::kWholeThreads);
}
KernelEntry axes_rows_kernel(int unit_bytes) {
  return checked_kernel<kernels::AxesRowsParams>(detail::AxesRowsKernel{unit_bytes},
                                                 kernels::kAxesRowsThreads);
}
KernelEntry axes_elements_kernel(int unit_bytes, int units) {
  return checked_kernel<kernels::AxesElementsParams>(detail::AxesElementsKernel{unit_bytes, units},
                                                     kernels::kAxesElementsThreads);
}
KernelEntry axes_registers_kernel(const kernels::AxesRegistersShape& shape) {
  return checked_kernel<kernels::AxesRegistersParams>(detail::AxesRegistersKernel{shape},
                                                      kernels::kAxesRegistersThreads);
}
KernelEntry view_rows_kernel(const kernels::ViewRowsShape& shape) {
  return checked_kernel<kernels::ViewRowsParams>(detail::ViewRowsKernel{shape}, kernels::kViewRowsThreads);
}
KernelEntry cyclic_kernel(int unit_bytes, bool reversed, bool several_units) {
  return checked_kernel<kernels::CyclicParams>(detail::CyclicKernel{unit_bytes, reversed, several_units},
                                               kernels::kCyclicThreads);
}

KernelEntry level_kernel(const kernels::IndexUnit& unit, kernels::Way way, int variant) {
  if (unit.unit_bytes != 4 || variant != kernels::kManyUnitsPartition) return {};
  return unit.single ? testing::level_of<true>(way) : testing::level_of<false>(way);
}
KernelEntry chunk_kernel(const kernels::IndexUnit& unit, kernels::Way way, bool large) {
  if (unit.unit_bytes != 4 || large) return {};
  return unit.single ? testing::chunk_of<true>(way) : testing::chunk_of<false>(way);
}
KernelEntry columns_kernel(int unit_bytes, kernels::Way way) {
  if (unit_bytes != 4) return {};
  return way == kernels::Way::forwards ? testing::columns_of<true>() : testing::columns_of<false>();
}

}  // namespace faro::cuda

namespace faro::testing {
namespace {

using Map = std::function<std::uint64_t(std::uint64_t)>;  // where element x of an array goes

struct Shape {
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;

  std::uint64_t bytes() const { return count * element_bytes * batch; }
};

// Arrays that begin `in` and `out` bytes past an address that is aligned to 64, between guards.
struct Offsets {
  std::size_t in = 0;
  std::size_t out = 0;
};

void expect_moved(const cuda::LoadedPasses& passes, const Map& map, const Shape& shape, Offsets offsets) {
  bytes_of_arrays = shape.bytes();
  Arrays arrays(shape.bytes(), offsets.in, offsets.out, 1);
  std::vector<std::uint64_t> workspace(passes.workspace_bytes() / 8 + 2);
  passes.launch({.in = arrays.in(), .out = arrays.out(), .workspace = workspace.data()});
  std::uint64_t wrong = 0;
  for (std::uint64_t array = 0; array < shape.batch; ++array) {
    for (std::uint64_t x = 0; x < shape.count; ++x) {
      const std::uint64_t first = array * shape.count;
      const std::byte* const wanted = arrays.in() + (first + x) * shape.element_bytes;
      const std::byte* const got = arrays.out() + (first + map(x)) * shape.element_bytes;
      if (std::memcmp(wanted, got, shape.element_bytes) != 0) ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0U) << shape.count << " elements of " << shape.element_bytes << " bytes, batch "
                       << shape.batch << ", in + " << offsets.in << ", out + " << offsets.out;
  EXPECT_TRUE(arrays.guards_intact() && arrays.input_intact());
}

// --- axes, rolls and flips

Target h200() { return cuda::target_of_capability(9, 0); }

void check_plan(const Permutation& permutation, const Map& map, const Shape& shape) {
  const Plan plan({.permutation = permutation, .element_bytes = shape.element_bytes, .batch = shape.batch},
                  h200());
  const cuda::LoadedPasses passes(plan.passes());
  const std::uint64_t unit = std::min<std::uint64_t>(16, shape.element_bytes & (~shape.element_bytes + 1));
  for (const Offsets& offsets : {Offsets{}, Offsets{.in = 3 * unit, .out = 0}, Offsets{.in = 0, .out = unit},
                                 Offsets{.in = 16, .out = 48}, Offsets{.in = 5 * unit, .out = 7 * unit}}) {
    expect_moved(passes, map, shape, offsets);
  }
}

TEST(CudaPrograms, AxesWhereverArraysBegin) {
  for (const std::uint64_t width : {1U, 4U, 6U, 16U}) {
    for (const Axes& axes : {Axes({130, 70}, {1, 0}), Axes({257, 300}, {1, 0}), Axes({5, 999}, {1, 0}),
                             Axes({3, 40, 5, 7}, {2, 0, 3, 1}), Axes({30, 11, 64}, {1, 0, 2})}) {
      check_plan(axes, axes, {.count = axes.count(), .element_bytes = width, .batch = 2});
      if (HasFailure()) FAIL() << to_text(Permutation(axes)) << " of " << width;
    }
  }
  // Small arrays go element by element; these do not.
  for (const auto& [axes, width] :
       std::initializer_list<std::pair<Axes, std::uint64_t>>{{Axes({32, 40, 8, 36}, {2, 0, 3, 1}), 4},
                                                             {Axes({5, 60011}, {1, 0}), 4},
                                                             {Axes({520, 517}, {1, 0}), 6},
                                                             {Axes({1200, 1010}, {1, 0}), 1},
                                                             {Axes({60, 70, 66}, {1, 0, 2}), 16}}) {
    check_plan(axes, axes, {.count = axes.count(), .element_bytes = width, .batch = 2});
    if (HasFailure()) FAIL() << to_text(Permutation(axes)) << " of " << width;
  }
  for (const char* const kernel : {"axes box, ", "axes turne", "axes skinn", "axes rows,"}) {
    EXPECT_TRUE(reached.contains(kernel)) << kernel;
  }
}

TEST(CudaPrograms, RollsAndFlipsWhereverArraysBegin) {
  for (const std::uint64_t width : {1U, 4U, 12U}) {
    for (const bool reversed : {false, true}) {
      const Cyclic map{.count = 1003, .shift = 317, .reversed = reversed};
      check_plan(map, map, {.count = map.count, .element_bytes = width, .batch = 3});
    }
  }
}

// --- schedules

struct HostTables {
  schedule::IndexSchedule schedule;

  std::vector<const void*> of(const detail::GpuPass& pass) const {
    std::vector<const void*> found;
    for (const detail::TableId& id : pass.tables) found.push_back(table(id));
    return found;
  }
  const void* table(const detail::TableId& id) const {
    using detail::TableKind;
    const auto* const matrix = std::get_if<schedule::RowColumnSchedule>(&schedule.what);
    if (matrix != nullptr) {
      return id.kind == TableKind::first    ? matrix->first.data()
             : id.kind == TableKind::middle ? matrix->middle.data()
                                            : matrix->last.data();
    }
    const auto& partition = std::get<schedule::PartitionSchedule>(schedule.what);
    if (id.kind == TableKind::last) return partition.last.data();
    const schedule::PartitionLevel& level = partition.levels[static_cast<std::size_t>(id.level)];
    if (id.kind == TableKind::places) return level.places.data();
    return id.kind == TableKind::starts ? static_cast<const void*>(level.starts.data())
                                        : static_cast<const void*>(level.offsets.data());
  }
};

void check_schedule(const Indexed& indexed, const schedule::IndexSchedule& made, detail::PassWork work) {
  work.count = indexed.count();
  work.shared_bytes = std::uint64_t{227} << 10;
  work.level_variant = kernels::kManyUnitsPartition;
  for (const Way way : {Way::forwards, Way::backwards}) {
    work.way = way;
    const HostTables tables{made};
    const cuda::LoadedPasses passes(detail::solve(work),
                                    [&](const detail::GpuPass& pass) { return tables.of(pass); });
    EXPECT_EQ(passes.workspace_bytes() > 0, passes[0].pass().arrays_at_once != work.batch);
    const std::vector<std::uint64_t> entries = schedule::entries_of(made);
    std::vector<std::uint64_t> to = entries;
    for (std::uint64_t i = 0; way == Way::backwards && i < to.size(); ++i) to[entries[i]] = i;
    const Map map = [&to](std::uint64_t x) { return to[x]; };
    const Shape shape{.count = work.count, .element_bytes = work.element_bytes, .batch = work.batch};
    for (const Offsets& offsets : {Offsets{}, Offsets{.in = 4, .out = 0}, Offsets{.in = 8, .out = 12}}) {
      expect_moved(passes, map, shape, offsets);
    }
  }
}

TEST(CudaPrograms, PartitionsTakeTurns) {
  const Indexed indexed = Indexed::random(5003, 1);
  for (const int chunk_bits : {13, 9, 5}) {
    const schedule::PartitionShape shape{indexed.count(), chunk_bits,
                                         schedule::even_levels(indexed.count(), chunk_bits, 4)};
    const schedule::IndexSchedule made = schedule::partition_index_schedule(indexed, shape);
    for (const std::uint64_t bytes : {4U, 12U}) {
      check_schedule(indexed, made, {.element_bytes = bytes, .batch = 3, .form = shape});
      if (HasFailure()) FAIL() << "chunks of 2^" << chunk_bits << ", " << bytes << " bytes";
    }
  }
  for (const char* const kernel : {"spread", "collect", "place", "pick"}) {
    EXPECT_TRUE(reached.contains(kernel)) << kernel;
  }
}

TEST(CudaPrograms, RowsAndColumnsFusedAndAsPublished) {
  const Indexed indexed = Indexed::random(64 * 48, 2);
  const schedule::IndexSchedule made = schedule::row_column_schedule(indexed);
  const auto& matrix = std::get<schedule::RowColumnSchedule>(made.what);
  for (const bool as_published : {false, true}) {
    const detail::MatrixForm form{
        .rows = matrix.rows, .columns = matrix.columns, .as_published = as_published};
    check_schedule(indexed, made, {.element_bytes = 4, .batch = 2, .form = form});
  }
  EXPECT_TRUE(reached.contains("columns forwards") && reached.contains("columns backwards"));
}

// --- transpositions in place

using test::limits_of_windows;
using test::small_limits;

void check_sweeps(const Rectangle& r, const detail::GpuTransposeLimits& limits, std::uint64_t offset,
                  std::set<detail::GpuTransposeForm>& forms) {
  const detail::GpuTranspose plan = detail::plan_gpu_transpose(r, limits);
  forms.insert(plan.form);
  const cuda::LoadedPasses passes(detail::sweep_passes(plan));
  EXPECT_EQ(passes.workspace_bytes(), plan.workspace_bytes());
  constexpr std::size_t guard = 64;
  constexpr std::byte poison{0x5a};
  struct alignas(16) Vector {
    std::byte bytes[16];
  };
  const auto room = [&](std::uint64_t bytes) { return std::vector<Vector>(bytes / 16 + 1, Vector{}); };
  std::vector<Vector> memory = room(r.bytes() + offset + 2 * guard);
  std::vector<Vector> lent = room(plan.workspace_bytes() + 2 * guard);
  auto* const all = memory.front().bytes;
  auto* const scratch = lent.front().bytes;
  std::fill_n(all, memory.size() * 16, poison);
  std::fill_n(scratch, lent.size() * 16, poison);
  std::byte* const data = all + guard + offset;
  std::vector<std::byte> before(r.bytes());
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::byte>(i * 0x9e3779b1 >> 13);
  std::copy(before.begin(), before.end(), data);
  passes.launch({.in = data, .out = data, .workspace = scratch + guard});
  std::uint64_t wrong = 0;
  for (std::uint64_t array = 0; array < r.arrays; ++array) {
    for (std::uint64_t x = 0; x < r.count(); ++x) {
      const std::uint64_t y = x % r.columns * r.rows + x / r.columns;
      const std::uint64_t first = array * r.count();
      if (std::memcmp(&before[(first + x) * r.element_bytes], data + (first + y) * r.element_bytes,
                      r.element_bytes) != 0) {
        ++wrong;
      }
    }
  }
  EXPECT_EQ(wrong, 0U) << r.arrays << " of " << r.rows << " x " << r.columns << " of " << r.element_bytes
                       << " bytes, offset " << offset << ", form " << static_cast<int>(plan.form);
  const auto poisoned = [&](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [&](std::byte b) { return b == poison; });
  };
  EXPECT_TRUE(poisoned(all, data) && poisoned(data + r.bytes(), all + memory.size() * 16));
  EXPECT_TRUE(poisoned(scratch, scratch + guard) &&
              poisoned(scratch + guard + plan.workspace_bytes(), scratch + lent.size() * 16));
}

TEST(CudaPrograms, SweepsOfEveryFormInGroups) {
  std::set<detail::GpuTransposeForm> forms;
  for (detail::GpuTransposeLimits limits :
       {small_limits(2400), small_limits(100), limits_of_windows(300), limits_of_windows(16)}) {
    for (const std::uint64_t batch_bytes : {256U, 3000U}) {
      limits.batch_bytes = batch_bytes;
      for (const std::uint64_t width : {1U, 3U, 4U, 8U, 16U}) {
        for (const Rectangle& shape : {Rectangle{.arrays = 7, .rows = 3, .columns = 4},
                                       Rectangle{.arrays = 5, .rows = 30, .columns = 42},
                                       Rectangle{.arrays = 3, .rows = 5, .columns = 139},
                                       Rectangle{.arrays = 4, .rows = 139, .columns = 5},
                                       Rectangle{.arrays = 3, .rows = 24, .columns = 36}}) {
          Rectangle r = shape;
          r.element_bytes = width;
          for (const std::uint64_t skew : {0U, 1U, 3U}) {
            check_sweeps(r, limits, skew * (width & (~width + 1)), forms);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_EQ(forms.size(), 5U) << "whole, resident, long rows, long columns, huge";
}

TEST(CudaPrograms, TranspositionsRefuseMisalignedArraysAndSayWhatWasQueued) {
  const Rectangle r{.rows = 30, .columns = 42, .element_bytes = 4};
  const cuda::LoadedPasses passes(detail::sweep_passes(detail::plan_gpu_transpose(r, small_limits(2400))));
  ASSERT_GT(passes.size(), 1U);
  std::vector<std::uint32_t> data(r.count() + 1);
  std::vector<std::uint64_t> lent(passes.workspace_bytes() / 8 + 2);
  auto* const begin = reinterpret_cast<std::byte*>(data.data());
  const int before = stand_in::calls;
  {
    const Error error =
        test::refusal([&] { passes.launch({.in = begin + 2, .out = begin + 2, .workspace = lent.data()}); });
    EXPECT_EQ(error.code(), ErrorCode::value);
    EXPECT_EQ(error.report().got, "an array aligned to 2 bytes");
  }
  EXPECT_EQ(stand_in::calls, before);
  stand_in::failing_call = stand_in::calls + 1;
  {
    const Error error =
        test::refusal([&] { passes.launch({.in = begin, .out = begin, .workspace = lent.data()}); });
    const std::string line = error.what();
    EXPECT_EQ(error.report().operation, "transpose in place");
    EXPECT_NE(line.find("permuted in part"), std::string::npos) << line;
  }
  stand_in::failing_call = -1;
}

}  // namespace
}  // namespace faro::testing
