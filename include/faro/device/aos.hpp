// Arrays of structures without uncoalesced access: what a kernel of yours calls.
//
//     struct Particle { float x, y, z, mass, age; };                     // 5 words
//
//     __global__ void grow_old(Particle* particles, std::uint64_t count, float dt) {
//       const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;   // no early return
//       Particle p = faro::device::aos::load(particles, i, count);
//       p.age += dt;
//       faro::device::aos::store(particles, i, p, count);
//     }
//
// particles[i] = ..., as a compiler does it, is five accesses of a warp to every fifth word: each of them
// touches all 20 sectors of 32 bytes that the warp's structs lie in. load() and store() read and write five
// rows of 32 consecutive words, 4 sectors each, and exchange words between lanes:
//
//                               accesses   sectors of one   selects               shuffles
//     value = array[i]          S          up to 32         -                     -
//     load, store               S          4, the fewest    S (log2 c + log2 a)   S
//     gather, scatter           S          few              S (log2 c + log2 a)   2 S
//       by indices of 8 bytes   S          few              S (log2 c + log2 a)   3 S
//     to_planes, from_planes    2 S        4                S (log2 c + log2 a)   -
//
// for S words, c = gcd(S, 32), a = S / c, each logarithm rounded up. Nothing is indexed at run time, so
// nothing goes to local memory.
//
// Structs whose alignment allows it are moved in units of 8 or 16 bytes: read S as the number of units for
// accesses, of 8 or 16 sectors, and c and a; of words for selects and shuffles. A struct of one unit
// needs no exchange. Alignment that the type does not have can be promised: load<Particle, 16>(..).
//
// There are two exchanges (aos_registers.hpp): row-column-row, whose first step is part of the addresses and
// whose last is not needed by to_planes() and from_planes(), and column-row-column, which spends more selects
// on simpler addresses. kBestMethod has what is shorter as machine code.
//
// Rules of all functions:
//   - The 32 lanes of a warp call together, with the same array. Threads without a struct call too: pass
//     `count`, or `wanted`, and do not return early.
//   - In load, store, to_planes and from_planes i rises by one from lane to lane, lanes being the hardware's,
//     in blocks of any shape. Accesses have the fewest sectors where the warp's first i is a multiple of 32
//     and the array is aligned to 128 bytes, as arrays are; elsewhere one more.
//   - T is trivially copyable, of 1 to 32 words of 4 bytes, and its array is aligned to a word: checked when
//     compiled.
//
// Only for CUDA compilers, sm_70 and later; other compilers see Layout alone. No CUDA header is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "faro/device/aos_access.hpp"

namespace faro::device::aos {

/// The widest units that a struct of so many bytes consists of, in an array of that alignment.
constexpr int widest_unit_bytes(std::size_t size, int alignment) {
  int bytes = 16;
  while (bytes > 4 && (alignment % bytes != 0 || size % static_cast<std::size_t>(bytes) != 0)) bytes /= 2;
  return bytes;
}

/// The exchange with fewer instructions, counted in code for sm_90 (docs/theory/aos-exchange.md). Gathered
/// structs have addresses of their own in any case: there it is row_column_row.
constexpr Method best_method(int units) {
  const bool simple_addresses_win = units == 4 || units == 8 || units == 16;
  return simple_addresses_win ? Method::column_row_column : Method::row_column_row;
}

/// How T is moved: in units of which width, and how many.
template <typename T, int alignment = static_cast<int>(alignof(T))>
struct Layout {
  static_assert(std::is_trivially_copyable_v<T>,
                "faro aos: T must be trivially copyable: its words are moved");
  static_assert(!std::is_empty_v<T>, "faro aos: T may have 1 to 32 words: an empty struct has none");
  static_assert(std::is_empty_v<T> || sizeof(T) % 4 == 0,
                "faro aos: sizeof(T) must be a multiple of the 4-byte word: pad T");
  static_assert(sizeof(T) <= std::size_t{4} * 32, "faro aos: T may have 1 to 32 words: split T");
  static_assert(
      alignment >= 4 && (alignment & (alignment - 1)) == 0,
      "faro aos: the array must be aligned to the 4-byte word: declare T alignas(4), or promise the "
      "array's alignment, load<T, 4>(..)");

