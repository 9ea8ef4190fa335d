// Schedules made on a device: partition, window and runs, each equal to the host's byte for byte.
//
// Memory of a partition beside the index array and the schedule: 4 bytes an element for the remainders where
// there are two levels, 8 where there are more, none for one; and a sixty-fourth of the offsets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engines/cuda/index/index_spread_step.hpp"
#include "engines/cuda/index/index_work.hpp"
#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cuda {

template <typename Device>
struct PartitionArrays {
  template <typename T>
  using Buffer = typename Device::template Buffer<T>;
  struct Level {
    Buffer<std::uint16_t> places;
    Buffer<std::uint16_t> starts;
    Buffer<std::uint32_t> offsets;
  };
  std::vector<Level> levels;
  Buffer<std::uint16_t> last;
};

/// Bytes of everything that partition_on() allocates, but for a few words.
inline std::uint64_t partition_bytes_on_device(const schedule::PartitionShape& shape) {
  const std::uint64_t remainders = static_cast<std::uint64_t>(std::clamp(shape.levels() - 1, 0, 2));
  std::uint64_t largest = 0;  // offsets of a level
  for (int level = 0; level < shape.levels(); ++level) {
    largest = std::max(largest, shape.chunks() * shape.buckets(level) * sizeof(std::uint32_t));
  }
  return shape.bytes() + remainders * shape.count * sizeof(std::uint32_t) + largest / 32;
}

namespace detail {

template <typename Device, typename Entry, typename Rest, typename Level>
void spread(Device& device, const LevelShape& shape, const Entry* entries, Level& level, Rest* rests,
            const Fault& fault) {
  const auto fill_and_run = [&](auto kernel) {
    kernel.level = shape;
    kernel.entries = entries;
    kernel.offsets = level.offsets.data();
    kernel.places = level.places.data();
    kernel.starts = level.starts.data();
    kernel.rests = rests;
    kernel.fault = fault;
    device.run(kernel);
  };
  if (shape.level_bits <= 8) {
    fill_and_run(SpreadEntries<8, Entry, Rest>{});
  } else if (shape.level_bits <= 9) {
    fill_and_run(SpreadEntries<9, Entry, Rest>{});
  } else {
    static_assert(schedule::kMaxLevelBits == 12);
    fill_and_run(SpreadEntries<12, Entry, Rest>{});
  }
}

}  // namespace detail

/// The partition schedule of entries that may be anything: nothing where they are no permutation.
template <typename Device>
class PartitionWork {
 public:
  PartitionWork(Device& device, const schedule::PartitionShape& shape, const EntryView& entries)
      : device_(device),
        shape_(shape),
        entries_(entries),
        faults_(device, static_cast<std::uint32_t>(kStepsOfLevel * shape.levels() + 2)) {}

  /// Requires: a checked shape of the entries' count.
  std::optional<PartitionArrays<Device>> make() {
    allocate();
    if (shape_.count > 0) queue();
    if (faults_.raised()) return std::nullopt;
    return std::move(arrays_);
  }

 private:
  static constexpr int kStepsOfLevel = 3;  // that may raise a fault

  template <typename T>
  using Buffer = typename Device::template Buffer<T>;

  void allocate() {
    arrays_.last = device_.template buffer<std::uint16_t>(shape_.count);
    for (int level = 0; level < shape_.levels(); ++level) {
      const std::uint64_t runs = shape_.chunks() * shape_.buckets(level);
      arrays_.levels.push_back({.places = device_.template buffer<std::uint16_t>(shape_.count),
                                .starts = device_.template buffer<std::uint16_t>(runs),
                                .offsets = device_.template buffer<std::uint32_t>(runs)});
    }
    for (int level = 0; level + 1 < std::min(shape_.levels(), 3); ++level) {
      remainders_[level] = device_.template buffer<std::uint32_t>(shape_.count);
    }
  }

  void queue() {
    device_.step("begin");
    if (entries_.bytes == 8) {
      queue_first(static_cast<const std::uint64_t*>(entries_.data));
    } else {
      queue_first(static_cast<const std::uint32_t*>(entries_.data));
    }
    for (int level = 1; level < shape_.levels(); ++level) {
      queue_level(level, static_cast<const std::uint32_t*>(remainders_[(level - 1) % 2].data()));
    }
    CheckLast check;
    check.level = {.count = shape_.count, .chunk_bits = shape_.chunk_bits};
    check.last = arrays_.last.data();
    check.fault = faults_.next();
    device_.run(check);
    device_.step("check");
  }

  template <typename Entry>
  void queue_first(const Entry* entries) {
    if (shape_.levels() > 0) {
      queue_level(0, entries);
      return;
    }
    NarrowEntries<Entry> narrow;
    narrow.count = shape_.count;
    narrow.entries = entries;
    narrow.limit = entry_limit<Entry>();
    narrow.last = arrays_.last.data();
    narrow.fault = faults_.next();
    device_.run(narrow);
    device_.step("narrow");
  }

