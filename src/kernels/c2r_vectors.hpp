// Runs of elements that begin anywhere, moved in vectors of 16 bytes.
//
// Rows of a matrix of odd width begin at any element, and so do the pieces that the kernels of C2R and R2C
// move. A *run* is such a piece: elements that follow one another in memory. It is read as the aligned
// vectors around it, and lies in shared memory as it lay in global memory, `skew` elements after an aligned
// address:
//
//     global    | . . . a | b c d e | f g . . |          skew 3, seven elements, three vectors
//     shared    | . . . a | b c d e | f g . . |
//
// The first and the last vector also hold elements beside the run, which other threads may be writing: these
// are ignored, and a vector that leaves the buffer is not read. Runs are written as vectors as well, except
// the first and the last, of which only the run's elements are written, one by one. Each element is gathered
// from shared memory by itself: that costs an instruction or two, where an access of global memory for each
// would cost ten, with its address.
//
// For elements of one unit of 1, 2, 4 or 8 bytes. All positions are elements of a buffer, whose base is
// aligned to 16 bytes; an array that is not begins some elements later.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/c2r_places.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kC2rVectorBytes = 16;

/// Elements of a vector.
template <int bytes>
inline constexpr std::uint32_t kC2rVector = kC2rVectorBytes / bytes;

/// Vectors that a run of so many elements touches, at most.
constexpr std::uint64_t c2r_run_vectors(std::uint64_t count, std::uint64_t element_bytes) {
  const std::uint64_t vector = kC2rVectorBytes / element_bytes;
  return (count + 2 * vector - 2) / vector;
}

/// Vectors from row to row of a tile: odd, so that rows begin in different banks.
constexpr std::uint64_t c2r_row_pitch(std::uint64_t vectors) { return vectors | 1; }

struct C2rRun {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  bool scratch = false;

  constexpr int source() const { return scratch ? kC2rScratchIn : kC2rIn; }
  constexpr int target() const { return scratch ? kC2rScratchOut : kC2rOut; }
};

/// One array and its scratch.
struct C2rExtent {
  std::uint64_t array = 0;
  std::uint64_t array_end = 0;
  std::uint64_t scratch = 0;
  std::uint64_t scratch_end = 0;

  constexpr C2rExtent(std::uint64_t number, std::uint64_t elements, std::uint64_t scratch_elements,
                      std::uint32_t skew)
      : array(number * elements + skew),
        array_end(array + elements),
        scratch(number * scratch_elements),
        scratch_end(scratch + scratch_elements) {}

  /// Whether a vector of `run` can be read whole.
  constexpr bool has(const C2rRun& run, std::uint64_t first, std::uint32_t elements) const {
    return first >= (run.scratch ? scratch : array) &&
           first + elements <= (run.scratch ? scratch_end : array_end);
  }
};

/// A run as tables in shared memory have it, in 16 bytes, with all that does not change from vector to
/// vector.
struct C2rLine {
  std::uint64_t offset = 0;  // of the first vector, in bytes of the buffer
  std::uint32_t begin = 0;   // elements of the first vector that are not the run's
  std::uint32_t end = 0;     // begin + count; 0 where the run is empty
  std::uint32_t note = 0;    // the kernel's own
  bool scratch = false;
  bool careful = false;  // a vector at an end leaves the buffer

  constexpr int source() const { return scratch ? kC2rScratchIn : kC2rIn; }
  constexpr int target() const { return scratch ? kC2rScratchOut : kC2rOut; }
};

inline constexpr std::uint32_t kC2rLineBytes = 16;

/// Rows of a tile that are found by a table: the lines, where every row begins, and the rows. The table's
/// first entries come again at its end, so that those of any vector follow one another.
struct C2rTile {
  std::uint64_t rows = 0;
  std::uint64_t lines = 0;
  std::uint64_t element_bytes = 0;

  /// Up to the first row.
  constexpr std::uint64_t tables_bytes() const {
    const std::uint64_t again = kC2rVectorBytes / element_bytes - 1;
    return (lines * kC2rLineBytes + 4 * (rows + again) + 15) / 16 * 16;
  }
  /// Shared memory of rows of so many elements, at most.
  constexpr std::uint64_t shared_bytes(std::uint64_t width) const {
    return tables_bytes() + rows * c2r_row_pitch(c2r_run_vectors(width, element_bytes)) * kC2rVectorBytes;
  }
};

template <int bytes>
constexpr C2rLine make_c2r_line(const C2rExtent& extent, const C2rRun& run, std::uint32_t note) {
  constexpr std::uint32_t v = kC2rVector<bytes>;
  if (run.count == 0)
    return {.offset = 0, .begin = 0, .end = 0, .note = note, .scratch = false, .careful = false};
  const std::uint32_t begin = static_cast<std::uint32_t>(run.first) & (v - 1);
  const std::uint64_t first = run.first - begin;
  const std::uint32_t end = begin + run.count;
  return {.offset = first * bytes,
          .begin = begin,
          .end = end,
          .note = note,
          .scratch = run.scratch,
          .careful = !extent.has(run, first, (end + v - 1) & ~(v - 1))};
}

