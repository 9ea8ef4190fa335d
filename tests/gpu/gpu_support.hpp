// What the GPU's tests share: arrays between guard zones on the device, the check of one case, and the list
// of kernels that were reached.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/plan/plan.hpp"
#include "gpu/device_oracle.hpp"
#include "gpu/oracle_problem.hpp"
#include "plan_support.hpp"

namespace faro::testing {

/// What the program was told besides GoogleTest's options.
struct Settings {
  std::uint64_t maps = 1000;  // --maps: of the seeded sweep
  std::uint64_t seed = 1;     // --seed: of the sweeps
  std::uint64_t seconds = 5;  // --seconds: of each test that draws for as long as it is told
  bool require_gpu = false;   // --require-gpu: do not run where all would be skipped
};
Settings& settings();

/// Throws std::runtime_error, which fails the test, naming the call.
void check_cuda(cudaError_t result, const char* call);

/// Tests that need a GPU derive from it; without one they are skipped.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

class OwnStream {
 public:
  OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream();

  cudaStream_t get() const { return stream_; }
  operator Stream() const { return {stream_}; }  // NOLINT(google-explicit-constructor)
  void wait() const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// Free memory of the current device.
std::uint64_t free_device_bytes();

inline constexpr std::uint64_t kDeviceGuardBytes = 256;

/// An input of exactly its size (compute-sanitizer sees every byte read past it) and a poisoned output
/// between guard zones, each `offset` bytes past an address that is aligned to 256. Everything is queued on a
/// stream.
class GpuArrays {
 public:
  GpuArrays(std::uint64_t bytes, std::uint64_t in_offset, std::uint64_t out_offset);

  std::uint64_t bytes() const { return bytes_; }
  std::byte* in() const { return in_.data() + in_offset_; }
  std::byte* out() const { return out_.data() + out_offset_ + kDeviceGuardBytes; }

  /// Draws the input and poisons the output.
  void prepare(std::uint64_t seed, Stream stream);

  /// Waits for the stream. What is wrong first, in words; empty where nothing is.
  std::string wrong(const Problem& problem, Stream stream) const;

  /// Waits for the stream. Whether every byte of the output and of its guard zones is still poison.
  bool untouched(Stream stream) const;

 private:
  std::uint64_t bytes_;
  std::uint64_t in_offset_;
  std::uint64_t out_offset_;
  std::uint64_t seed_ = 0;
  cuda::DeviceArray in_;
  cuda::DeviceArray out_;
  cuda::DeviceArray findings_;
};

/// The kernels that were run, by name: "copy", "segments", "direct", "tail", "tile 3", "tile 3 of several
/// arrays", "unaligned units", … A tile's number is its place in kernels::kCompiledTiles.
using Reached = std::set<std::string>;

std::string tile_name(const kernels::CompiledTile& tile);

/// `addresses`: of both arrays, ORed.
void note_kernels(const Plan& plan, std::uint64_t addresses, Reached& reached);

/// A problem on a device, with the places of its arrays.
struct GpuCase {
  Problem problem;
  Target target;
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;
  std::uint64_t seed = 1;
};

/// A line to paste, and what the command line cannot say.
std::string describe(const GpuCase& c);

/// Runs a case and holds it to the oracle; adds a failure where anything is wrong or thrown.
void check(const GpuCase& c, Reached* reached = nullptr);

/// The device's target with one tile kernel, and behind it those for unaligned arrays.
Target with_only(const Target& device, const kernels::CompiledTile& tile);

}  // namespace faro::testing
