// The kernels of a partition schedule (schedule/index_schedule.hpp): a block a chunk, two phases or three.
//
//     spread     chunk --places--> shared memory  |  its runs --> buckets         a level forwards
//     collect    descriptors  |  runs --> shared memory  |  --places--> chunk     a level backwards
//     place      chunk --last--> shared memory  |  --> chunk                      the last pass forwards
//     pick       chunk --> shared memory  |  --last--> chunk                      the last pass backwards
//
// Chunks are read and written 16 bytes a thread where they are aligned to that, else a unit. The runs are in
// kernels/partition_runs.hpp.
//
// Nothing is checked here. Places, starts and offsets are those of a schedule that was checked, or made by
// the device; what comes from a file has been through check_schedule().
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"
#include "kernels/moved_vector.hpp"
#include "kernels/partition_params.hpp"

namespace faro::kernels {

inline constexpr int kPlaces = 2;  // buffers, beside device::kInput and device::kOutput
inline constexpr int kStarts = 3;
inline constexpr int kOffsets = 4;

inline constexpr std::uint32_t kWarpLanes = 32;

/// A block's part of its array.
struct Chunk {
  std::uint64_t array;  // first element of the array, counted over the batch
  std::uint64_t first;  // element of the array
  std::uint64_t number;
  std::uint32_t size;
};

/// Requires: block < 2^32 (unchecked).
constexpr Chunk chunk_of(const PartitionParams& p, std::uint64_t block) {
  std::uint64_t array = 0;
  std::uint64_t number = block;
  if (block >= p.chunks) {  // then both fit 32 bits, and so does a cheaper division
    array = static_cast<std::uint32_t>(block) / static_cast<std::uint32_t>(p.chunks);
    number = block - array * p.chunks;
  }
  const std::uint64_t first = number * p.chunk_elements;
  const std::uint64_t rest = p.count - first;
  return {array * p.count, first, number,
          rest < p.chunk_elements ? static_cast<std::uint32_t>(rest) : p.chunk_elements};
}

namespace detail {

/// Element `index` of a packet of smaller ones.
template <int piece_bytes, int packet_bytes>
constexpr device::Packet<piece_bytes> extract(const device::Packet<packet_bytes>& packet, int index) {
  using Piece = device::Packet<piece_bytes>;
  constexpr int unit_bytes = device::Packet<packet_bytes>::kUnitBytes;
  Piece piece{};
  if constexpr (piece_bytes >= unit_bytes) {
    FARO_UNROLL
    for (int u = 0; u < Piece::kUnits; ++u) piece.unit[u] = packet.unit[index * Piece::kUnits + u];
  } else {
    constexpr int pieces = unit_bytes / piece_bytes;
    const std::uint32_t unit = packet.unit[index / pieces];
    piece.unit[0] = static_cast<typename Piece::Unit>(unit >> 8 * piece_bytes * (index % pieces));
  }
  return piece;
}

/// The places of the elements of one vector.
template <int elements>
struct VectorPlaces {
  static constexpr int kBytes = elements < 8 ? 2 * elements : 16;
  static constexpr int kPackets = 2 * elements / kBytes;
  device::Packet<kBytes> packet[kPackets];

