#include "tell/counts/pass_tables.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "kernels/runs.hpp"
#include "kernels/window_params.hpp"
#include "plan/index_candidates.hpp"

namespace faro::detail {
namespace {

using TableBytes = std::span<const std::byte>;

template <typename T>
TableBytes table_bytes_of(std::span<const T> values) {
  return std::as_bytes(values);
}
template <typename T>
TableBytes table_bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

// Runs sorted_runs by where they are written (kernels/runs.hpp).
struct SortedRuns {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> froms;
  std::vector<std::uint64_t> firsts;
};

SortedRuns sorted_runs(const schedule::RunsSchedule& runs, Way way) {
  SortedRuns made;
  if (way == Way::backwards) {
    made.begins.assign(runs.source.begin(), runs.source.end() - 1);
    made.froms = runs.target;
  } else {
    std::vector<std::uint64_t> order(runs.target.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::uint64_t a, std::uint64_t b) { return runs.target[a] < runs.target[b]; });
    for (const std::uint64_t r : order) {
      made.begins.push_back(runs.target[r]);
      made.froms.push_back(runs.source[r]);
    }
  }
  std::uint64_t run = 0;
  for (std::uint64_t stretch = 0; stretch < kernels::run_stretches(runs.count); ++stretch) {
    const std::uint64_t first = stretch << kernels::kRunsStretchBits;
    while (run + 1 < made.begins.size() && made.begins[run + 1] <= first) ++run;
    made.firsts.push_back(run);
  }
  made.firsts.push_back(made.begins.size() - 1);
  return made;
}

const Indexed& counted_array(const IndexPlan& plan) {
  if (const auto* found = std::get_if<Indexed>(&plan.problem().permutation)) return *found;
  return std::get<Indexed>(plan.recognition().permutation);
}

bool has_counted_array(const IndexPlan& plan) {
  return std::holds_alternative<Indexed>(plan.problem().permutation) ||
         std::holds_alternative<Indexed>(plan.recognition().permutation);
}

// Up to where a schedule is made to be counted.
std::uint64_t most_elements(IndexMethod method) {
  constexpr std::uint64_t kSweeps = std::uint64_t{1} << 26;
  constexpr std::uint64_t kColoured = std::uint64_t{1} << 20;
  return method == IndexMethod::row_column || method == IndexMethod::row_column_5 ? kColoured : kSweeps;
}

schedule::IndexSchedule counted_schedule(const IndexPlan& plan, Way way) {
  const Indexed& indexed = counted_array(plan);
  const IndexCandidate& chosen = plan.chosen();
  switch (chosen.method) {
    case IndexMethod::window:
      return schedule::window_schedule(indexed, static_cast<std::uint32_t>(*plan.recognition().displacement));
    case IndexMethod::runs:
      return schedule::runs_schedule(indexed);
    case IndexMethod::partition:
      return schedule::partition_index_schedule(indexed, *chosen.shape);
    case IndexMethod::row_column:
    case IndexMethod::row_column_5:
      return schedule::row_column_schedule(indexed);
    default:
      break;
  }
  const bool turned = indexed.direction() == Direction::scatter && way == Way::backwards;
  return schedule::direct_schedule(turned ? indexed.redirected(Direction::gather) : indexed);
}

}  // namespace

// --- of a schedule

struct ScheduleTables::State {
  schedule::IndexSchedule schedule;
  SortedRuns runs;

  TableBytes of(const TableId& id) const {
    const auto* const partition = std::get_if<schedule::PartitionSchedule>(&schedule.what);
    const auto* const matrix = std::get_if<schedule::RowColumnSchedule>(&schedule.what);
    const auto level = [&]() -> const schedule::PartitionLevel& {
      return partition->levels.at(static_cast<std::size_t>(id.level));
    };
    switch (id.kind) {
      case TableKind::entries: {
        const Indexed& indexed = std::get<schedule::DirectSchedule>(schedule.what).indexed;
        return indexed.entries64().empty() ? table_bytes_of(indexed.entries32())
                                           : table_bytes_of(indexed.entries64());
      }
      case TableKind::shifts:
        return table_bytes_of(std::get<schedule::WindowSchedule>(schedule.what).shift);
      case TableKind::run_begins:
        return table_bytes_of(runs.begins);
      case TableKind::run_froms:
        return table_bytes_of(runs.froms);
      case TableKind::run_firsts:
        return table_bytes_of(runs.firsts);
      case TableKind::run_sources:
        return table_bytes_of(std::get<schedule::RunsSchedule>(schedule.what).source);
      case TableKind::run_targets:
        return table_bytes_of(std::get<schedule::RunsSchedule>(schedule.what).target);
      case TableKind::places:
        return table_bytes_of(level().places);
      case TableKind::starts:
        return table_bytes_of(level().starts);
      case TableKind::offsets:
        return table_bytes_of(level().offsets);
      case TableKind::last:
        return partition != nullptr ? table_bytes_of(partition->last) : table_bytes_of(matrix->last);
      case TableKind::first:
        return table_bytes_of(matrix->first);
      case TableKind::middle:
        return table_bytes_of(matrix->middle);
    }
    return {};
  }
};

