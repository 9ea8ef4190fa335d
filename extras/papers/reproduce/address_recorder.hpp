// A memory that only remembers where one warp's lanes read and write: enough to count a kernel's congestion,
// millions of times a second. It moves no data; machine::MemoryMachine does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/device/memory.hpp"

namespace faro::reproduce {

/// Satisfies device::Memory. Addresses are in elements of the access, so an element is as wide as a bank.
class AddressRecorder {
 public:
  void clear() {
    reads_.clear();
    writes_.clear();
  }
  /// Reads of shared memory, since clear(), lane after lane.
  std::span<const std::uint64_t> reads() const { return reads_; }
  std::span<const std::uint64_t> writes() const { return writes_; }

  template <int bytes>
  device::Packet<bytes> load_global(int /*buffer*/, std::uint64_t /*offset*/) {
    return {};
  }
  template <int bytes>
  void store_global(int /*buffer*/, std::uint64_t /*offset*/, const device::Packet<bytes>& /*packet*/) {}
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    reads_.push_back(address / static_cast<std::uint32_t>(bytes));
    return {};
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& /*packet*/) {
    writes_.push_back(address / static_cast<std::uint32_t>(bytes));
  }

 private:
  std::vector<std::uint64_t> reads_;
  std::vector<std::uint64_t> writes_;
};

}  // namespace faro::reproduce
