// NPP's convolution, NVIDIA's own, where it is installed. It is looked for at run time: nothing links to it.
#pragma once

#include <memory>
#include <string>

#include "bench/gpu_swizzle/kernels.hpp"

namespace faro::bench::gpu {

/// Weights of one number of taps on the device, and nppiFilter_32f_C1R_Ctx of them.
class NppFilter {
 public:
  /// Looks for libnppif.so of CUDA 11 to 13; the environment's FARO_NPP names a library to take instead.
  /// Errors: ErrorCode::device.
  explicit NppFilter(int taps);
  NppFilter(NppFilter&&) noexcept;
  NppFilter& operator=(NppFilter&&) noexcept;
  ~NppFilter();

  bool available() const;
  /// The library's name, or what is missing.
  const std::string& reason() const;

  /// The same outputs as of the kernels. Errors: ErrorCode::device.
  void queue(const Image& image, const void* in, void* out, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::bench::gpu