ScheduleTables ScheduleTables::of(const schedule::IndexSchedule& schedule, Way way) {
  auto state = std::make_shared<State>(State{schedule, {}});
  const auto* const runs = std::get_if<schedule::RunsSchedule>(&state->schedule.what);
  if (runs != nullptr && !runs->target.empty()) state->runs = sorted_runs(*runs, way);
  ScheduleTables made;
  made.state_ = std::move(state);
  return made;
}

std::optional<ScheduleTables> ScheduleTables::made(const IndexPlan& plan, bool however_long) {
  if (plan.count() == 0 || !has_counted_array(plan) || !counted_array(plan).on_host() ||
      (!however_long && plan.count() > most_elements(plan.chosen().method))) {
    return std::nullopt;
  }
  const Way way = work_of(work_about(plan), plan.chosen()).way;
  return of(counted_schedule(plan, way), way);
}

PassTables ScheduleTables::operator()(const GpuPass& pass) const {
  std::vector<TableBytes> tables;
  for (const TableId& id : pass.tables) tables.push_back(state_->of(id));
  return {.read = [tables, kept = state_](int table, std::uint64_t offset, std::span<std::byte> to) {
    const TableBytes from = tables.at(static_cast<std::size_t>(table));
    FARO_CHECK(offset <= from.size() && to.size() <= from.size() - offset);
    std::memcpy(to.data(), from.data() + offset, to.size());
  }};
}

// --- bounds

namespace {

constexpr std::uint64_t kTableSector = 32;
constexpr std::uint64_t kTableBankRow = 128;

// Entry `index` of a table of numbers of so many bytes, whatever piece of the table is read.
template <typename Entry>
PassTables numbers(const Entry& entry) {
  return {.read = [entry](int table, std::uint64_t offset, std::span<std::byte> to) {
    std::size_t at = 0;
    while (at < to.size()) {
      const auto [value, bytes] = entry(table, offset + at);
      std::memcpy(to.data() + at, &value, bytes);
      at += bytes;
    }
  }};
}

// Places of a group of `size`, so that neighbours are a row of banks apart.
std::uint64_t worst_place(std::uint64_t i, std::uint64_t size, std::uint64_t element_bytes) {
  const std::uint64_t apart = std::max<std::uint64_t>(1, kTableBankRow / element_bytes);
  const std::uint64_t rows = size / apart;
  return i < rows * apart && rows > 0 ? i % rows * apart + i / rows : i;
}

struct AnyTables {
  const GpuPass& pass;

  std::uint64_t unit() const { return pass.kernels.front().in_alignment; }

