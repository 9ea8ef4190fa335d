// cuFFT, looked for when the benchmark runs: nothing links to it, and without it its column stays empty.
#pragma once

#include <memory>
#include <string>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

class CuFft {
 public:
  /// A plan for one complex-to-complex transform of 2^bits elements. `is_double`: of double precision.
  /// available() is false where the library or a plan is not to be had; reason() says why.
  CuFft(int bits, bool is_double);
  ~CuFft();
  CuFft(const CuFft&) = delete;
  CuFft& operator=(const CuFft&) = delete;

  bool available() const;
  const std::string& reason() const;

  /// Queues the forward transform. Requires: available().
  void run(const void* in, void* out, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::bench::gpu
