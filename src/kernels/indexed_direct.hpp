// Elements moved straight by an index array, one pass: the floor, and the best for what caches hold.
//
//     gather     out[i] = in[Q[i]]      entries and output in order, input wherever
//     scatter    out[P[i]] = in[i]      entries and input in order, output wherever
//
// A thread takes several vectors of entries, so that as many accesses at random are in flight: of elements of
// 1, 2 and 4 bytes four entries make a vector, of 8 bytes two. Elements of several units, and arrays that are
// not aligned, go a unit a thread. Arrays of a batch follow one another and share blocks.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/partition.hpp"

namespace faro::kernels {

inline constexpr int kIndices = kPlaces;  // the buffer of the entries
inline constexpr std::uint32_t kDirectThreads = 256;

/// Vectors of elements; units, several a thread; one a thread, for small arrays; and that of one array of
/// elements of one unit.
enum class DirectKind { vectors, units, small, one };

struct DirectParams {
  std::uint64_t count;  // elements of an array, not 0
  std::uint64_t arrays;
  std::uint32_t units;     // of an element
  std::int32_t unit_bits;  // log2 of units, or -1

  constexpr std::uint64_t elements() const { return count * arrays; }
};

/// Elements of a vector: what one index load and one ordered access take.
constexpr int direct_vector(int bytes) { return bytes <= 4 ? 4 : 16 / bytes; }

/// Vectors, or units, of a thread: several keep more accesses in flight, one spreads a small array over more
/// multiprocessors.
inline constexpr std::uint32_t kDirectVectorBatch = 2;
inline constexpr std::uint32_t kDirectUnitBatch = 4;
inline constexpr std::uint64_t kSmallDirectUnits = std::uint64_t{1} << 21;

/// Whether arrays of a batch are whole vectors each, or there is one.
constexpr bool direct_vectors_fit(const DirectParams& p, int bytes) {
  return p.units == 1 && (p.arrays == 1 || p.count % static_cast<unsigned>(direct_vector(bytes)) == 0);
}

/// Blocks: of vectors, or of units (elements_of_vector 1), `batch` a thread.
constexpr std::uint64_t direct_blocks(const DirectParams& p, int elements_of_vector, std::uint32_t batch) {
  const std::uint64_t all = p.elements() * p.units / static_cast<unsigned>(elements_of_vector);
  const std::uint64_t of_block = std::uint64_t{kDirectThreads} * batch;
  return all == 0 ? 1 : (all + of_block - 1) / of_block;
}

namespace detail {

/// Vector or unit k of a thread.
constexpr std::uint64_t numbered(std::uint64_t first, std::uint32_t k, std::uint32_t thread) {
  return first + std::uint64_t{k} * kDirectThreads + thread;
}

/// An element of the batch: the first of its array, and its number there.
struct InBatch {
  std::uint64_t array;
  std::uint64_t element;
};

/// Element `base + further`, where `of_base` is where base lies. Requires: further < 2^31.
constexpr InBatch further_on(const DirectParams& p, const InBatch& of_base, std::uint32_t further) {
  const std::uint64_t element = of_base.element + further;
  if (element < p.count) return {of_base.array, element};
  if (p.count >> 31 != 0) return {of_base.array + p.count, element - p.count};
  const std::uint32_t arrays = static_cast<std::uint32_t>(element) / static_cast<std::uint32_t>(p.count);
  const std::uint64_t skipped = std::uint64_t{arrays} * p.count;
  return {of_base.array + skipped, element - skipped};
}

constexpr InBatch in_batch(const DirectParams& p, std::uint64_t element) {
  if (p.arrays == 1) return {0, element};
  const std::uint64_t array = element / p.count * p.count;
  return {array, element - array};
}

/// Entries of a vector.
template <int index_bytes, int elements>
struct Entries {
  static constexpr int kAll = index_bytes * elements;
  static constexpr int kBytes = kAll < 16 ? kAll : 16;
  static constexpr int kPackets = kAll / kBytes;
  device::Packet<kBytes> packet[kPackets];