  template <typename Entry>
  void queue_level(int index, const Entry* entries) {
    auto& level = arrays_.levels[static_cast<std::size_t>(index)];
    const LevelShape shape{.count = shape_.count,
                           .chunk_bits = shape_.chunk_bits,
                           .bucket_bits = shape_.region_bits(index + 1),
                           .level_bits = shape_.level_bits[static_cast<std::size_t>(index)]};
    CountRuns<Entry> count;
    count.level = shape;
    count.entries = entries;
    count.limit = index == 0 ? entry_limit<Entry>() : ~std::uint64_t{0};
    count.lengths = level.offsets.data();
    count.fault = faults_.next();
    device_.run(count);
    device_.step("count");

    const Columns columns{.rows = shape.chunks(),
                          .column_bits = shape.level_bits,
                          .region_bits = shape.region_bits() - shape.chunk_bits};
    CheckTotals check;
    check.level = shape;
    totals_.push_back(device_.template buffer<std::uint32_t>(check.regions() << shape.level_bits));
    check.totals = totals_.back().data();
    scan_columns(device_, columns, level.offsets.data(), totals_.back().data(), sums_);
    check.fault = faults_.next();
    device_.run(check);
    device_.step("scan");

    const Fault fault = faults_.next();
    if (index + 1 == shape_.levels()) {
      detail::spread(device_, shape, entries, level, arrays_.last.data(), fault);
    } else {
      detail::spread(device_, shape, entries, level, remainders_[index % 2].data(), fault);
    }
    device_.step("spread");
  }

  // Signed entries are read as unsigned: what would be negative is past this.
  template <typename Entry>
  std::uint64_t entry_limit() const {
    const std::uint64_t positive = std::uint64_t{1} << (8 * sizeof(Entry) - 1);
    return entries_.is_signed != 0 ? std::min(entries_.count, positive) : entries_.count;
  }

  Device& device_;
  const schedule::PartitionShape& shape_;
  EntryView entries_;
  FaultWords<Device> faults_;
  PartitionArrays<Device> arrays_;
  Buffer<std::uint32_t> remainders_[2];
  std::vector<Buffer<std::uint32_t>> sums_;
  std::vector<Buffer<std::uint32_t>> totals_;
};

/// The gather form's displacements; nothing where the entries are no permutation that keeps to the window.
template <typename Device>
std::optional<typename Device::template Buffer<std::uint16_t>> window_on(Device& device,
                                                                         const EntryView& entries,
                                                                         std::uint64_t window) {
  FaultWords<Device> faults(device, 2);
  auto shift = device.template buffer<std::uint16_t>(entries.count);
  if (entries.count == 0) return shift;
  device.fill(shift.data(), 0xff, shift.bytes());
  ShiftsOf shifts;
  shifts.entries = entries;
  shifts.window = window;
  shifts.shift = shift.data();
  shifts.fault = faults.next();
  device.run(shifts);
  CheckShifts check;
  check.count = entries.count;
  check.shift = shift.data();
  check.fault = faults.next();
  device.run(check);
  if (faults.raised()) return std::nullopt;
  return shift;
}

template <typename Device>
struct RunsArrays {
  typename Device::template Buffer<std::uint64_t> source;  // runs + 1
  typename Device::template Buffer<std::uint64_t> target;
};

/// Every maximal run of entries that ascend by one. Requires: a permutation.
template <typename Device>
RunsArrays<Device> runs_on(Device& device, const EntryView& entries) {
  using Wide = typename Device::template Buffer<std::uint64_t>;
  std::uint64_t runs = 0;
  Wide heads;
  if (entries.count > 0) {
    CountHeads count;
    count.entries = entries;
    heads = device.template buffer<std::uint64_t>(count.blocks());
    count.heads = heads.data();
    device.run(count);
    const DeviceWord<Device, std::uint64_t> total(device, 0);
    std::vector<Wide> kept;
    const Columns columns{.rows = count.blocks(),
                          .column_bits = 0,
                          .region_bits = static_cast<std::int32_t>(std::bit_width(count.blocks() - 1))};
    scan_columns(device, columns, heads.data(), total.data(), kept);
    runs = total.get();
  }
  RunsArrays<Device> made{.source = device.template buffer<std::uint64_t>(runs + 1),
                          .target = device.template buffer<std::uint64_t>(runs)};
  device.send(made.source.data() + runs, &entries.count, sizeof(entries.count));
  if (runs == 0) return made;
  WriteHeads write;
  write.entries = entries;
  write.before = heads.data();
  write.runs = runs;
  write.source = made.source.data();
  write.target = made.target.data();
  device.run(write);
  device.wait();
  return made;
}

}  // namespace faro::cuda
