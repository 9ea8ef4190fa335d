// Partition passes (schedule/index_schedule.hpp): a chunk is scattered in the second-level cache and its runs
// are written in whole lines; backwards, runs are fetched and gathered from. The last pass runs in place: it
// holds a whole chunk before it writes.
//
//     forwards     in -> … -> workspace -> out -> out      backwards   in -> … -> workspace -> out
#include <algorithm>
#include <cstring>
#include <optional>

#include "engines/cpu/chunk_moves.hpp"
#include "engines/cpu/index_program.hpp"
#include "engines/cpu/run_writer.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

using schedule::PartitionLevel;
using schedule::PartitionSchedule;
using schedule::PartitionShape;

constexpr std::uint64_t kLine = RunWriter::kLine;
constexpr std::uint32_t kRunsAhead = 12;
constexpr std::uint64_t kMostAhead = 512;
constexpr std::uint64_t kShortRun = 512;  // a multiple of a line

// Some arrays of the batch on their way through one pass.
struct Step {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t arrays = 0;
};

class PartitionProgram final : public IndexProgram {
 public:
  PartitionProgram(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule,
                   std::optional<int> only = {})
      : IndexProgram(job),
        schedule_(std::move(schedule)),
        partition_(std::get<PartitionSchedule>(schedule_->what)),
        shape_(partition_.shape),
        only_(only),
        lent_(faro::detail::partition_workspace(
            shape_, schedule_->applied, {.element_bytes = job.element_bytes, .batch = job.batch},
            only ? faro::detail::PassesRun::one : faro::detail::PassesRun::all)) {}

  std::uint64_t workspace_bytes() const override {
    return lent_.thread_bytes * static_cast<std::uint64_t>(job().threads) + lent_.array_bytes;
  }

  void run(const std::byte* in, std::byte* out, std::byte* workspace) const override {
    std::byte* const array = workspace + lent_.thread_bytes * static_cast<std::uint64_t>(job().threads);
    for (std::uint64_t first = 0; first < job().batch; first += lent_.group) {
      const std::uint64_t arrays = std::min(lent_.group, job().batch - first);
      const std::byte* const from = in + first * job().array_bytes();
      std::byte* const to = out + first * job().array_bytes();
      if (only_) {
        run_pass(*only_, {.in = from, .out = to, .arrays = arrays}, workspace);
      } else if (schedule_->applied == Direction::scatter) {
        run_forwards(arrays, from, to, array, workspace);
      } else {
        run_backwards(arrays, from, to, array, workspace);
      }
    }
  }

 private:
  // Pass 0 .. levels() - 1 is that level, levels() the last pass.
  void run_pass(int pass, const Step& step, std::byte* workspace) const {
    const bool is_last = pass == shape_.levels();
    const bool forwards = schedule_->applied == Direction::scatter;
    each_share(step.arrays, workspace, [&](Share share, std::byte* memory) {
      if (is_last && forwards) place(step, share, memory);
      if (is_last && !forwards) pick(step, share, memory);
      if (!is_last && forwards) spread(pass, step, share, memory);
      if (!is_last && !forwards) collect(pass, step, share, memory);
    });
  }

  void run_forwards(std::uint64_t arrays, const std::byte* in, std::byte* out, std::byte* array,
                    std::byte* workspace) const {
    const std::byte* from = in;
    for (int pass = 0; pass <= shape_.levels(); ++pass) {
      const int left = shape_.levels() - pass;  // the last of them in place
      std::byte* const to = left == 0 || left % 2 == 1 ? out : array;
      run_pass(pass, {.in = from, .out = to, .arrays = arrays}, workspace);
      from = to;
    }
  }

  void run_backwards(std::uint64_t arrays, const std::byte* in, std::byte* out, std::byte* array,
                     std::byte* workspace) const {
    const std::byte* from = in;
    for (int pass = shape_.levels(); pass >= 0; --pass) {
      std::byte* const to = pass % 2 == 0 ? out : array;
      run_pass(pass, {.in = from, .out = to, .arrays = arrays}, workspace);
      from = to;
    }
  }

