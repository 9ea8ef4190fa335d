// Layouts of shared memory, to be copied into any kernel: they place the elements of an array so that a
// warp's access has few bank conflicts. This file needs nothing else of faro, no CUDA header, and only C++17.
//
// Shared memory has w banks; word a lies in bank a mod w, and a warp waits as many turns as its busiest bank
// has distinct words to deliver: the *congestion*. A column of a w x w matrix in its natural order lies in
// one bank, so it costs w turns. Every layout here moves an element only within its chunk of w words, which
// keeps rows free of conflicts, and differs in how far:
//
//     w = 4, shifts r = (2, 0, 3, 1)       each entry is the element's own number, 4 i + j
//
//     RAW   bank  0   1   2   3            RAP   bank  0   1   2   3
//           i=0   0   1   2   3                  i=0   2   3   0   1       row 0 rotated by r_0 = 2
//           i=1   4   5   6   7                  i=1   4   5   6   7       row 1 by 0
//           i=2   8   9  10  11                  i=2   9  10  11   8       element 10 sits at address 9
//           i=3  12  13  14  15                  i=3  15  12  13  14
//
// RAW: as it is. RAS: the shifts r_i are independent random numbers. RAP: r is a random permutation, so the
// elements of a column, too, lie in w different banks, for every seed; and since r is not known
// beforehand, no access pattern can be chosen against it: about log w / log log w turns are expected, 3.6 at
// w = 32.
//
// | type | address of its element | random numbers | free of conflicts |
// |---|---|---|---|
// | Raw | i C + j | 0 | rows |
// | Padded | i (C + pad) + j | 0 | rows; columns if C + pad is odd |
// | Ras, Rap | i C + j, rotated by r_(i mod w) | w | rows; Rap also columns |
// | Xor | place ^ X high (faro/layout/tile.hpp) | 0 | two families of linear accesses, provably |
//
// and of an array a[i][j][k][l] of w^4 elements, at i w^3 + j w^2 + k w + (l + f) mod w:
//
// | type | f | random numbers | free of conflicts |
// |---|---|---|---|
// | Raw4 | 0 | 0 | along l |
// | Ras4 | independent for every (i, j, k) | w^3 | along l |
// | Rap1P | r_k | w | along l, k |
// | RapR1P | r_i + r_j + r_k | w | along l, k, j, i; but permuting (i, j, k) changes nothing |
// | Rap3P | r_i + s_j + t_k | 3 w | along l, k, j, i: the one to take |
// | RapW2P | r^(i w + j)_k, w^2 permutations | w^3 | along l, k |
// | Rap1PW2R | s_(i w + j) + r_k, s independent | w^2 + w | along l, k |
//
// Use, in a kernel that takes the layout by value:
//
//     __global__ void transpose(faro::layout::Rap<32> at, const float* in, float* out) {
//       __shared__ float tile[faro::layout::Rap<32>::size(32)];
//       tile[at(threadIdx.y, threadIdx.x)] = in[32 * threadIdx.y + threadIdx.x];   // a row: 1 turn
//       __syncthreads();
//       out[32 * threadIdx.y + threadIdx.x] = tile[at(threadIdx.x, threadIdx.y)];  // a column: 1 turn
//     }
//     transpose<<<1, dim3(32, 32)>>>(faro::layout::Rap<32>::random(seed), in, out);
//
// Layouts are drawn on the host and passed by value; where one has a table, copy that to the device and set
// `table` to the copy.
//
// Units: every index and address is in elements, which the layouts take to be one bank wide. 8-byte
// elements take two 4-byte banks each, and 16 lanes are served at a time: there are 16 banks for them. Shifts
// of Rap<32> meet modulo 16, two by two, so that 16 lanes of a column take two turns at most; those of
// Rap<16> do not, and they take one. Indices are unchecked. Source: Nakano, Matsumae, Ito, "Random address
// permute-shift technique for the shared memory on GPUs" (2014), sections IV and VII.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__CUDACC__)
#define FARO_LAYOUT_FUNCTION __host__ __device__ constexpr
#define FARO_LAYOUT_UNROLL _Pragma("unroll")
#else
#define FARO_LAYOUT_FUNCTION constexpr
#define FARO_LAYOUT_UNROLL
#endif

