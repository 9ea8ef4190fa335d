// Work on index arrays as queues of kernels, for any device that can run them: the real one
// (index_cuda_device.hpp), or the host's in tests.
//
//     Device      buffer<T>(n)              memory of the device, not cleared
//                 fill(to, byte, bytes)     queued, like all that follows
//                 run(kernel)               a kernel value (value_kernels.hpp)
//                 send, fetch               to the device and back; fetch waits
//
// What is queued runs in order. Memory that queued kernels use is kept until the work is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/index/index_columns.hpp"
#include "engines/cuda/index/index_entries.hpp"
#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"
#include "permutation/index_check.hpp"

namespace faro::cuda {

/// One word of the device's memory, set to a value.
template <typename Device, typename Word>
class DeviceWord {
 public:
  DeviceWord(Device& device, Word value) : device_(device), word_(device.template buffer<Word>(1)) {
    device_.send(word_.data(), &value, sizeof(value));
  }
  Word* data() const { return word_.data(); }
  Word get() const {
    Word value = 0;
    device_.fetch(&value, word_.data(), sizeof(value));
    return value;
  }

 private:
  Device& device_;
  typename Device::template Buffer<Word> word_;
};

/// The words of Fault for a queue of steps.
template <typename Device>
class FaultWords {
 public:
  FaultWords(Device& device, std::uint32_t steps)
      : device_(device), words_(device.template buffer<std::uint32_t>(steps)) {
    device_.fill(words_.data(), 0, words_.bytes());
  }
  /// The fault of the next step.
  Fault next() {
    FARO_CHECK(step_ < words_.size());
    return {.words = words_.data(), .step = step_++};
  }
  bool raised() const {
    std::vector<std::uint32_t> words(words_.size());
    device_.fetch(words.data(), words_.data(), words_.bytes());
    for (const std::uint32_t word : words) {
      if (word != 0) return true;
    }
    return false;
  }

 private:
  Device& device_;
  typename Device::template Buffer<std::uint32_t> words_;
  std::uint32_t step_ = 0;
};

namespace detail {

/// Whether the first `end` entries, all in range, hold one twice. Clears and fills `marks`.
template <typename Device>
bool has_repetition(Device& device, const EntryView& entries, std::uint64_t end, std::uint32_t* marks,
                    std::uint64_t mark_bytes) {
  device.fill(marks, 0, mark_bytes);
  const DeviceWord<Device, std::uint64_t> out_of_range(device, kNowhere);
  const DeviceWord<Device, std::uint32_t> twice(device, 0);
  Mark mark;
  mark.entries = entries;
  mark.end = end;
  mark.marks = marks;
  mark.out_of_range = out_of_range.data();
  mark.twice = twice.data();
  device.run(mark);
  return twice.get() != 0;
}

template <typename Device>
std::uint64_t entry_at(Device& device, const EntryView& entries, std::uint64_t position) {
  std::uint64_t wide = 0;
  const auto* const from =
      static_cast<const std::byte*>(entries.data) + position * static_cast<std::uint64_t>(entries.bytes);
  device.fetch(&wide, from, static_cast<std::uint64_t>(entries.bytes));
  return EntryView{.data = &wide, .count = 1, .bytes = entries.bytes, .is_signed = entries.is_signed}[0];
}

/// Names the first entry that came before, in the words of the host's check. Requires: entries in range, one
/// of them twice; `marks` of all of them.
template <typename Device>
[[noreturn]] void fail_repetition(Device& device, const EntryView& entries, std::uint32_t* marks,
                                  std::uint64_t mark_bytes) {
  const DeviceWord<Device, std::uint64_t> missing(device, kNowhere);
  FindUnmarked unmarked;
  unmarked.count = entries.count;
  unmarked.marks = marks;
  unmarked.found = missing.data();
  device.run(unmarked);
  const std::uint64_t missing_index = missing.get();

  // The shortest beginning of the array with a repetition ends with the entry to name.
  std::uint64_t without = 1;
  std::uint64_t with = entries.count;
  while (with - without > 1) {
    const std::uint64_t middle = without + (with - without) / 2;
    (has_repetition(device, entries, middle, marks, mark_bytes) ? with : without) = middle;
  }
  const std::uint64_t second = with - 1;
  const std::uint64_t value = entry_at(device, entries, second);
  const DeviceWord<Device, std::uint64_t> first(device, kNowhere);
  FindEntry find;
  find.entries = entries;
  find.end = second;
  find.value = value;
  find.found = first.data();
  device.run(find);
  faro::detail::fail_entry_twice(first.get(), second, value, missing_index, entries.count);
}

}  // namespace detail

/// Errors: ErrorCode::value as Indexed's constructors say it.   Cost: a sweep, and a bit an element of
/// memory.
template <typename Device>
void validate_entries(Device& device, const EntryView& entries) {
  if (entries.count == 0) return;
  auto marks = device.template buffer<std::uint32_t>((entries.count + 31) / 32);
  device.fill(marks.data(), 0, marks.bytes());
  const DeviceWord<Device, std::uint64_t> out_of_range(device, kNowhere);
  const DeviceWord<Device, std::uint32_t> twice(device, 0);
  Mark mark;
  mark.entries = entries;
  mark.end = entries.count;
  mark.marks = marks.data();
  mark.out_of_range = out_of_range.data();
  mark.twice = twice.data();
  device.run(mark);
  if (const std::uint64_t position = out_of_range.get(); position != kNowhere) {
    const std::uint64_t value = detail::entry_at(device, entries, position);
    faro::detail::fail_entry_out_of_range(
        position,
        entries.is_signed != 0 ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value),
        entries.count);
  }
  if (twice.get() != 0) detail::fail_repetition(device, entries, marks.data(), marks.bytes());
}

/// Scans a table in place, region by region and column by column; `totals`, unless null, takes the regions'
/// sums, [regions][columns]. Tables of tiles' sums go into `kept` until the work is done.
template <typename Device, typename Word>
void scan_columns(Device& device, const Columns& columns, Word* values, Word* totals,
                  std::vector<typename Device::template Buffer<Word>>& kept) {
  ScanColumns<Word> scan;
  scan.columns = columns;
  scan.values = values;
  if (columns.is_flat()) {
    scan.totals = totals;
    device.run(scan);
    return;
  }
  const std::uint64_t sums = columns.tiles() << columns.column_bits;
  kept.push_back(device.template buffer<Word>(sums));
  Word* const carries = kept.back().data();
  SumColumns<Word> sum;
  sum.columns = columns;
  sum.values = values;
  sum.sums = carries;
  device.run(sum);
  scan_columns(device, columns.of_tiles(), carries, totals, kept);
  scan.carries = carries;
  device.run(scan);
}

}  // namespace faro::cuda