  static constexpr int words = static_cast<int>(sizeof(T) / 4);
  static constexpr int unit_bytes = widest_unit_bytes(sizeof(T), alignment);
  static constexpr int units = static_cast<int>(sizeof(T)) / unit_bytes;

  template <Method method>
  using ShapeOf = Shape<unit_bytes, units, method>;
};

template <typename T, int alignment>
inline constexpr Method kBestMethod = best_method(Layout<T, alignment>::units);

inline constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

#if defined(__CUDACC__)

namespace detail {

inline constexpr std::uint32_t kAllLanes = 0xffff'ffffU;

/// How many of the warp's structs there are, of `count` in all.
FARO_DEVICE_INLINE std::uint32_t structs_of_warp(std::uint64_t first, std::uint64_t count) {
  if (first >= count) return 0;
  return count - first < 32 ? static_cast<std::uint32_t>(count - first) : 32;
}

template <typename Bytes, typename T>
FARO_DEVICE_INLINE Bytes* bytes_at(T* array, std::uint64_t i) {
  return reinterpret_cast<Bytes*>(array + i);
}

template <typename Index>
FARO_DEVICE_INLINE auto index_word(Index index) {
  static_assert(std::is_integral_v<Index>, "faro aos: an index is an integer");
  return static_cast<std::conditional_t<(sizeof(Index) > 4), std::uint64_t, std::uint32_t>>(index);
}

template <typename T, int alignment, Method method>
struct Access {
  using Shape = typename Layout<T, alignment>::template ShapeOf<method>;
  using Words = Registers<CudaWarp, Shape::bytes, Shape::units>;
  static_assert(sizeof(Words) == sizeof(T));

