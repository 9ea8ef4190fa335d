// A schedule in device memory run without a plan: the passes that the planner makes of its shape, for tests
// and benchmarks that ask for kernels which it would not have chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda/run/schedule_tables.hpp"
#include "faro/engines/cuda.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::testing {

/// Like elements, like arrays.
struct IndexArrays {
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
};

struct ScheduledOptions {
  bool as_published = false;        // rows and columns by five kernels
  std::optional<int> variant = {};  // of kernels::kCompiledPartitions, for all levels; none: what suits them
};

/// What a schedule leaves to the GPU.
inline detail::PassWork work_of(const cuda::DeviceIndexSchedule& schedule, const IndexArrays& arrays,
                                const ScheduledOptions& options) {
  struct FormOf {
    bool as_published;
    decltype(detail::PassWork::form) operator()(const cuda::DeviceDirect& direct) const {
      const auto begin = reinterpret_cast<std::uintptr_t>(direct.indexed.device_entries());
      return detail::DirectForm{.index_bytes = direct.indexed.index_type().bytes, .aligned = begin % 16 == 0};
    }
    decltype(detail::PassWork::form) operator()(const cuda::DeviceWindow& window) const {
      return detail::WindowForm{window.window};
    }
    decltype(detail::PassWork::form) operator()(const cuda::DeviceRuns& runs) const {
      return detail::RunsForm{runs.target.size()};
    }
    decltype(detail::PassWork::form) operator()(const cuda::DevicePartition& partition) const {
      return partition.shape;
    }
    decltype(detail::PassWork::form) operator()(const cuda::DeviceRowColumn& matrix) const {
      return detail::MatrixForm{.rows = matrix.rows, .columns = matrix.columns, .as_published = as_published};
    }
  };
  return {.count = schedule.count,
          .element_bytes = arrays.element_bytes,
          .batch = arrays.batch,
          .way = schedule.applied == Direction::scatter ? kernels::Way::forwards : kernels::Way::backwards,
          .form = std::visit(FormOf{options.as_published}, schedule.what),
          .shared_bytes = cuda::target().chunk_bytes_max,
          .axes = {},
          .level_variant = options.variant};
}

class ScheduledPasses {
 public:
  /// The schedule must outlive this.
  explicit ScheduledPasses(const cuda::DeviceIndexSchedule& schedule, const IndexArrays& arrays = {},
                           const ScheduledOptions& options = {})
      : tables_(schedule),
        passes_(detail::solve(work_of(schedule, arrays, options)),
                [this](const detail::GpuPass& pass) { return tables_.of(pass); }) {}

  std::uint64_t workspace_bytes() const { return passes_.workspace_bytes(); }
  void launch(const void* in, void* out, void* workspace, Stream stream = {}) const {
    passes_.launch({.in = in, .out = out, .workspace = workspace}, stream);
  }

  /// One pass by itself, of one array, from `in` to `out` wherever a run has them.
  std::size_t size() const { return passes_.size(); }
  void launch_pass(std::size_t pass, const void* in, void* out, Stream stream = {}) const {
    passes_[pass].launch({.in = static_cast<const std::byte*>(in), .out = static_cast<std::byte*>(out)},
                         stream);
  }
  const cuda::LoadedPasses& passes() const { return passes_; }

 private:
  cuda::ScheduleTables tables_;
  cuda::LoadedPasses passes_;
};

}  // namespace faro::testing
