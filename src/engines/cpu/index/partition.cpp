// Partition passes (schedule/partition.hpp): a chunk is scattered in the second-level cache and its runs are
// written in whole lines; backwards, runs are fetched and gathered from. The last pass holds a whole chunk
// before it writes, so that it may run in place.
#include <algorithm>
#include <cstring>

#include "engines/cpu/index/chunk_moves.hpp"
#include "engines/cpu/index/run_writer.hpp"
#include "engines/cpu/pass_program.hpp"
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

// What both kinds of passes have.
class ChunksOfArrays : public ElementProgram {
 protected:
  ChunksOfArrays(const CpuPass& pass, SharedSchedule schedule, const PartitionShape& shape,
                 const detail::ChunkPart& part)
      : ElementProgram(pass), schedule_(std::move(schedule)), shape_(shape), part_(part) {}

  const PartitionSchedule& partition() const { return std::get<PartitionSchedule>(schedule_->what); }

  // Calls work(share of the chunks of all arrays, the thread's memory).
  template <typename Work>
  void each_share(const Step& step, const Work& work) const {
    share_out_by_rank(step.arrays * shape_.chunks(), threads(), [&](Share share) {
      if (share.begin < share.end) work(share, part(step, share.rank));
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

  std::uint64_t chunk_offset(std::uint64_t chunk) const {
    return (chunk << shape_.chunk_bits) * element_bytes();
  }

  // Elements first .. first + size - 1 of the input to their places; `memory` is the thread's.
  void scatter_in(const Step& step, const std::byte* from, const std::uint16_t* places, std::uint64_t first,
                  std::uint64_t size, std::byte* memory, std::byte* to) const {
    with_width(element_bytes(), [&](auto width) {
      if (step.read == nullptr) return scatter_chunk(width, from, places, size, to);
      std::byte* const stage = memory + part_.stage_offset;
      const std::uint64_t most = kStageBytes / element_bytes();
      for (std::uint64_t at = 0; at < size; at += most) {
        const std::uint64_t some = std::min(most, size - at);
        step.read->read(first + at, some, stage);
        scatter_chunk(width, stage, places + at, some, to);
      }
    });
  }

  // The elements of a chunk that lies in the buffer, in the order of the output, where they are first …
  void gather_out(const Step& step, const std::uint16_t* places, std::uint64_t first_place,
                  std::uint64_t size, std::byte* buffer, std::byte* out) const {
    std::byte* const stage = buffer + part_.stage_offset;
    if (step.written != nullptr) {
      const std::uint64_t most = kStageBytes / element_bytes();
      for (std::uint64_t at = 0; at < size; at += most) {
        const std::uint64_t some = std::min(most, size - at);
        with_width(element_bytes(),
                   [&](auto width) { gather_chunk(width, buffer, places + at, some, stage); });
        step.written->write(stage, first_place + at, some);
      }
      return;
    }
    with_width(element_bytes(), [&](auto width) {
      write_in_order(size, element_bytes(), streamed(), stage, out,
                     [&](std::uint64_t first, std::uint64_t last, std::byte* to) {
                       gather_chunk(width, buffer, places + first, last - first, to);
                     });
    });
  }

  SharedSchedule schedule_;
  PartitionShape shape_;
  detail::ChunkPart part_;
};

// A level: spread, or collect.
class LevelProgram final : public ChunksOfArrays {
 public:
  LevelProgram(const CpuPass& pass, const detail::CpuLevel& kernel, SharedSchedule schedule)
      : ChunksOfArrays(pass, std::move(schedule), kernel.shape, kernel.part),
        way_(kernel.way),
        level_(kernel.level),
        buckets_(shape_.buckets(level_)),
        table_(partition().levels[static_cast<std::size_t>(level_)]) {}

  void run(const Step& step) const override {
    each_share(step, [&](Share share, std::byte* memory) {
      if (way_ == Way::forwards) {
        spread(step, share, memory);
      } else {
        collect(step, share, memory);
      }
    });
  }

 private:
  ChunkRuns runs_of(std::uint64_t chunk, const std::byte* buffer) const {
    return {.buffer = buffer,
            .starts = table_.starts.data() + chunk * buckets_,
            .offsets = table_.offsets.data() + chunk * buckets_,
            .size = shape_.chunk_size(chunk)};
  }

  // Where the region of a level begins that holds a chunk.
  std::uint64_t region_offset(std::uint64_t chunk) const {
    const int bits = shape_.region_bits(level_);
    return ((chunk << shape_.chunk_bits) >> bits << bits) * element_bytes();
  }

  void spread(const Step& step, Share share, std::byte* memory) const {
    const int region_chunk_bits = shape_.region_bits(level_) - shape_.chunk_bits;
    const std::uint64_t stride = element_bytes() << shape_.region_bits(level_ + 1);
    RunWriter writer(memory + part_.slots_offset, buckets_, element_bytes(),
                     streamed() ? LineStores::streamed : LineStores::cached);
    for_each_array(share.begin, share.end, shape_.chunks(),
                   [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                     const std::byte* const in = step.in + array * array_bytes();
                     std::byte* const out = step.out + array * array_bytes();
                     for (std::uint64_t chunk = first; chunk < last; ++chunk) {
                       const ChunkRuns runs = runs_of(chunk, memory);
                       const auto is_new_region = [&](std::uint64_t c) {
                         return c >> region_chunk_bits << region_chunk_bits == c;
                       };
                       if (chunk == first || is_new_region(chunk))
                         writer.begin(out + region_offset(chunk), stride, runs);
                       const std::uint64_t place = chunk << shape_.chunk_bits;
                       scatter_in(step, in + chunk_offset(chunk), table_.places.data() + place, place,
                                  runs.size, memory, memory);
                       writer.write(runs);
                       if (chunk + 1 == last || is_new_region(chunk + 1)) writer.finish(runs);
                     }
                   });
  }

  void collect(const Step& step, Share share, std::byte* memory) const {
    const std::uint64_t stride = element_bytes() << shape_.region_bits(level_ + 1);
    const std::byte* const end = step.in + step.arrays * array_bytes();
    each_chunk(share, [&](std::uint64_t array, std::uint64_t chunk) {
      const ChunkRuns runs = runs_of(chunk, memory);
      const std::byte* const in = step.in + array * array_bytes();
      fetch_runs(runs, {in + region_offset(chunk), stride, end}, memory);
      const std::uint64_t place = chunk << shape_.chunk_bits;
      gather_out(step, table_.places.data() + place, place, runs.size, memory,
                 step.out + array * array_bytes() + chunk_offset(chunk));
    });
  }

  struct Buckets {
    const std::byte* region;
    std::uint64_t stride;
    const std::byte* end;  // of what may be read
  };

  // The runs of a chunk, side by side.
  void fetch_runs(const ChunkRuns& runs, const Buckets& from, std::byte* to) const {
    const std::uint64_t width = element_bytes();
    const auto source = [&](std::uint32_t b) {
      return reinterpret_cast<std::uintptr_t>(from.region) + b * from.stride + runs.offsets[b] * width;
    };
    const auto end_of = [&](std::uint32_t b) { return b + 1 < buckets_ ? runs.starts[b + 1] : runs.size; };
    for (std::uint32_t b = 0; b < buckets_; ++b) {
      if (b + kRunsAhead < buckets_) {
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

  Way way_;
  int level_;
  std::uint32_t buckets_;
  const PartitionLevel& table_;
};

// The last pass: place, or pick.
class ChunksProgram final : public ChunksOfArrays {
 public:
  ChunksProgram(const CpuPass& pass, const detail::CpuChunks& kernel, SharedSchedule schedule)
      : ChunksOfArrays(pass, std::move(schedule), kernel.shape, kernel.part),
        way_(kernel.way),
        last_(partition().last) {}

  void run(const Step& step) const override {
    each_share(step, [&](Share share, std::byte* memory) {
      if (way_ == Way::forwards) {
        place(step, share, memory);
      } else {
        pick(step, share, memory);
      }
    });
  }

 private:
  void place(const Step& step, Share share, std::byte* memory) const {
    each_chunk(share, [&](std::uint64_t array, std::uint64_t chunk) {
      const std::uint64_t at = array * array_bytes() + chunk_offset(chunk);
      const std::uint64_t size = shape_.chunk_size(chunk);
      const std::uint64_t first = chunk << shape_.chunk_bits;
      const bool straight = step.in != step.out && !streamed() && step.written == nullptr;
      std::byte* const to = straight ? step.out + at : memory;
      scatter_in(step, step.in + at, last_.data() + first, first, size, memory, to);
      if (straight) return;
      if (step.written != nullptr) return step.written->write(memory, first, size);
      copy_bytes(memory, step.out + at, size * element_bytes(), streamed());
    });
  }

  void pick(const Step& step, Share share, std::byte* memory) const {
    each_chunk(share, [&](std::uint64_t array, std::uint64_t chunk) {
      const std::uint64_t at = array * array_bytes() + chunk_offset(chunk);
      const std::uint64_t size = shape_.chunk_size(chunk);
      const std::uint64_t first = chunk << shape_.chunk_bits;
      if (step.read != nullptr) {
        step.read->read(first, size, memory);
      } else {
        copy_cached(step.in + at, memory, size * element_bytes());
      }
      gather_out(step, last_.data() + first, first, size, memory, step.out + at);
    });
  }

  Way way_;
  const std::vector<std::uint16_t>& last_;
};

}  // namespace

Program level_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::make_unique<LevelProgram>(pass, std::get<detail::CpuLevel>(pass.kernel), schedule);
}

Program chunks_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::make_unique<ChunksProgram>(pass, std::get<detail::CpuChunks>(pass.kernel), schedule);
}

}  // namespace faro::cpu
