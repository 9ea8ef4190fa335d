// A transposition in place by the GPU's kernels, launch by launch on the counting memory, which finds
// accesses out of bounds, races in shared memory and double stores. That the array is one memory, read and
// written, it does not know; Watched adds that: no block may read what the launch has written, nor write what
// another block reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "faro/machine/counting_memory.hpp"
#include "plan/gpu_transpose.hpp"
#include "transpose_phases.hpp"

namespace faro::test {

/// Array, scratch and copied rows, one after another in one memory: lanes of a warp may access several.
struct EmulatedMemory {
  std::vector<std::byte> bytes;
  std::uint64_t begin[3] = {};  // of each of the three
  std::uint64_t size[3] = {};
  std::uint64_t skew_bytes = 0;  // that are not the array's, where it begins
  bool from_aligned = false;     // the launch counts from before them

  EmulatedMemory(std::uint64_t array, std::uint64_t scratch, std::uint64_t rows)
      : size{array, scratch, rows} {
    constexpr std::uint64_t line = 128;
    std::uint64_t end = 0;
    for (int i = 0; i < 3; ++i) {
      begin[i] = end;
      end += (size[i] + line - 1) / line * line;
    }
    bytes.resize(end);
  }
};

/// By which block each byte is read and written; -1: none.
struct Touched {
  std::vector<std::int64_t> reader;
  std::vector<std::int64_t> writer;
  explicit Touched(std::size_t bytes) : reader(bytes, -1), writer(bytes, -1) {}
};

/// A CountingMemory as one block sees it. Buffer 2 i is read, 2 i + 1 is the same, written.
class Watched {
 public:
  Watched(machine::CountingMemory& memory, const EmulatedMemory& device, Touched& touched, std::int64_t block)
      : memory_(memory), device_(device), touched_(touched), block_(block) {}

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    const std::uint64_t at = place(buffer, device::kInput, offset, bytes);
    read(at, at + bytes);
    return memory_.load_global<bytes>(device::kInput, at);
  }
  /// What is beside the bytes that will be looked at may be written by others.
  device::Packet<16> load_around(int buffer, std::uint64_t offset, std::uint32_t begin, std::uint32_t end) {
    const std::uint64_t at = place(buffer, device::kInput, offset, 16);
    read(at + begin, at + end);
    device::Packet<16> packet = memory_.load_global<16>(device::kInput, at);
    auto* const bytes = reinterpret_cast<std::byte*>(packet.unit);
    for (std::uint32_t i = 0; i < 16; ++i) {
      if (i < begin || i >= end) bytes[i] = std::byte{0xee};
    }
    return packet;
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) {
    const std::uint64_t at = place(buffer, device::kOutput, offset, bytes);
    for (std::uint64_t byte = at; byte < at + bytes; ++byte) {
      const std::int64_t reader = touched_.reader[byte];
      if (reader != -1 && reader != block_) throw std::logic_error("write of what another block reads");
      touched_.writer[byte] = block_;
    }
    memory_.store_global<bytes>(device::kOutput, at, packet);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    return memory_.load_shared<bytes>(address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    memory_.store_shared<bytes>(address, packet);
  }
  void idle() { memory_.idle(); }
  void converge() { memory_.converge(); }

 private:
  static constexpr std::int64_t kMany = -2;

  void read(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t byte = begin; byte < end; ++byte) {
      if (touched_.writer[byte] != -1) throw std::logic_error("read after write");
      std::int64_t& reader = touched_.reader[byte];
      reader = reader == -1 || reader == block_ ? block_ : kMany;
    }
  }

  std::uint64_t place(int buffer, int side, std::uint64_t offset, std::uint64_t bytes) const {
    if (buffer % 2 != side) throw std::logic_error("a buffer's wrong side");
    const std::uint64_t first = buffer / 2 == 0 ? device_.skew_bytes : 0;
    if (!device_.from_aligned) offset += first;
    if (offset < first || offset + bytes > device_.size[buffer / 2])
      throw std::logic_error("outside a buffer");
    return device_.begin[buffer / 2] + offset;
  }

