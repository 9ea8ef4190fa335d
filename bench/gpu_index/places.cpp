// Where elements sit in a chunk: as they come, free of bank conflicts by edge colouring, or rotated at
// random.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "bench/gpu_index/baselines.hpp"
#include "bench/gpu_index/race.hpp"
#include "bench/gpu_index/rotated_places.hpp"
#include "faro/layout/shared.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "gpu/scheduled_passes.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;
using cuda::DeviceIndexSchedule;
using cuda::DevicePartition;

// Two elements of a map change places, so that it is no longer recognised.
Indexed perturbed(const Affine& map) {
  std::vector<std::uint32_t> entries(std::size_t{1} << map.bits());
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<std::uint32_t>(map(i));
  std::swap(entries[1], entries[entries.size() / 2 + 5]);
  return {std::move(entries), Direction::scatter};
}

DeviceIndexSchedule on_device(schedule::PartitionSchedule made) {
  const std::uint64_t count = made.shape.count;
  return cuda::upload({.what = std::move(made), .count = count}, 0);
}

std::string rows_of(const std::string& name, const Indexed& indexed, int bits, double budget_ms) {
  const std::uint64_t bytes = indexed.count() * 4;
  const schedule::PartitionShape shape{indexed.count(), 14, schedule::even_levels(indexed.count(), 14, 8)};
  const DeviceIndexSchedule plain = on_device(schedule::partition_schedule(indexed, shape));
  const DeviceIndexSchedule free = on_device(schedule::conflict_free_partition_schedule(indexed, shape, 32));
  const testing::ScheduledPasses of_plain(plain);
  const testing::ScheduledPasses of_free(free);
  const DeviceArray in(bytes);
  const DeviceArray out(bytes);
  const DeviceArray rotated(bytes);
  const DeviceArray workspace(bytes);
  fill(in.data(), bytes);
  const auto& level = std::get<DevicePartition>(plain.what).levels.front();
  const kernels::PartitionParams params = kernels::make_level_params(shape, 0, {});
  layout::SplitMix64 numbers{1};
  const auto shifts = RowShifts::permutation(numbers);
  const auto queue_rotated = [&](Stream stream) {
    queue_rotated_level(params, {level.places.data(), level.starts.data(), level.offsets.data()}, shifts,
                        in.data(), rotated.data(), stream);
  };

  // All three put the same elements into the same buckets; rotated and plain in the same order.
  of_plain.launch_pass(0, in.data(), out.data(), {});
  queue_rotated({});
  std::vector<std::uint32_t> one(indexed.count());
  std::vector<std::uint32_t> other(indexed.count());
  const auto to_host = [&](const DeviceArray& array, std::vector<std::uint32_t>& host) {
    array.download(host.data());
  };
  to_host(out, one);
  to_host(rotated, other);
  if (one != other) return name + ": the rotated layout moves elements elsewhere\n";

  const std::vector<Contestant> contestants = {
      {"as they come", [&](Stream stream) { of_plain.launch_pass(0, in.data(), out.data(), stream); }},
      {"edge colouring", [&](Stream stream) { of_free.launch_pass(0, in.data(), out.data(), stream); }},
      {"random rotations", queue_rotated},
      {"cudaMemcpy", [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }}};
  const std::vector<Timing> timings = race(contestants, budget_ms);
  std::string rows;
  for (std::size_t i = 0; i + 1 < contestants.size(); ++i) {
    rows +=
        fmt::format("| {}, 2^{} | {} | {:.4f} | {:.4f} | {:.2f} |\n", name, bits, contestants[i].name,
                    timings[i].median_ms, timings[i].mad_ms, timings[i].median_ms / timings.back().median_ms);
  }
  return rows;
}

}  // namespace

std::string places_table(int bits, double budget_ms) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  std::string table =
      "| index array | places | first level, ms | +- | times a copy |\n|---|---|---|---|---|\n";
  table += rows_of("random", Indexed::random(count, 1), bits, budget_ms);
  table +=
      rows_of("bit reversal, two elements swapped", perturbed(maps::bit_reversal(bits)), bits, budget_ms);
  table +=
      rows_of("transpose, two elements swapped",
              perturbed(maps::transpose(count >> bits / 2, std::uint64_t{1} << bits / 2)), bits, budget_ms);
  return table;
}

}  // namespace faro::bench::gpu