  PassTables operator()(const kernels::PartitionParams& p) const {
    const std::uint64_t width = unit() * p.units;
    const auto entry = [p, width](int table, std::uint64_t offset) {
      const std::uint64_t sector = std::max<std::uint64_t>(1, kTableSector / width);
      if (table == 2) return std::pair(sector - 1, std::size_t{4});
      if (table == 1) {
        const std::uint64_t bucket = offset / 2 % p.buckets;
        const std::uint64_t first = offset / 2 / p.buckets * p.chunk_elements;
        const std::uint64_t size = std::min<std::uint64_t>(p.chunk_elements, p.count - first);
        return std::pair(bucket * size / p.buckets, std::size_t{2});
      }
      const std::uint64_t first = offset / 2 / p.chunk_elements * p.chunk_elements;
      const std::uint64_t size = std::min<std::uint64_t>(p.chunk_elements, p.count - first);
      return std::pair(worst_place(offset / 2 - first, size, width), std::size_t{2});
    };
    return numbers(entry);
  }
  PassTables operator()(const kernels::ColumnsParams& p) const {
    const auto entry = [p](int /*table*/, std::uint64_t offset) {
      return std::pair(offset / 2 % p.rows, std::size_t{2});
    };
    return numbers(entry);
  }
  PassTables operator()(const kernels::DirectParams& p) const {
    const auto& id = std::get<DirectKernel>(pass.kernels.front().id);
    const auto bytes = static_cast<std::uint64_t>(id.index_bytes);
    const std::uint64_t width = unit() * p.units;
    const auto entry = [=](int /*table*/, std::uint64_t offset) {
      // A permutation: neighbours a sector apart, as long as there are enough.
      const std::uint64_t i = offset / bytes;
      const std::uint64_t apart = std::max<std::uint64_t>(1, kTableSector / width);
      const std::uint64_t rows = p.count / apart;
      return std::pair(i < rows * apart ? i % rows * apart + i / rows : i, static_cast<std::size_t>(bytes));
    };
    return numbers(entry);
  }
  PassTables operator()(const kernels::WindowParams& p) const {
    const auto entry = [p](int /*table*/, std::uint64_t /*offset*/) {
      return std::pair(std::uint64_t{p.window}, std::size_t{2});
    };
    return numbers(entry);
  }
  template <typename Other>
  PassTables operator()(const Other& /*has no tables*/) const {
    FARO_CHECK(false);
    return {};
  }
};

// Every lane of an access in one bank.
void widen(machine::SharedCounts& counts) {
  constexpr int kLanes = 32;
  if (counts.requests == 0) return;
  counts.add_phase(kLanes);
  counts.wavefronts = std::max<std::uint64_t>(counts.wavefronts, kLanes * counts.requests);
}

// For accesses of `unit` bytes, each of which may be anywhere.
void widen_scattered(machine::GlobalCounts& counts, std::uint64_t bytes, std::uint64_t unit) {
  counts.sectors += bytes / unit;
  counts.lines += bytes / unit;
}

// A side of `runs` runs of together `units` units, by groups of `lanes` lanes.
struct RunSide {
  std::uint64_t runs = 0;
  std::uint64_t units = 0;
  std::uint64_t lanes = 32;

  std::uint64_t accesses() const { return 2 * runs + units / lanes; }
  void widen(machine::GlobalCounts& counts) const {
    counts.requests += accesses();
    counts.sectors += 2 * runs;
    counts.lines += 2 * runs;
  }
};

void widen(machine::AccessCounts& counts, const GpuPass& pass, const CountedArrays& arrays) {
  const GpuKernel& kernel = pass.kernels.front();
  const std::uint64_t bytes = arrays.arrays * arrays.array_bytes;
  const std::uint64_t unit = kernel.in_alignment == 0 ? 1 : pass.kernels.back().in_alignment;
  const auto* const level = std::get_if<LevelKernel>(&kernel.id);
  const auto* const chunk = std::get_if<ChunkKernel>(&kernel.id);
  const auto* const window = std::get_if<WindowKernel>(&kernel.id);
  const auto* const columns = std::get_if<ColumnsKernel>(&kernel.id);
  const bool scattered = std::holds_alternative<DirectKernel>(kernel.id) || (window && window->direct) ||
                         (level && level->variant == LevelKernel::kInGlobal) ||
                         (chunk && chunk->place == ChunkPlace::in_global) || (columns && columns->in_global);
  if (scattered) {
    // A level looks for its bucket, too: a start for each bit of its number, and an offset.
    constexpr std::uint64_t kLookups = 16;
    widen_scattered(counts.global_loads, (level != nullptr ? kLookups : 1) * bytes, unit);
    widen_scattered(counts.global_stores, bytes, unit);
  } else if (level != nullptr) {
    const auto& p = std::get<kernels::PartitionParams>(kernel.params);
    const RunSide side{.runs = arrays.arrays * p.chunks * p.buckets,
                       .units = bytes / unit,
                       .lanes = std::uint64_t{1} << kernels::kCompiledPartitions[level->variant].lane_bits};
    side.widen(level->way == Way::forwards ? counts.global_stores : counts.global_loads);
    counts.shared_loads.requests += side.accesses();
    counts.shared_stores.requests += side.accesses();
  }
  widen(counts.shared_loads);
  widen(counts.shared_stores);
}

}  // namespace

std::optional<Counted> bounded_blocks(const GpuPass& pass, const CountedArrays& arrays,
                                      const machine::MemoryGeometry& geometry) {
  FARO_CHECK(!pass.tables.empty() && !pass.kernels.empty());
  if (pass.kind == PassKind::runs) return std::nullopt;
  const PassTables tables = std::visit(AnyTables{pass}, pass.kernels.front().params);
  std::optional<Counted> counted = count_blocks(pass, arrays, geometry, tables);
  if (counted) widen(counted->counts, pass, arrays);
  return counted;
}

}  // namespace faro::detail