namespace faro::layout {

/// An index or an address. 32 bits, as shared memory's own; w^4 - 1 fits for every w that is allowed.
using Index = std::uint32_t;

/// The largest w of the layouts with shifts.
inline constexpr Index kMaxShiftWidth = 256;

/// The random numbers of this file: the same on every machine and compiler. Any seed is as good as another.
struct SplitMix64 {
  std::uint64_t state = 0;

  FARO_LAYOUT_FUNCTION std::uint64_t next() {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Uniform over 0 .. n-1 without bias, n >= 1 (unchecked).
  FARO_LAYOUT_FUNCTION Index below(Index n) {
    const std::uint64_t all = std::uint64_t{1} << 32;
    const std::uint64_t fair = all - all % n;  // a multiple of n
    std::uint64_t x = next() >> 32;
    while (x >= fair) x = next() >> 32;
    return static_cast<Index>(x % n);
  }
};

/// w numbers below w, packed. For w = 32, six registers of six shifts: r_i = (r[i/6] >> 5 (i%6)) & 31.
template <Index w>
struct Shifts {
  static_assert(w >= 1 && w <= kMaxShiftWidth, "a width from 1 to 256");

  static constexpr Index bits_for(Index count) {
    Index bits = 1;
    while ((Index{1} << bits) < count) ++bits;
    return bits;
  }
  static constexpr Index kBits = bits_for(w);
  static constexpr Index kPerRegister = 32 / kBits;
  static constexpr Index kRegisters = (w + kPerRegister - 1) / kPerRegister;

  std::uint32_t registers[kRegisters] = {};

  /// Shift i, i < w. On a device the register is found by comparing: an array indexed by a variable would
  /// lie in memory.
  FARO_LAYOUT_FUNCTION Index operator[](Index i) const {
    const Index which = i / kPerRegister;
#if defined(__CUDA_ARCH__)
    std::uint32_t packed = registers[0];
    FARO_LAYOUT_UNROLL
    for (Index k = 1; k < kRegisters; ++k) packed = which == k ? registers[k] : packed;
#else
    const std::uint32_t packed = registers[which];
#endif
    return (packed >> (kBits * (i % kPerRegister))) & ((Index{1} << kBits) - 1);
  }

  FARO_LAYOUT_FUNCTION void set(Index i, Index shift) {
    const Index low = kBits * (i % kPerRegister);
    std::uint32_t& packed = registers[i / kPerRegister];
    packed = (packed & ~(((Index{1} << kBits) - 1) << low)) | (shift << low);
  }

  static FARO_LAYOUT_FUNCTION Shifts of(const Index (&shifts)[w]) {
    Shifts result{};
    for (Index i = 0; i < w; ++i) result.set(i, shifts[i]);
    return result;
  }

  /// Independent and uniform.
  static FARO_LAYOUT_FUNCTION Shifts independent(SplitMix64& random) {
    Shifts result{};
    for (Index i = 0; i < w; ++i) result.set(i, random.below(w));
    return result;
  }

  /// A permutation, uniform among all w!, by Fisher and Yates.
  static FARO_LAYOUT_FUNCTION Shifts permutation(SplitMix64& random) {
    Index values[w] = {};
    for (Index i = 0; i < w; ++i) values[i] = i;
    for (Index i = w; i > 1; --i) {
      const Index other = random.below(i);
      const Index kept = values[i - 1];
      values[i - 1] = values[other];
      values[other] = kept;
    }
    return of(values);
  }
};

// --- matrices of any number of rows

template <Index columns>
struct Raw {
  static constexpr const char* kName = "RAW";
  static constexpr std::uint64_t kRandomNumbers = 0;

  /// Elements of memory for so many rows.
  static FARO_LAYOUT_FUNCTION Index size(Index rows) { return rows * columns; }
  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j) const { return i * columns + j; }
};

template <Index columns, Index pad = 1>
struct Padded {
  static constexpr const char* kName = "padded";
  static constexpr std::uint64_t kRandomNumbers = 0;

  static FARO_LAYOUT_FUNCTION Index size(Index rows) { return rows * (columns + pad); }
  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j) const { return i * (columns + pad) + j; }
};

