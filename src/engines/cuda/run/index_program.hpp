// A schedule in device memory as launches: for every pass its kernel, parameters and tables, made once.
//
//     schedule           forwards                        backwards
//     direct             scatter                         gather
//     window, runs       one pass (index_simple_kernels.hpp)
//     partition          spread … spread, place          pick, collect … collect
//     rows and columns   place, columns, place           pick, columns, pick
//     … as published     place, transpose, place, transpose, place, and pick likewise
//
// Passes that keep what a block loads to that block (place, pick, columns) may run in place, so arrays go
//
//     levels 2    forwards     in --> workspace --> out --> out
//                 backwards    in --> out --> workspace --> out
//     levels 1    forwards     in --> out --> out
//                 backwards    in --> workspace --> out
//
// and one array of workspace, or none, does for any number of passes. Where one is needed the arrays of a
// batch take their turns; else every pass is one launch for all of them. Chunks that do not fit a block's
// shared memory are moved by kernels that do without, never in place.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/run/index_simple_kernels.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "kernels/indexed_direct.hpp"
#include "kernels/partition_params.hpp"
#include "kernels/row_column.hpp"

namespace faro::cuda {

/// What is permuted: like elements, like arrays.
struct IndexArrays {
  std::uint64_t element_bytes = 4;  // 1 to 4096
  std::uint64_t batch = 1;
};

struct IndexProgramOptions {
  bool as_published = false;        // rows and columns by five kernels
  std::optional<int> variant = {};  // of kernels::kCompiledPartitions, for all levels; none: what suits them
};

class IndexProgram {
 public:
  /// Loads the kernels, on the current device. The schedule must outlive the program: pointers are kept.
  /// Errors: ErrorCode::device for a failed call.
  IndexProgram(const DeviceIndexSchedule& schedule, const IndexArrays& arrays,
               const IndexProgramOptions& options = {});
  /// Of one pass that needs no schedule.
  IndexProgram(OnePass pass, std::uint64_t count, const IndexArrays& arrays);

  bool empty() const { return steps_.empty(); }
  /// Of one array, or 0.
  std::uint64_t workspace_bytes() const;
  /// Tables made beside the schedule.
  std::uint64_t table_bytes() const;

  /// Queues all passes. Requires: the device is the current one; arrays aligned to the unit and a workspace
  /// aligned to 16 where one is needed (checked); no overlap. Errors: ErrorCode::value for those;
  /// ErrorCode::unsupported for an array of more blocks than a launch may have, before anything is queued;
  /// ErrorCode::device for a failed launch.
  void launch(const void* in, void* out, void* workspace, Stream stream) const;

  /// One pass by itself, all arrays of the batch: for benchmarks. Requires: pass < passes(), arrays as for
  /// launch().
  std::size_t passes() const { return steps_.size(); }
  void launch_pass(std::size_t pass, const void* in, void* out, Stream stream) const {
    launch(pass, static_cast<const std::byte*>(in), static_cast<std::byte*>(out), arrays_.batch, stream);
  }

  /// Of every pass.
  std::vector<KernelResources> resources() const;

 private:
  struct Kernel {
    using Params = std::variant<kernels::PartitionParams, kernels::ColumnsParams, kernels::DirectParams>;
    KernelEntry entry;
    Params params;
    const void* tables[3] = {};
    std::uint64_t blocks = 0;  // of an array; of a direct pass, of the batch
    bool in_place = false;
    bool runs_written = false;   // a level: the runs are in the output
    KernelEntry unaligned = {};  // of a direct pass of vectors
    std::uint64_t unaligned_blocks = 0;
  };
  using Step = std::variant<Kernel, OnePass>;

  void add_direct(const DeviceDirect& direct, Way way);
  void add_partition(const DevicePartition& partition, Way way, const IndexProgramOptions& options);
  void add_row_column(const DeviceRowColumn& matrix, Way way, const IndexProgramOptions& options);
  void add_level(const DevicePartition& partition, int level, Way way, const IndexProgramOptions& options);
  void add_chunks(std::uint64_t chunk_elements, const DeviceBuffer<std::uint16_t>& places, Way way);
  void add_columns(const DeviceRowColumn& matrix, Way way);
  void add(const Kernel& kernel);

  void route();
  void check(const void* in, const void* out, const void* workspace) const;
  void launch(std::size_t step, const std::byte* in, std::byte* out, std::uint64_t arrays, Stream stream,
              bool begun = false) const;
  void launch_kernel(std::size_t step, const std::byte* in, std::byte* out, std::uint64_t arrays,
                     Stream stream, bool begun) const;

  std::vector<Step> steps_;
  std::vector<bool> to_workspace_;  // of every step, else to the output
  IndexArrays arrays_;
  kernels::ElementUnits units_;
  std::uint64_t count_ = 0;
  std::uint64_t shared_bytes_max_ = 0;
};

}  // namespace faro::cuda
