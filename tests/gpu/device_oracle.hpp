// The oracle on a GPU: one obvious loop over an array that lies there, for the GPU's tests and benchmark.
//
//     for every array b, for every x:   out[b][pi(x)] == in[b][x]
//
// pi(x) is worked out one bit at a time, bit i the parity of (row i of A) & x; an engine XORs columns and
// never sees a row. Beside the elements it looks at the guard zones around the output, which must still be
// poisoned, and at the input, which must still be what fill() drew. Host-only C++: the kernels are in
// device_oracle.cu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/stream.hpp"

namespace faro::testing {

inline constexpr std::byte kDevicePoison{0xa5};

/// pi(x) = A x ^ complement by rows: bit i of A x is the parity of row[i] & x.
struct OracleMap {
  std::uint64_t row[40] = {};
  std::uint64_t complement = 0;
  std::int32_t bits = 0;
};

inline constexpr std::uint64_t kNothing = ~std::uint64_t{0};

/// The lowest place where something is wrong, each kNothing where nothing is. Lies in device memory; all
/// bytes 0xff is a fresh one.
struct Findings {
  std::uint64_t misplaced;  // a unit of the input that is not where it belongs, in elements of the input
  std::uint64_t guard;      // a byte of a guard zone, from the start of the zone before the output
  std::uint64_t input;      // a byte of the input
};

/// Arrays on the device. The output lies between two zones of guard_bytes.
struct OracleArrays {
  const std::byte* in = nullptr;
  const std::byte* out = nullptr;
  std::uint64_t guard_bytes = 0;
  std::uint64_t seed = 0;  // of fill()
};

/// What was permuted. Elements are at least as aligned as min(element_bytes, 16), arrays like their elements.
struct OracleProblem {
  OracleMap map;
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;

  constexpr std::uint64_t bytes() const { return batch * element_bytes << map.bits; }
};

/// Queues: byte k becomes byte k mod 8 of a hash of seed and k div 8.
void fill(std::byte* to, std::uint64_t bytes, std::uint64_t seed, Stream stream);

/// Queues the comparison of every element, the guard zones and the input.
void examine(const OracleProblem& problem, const OracleArrays& arrays, Findings* findings, Stream stream);

/// A map of four bits: row i in bits 4 i .. 4 i + 3, the complement in bits 16 .. 19.
using SmallMap = std::uint32_t;
inline constexpr SmallMap kNotMoved = ~SmallMap{0};  // its array must still be poisoned

/// Arrays of 2^index_bits elements, each followed by as many that must still be poisoned, and each permuted
/// by a map of its own: of the index bits `position`, while the others stay. What is found is the number of a
/// map.
struct SmallArrays {
  const std::byte* in = nullptr;
  const std::byte* out = nullptr;
  const SmallMap* maps = nullptr;  // on the device
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 1;
  std::int32_t index_bits = 4;
  std::int32_t position[4] = {0, 1, 2, 3};
};

/// Queues.
void examine_small(const SmallArrays& arrays, Findings* findings, Stream stream);

}  // namespace faro::testing
