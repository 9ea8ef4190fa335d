// The kernels of index arrays: which phases a block goes through, with the barriers between them.
//
//     step         phases of                          params            tables
//     level        partition.hpp, partition_runs      PartitionParams   places, starts, offsets
//     chunk        partition.hpp                      PartitionParams   places
//     columns      row_column.hpp                     ColumnsParams     places
//     direct       indexed_direct.hpp                 DirectParams      entries
//     window       window.hpp                         WindowParams      shifts
//     runs         runs.hpp                           RunsParams        begins, froms, firsts
//     in global    each of the first three without shared memory
//
// A step runs over any memory (faro/device/memory.hpp), so also over one that changes numbers
// (converting_memory.hpp): MoveChanged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/converting_memory.hpp"
#include "kernels/indexed_direct.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_in_global.hpp"
#include "kernels/partition_params.hpp"
#include "kernels/partition_runs.hpp"
#include "kernels/row_column.hpp"
#include "kernels/runs.hpp"
#include "kernels/window.hpp"

namespace faro::kernels {

namespace detail {

/// What the calling thread has copied behind its back is there, once a barrier follows.
template <typename Memory>
constexpr void wait_for_copies_of(Memory& memory) {
  if constexpr (requires { memory.wait(); }) memory.wait();
}

}  // namespace detail

/// `forwards`: spread, else collect. `variant`: of kCompiledPartitions.
template <int bytes, bool single, int variant, bool forwards>
struct LevelStep {
  using Params = PartitionParams;
  static constexpr CompiledPartition kCompiled = kCompiledPartitions[variant];
  static constexpr std::uint32_t kThreads = 1U << kCompiled.thread_bits;
  static constexpr int kMinBlocks = kCompiled.min_blocks;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    constexpr int lane_bits = kCompiled.lane_bits;
    load_descriptors(memory, p, block.index(), block.thread(), kThreads);
    if constexpr (forwards) {
      load_placed<bytes, single>(memory, p, block.index(), block.thread(), kThreads);
      detail::wait_for_copies_of(memory);
      block.barrier();
      store_runs<bytes, single, lane_bits>(memory, p, block.index(), block.thread(), kThreads);
    } else {
      detail::wait_for_copies_of(memory);
      block.barrier();
      load_runs<bytes, single, lane_bits>(memory, p, block.index(), block.thread(), kThreads);
      detail::wait_for_copies_of(memory);
      block.barrier();
      store_picked<bytes, single>(memory, p, block.index(), block.thread(), kThreads);
    }
  }
};

/// `forwards`: place, else pick. In place where input and output are one array: a chunk is loaded wholly
/// before any of it is stored. `large`: with the threads that a chunk past kLargeChunkBytes wants.
template <int bytes, bool single, bool large, bool forwards>
struct ChunkStep {
  using Params = PartitionParams;
  static constexpr std::uint32_t kThreads = large ? 1024 : 512;
  static constexpr int kMinBlocks = large ? 1 : 3;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    if constexpr (forwards) {
      load_placed<bytes, single>(memory, p, block.index(), block.thread(), kThreads);
      block.barrier();
      store_chunk<bytes, single>(memory, p, block.index(), block.thread(), kThreads);
    } else {
      load_chunk<bytes, single>(memory, p, block.index(), block.thread(), kThreads);
      block.barrier();
      store_picked<bytes, single>(memory, p, block.index(), block.thread(), kThreads);
    }
  }
};

/// In place where input and output are one array, as above.
template <int bytes, bool forwards>
struct ColumnsStep {
  using Params = ColumnsParams;
  static constexpr std::uint32_t kThreads = kColumnsThreads;
  static constexpr int kMinBlocks = 1;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    load_columns<bytes, forwards>(memory, p, block.index(), block.thread(), kThreads);
    block.barrier();
    store_columns<bytes, forwards>(memory, p, block.index(), block.thread(), kThreads);
  }
};

template <int bytes, int index_bytes, bool gather, DirectKind kind>
struct DirectStep {
  using Params = DirectParams;
  static constexpr std::uint32_t kThreads = kDirectThreads;
  static constexpr int kMinBlocks = 1;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    if constexpr (kind == DirectKind::vectors) {
      move_direct_vectors<bytes, index_bytes, gather>(memory, p, block.index(), block.thread());
    } else if constexpr (kind == DirectKind::one) {
      move_direct_one<bytes, index_bytes, gather>(memory, p, block.index(), block.thread());
    } else {
      constexpr std::uint32_t batch = kind == DirectKind::units ? kDirectUnitBatch : 1;
      move_direct_units<bytes, index_bytes, gather, batch>(memory, p, block.index(), block.thread());
    }
  }
};

/// `level`: spread or collect, else place or pick.
template <int bytes, bool level, bool forwards>
struct InGlobalStep {
  using Params = PartitionParams;
  static constexpr std::uint32_t kThreads = kInGlobalThreads;
  static constexpr int kMinBlocks = 1;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    move_in_global<bytes, level, forwards>(memory, p, block.index(), block.thread());
  }
};

template <int bytes, bool forwards>
struct ColumnsInGlobalStep {
  using Params = ColumnsParams;
  static constexpr std::uint32_t kThreads = kInGlobalThreads;
  static constexpr int kMinBlocks = 1;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    move_columns_in_global<bytes, forwards>(memory, p, block.index(), block.thread(), kThreads);
  }
};

/// `direct`: without shared memory.
template <int bytes, bool backwards, bool vectors, bool direct>
struct WindowStep {
  using Params = WindowParams;
  static constexpr std::uint32_t kThreads = kWindowThreads;
  static constexpr int kMinBlocks = 1;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    if constexpr (direct) {
      move_window_directly<bytes, backwards>(memory, p, block.index(), block.thread());
    } else if constexpr (backwards) {
      place_window<bytes>(memory, p, block.index(), block.thread());
      block.barrier();
      store_placed<bytes, vectors>(memory, p, block.index(), block.thread());
    } else {
      load_window<bytes>(memory, p, block.index(), block.thread());
      block.barrier();
      if constexpr (vectors) {
        store_window_vectors<bytes>(memory, p, block.index(), block.thread());
      } else {
        store_window<bytes>(memory, p, block.index(), block.thread());
      }
    }
  }
};

template <int bytes>
struct RunsStep {
  using Params = RunsParams;
  static constexpr std::uint32_t kThreads = kRunsThreads;
  static constexpr int kMinBlocks = 1;

  template <typename Memory, typename Block>
  static constexpr void run(Memory& memory, const Params& p, Block& block) {
    const auto table = [&](int buffer, std::uint64_t index) {
      return as_number(memory.template load_global<8>(buffer, 8 * index));
    };
    list_runs(memory, p, table, block.index(), block.thread());
    block.barrier();
    move_runs<bytes>(memory, p, table, block.index(), block.thread());
  }
};

/// What a launch of a changed step works on.
template <typename StepParams>
struct ChangedArrays : ConvertedArrays {
  const std::byte* tables[3] = {};
  StepParams p;
};

/// A step whose numbers change as it reads or as it writes them.
template <typename Program, bool kRoundsFirst, bool kAlongAxes, typename Step>
struct MoveChanged : ChangedArrays<typename Step::Params> {
  static constexpr std::uint32_t kThreads = Step::kThreads;
  static constexpr int kMinBlocks = Step::kMinBlocks;

  template <typename Block>
  constexpr void operator()(Block& block) const {
    ConvertingMemory<Program, kRoundsFirst, kAlongAxes, false> memory(*this, block.shared(), this->tables);
    Step::run(memory, this->p, block);
  }
};

}  // namespace faro::kernels