/// What Ras and Rap share: element j of row i rotated within its chunk of w by shift i mod w.
template <Index w, Index columns>
struct Turned {
  static_assert(columns % w == 0, "rows of whole chunks of w elements");
  static constexpr std::uint64_t kRandomNumbers = w;

  Shifts<w> shifts = {};

  static FARO_LAYOUT_FUNCTION Index size(Index rows) { return rows * columns; }
  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j) const {
    return i * columns + (j - j % w) + (j + shifts[i % w]) % w;
  }
};

template <Index w, Index columns = w>
struct Ras : Turned<w, columns> {
  static constexpr const char* kName = "RAS";

  static FARO_LAYOUT_FUNCTION Ras random(std::uint64_t seed) {
    SplitMix64 numbers{seed};
    return {{Shifts<w>::independent(numbers)}};
  }
};

template <Index w, Index columns = w>
struct Rap : Turned<w, columns> {
  static constexpr const char* kName = "RAP";

  static FARO_LAYOUT_FUNCTION Rap random(std::uint64_t seed) {
    SplitMix64 numbers{seed};
    return {{Shifts<w>::permutation(numbers)}};
  }
};

inline constexpr int kMaxTileBits = 24;

/// A linear layout of 2^tile_bits places, a power of two of rows and columns: place = column | row << s.
/// faro/layout/tile.hpp says how the masks are found.
struct Xor {
  int tile_bits = 0;                      // m
  int bank_row_bits = 0;                  // b: log2 of the elements in one bank row
  std::uint32_t mask[kMaxTileBits] = {};  // mask[i] = X e_i for high bit i, that is, for place bit b + i

  /// X applied to place bit i: zero below b.
  FARO_LAYOUT_FUNCTION std::uint32_t mask_of_bit(int i) const {
    return i < bank_row_bits ? 0 : mask[i - bank_row_bits];
  }

  /// Shared address of a place, both in elements.
  /// Law: linear over F2, one to one, its own inverse, and equal to the identity above bit b.
  FARO_LAYOUT_FUNCTION std::uint32_t operator()(std::uint32_t place) const {
    const std::uint32_t high = place >> bank_row_bits;
    std::uint32_t address = place;
    FARO_LAYOUT_UNROLL
    for (int i = 0; i < kMaxTileBits; ++i) address ^= (high >> i & 1) != 0 ? mask[i] : 0;
    return address;
  }

  friend FARO_LAYOUT_FUNCTION bool operator==(const Xor& a, const Xor& b) {
    bool equal = a.tile_bits == b.tile_bits && a.bank_row_bits == b.bank_row_bits;
    for (int i = 0; i < kMaxTileBits; ++i) equal = equal && a.mask[i] == b.mask[i];
    return equal;
  }
};

// --- arrays a[i][j][k][l] of w^4 elements

/// The common part: the address of element l of row (i, j, k) when that is rotated by `shift` (below 3 w).
template <Index w>
struct FourDimensions {
  static_assert(w >= 1 && w <= kMaxShiftWidth, "a width from 1 to 256");
  static constexpr std::uint64_t kSize = std::uint64_t{w} * w * w * w;
  static constexpr std::size_t kRows = std::size_t{w} * w * w;  // (i, j, k), each of w elements

  static FARO_LAYOUT_FUNCTION Index row(Index i, Index j, Index k) { return (i * w + j) * w + k; }
  static FARO_LAYOUT_FUNCTION Index turned(Index row, Index l, Index shift) {
    return row * w + (l + shift) % w;
  }
};

template <Index w>
struct Raw4 : FourDimensions<w> {
  static constexpr const char* kName = "RAW";
  static constexpr std::uint64_t kRandomNumbers = 0;

  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j, Index k, Index l) const {
    return this->turned(this->row(i, j, k), l, 0);
  }
};

/// What Ras4 and RapW2P share: a view of one shift a row, a byte each, that the caller keeps.
template <Index w>
struct TurnedByTable : FourDimensions<w> {
  static constexpr std::uint64_t kRandomNumbers = std::uint64_t{w} * w * w;

  const std::uint8_t* table = nullptr;  // [row(i, j, k)]; in device code, device memory

  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j, Index k, Index l) const {
    return this->turned(this->row(i, j, k), l, table[this->row(i, j, k)]);
  }
};