  // Calls work(share of the chunks of all arrays, the thread's memory).
  template <typename Work>
  void each_share(std::uint64_t arrays, std::byte* workspace, const Work& work) const {
    const int team = useful_threads(job().threads, arrays * job().array_bytes());
    share_out_by_rank(arrays * shape_.chunks(), team, [&](Share share) {
      if (share.begin < share.end) work(share, workspace + share.rank * lent_.thread_bytes);
      finish_streams();
    });
  }

  // Calls visit(array, chunk) for every chunk of the share.
  template <typename Visit>
  void each_chunk(Share share, const Visit& visit) const {
    for_each_array(share.begin, share.end, shape_.chunks(),
                   [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                     for (std::uint64_t chunk = first; chunk < last; ++chunk) visit(array, chunk);
                   });
  }

  ChunkRuns runs_of(const PartitionLevel& level, std::uint32_t buckets, std::uint64_t chunk,
                    const std::byte* buffer) const {
    return {.buffer = buffer,
            .starts = level.starts.data() + chunk * buckets,
            .offsets = level.offsets.data() + chunk * buckets,
            .size = shape_.chunk_size(chunk)};
  }

  std::uint64_t chunk_offset(std::uint64_t chunk) const {
    return (chunk << shape_.chunk_bits) * job().element_bytes;
  }
  // Of the region of a level that holds a chunk.
  std::uint64_t region_offset(int level, std::uint64_t chunk) const {
    const int bits = shape_.region_bits(level);
    return ((chunk << shape_.chunk_bits) >> bits << bits) * job().element_bytes;
  }

  void spread(int l, const Step& step, Share share, std::byte* memory) const {
    const PartitionLevel& level = partition_.levels[static_cast<std::size_t>(l)];
    const std::uint32_t buckets = shape_.buckets(l);
    const int region_chunk_bits = shape_.region_bits(l) - shape_.chunk_bits;
    const std::uint64_t stride = job().element_bytes << shape_.region_bits(l + 1);
    RunWriter writer(memory + lent_.slots_offset, buckets, job().element_bytes,
                     job().streamed() ? LineStores::streamed : LineStores::cached);
    for_each_array(share.begin, share.end, shape_.chunks(),
                   [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                     const std::byte* const in = step.in + array * job().array_bytes();
                     std::byte* const out = step.out + array * job().array_bytes();
                     for (std::uint64_t chunk = first; chunk < last; ++chunk) {
                       const ChunkRuns runs = runs_of(level, buckets, chunk, memory);
                       const auto is_new_region = [&](std::uint64_t c) {
                         return c >> region_chunk_bits << region_chunk_bits == c;
                       };
                       if (chunk == first || is_new_region(chunk))
                         writer.begin(out + region_offset(l, chunk), stride, runs);
                       with_width(job().element_bytes, [&](auto width) {
                         scatter_chunk(width, in + chunk_offset(chunk),
                                       level.places.data() + (chunk << shape_.chunk_bits), runs.size, memory);
                       });
                       writer.write(runs);
                       if (chunk + 1 == last || is_new_region(chunk + 1)) writer.finish(runs);
                     }
                   });
  }

  void place(const Step& step, Share share, std::byte* memory) const {
    each_chunk(share, [&](std::uint64_t array, std::uint64_t chunk) {
      const std::uint64_t at = array * job().array_bytes() + chunk_offset(chunk);
      const std::uint64_t size = shape_.chunk_size(chunk);
      const std::uint16_t* const places = partition_.last.data() + (chunk << shape_.chunk_bits);
      const bool straight = step.in != step.out && !job().streamed();
      std::byte* const to = straight ? step.out + at : memory;
      with_width(job().element_bytes,
                 [&](auto width) { scatter_chunk(width, step.in + at, places, size, to); });
      if (straight) return;
      const std::uint64_t bytes = size * job().element_bytes;
      copy_bytes(memory, step.out + at, bytes, job().streamed());
    });
  }

  void pick(const Step& step, Share share, std::byte* memory) const {
    each_chunk(share, [&](std::uint64_t array, std::uint64_t chunk) {
      const std::uint64_t at = array * job().array_bytes() + chunk_offset(chunk);
      const std::uint64_t size = shape_.chunk_size(chunk);
      const std::uint16_t* const places = partition_.last.data() + (chunk << shape_.chunk_bits);
      copy_cached(step.in + at, memory, size * job().element_bytes);
      gather_out(places, size, memory, step.out + at);
    });
  }