/// Requires: begin + count < 2^28, offsets below 2^62.
constexpr device::Packet<16> packed(const C2rLine& line) {
  const auto high = static_cast<std::uint32_t>(line.offset >> 32);
  return {{static_cast<std::uint32_t>(line.offset),
           high | (line.scratch ? std::uint32_t{1} << 31 : 0) | (line.careful ? std::uint32_t{1} << 30 : 0),
           line.end << 4 | line.begin, line.note}};
}
constexpr C2rLine unpacked(const device::Packet<16>& packet) {
  constexpr std::uint32_t offset_bits = (std::uint32_t{1} << 30) - 1;
  return {.offset = std::uint64_t{packet.unit[1] & offset_bits} << 32 | packet.unit[0],
          .begin = packet.unit[2] & 15,
          .end = packet.unit[2] >> 4,
          .note = packet.unit[3],
          .scratch = packet.unit[1] >> 31 != 0,
          .careful = (packet.unit[1] >> 30 & 1) != 0};
}

namespace detail {

/// Loads a vector of which only bytes begin .. end - 1 will be used. A memory that checks for races is told
/// so.
template <device::Memory Memory>
constexpr device::Packet<16> load_around(Memory& memory, int buffer, std::uint64_t offset,
                                         std::uint32_t begin, std::uint32_t end) {
  if constexpr (requires { memory.load_around(buffer, offset, begin, end); }) {
    return memory.load_around(buffer, offset, begin, end);
  } else {
    return memory.template load_global<16>(buffer, offset);
  }
}

/// Loads it to shared memory, where it is once the phase is over: a GPU need not wait for it here.
template <device::Memory Memory>
constexpr void copy_around(Memory& memory, int buffer, std::uint64_t offset, std::uint32_t address,
                           std::uint32_t begin, std::uint32_t end) {
  if constexpr (requires { memory.copy_to_shared(buffer, offset, address); }) {
    memory.copy_to_shared(buffer, offset, address);
  } else {
    memory.template store_shared<16>(address, load_around(memory, buffer, offset, begin, end));
  }
}

template <device::Memory Memory>
constexpr void store_c2r_line(Memory& memory, std::uint32_t table, std::uint32_t number,
                              const C2rLine& line) {
  memory.template store_shared<16>(table + number * kC2rLineBytes, packed(line));
}
template <device::Memory Memory>
constexpr C2rLine load_c2r_line(Memory& memory, std::uint32_t table, std::uint32_t number) {
  return unpacked(memory.template load_shared<16>(table + number * kC2rLineBytes));
}

/// Which elements of vector `number` are the line's.
template <int bytes>
struct C2rLineVector {
  std::uint32_t begin;
  std::uint32_t end;      // at most a vector's; at most `begin` where none is
  std::uint32_t element;  // of the run, at `begin`

  constexpr C2rLineVector(const C2rLine& line, std::uint32_t number) {
    constexpr std::uint32_t v = kC2rVector<bytes>;
    const std::uint32_t at = number * v;
    begin = number == 0 ? line.begin : 0;
    const std::uint32_t left = line.end > at ? line.end - at : 0;
    end = left < v ? left : v;
    element = at + begin - line.begin;
  }
  constexpr bool some() const { return begin < end; }
  constexpr bool whole() const { return begin == 0 && end == kC2rVector<bytes>; }
};

/// Vector `number` of a line, as it lies, to `address`.
template <int bytes, device::Memory Memory>
constexpr void copy_c2r_vector(Memory& memory, const C2rLine& line, std::uint32_t number,
                               std::uint32_t address) {
  const C2rLineVector<bytes> vector(line, number);
  const std::uint64_t offset = line.offset + std::uint64_t{number} * kC2rVectorBytes;
  device::converge(memory);
  if (vector.some() && !line.careful) {
    copy_around(memory, line.source(), offset, address, vector.begin * bytes, vector.end * bytes);
  }
  device::converge(memory);
  if (line.careful) {
    FARO_NO_UNROLL
    for (std::uint32_t k = vector.begin; k < vector.end; ++k) {
      memory.template store_shared<bytes>(
          address + k * bytes,
          memory.template load_global<bytes>(line.source(), offset + std::uint64_t{k} * bytes));
    }
  }
  device::converge(memory);
}

/// Vector `number` of a line, from shared memory: `source_at(e)` knows the run's elements from e on, of which
/// element(memory, k) gives the k-th.
template <int bytes, device::Memory Memory, typename SourceAt>
constexpr void gather_c2r_vector(Memory& memory, const C2rLine& line, std::uint32_t number,
                                 const SourceAt& source_at) {
  const C2rLineVector<bytes> vector(line, number);
  const std::uint64_t offset = line.offset + std::uint64_t{number} * kC2rVectorBytes;
  const auto source = source_at(vector.element);
  device::converge(memory);
  if (vector.whole()) {
    device::Packet<16> data{};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rVector<bytes>; ++k) {
      device::insert(data, static_cast<int>(k), source.element(memory, k));
    }
    memory.template store_global<16>(line.target(), offset, data);
  }
  device::converge(memory);
  if (!vector.whole()) {
    FARO_NO_UNROLL
    for (std::uint32_t k = vector.begin; k < vector.end; ++k) {
      memory.template store_global<bytes>(line.target(), offset + std::uint64_t{k} * bytes,
                                          source.element(memory, k - vector.begin));
    }
  }
  device::converge(memory);
}

/// Elements whose places a table has, one entry after another: the k-th is `step` bytes times k beyond the
/// k-th entry.
template <int bytes, std::uint32_t step>
struct C2rTableSource {
  std::uint32_t entry;  // of the first element
  std::uint32_t at;     // bytes beyond what it says

  template <device::Memory Memory>
  constexpr device::Packet<bytes> element(Memory& memory, std::uint32_t k) const {
    const std::uint32_t begin = memory.template load_shared<4>(entry + 4 * k).unit[0];
    return memory.template load_shared<bytes>(begin + at + k * step);
  }
};

}  // namespace detail

}  // namespace faro::kernels