template <Index w>
struct Ras4 : TurnedByTable<w> {
  static constexpr const char* kName = "RAS";

  /// Fills `table`, which must outlive the layout.
  static Ras4 random(std::uint64_t seed, std::vector<std::uint8_t>& table) {
    SplitMix64 numbers{seed};
    table.resize(Ras4::kRows);
    for (std::uint8_t& shift : table) shift = static_cast<std::uint8_t>(numbers.below(w));
    return {{{}, table.data()}};
  }
};

template <Index w>
struct Rap1P : FourDimensions<w> {
  static constexpr const char* kName = "1P";
  static constexpr std::uint64_t kRandomNumbers = w;

  Shifts<w> r = {};

  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j, Index k, Index l) const {
    return this->turned(this->row(i, j, k), l, r[k]);
  }

  static FARO_LAYOUT_FUNCTION Rap1P random(std::uint64_t seed) {
    SplitMix64 numbers{seed};
    return {{}, Shifts<w>::permutation(numbers)};
  }
};

template <Index w>
struct RapR1P : FourDimensions<w> {
  static constexpr const char* kName = "R1P";
  static constexpr std::uint64_t kRandomNumbers = w;

  Shifts<w> r = {};

  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j, Index k, Index l) const {
    return this->turned(this->row(i, j, k), l, r[i] + r[j] + r[k]);
  }

  static FARO_LAYOUT_FUNCTION RapR1P random(std::uint64_t seed) {
    SplitMix64 numbers{seed};
    return {{}, Shifts<w>::permutation(numbers)};
  }
};

template <Index w>
struct Rap3P : FourDimensions<w> {
  static constexpr const char* kName = "3P";
  static constexpr std::uint64_t kRandomNumbers = 3 * std::uint64_t{w};

  Shifts<w> r = {};
  Shifts<w> s = {};
  Shifts<w> t = {};

  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j, Index k, Index l) const {
    return this->turned(this->row(i, j, k), l, r[i] + s[j] + t[k]);
  }

  static FARO_LAYOUT_FUNCTION Rap3P random(std::uint64_t seed) {
    SplitMix64 numbers{seed};
    // Braces are evaluated from left to right.
    return {{},
            Shifts<w>::permutation(numbers),
            Shifts<w>::permutation(numbers),
            Shifts<w>::permutation(numbers)};
  }
};

/// w^2 permutations r^(i w + j), at [k].
template <Index w>
struct RapW2P : TurnedByTable<w> {
  static constexpr const char* kName = "w2P";

  /// Fills `table`, which must outlive the layout.
  static RapW2P random(std::uint64_t seed, std::vector<std::uint8_t>& table) {
    SplitMix64 numbers{seed};
    table.resize(RapW2P::kRows);
    for (std::size_t first = 0; first < table.size(); first += w) {
      const Shifts<w> shifts = Shifts<w>::permutation(numbers);
      for (Index k = 0; k < w; ++k) table[first + k] = static_cast<std::uint8_t>(shifts[k]);
    }
    return {{{}, table.data()}};
  }
};

/// A permutation r, and a view of w^2 numbers s[i w + j] that the caller keeps.
template <Index w>
struct Rap1PW2R : FourDimensions<w> {
  static constexpr const char* kName = "1Pw2R";
  static constexpr std::uint64_t kRandomNumbers = std::uint64_t{w} * w + w;

  Shifts<w> r = {};
  const std::uint8_t* table = nullptr;

  FARO_LAYOUT_FUNCTION Index operator()(Index i, Index j, Index k, Index l) const {
    return this->turned(this->row(i, j, k), l, table[i * w + j] + r[k]);
  }

  /// Fills `table`, which must outlive the layout.
  static Rap1PW2R random(std::uint64_t seed, std::vector<std::uint8_t>& table) {
    SplitMix64 numbers{seed};
    const Shifts<w> r = Shifts<w>::permutation(numbers);
    table.resize(std::size_t{w} * w);
    for (std::uint8_t& shift : table) shift = static_cast<std::uint8_t>(numbers.below(w));
    return {{}, r, table.data()};
  }
};

}  // namespace faro::layout

#undef FARO_LAYOUT_FUNCTION
#undef FARO_LAYOUT_UNROLL
