// Boxes of a view (plan/gpu/value_boxes.hpp) ready to run: their tables in a device's memory, and the kernel,
// whoever compiled it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "plan/gpu/value_boxes.hpp"

namespace faro::cuda {

/// A kernel whose one parameter is kernels::ValueArrays, kernels::ValueTileArrays, or what begins with them.
class BoxKernel {
 public:
  /// `compiled`: with the library, or null; then `source` is called, and compiled by NVRTC.
  template <typename Source>
  BoxKernel(const void* compiled, const Source& source, const char* name, std::uint64_t shared_bytes,
            int device, int threads = static_cast<int>(kernels::kValueThreads))
      : shared_bytes_(shared_bytes), threads_(threads) {
    if (compiled != nullptr) {
      entry_ =
          loaded({.function = compiled, .threads = threads, .shared_bytes = static_cast<int>(shared_bytes)});
    } else {
      kernel_ = compile(source(), device)->kernel(name, shared_bytes > 0);
    }
  }

  bool at_run_time() const { return kernel_.has_value(); }

  /// Launches boxes, as many as there are.
  template <typename Arguments>
  void launch(std::uint64_t boxes, Arguments& arguments, Stream stream) const {
    constexpr std::uint64_t kMostBlocks = (std::uint64_t{1} << 31) - 1;
    for (std::uint64_t first = 0; first < boxes; first += kMostBlocks) {
      arguments.p.first_box = first;
      launch_blocks(std::min(boxes - first, kMostBlocks), arguments, stream);
    }
  }

  template <typename Arguments>
  void launch_blocks(std::uint64_t blocks, Arguments& arguments, Stream stream) const {
    void* pointers[] = {&arguments};
    if (kernel_) {
      kernel_->launch(blocks, threads_, 1, shared_bytes_, pointers, stream);
    } else {
      cuda::launch(entry_, blocks, pointers, stream, {.operation = "run"});
    }
  }

 private:
  std::uint64_t shared_bytes_;
  int threads_;
  KernelEntry entry_;
  std::optional<RuntimeKernel> kernel_;
};

/// What a launch reads beside its arrays.
class BoxTables {
 public:
  BoxTables(const faro::detail::ValueBoxes& of, int device)
      : params_(of.params),
        in_rows_(DeviceBuffer<kernels::ValueRow>::of(of.in_rows, device)),
        out_rows_(DeviceBuffer<kernels::ValueRow>::of(of.out_rows, device)),
        row_factors_(DeviceBuffer<kernels::ValueRowFactors>::of(of.row_factors, device)),
        places_(DeviceBuffer<std::uint16_t>::of(of.places, device)),
        scales_of_run_(DeviceBuffer<std::int32_t>::of(of.scales_of_run, device)),
        offsets_of_run_(DeviceBuffer<std::int32_t>::of(of.offsets_of_run, device)) {}

  void give(kernels::ValueArrays& arrays) const {
    arrays.p = params_;
    arrays.in_rows = in_rows_.data();
    arrays.out_rows = out_rows_.data();
    arrays.row_factors = row_factors_.data();
    arrays.places = places_.data();
    arrays.scales_of_run = scales_of_run_.data();
    arrays.offsets_of_run = offsets_of_run_.data();
  }

 private:
  kernels::ValueBoxParams params_;
  DeviceBuffer<kernels::ValueRow> in_rows_;
  DeviceBuffer<kernels::ValueRow> out_rows_;
  DeviceBuffer<kernels::ValueRowFactors> row_factors_;
  DeviceBuffer<std::uint16_t> places_;
  DeviceBuffer<std::int32_t> scales_of_run_;
  DeviceBuffer<std::int32_t> offsets_of_run_;
};

inline constexpr const char* kCompiledByNvrtc = "kernel          compiled by NVRTC\n";

/// How an array is aligned, in bytes: 16 and more are alike.
inline std::uint64_t alignment_of(const void* array) {
  return std::min<std::uint64_t>(kVector, std::uint64_t{1} << std::countr_zero(address(array) | kVector));
}

/// What there is for arrays of each alignment: most are aligned to 16 bytes.
template <typename Loaded>
class ByAlignment {
 public:
  template <typename Make>
  const Loaded& get(const faro::detail::ValueAlignment& alignment, const Make& make) const {
    const std::lock_guard lock(mutex_);
    auto& loaded = loaded_[{alignment.in, alignment.out, alignment.addend}];
    if (loaded == nullptr) loaded = std::make_unique<Loaded>(make());
    return *loaded;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::unique_ptr<Loaded>> loaded_;
};

}  // namespace faro::cuda