  constexpr std::uint64_t operator[](int element) const {
    constexpr int in_packet = kBytes / index_bytes;
    const auto entry = extract<index_bytes>(packet[element / in_packet], element % in_packet);
    if constexpr (index_bytes == 4) return entry.unit[0];
    if constexpr (index_bytes == 8) return std::uint64_t{entry.unit[1]} << 32 | entry.unit[0];
  }
};

template <int index_bytes, int elements, device::Memory Memory>
constexpr Entries<index_bytes, elements> load_entries(Memory& memory, std::uint64_t first) {
  using All = Entries<index_bytes, elements>;
  All entries{};
  FARO_UNROLL
  for (int i = 0; i < All::kPackets; ++i) {
    entries.packet[i] = memory.template load_global<All::kBytes>(
        kIndices, index_bytes * first + static_cast<std::uint64_t>(i) * All::kBytes);
  }
  return entries;
}

}  // namespace detail

/// Blocks of vectors, and the few elements past the last whole vector.
/// Requires: direct_vectors_fit(); entries and the array read or written in order aligned to 16 bytes
/// (unchecked).
template <int bytes, int index_bytes, bool gather, device::Memory Memory>
constexpr void move_direct_vectors(Memory& memory, const DirectParams& p, std::uint64_t block,
                                   std::uint32_t thread) {
  constexpr int elements = direct_vector(bytes);
  constexpr int vector_bytes = elements * bytes;
  const std::uint64_t vectors = p.elements() / elements;
  const std::uint64_t first_vector = block * kDirectThreads * kDirectVectorBatch;
  const detail::InBatch base = detail::in_batch(p, first_vector * elements);

  detail::Entries<index_bytes, elements> entries[kDirectVectorBatch] = {};
  std::uint64_t array[kDirectVectorBatch] = {};
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kDirectVectorBatch; ++k) {
    const std::uint32_t in_block = k * kDirectThreads + thread;
    if (first_vector + in_block < vectors) {
      const detail::InBatch at = detail::further_on(p, base, in_block * elements);
      array[k] = at.array;
      entries[k] = detail::load_entries<index_bytes, elements>(memory, at.element);
    } else {
      detail::idle_times(memory, detail::Entries<index_bytes, elements>::kPackets);
    }
  }
  device::Packet<vector_bytes> data[kDirectVectorBatch] = {};
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kDirectVectorBatch; ++k) {
    const std::uint64_t vector = detail::numbered(first_vector, k, thread);
    if (vector >= vectors) {
      detail::idle_times(memory, gather ? elements : 1);
    } else if constexpr (gather) {
      FARO_UNROLL
      for (int e = 0; e < elements; ++e) {
        device::insert(
            data[k], e,
            memory.template load_global<bytes>(device::kInput, (array[k] + entries[k][e]) * bytes));
      }
    } else {
      data[k] = memory.template load_global<vector_bytes>(device::kInput, vector * vector_bytes);
    }
  }
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kDirectVectorBatch; ++k) {
    const std::uint64_t vector = detail::numbered(first_vector, k, thread);
    if (vector >= vectors) {
      detail::idle_times(memory, gather ? 1 : elements);
    } else if constexpr (gather) {
      memory.template store_global<vector_bytes>(device::kOutput, vector * vector_bytes, data[k]);
    } else {
      FARO_UNROLL
      for (int e = 0; e < elements; ++e) {
        memory.template store_global<bytes>(device::kOutput, (array[k] + entries[k][e]) * bytes,
                                            detail::extract<bytes>(data[k], e));
      }
    }
  }
  const std::uint64_t rest = vectors * elements + thread;  // of the one array
  if (block == 0 && rest < p.elements()) {
    const std::uint64_t entry = detail::load_entries<index_bytes, 1>(memory, rest)[0];
    const auto one = memory.template load_global<bytes>(device::kInput, (gather ? entry : rest) * bytes);
    memory.template store_global<bytes>(device::kOutput, (gather ? rest : entry) * bytes, one);
  }
}

/// One array of elements of one unit, one a thread: small arrays, where every instruction is waited for.
template <int bytes, int index_bytes, bool gather, device::Memory Memory>
constexpr void move_direct_one(Memory& memory, const DirectParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  const std::uint64_t i = block * kDirectThreads + thread;
  if (i >= p.count) return;
  const std::uint64_t entry = detail::load_entries<index_bytes, 1>(memory, i)[0];
  const auto one = memory.template load_global<bytes>(device::kInput, (gather ? entry : i) * bytes);
  memory.template store_global<bytes>(device::kOutput, (gather ? i : entry) * bytes, one);
}

/// Any elements and any alignment to the unit.
template <int bytes, int index_bytes, bool gather, std::uint32_t batch, device::Memory Memory>
constexpr void move_direct_units(Memory& memory, const DirectParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  const std::uint64_t units = p.elements() * p.units;
  const std::uint64_t first = block * kDirectThreads * batch;
  std::uint64_t other[batch] = {};
  FARO_UNROLL
  for (std::uint32_t k = 0; k < batch; ++k) {
    const std::uint64_t unit = detail::numbered(first, k, thread);
    if (unit < units) {
      const std::uint64_t element = p.unit_bits >= 0 ? unit >> p.unit_bits : unit / p.units;
      const detail::InBatch at = detail::in_batch(p, element);
      const std::uint64_t entry = detail::load_entries<index_bytes, 1>(memory, at.element)[0];
      other[k] = (at.array + entry) * p.units + (unit - element * p.units);
    } else {
      device::idle(memory);
    }
  }
  device::Packet<bytes> data[batch] = {};
  FARO_UNROLL
  for (std::uint32_t k = 0; k < batch; ++k) {
    const std::uint64_t unit = detail::numbered(first, k, thread);
    if (unit < units) {
      data[k] = memory.template load_global<bytes>(device::kInput, (gather ? other[k] : unit) * bytes);
    } else {
      device::idle(memory);
    }
  }
  FARO_UNROLL
  for (std::uint32_t k = 0; k < batch; ++k) {
    const std::uint64_t unit = detail::numbered(first, k, thread);
    if (unit < units) {
      memory.template store_global<bytes>(device::kOutput, (gather ? unit : other[k]) * bytes, data[k]);
    } else {
      device::idle(memory);
    }
  }
}

}  // namespace faro::kernels