  constexpr std::uint32_t operator[](int element) const {
    constexpr int in_packet = kBytes / 2;
    return extract<2>(packet[element / in_packet], element % in_packet).unit[0];
  }
};

template <int elements, device::Memory Memory>
constexpr VectorPlaces<elements> load_places(Memory& memory, std::uint64_t first_element) {
  VectorPlaces<elements> places{};
  FARO_UNROLL
  for (int i = 0; i < places.kPackets; ++i) {
    places.packet[i] = memory.template load_global<places.kBytes>(
        kPlaces, 2 * first_element + static_cast<std::uint64_t>(i) * places.kBytes);
  }
  return places;
}

/// Whether a machine copies packets of so many bytes to shared memory asynchronously, until the next
/// barrier.
template <int bytes, device::Memory Memory>
inline constexpr bool copies_behind = bytes >= 4 && requires(Memory memory) {
  memory.template copy_to_shared<bytes>(0, 0, 0);
};

/// Copies from global to shared memory, asynchronously where that is possible.
template <int bytes, device::Memory Memory>
constexpr void copy_to_shared(Memory& memory, int buffer, std::uint64_t offset, std::uint32_t address) {
  if constexpr (copies_behind<bytes, Memory>) {
    memory.template copy_to_shared<bytes>(buffer, offset, address);
  } else {
    memory.template store_shared<bytes>(address, memory.template load_global<bytes>(buffer, offset));
  }
}

/// Packets of the input as they are fetched, and what the kernel has of them: the same but for a memory that
/// converts.
template <int bytes, device::Memory Memory>
constexpr auto fetch(Memory& memory, std::uint64_t offset) {
  if constexpr (requires { memory.template fetch<bytes>(offset); }) {
    return memory.template fetch<bytes>(offset);
  } else {
    return memory.template load_global<bytes>(device::kInput, offset);
  }
}
template <int bytes, device::Memory Memory, typename Fetched>
constexpr device::Packet<bytes> made_of(Memory& memory, const Fetched& fetched) {
  if constexpr (requires { memory.template fetch<bytes>(0); }) {
    return memory.template made<bytes>(fetched);
  } else {
    return fetched;
  }
}
template <int bytes, typename Memory>
using Fetched = decltype(fetch<bytes>(*static_cast<Memory*>(nullptr), 0));

/// Vectors that a thread has in flight: as many as registers allow at three blocks of 512.
template <int bytes>
inline constexpr int kVectorBatch = bytes >= 4 ? 4 : 2;
inline constexpr int kUnitBatch = 4;
/// As many elements of shorter vectors, about.
template <int bytes>
constexpr int vector_batch(int vector_bytes) {
  return vector_bytes < static_cast<int>(kChunkVectorBytes) ? 4 : kVectorBatch<bytes>;
}

/// Bytes of a chunk that a thread loads at once, and stores: fewer of a memory that converts, whose numbers
/// are wider where they come from, or go (converting_memory.hpp).
template <int bytes, typename Memory>
constexpr int loaded_vector() {
  if constexpr (requires { Memory::kLoadedVector; })
    return Memory::kLoadedVector > bytes ? Memory::kLoadedVector : bytes;
  return kChunkVectorBytes;
}
template <int bytes, typename Memory>
constexpr int stored_vector() {
  if constexpr (requires { Memory::kStoredVector; })
    return Memory::kStoredVector > bytes ? Memory::kStoredVector : bytes;
  return kChunkVectorBytes;
}

/// Vectors of so many bytes of the chunk that can be moved whole; the rest goes by units.
template <int bytes, bool single>
constexpr std::uint32_t vectors_of(const PartitionParams& p, const Chunk& chunk, int vector_bytes) {
  if constexpr (!single) return 0;
  const bool aligned = p.vectors != 0 && (chunk.array + chunk.first) * bytes % kChunkVectorBytes == 0;
  return aligned ? chunk.size / static_cast<std::uint32_t>(vector_bytes / bytes) : 0;
}

/// Unit `unit` of the chunk: its element, and which of the element's units it is.
template <bool single>
constexpr std::uint32_t element_of(const PartitionParams& p, std::uint32_t unit) {
  return single ? unit : unit / p.units;
}
template <bool single>
constexpr std::uint32_t unit_at(const PartitionParams& p, std::uint32_t place, std::uint32_t unit,
                                std::uint32_t element) {
  return single ? place : place * p.units + (unit - element * p.units);
}

}  // namespace detail

// Every function below is a phase, or one of two that share it. All take `threads`, those of the block, a
// multiple of the warp. `single`: elements are of one unit.

/// The chunk into shared memory, every element at its place.
template <int bytes, bool single, device::Memory Memory>
constexpr void load_placed(Memory& memory, const PartitionParams& p, std::uint64_t block,
                           std::uint32_t thread, std::uint32_t threads) {
  constexpr int vector_bytes = detail::loaded_vector<bytes, Memory>();
  constexpr int in_vector = vector_bytes / bytes;
  constexpr int batch = detail::vector_batch<bytes>(vector_bytes);
  const Chunk chunk = chunk_of(p, block);
  const std::uint64_t base = (chunk.array + chunk.first) * p.units * bytes;
  const std::uint32_t vectors = detail::vectors_of<bytes, single>(p, chunk, vector_bytes);
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < vectors; first += batch * threads) {
    detail::Fetched<vector_bytes, Memory> data[batch] = {};
    detail::VectorPlaces<in_vector> places[batch] = {};
    FARO_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t vector = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (vector < vectors) {
        data[k] = detail::fetch<vector_bytes>(memory, base + std::uint64_t{vector} * vector_bytes);
        places[k] = detail::load_places<in_vector>(memory, chunk.first + vector * std::uint64_t{in_vector});
      } else {
        idle_times(memory, 1 + detail::VectorPlaces<in_vector>::kPackets);
      }
    }
    FARO_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t vector = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (vector < vectors) {
        const auto vector_of = detail::made_of<vector_bytes>(memory, data[k]);
        FARO_UNROLL
        for (int e = 0; e < in_vector; ++e) {
          memory.template store_shared<bytes>(places[k][e] * bytes, detail::extract<bytes>(vector_of, e));
        }
      } else {
        idle_times(memory, in_vector);
      }
    }
  }
  const std::uint32_t units = chunk.size * p.units;
  FARO_NO_UNROLL
  for (std::uint32_t first = vectors * in_vector; first < units; first += detail::kUnitBatch * threads) {
    device::Packet<bytes> data[detail::kUnitBatch] = {};
    std::uint32_t place[detail::kUnitBatch] = {};
    FARO_UNROLL
    for (int k = 0; k < detail::kUnitBatch; ++k) {
      const std::uint32_t unit = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (unit < units) {
        const std::uint32_t element = detail::element_of<single>(p, unit);
        data[k] = memory.template load_global<bytes>(device::kInput, base + std::uint64_t{unit} * bytes);
        place[k] = memory.template load_global<2>(kPlaces, 2 * (chunk.first + element)).unit[0];
      } else {
        idle_times(memory, 2);
      }
    }
    FARO_UNROLL
    for (int k = 0; k < detail::kUnitBatch; ++k) {
      const std::uint32_t unit = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (unit < units) {
        const std::uint32_t element = detail::element_of<single>(p, unit);
        memory.template store_shared<bytes>(detail::unit_at<single>(p, place[k], unit, element) * bytes,
                                            data[k]);
      } else {
        device::idle(memory);
      }
    }
  }
}

