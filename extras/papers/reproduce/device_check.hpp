// Whether a kernel on the device did what it should, for arrays too large to be fetched: a loop on the
// device, compiled when it is needed, that works out pi(x) row by row and shares nothing with the kernels it
// judges.
#pragma once

#include <cstddef>
#include <memory>

#include "faro/engines/cuda_measure.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::reproduce {

class DeviceCheck {
 public:
  /// Errors: ErrorCode::device without CUDA or NVRTC.
  DeviceCheck();
  DeviceCheck(const DeviceCheck&) = delete;
  DeviceCheck& operator=(const DeviceCheck&) = delete;
  ~DeviceCheck();

  /// Queues: element x of 4 bytes becomes an odd number times x, so that no two are alike.
  void fill(std::byte* array, int bits, Stream stream = {}) const;

  /// Queues: no element is what fill() would put anywhere, but one.
  void poison(std::byte* array, int bits, Stream stream = {}) const;

  /// Waits. Errors: ErrorCode::verification where `out` is not what fill() drew, permuted by `map`; `what`
  /// names it.
  void require_permuted(const Affine& map, const std::byte* out, const std::string& what) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::reproduce