  static FARO_DEVICE_INLINE T value(const Words& words) { return __builtin_bit_cast(T, words); }
  static FARO_DEVICE_INLINE Words words(const T& value) { return __builtin_bit_cast(Words, value); }
};

}  // namespace detail

/// array[i]. Requires: i rises by 1 from lane to lane, and all 32 are in the array (unchecked).
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = kBestMethod<T, alignment>>
FARO_DEVICE_INLINE T load(const T* array, std::uint64_t i) {
  using Access = detail::Access<T, alignment, method>;
  const CudaWarp warp;
  const auto* const first = detail::bytes_at<const std::byte>(array, i - warp.lane());
  return Access::value(load_rows<typename Access::Shape, true>(warp, first, 32U));
}

/// array[i], of an array of `count`; a T of zero bytes for i >= count. Nothing past the array is read.
/// Requires: i rises by 1 from lane to lane (unchecked).
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = kBestMethod<T, alignment>>
FARO_DEVICE_INLINE T load(const T* array, std::uint64_t i, std::uint64_t count) {
  using Access = detail::Access<T, alignment, method>;
  const CudaWarp warp;
  const std::uint64_t start = i - warp.lane();
  const auto* const first = detail::bytes_at<const std::byte>(array, start);
  const std::uint32_t structs = detail::structs_of_warp(start, count);
  return Access::value(load_rows<typename Access::Shape, false>(warp, first, structs));
}

/// array[i] = value. Requires: i rises by 1 from lane to lane, and all 32 are in the array (unchecked).
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = kBestMethod<T, alignment>>
FARO_DEVICE_INLINE void store(T* array, std::uint64_t i, const std::type_identity_t<T>& value) {
  using Access = detail::Access<T, alignment, method>;
  const CudaWarp warp;
  auto* const first = detail::bytes_at<std::byte>(array, i - warp.lane());
  store_rows<typename Access::Shape, true>(warp, first, 32U, Access::words(value));
}

/// array[i] = value where i < count. Requires: i rises by 1 from lane to lane (unchecked).
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = kBestMethod<T, alignment>>
FARO_DEVICE_INLINE void store(T* array, std::uint64_t i, const std::type_identity_t<T>& value,
                              std::uint64_t count) {
  using Access = detail::Access<T, alignment, method>;
  const CudaWarp warp;
  const std::uint64_t start = i - warp.lane();
  auto* const first = detail::bytes_at<std::byte>(array, start);
  const std::uint32_t structs = detail::structs_of_warp(start, count);
  store_rows<typename Access::Shape, false>(warp, first, structs, Access::words(value));
}

/// array[index], any index in any lane, equal ones too. Indices are taken as unsigned; those of at most 4
/// bytes cost a shuffle fewer in every access.
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = Method::row_column_row,
          typename Index = std::uint64_t>
FARO_DEVICE_INLINE T gather(const T* array, Index index) {
  using Access = detail::Access<T, alignment, method>;
  const auto* const bytes = detail::bytes_at<const std::byte>(array, 0);
  return Access::value(gather_rows<typename Access::Shape>(CudaWarp{}, bytes, detail::index_word(index),
                                                           std::uint32_t{detail::kAllLanes}));
}

/// The same where it is wanted, elsewhere a T of zero bytes. Indices that are not wanted may be anything.
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = Method::row_column_row,
          typename Index = std::uint64_t>
FARO_DEVICE_INLINE T gather(const T* array, Index index, bool wanted) {
  using Access = detail::Access<T, alignment, method>;
  const std::uint32_t mask = __ballot_sync(detail::kAllLanes, wanted);
  const auto* const bytes = detail::bytes_at<const std::byte>(array, 0);
  return Access::value(
      gather_rows<typename Access::Shape>(CudaWarp{}, bytes, detail::index_word(index), mask));
}

/// array[index] = value. Where lanes have equal indices each word is from one of them, not all from the same.
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = Method::row_column_row,
          typename Index = std::uint64_t>
FARO_DEVICE_INLINE void scatter(T* array, Index index, const std::type_identity_t<T>& value) {
  using Access = detail::Access<T, alignment, method>;
  auto* const bytes = detail::bytes_at<std::byte>(array, 0);
  scatter_rows<typename Access::Shape>(CudaWarp{}, bytes, detail::index_word(index),
                                       std::uint32_t{detail::kAllLanes}, Access::words(value));
}

/// The same where it is wanted.
template <typename T, int alignment = static_cast<int>(alignof(T)), Method method = Method::row_column_row,
          typename Index = std::uint64_t>
FARO_DEVICE_INLINE void scatter(T* array, Index index, const std::type_identity_t<T>& value, bool wanted) {
  using Access = detail::Access<T, alignment, method>;
  const std::uint32_t mask = __ballot_sync(detail::kAllLanes, wanted);
  auto* const bytes = detail::bytes_at<std::byte>(array, 0);
  scatter_rows<typename Access::Shape>(CudaWarp{}, bytes, detail::index_word(index), mask,
                                       Access::words(value));
}

/// Word k of array[i] goes to planes[k * stride + i], for the warp's i < count: structure of arrays, without
/// shuffles. AoSoA of a tile that is a multiple of 32: stride = tile, and planes moved to planes + i / tile *
/// tile * (S - 1). Requires: i rises by 1 from lane to lane; no overlap (unchecked).
template <typename T, int alignment = static_cast<int>(alignof(T)), typename Word>
FARO_DEVICE_INLINE void to_planes(const T* array, Word* planes, std::uint64_t stride, std::uint64_t i,
                                  std::uint64_t count = kNoEnd) {
  static_assert(sizeof(Word) == 4, "faro aos: planes are of 4-byte words");
  using Access = detail::Access<T, alignment, Method::row_column_row>;
  const CudaWarp warp;
  const std::uint64_t start = i - warp.lane();
  rows_to_planes<typename Access::Shape, false>(warp, detail::bytes_at<const std::byte>(array, start),
                                                detail::bytes_at<std::byte>(planes, start), stride,
                                                detail::structs_of_warp(start, count));
}

/// The reverse: word k of array[i] comes from planes[k * stride + i].
template <typename T, int alignment = static_cast<int>(alignof(T)), typename Word>
FARO_DEVICE_INLINE void from_planes(const Word* planes, T* array, std::uint64_t stride, std::uint64_t i,
                                    std::uint64_t count = kNoEnd) {
  static_assert(sizeof(Word) == 4, "faro aos: planes are of 4-byte words");
  using Access = detail::Access<T, alignment, Method::row_column_row>;
  const CudaWarp warp;
  const std::uint64_t start = i - warp.lane();
  planes_to_rows<typename Access::Shape, false>(warp, detail::bytes_at<const std::byte>(planes, start),
                                                detail::bytes_at<std::byte>(array, start), stride,
                                                detail::structs_of_warp(start, count));
}

#endif

}  // namespace faro::device::aos