/// Shared memory to the chunk, every element from its place.
template <int bytes, bool single, device::Memory Memory>
constexpr void store_picked(Memory& memory, const PartitionParams& p, std::uint64_t block,
                            std::uint32_t thread, std::uint32_t threads) {
  constexpr int vector_bytes = detail::stored_vector<bytes, Memory>();
  constexpr int in_vector = vector_bytes / bytes;
  constexpr int batch = detail::vector_batch<bytes>(vector_bytes);
  const Chunk chunk = chunk_of(p, block);
  const std::uint64_t base = (chunk.array + chunk.first) * p.units * bytes;
  const std::uint32_t vectors = detail::vectors_of<bytes, single>(p, chunk, vector_bytes);
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < vectors; first += batch * threads) {
    detail::VectorPlaces<in_vector> places[batch] = {};
    FARO_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t vector = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (vector < vectors) {
        places[k] = detail::load_places<in_vector>(memory, chunk.first + vector * std::uint64_t{in_vector});
      } else {
        idle_times(memory, detail::VectorPlaces<in_vector>::kPackets);
      }
    }
    FARO_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t vector = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (vector < vectors) {
        device::Packet<vector_bytes> data{};
        FARO_UNROLL
        for (int e = 0; e < in_vector; ++e) {
          device::insert(data, e, memory.template load_shared<bytes>(places[k][e] * bytes));
        }
        memory.template store_global<vector_bytes>(device::kOutput,
                                                   base + std::uint64_t{vector} * vector_bytes, data);
      } else {
        idle_times(memory, in_vector + 1);
      }
    }
  }
  const std::uint32_t units = chunk.size * p.units;
  FARO_NO_UNROLL
  for (std::uint32_t first = vectors * in_vector; first < units; first += detail::kUnitBatch * threads) {
    std::uint32_t place[detail::kUnitBatch] = {};
    FARO_UNROLL
    for (int k = 0; k < detail::kUnitBatch; ++k) {
      const std::uint32_t unit = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (unit < units) {
        const std::uint32_t element = detail::element_of<single>(p, unit);
        place[k] = memory.template load_global<2>(kPlaces, 2 * (chunk.first + element)).unit[0];
      } else {
        device::idle(memory);
      }
    }
    FARO_UNROLL
    for (int k = 0; k < detail::kUnitBatch; ++k) {
      const std::uint32_t unit = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (unit < units) {
        const std::uint32_t element = detail::element_of<single>(p, unit);
        const auto data =
            memory.template load_shared<bytes>(detail::unit_at<single>(p, place[k], unit, element) * bytes);
        memory.template store_global<bytes>(device::kOutput, base + std::uint64_t{unit} * bytes, data);
      } else {
        idle_times(memory, 2);
      }
    }
  }
}

