// What a pass reaches of a copy's speed, timed in turns and printed.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "engines/cuda/run/index_simple_kernels.hpp"
#include "engines/cuda_measure.hpp"
#include "gpu/gpu_support.hpp"
#include "measure.hpp"

namespace faro::testing {

/// Of a call: the median of so many times three calls.
inline double median_ms(const std::function<void(Stream)>& queue, int rounds) {
  constexpr int calls = 3;
  const cuda::StreamClock clock(0);
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(clock.milliseconds(calls, queue) / calls);
  return median(times);
}

/// Per cent of a copy of so many bytes.
inline double print_share(const std::string& what, const cuda::OnePass& pass, std::uint64_t bytes,
                          const cuda::DeviceArray& in, const cuda::DeviceArray& out) {
  constexpr int rounds = 5;
  const double copy = median_ms([&](Stream s) { cuda::copy(in.data(), out.data(), bytes, s); }, rounds);
  const double mine = median_ms([&](Stream s) { pass.launch(in.data(), out.data(), s); }, rounds);
  const cuda::KernelResources resources =
      pass.resources().empty() ? cuda::KernelResources{} : pass.resources().front();
  std::cout << what << ": " << mine << " ms, " << 100 * copy / mine << "% of a copy, " << resources.registers
            << " registers, " << resources.blocks_per_multiprocessor << " blocks, " << resources.local_bytes
            << " local\n";
  return 100 * copy / mine;
}

}  // namespace faro::testing