  machine::CountingMemory& memory_;
  const EmulatedMemory& device_;
  Touched& touched_;
  std::int64_t block_;
};

struct EmulatedTraffic {
  std::uint64_t loaded = 0;  // bytes of global memory, tables in shared memory not counted
  std::uint64_t stored = 0;
  std::uint64_t load_sectors = 0;
  std::uint64_t load_lines = 0;  // of sectors, copies past registers have counts of their own
  std::uint64_t store_sectors = 0;
  int launches = 0;
};

template <int bytes>
void emulate(const detail::GpuTransposeLaunch& launch, std::uint64_t arrays, EmulatedMemory& device,
             EmulatedTraffic& traffic) {
  const std::vector<std::byte> before = device.bytes;
  machine::CountingMemory memory({.shared_bytes = launch.shared_bytes});
  memory.add_input(before);
  memory.add_output(device.bytes);
  Touched touched(device.bytes.size());
  const auto phase = [&](auto&& body) {
    return [&touched, &device, body](machine::CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
      Watched watched(m, device, touched, static_cast<std::int64_t>(block));
      body(watched, block, thread);
    };
  };
  const bool whole = std::holds_alternative<kernels::TransposeWholeParams>(launch.params);
  const machine::CountingMemory::Launch grid{
      .blocks = whole ? launch.blocks_of_array : launch.blocks_of_array * arrays, .threads = launch.threads};
  with_phases<bytes>(launch, [&](const auto&... phases) { memory.run(grid, phase(phases)...); });
  traffic.loaded += memory.counts().global_loads.bytes;
  traffic.stored += memory.counts().global_stores.bytes;
  traffic.load_sectors += memory.counts().global_loads.sectors;
  traffic.load_lines += memory.counts().global_loads.lines;
  traffic.store_sectors += memory.counts().global_stores.sectors;
  ++traffic.launches;
}

/// Transposes `data` as the plan says, in an array that begins `skew` units after an aligned address.
inline EmulatedTraffic emulate(const detail::GpuTranspose& plan, std::vector<std::byte>& data,
                               std::uint32_t skew = 0) {
  EmulatedTraffic traffic;
  const std::uint64_t e = plan.rectangle.element_bytes;
  const std::vector<detail::GpuTransposeLaunch> launches = each_of(detail::launches_of(plan));
  const bool whole = plan.form == detail::GpuTransposeForm::whole;
  const std::uint64_t step = whole ? plan.rectangle.arrays : plan.arrays_at_once;
  const std::uint64_t array_bytes = plan.rectangle.count() * e;
  const std::uint64_t skew_bytes = skew * plan.unit_bytes;
  EmulatedMemory device(skew_bytes + std::min(step, plan.rectangle.arrays) * array_bytes,
                        whole ? 0 : plan.arrays_at_once * plan.scratch_elements() * e,
                        plan.copied_rows * plan.n * e);
  device.skew_bytes = skew_bytes;
  for (std::uint64_t first = 0; first < plan.rectangle.arrays; first += step) {
    const std::uint64_t arrays = std::min(step, plan.rectangle.arrays - first);
    device.size[0] = skew_bytes + arrays * array_bytes;
    std::memcpy(device.bytes.data() + skew_bytes, data.data() + first * array_bytes, arrays * array_bytes);
    for (detail::GpuTransposeLaunch launch : launches) {
      device.from_aligned = detail::set_skew(launch, skew);
      by_unit_bytes(plan.unit_bytes, [&](auto unit) { emulate<unit()>(launch, arrays, device, traffic); });
    }
    std::memcpy(data.data() + first * array_bytes, device.bytes.data() + skew_bytes, arrays * array_bytes);
  }
  return traffic;
}

}  // namespace faro::test