namespace detail {

/// The chunk between global and shared memory, in order: into shared memory, or out of it.
template <int packet_bytes, bool into_shared, device::Memory Memory>
constexpr void move_in_order(Memory& memory, std::uint64_t base, std::uint32_t begin, std::uint32_t end,
                             std::uint32_t thread, std::uint32_t threads) {
  constexpr int batch = 4;
  FARO_NO_UNROLL
  for (std::uint32_t first = begin; first < end; first += batch * threads) {
    std::conditional_t<into_shared, Fetched<packet_bytes, Memory>, device::Packet<packet_bytes>> data[batch] =
        {};
    FARO_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t i = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (i >= end) {
        device::idle(memory);
      } else if constexpr (into_shared) {
        data[k] = fetch<packet_bytes>(memory, base + std::uint64_t{i} * packet_bytes);
      } else {
        data[k] = memory.template load_shared<packet_bytes>(i * packet_bytes);
      }
    }
    FARO_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t i = first + static_cast<std::uint32_t>(k) * threads + thread;
      if (i >= end) {
        device::idle(memory);
      } else if constexpr (into_shared) {
        memory.template store_shared<packet_bytes>(i * packet_bytes, made_of<packet_bytes>(memory, data[k]));
      } else {
        memory.template store_global<packet_bytes>(device::kOutput, base + std::uint64_t{i} * packet_bytes,
                                                   data[k]);
      }
    }
  }
}

template <int bytes, bool single, bool into_shared, device::Memory Memory>
constexpr void move_chunk(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                          std::uint32_t threads) {
  const Chunk chunk = chunk_of(p, block);
  const std::uint64_t base = (chunk.array + chunk.first) * p.units * bytes;
  constexpr int vector_bytes = into_shared ? loaded_vector<bytes, Memory>() : stored_vector<bytes, Memory>();
  const std::uint32_t vectors = vectors_of<bytes, single>(p, chunk, vector_bytes);
  move_in_order<vector_bytes, into_shared>(memory, base, 0, vectors, thread, threads);
  move_in_order<bytes, into_shared>(memory, base, vectors * (vector_bytes / bytes), chunk.size * p.units,
                                    thread, threads);
}

}  // namespace detail

template <int bytes, bool single, device::Memory Memory>
constexpr void load_chunk(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                          std::uint32_t threads) {
  detail::move_chunk<bytes, single, true>(memory, p, block, thread, threads);
}

template <int bytes, bool single, device::Memory Memory>
constexpr void store_chunk(Memory& memory, const PartitionParams& p, std::uint64_t block,
                           std::uint32_t thread, std::uint32_t threads) {
  detail::move_chunk<bytes, single, false>(memory, p, block, thread, threads);
}

}  // namespace faro::kernels