  void collect(int l, const Step& step, Share share, std::byte* memory) const {
    const PartitionLevel& level = partition_.levels[static_cast<std::size_t>(l)];
    const std::uint32_t buckets = shape_.buckets(l);
    const std::uint64_t stride = job().element_bytes << shape_.region_bits(l + 1);
    const std::byte* const end = step.in + step.arrays * job().array_bytes();
    each_chunk(share, [&](std::uint64_t array, std::uint64_t chunk) {
      const ChunkRuns runs = runs_of(level, buckets, chunk, memory);
      const std::byte* const in = step.in + array * job().array_bytes();
      fetch_runs(runs, buckets, {in + region_offset(l, chunk), stride, end}, memory);
      gather_out(level.places.data() + (chunk << shape_.chunk_bits), runs.size, memory,
                 step.out + array * job().array_bytes() + chunk_offset(chunk));
    });
  }

  struct Buckets {
    const std::byte* region;
    std::uint64_t stride;
    const std::byte* end;  // of what may be read
  };

  // The runs of a chunk, side by side.
  void fetch_runs(const ChunkRuns& runs, std::uint32_t buckets, const Buckets& from, std::byte* to) const {
    const std::uint64_t width = job().element_bytes;
    const auto source = [&](std::uint32_t b) {
      return reinterpret_cast<std::uintptr_t>(from.region) + b * from.stride + runs.offsets[b] * width;
    };
    const auto end_of = [&](std::uint32_t b) { return b + 1 < buckets ? runs.starts[b + 1] : runs.size; };
    for (std::uint32_t b = 0; b < buckets; ++b) {
      if (b + kRunsAhead < buckets) {
        const std::uint64_t bytes = (end_of(b + kRunsAhead) - runs.starts[b + kRunsAhead]) * width;
        const std::uintptr_t ahead = source(b + kRunsAhead);
        for (std::uint64_t at = 0; at < std::min(bytes + kLine, kMostAhead); at += kLine)
          __builtin_prefetch(pointer(ahead + at));
      }
      const std::uint64_t bytes = (end_of(b) - runs.starts[b]) * width;
      const std::byte* const run = pointer(source(b));
      std::byte* const place = to + runs.starts[b] * width;
      // Whole lines, where there are bytes enough to read: what is too much, the next run overwrites.
      if (bytes <= kShortRun && source(b) + kShortRun <= reinterpret_cast<std::uintptr_t>(from.end)) {
        for (std::uint64_t at = 0; at < bytes; at += kLine) std::memcpy(place + at, run + at, kLine);
      } else {
        std::memcpy(place, run, bytes);
      }
    }
  }
  // Buckets may begin past the array's end, where they are empty: sums of numbers, not of pointers.
  static const std::byte* pointer(std::uintptr_t address) {
    return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  }

  // The elements of a chunk that lies in the buffer, in the order of the output.
  void gather_out(const std::uint16_t* places, std::uint64_t size, std::byte* buffer, std::byte* out) const {
    std::byte* const stage = buffer + lent_.stage_offset;
    with_width(job().element_bytes, [&](auto width) {
      write_in_order(size, job().element_bytes, job().streamed(), stage, out,
                     [&](std::uint64_t first, std::uint64_t last, std::byte* to) {
                       gather_chunk(width, buffer, places + first, last - first, to);
                     });
    });
  }

  std::shared_ptr<const schedule::IndexSchedule> schedule_;
  const PartitionSchedule& partition_;
  PartitionShape shape_;
  std::optional<int> only_;  // this pass alone, for timing
  faro::detail::PartitionWorkspace lent_;
};

}  // namespace

Program partition_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule) {
  return std::make_unique<PartitionProgram>(job, std::move(schedule));
}

Program partition_pass_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule,
                               int pass) {
  return std::make_unique<PartitionProgram>(job, std::move(schedule), pass);
}

}  // namespace faro::cpu
