// What a network's kernels read besides the arrays: tables of several kinds, one after another, made here and
// copied to the device as one.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/network_operators.hpp"
#include "network/launches.hpp"

namespace faro::network {

class DeviceTables {
 public:
  /// Returns where the values will begin.
  template <typename T>
  std::size_t add(const std::vector<T>& values) {
    constexpr std::size_t alignment = 16;
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    const std::size_t offset = bytes_.size();
    bytes_.resize(offset + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
    return offset;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Where a launch's tables begin.
struct TableOffsets {
  std::size_t groups = 0;
  std::size_t layers = 0;
  std::size_t pairs = 0;
  // The tables of the two operators of Fourier:
  std::size_t threads = 0;
  std::size_t blocks = 0;
  std::size_t roots = 0;
  std::size_t coarse = 0;
  std::size_t fine = 0;
  int thread_bits = 0;
  int bits = 0;
  int fine_bits = 0;
};

/// Adds the tables of all launches; powers of w are shared by launches of one sign.
std::vector<TableOffsets> add_tables(DeviceTables& tables, const std::vector<NetworkLaunch>& launches,
                                     const ElementType& element, const kernels::NetworkShape& shape);

/// An operator as its kernel takes it: Twiddles of either precision, or nothing.
using OperatorArgument = std::array<std::byte, sizeof(kernels::Twiddles<double>)>;
OperatorArgument operator_argument(const Operator& op, const TableOffsets& offsets, const std::byte* base);

}  // namespace faro::network
