// What an index plan becomes on the CPU: one program for each method, behind one interface.
//
// A program owns its tables and nothing else, so it may run many times at once; what a run needs to write to
// beside the output is lent to it, a part for each thread first, then room for arrays between passes
// (plan/index_workspace.hpp has the sizes):
//
//     workspace   | thread 0 | thread 1 | … | arrays between passes |
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "faro/permutation/axes.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cpu {

/// What all methods need to know.
struct IndexJob {
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  int threads = 1;
  std::uint64_t streaming_bytes = 0;  // more than this bypasses the caches when written

  std::uint64_t array_bytes() const { return count * element_bytes; }
  std::uint64_t total_bytes() const { return batch * array_bytes(); }
  bool streamed() const { return total_bytes() > streaming_bytes; }
};

class IndexProgram {
 public:
  explicit IndexProgram(const IndexJob& job) : job_(job) {}
  IndexProgram(const IndexProgram&) = delete;
  IndexProgram& operator=(const IndexProgram&) = delete;
  virtual ~IndexProgram() = default;

  /// Of run(): aligned to a page there.
  virtual std::uint64_t workspace_bytes() const { return 0; }
  /// All arrays of the batch. Requires: no overlap. Cost: no allocation.
  virtual void run(const std::byte* in, std::byte* out, std::byte* workspace) const = 0;

 protected:
  const IndexJob& job() const { return job_; }

 private:
  IndexJob job_;
};

/// What lies in the arrays of a batch one after another, cut where an array ends: calls
/// visit(array, first, last) for every part of [begin, end).
template <typename Visit>
void for_each_array(std::uint64_t begin, std::uint64_t end, std::uint64_t count, const Visit& visit) {
  while (begin < end) {
    const std::uint64_t array = begin / count;
    const std::uint64_t stop = end - array * count < count ? end - array * count : count;
    visit(array, begin - array * count, stop);
    begin = array * count + stop;
  }
}

using Program = std::unique_ptr<IndexProgram>;

/// out[i] = in[entries[i]]; scatter: out[entries[i]] = in[i].
Program direct_program(const IndexJob& job, Indexed indexed);
Program window_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule);
Program runs_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule);
Program partition_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule);
/// One of its passes alone, from in to out: level `pass`, or the last one. To be timed.
Program partition_pass_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule,
                               int pass);
/// In three passes, or in the five as published.
enum class RowColumnPasses { three, five };
Program row_column_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule,
                           RowColumnPasses passes);
Program axes_program(const IndexJob& job, const Axes& axes);
Program cyclic_program(const IndexJob& job, const Cyclic& cyclic);

}  // namespace faro::cpu
