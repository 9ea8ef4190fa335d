// Elements smaller than a byte, or of any number of bits: quantised weights of 4 bits, genotypes of 2, masks
// of 1.
//
//     faro::PackedPlan plan({.permutation = faro::maps::transpose(16384, 32768), .element_bits = 4});
//     plan.run(in, out);                                 // out[pi(x)] = in[x], of nibbles
//
// An array is a row of bits. Element x of k bits begins at bit k x, counted from the low end of each byte, or
// from its high end as numpy.packbits and bitmaps have it; a row of a matrix may begin anew at a byte, a word
// or any other pitch:
//
//     low first     byte 0: x1 x0    byte 1: x3 x2        4 bits, as a number in hexadecimal reads
//     high first    byte 0: x0 x1    byte 1: x2 x3
//     rows of 3, a pitch of 16 bits   byte 0: x1 x0    byte 1: -- x2    byte 2: x4 x3    byte 3: -- x5
//
// An affine map of elements of 2^-q bytes is a map of indices with q bits below the byte, so that the
// one-pass theorem holds as it stands (docs/theory/one-pass.md); axes whose rows begin inside a byte are
// moved by shifts. What stands between rows, and after the last element, stays as it was or becomes zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/problem/target.hpp"
#include "faro/stream.hpp"

namespace faro {

enum class BitOrder : std::uint8_t { low_first, high_first };
enum class PadBits : std::uint8_t { keep, zero };

/// How an array of packed elements lies in memory.
struct PackedLayout {
  std::uint64_t row_elements = 0;  // of a row; 0: the array is dense
  std::uint64_t pitch_bits = 0;    // from one row's first bit to the next one's; 0: rows are dense
  std::uint64_t first_bit = 0;     // where element 0 begins
  BitOrder order = BitOrder::low_first;

  friend bool operator==(const PackedLayout&, const PackedLayout&) = default;
};

struct PackedProblem {
  Permutation permutation = Affine(0);
  std::uint32_t element_bits = 4;  // 1 to 32768; the narrow and fast ones are 1, 2 and 4
  std::uint64_t batch = 1;         // arrays, one's elements right behind the other's
  PackedLayout in = {};
  PackedLayout out = {};
  PadBits pads = PadBits::keep;  // of the output, between rows and after the last element
};

/// Bit at which element x begins, from bit 0 of the array. Requires: a layout that check() takes (unchecked).
std::uint64_t packed_position(const PackedLayout& layout, std::uint32_t element_bits, std::uint64_t x);
/// Bytes of an array of so many elements: rows that have a pitch are whole, the last one too.
std::uint64_t packed_bytes(const PackedLayout& layout, std::uint32_t element_bits, std::uint64_t elements);

/// Errors: ErrorCode::value for elements of 0 or more than 32768 bits, a pitch shorter than a row, a pitch
/// without rows, two orders of bits of elements that are not 1, 2 or 4 bits, arrays of more than 2^56 bits,
/// and none.
void check(const PackedProblem& problem);

struct PackedOptions {
  int threads = 0;                    // 0: what OpenMP would use
  Engine engine = Engine::automatic;  // which is the CPU
  int device = cuda::kCurrentDevice;  // of engine cuda
};

/// The plan of a permutation of packed elements. Every const member may be called from many threads at once.
///
/// Elements of whole bytes in dense arrays go by ordinary plans (faro.hpp). Engine cuda: affine maps of 1, 2
/// or 4 bits are fast where arrays are dense and begin at multiples of 16 bytes, axes where they are matrices
/// or runs; what is neither goes by an index array, which planning makes and sends.
class PackedPlan {
 public:
  /// Errors: those of check(); ErrorCode::value for an index array on a device with engine cpu, and for one
  /// of a device that is no permutation; ErrorCode::device without a device, and for too little memory there.
  /// Cost: of an index array that scatters, a random store an element.
  explicit PackedPlan(const PackedProblem& problem, const PackedOptions& options = {});
  PackedPlan(PackedPlan&&) noexcept;
  PackedPlan& operator=(PackedPlan&&) noexcept;
  ~PackedPlan();

  /// out[b][pi(x)] = in[b][x]. Any alignment. Errors: ErrorCode::value for spans of other sizes than
  /// in_bytes() and out_bytes(), null or overlapping; nothing is written then. Cost: one sweep; allocates
  /// some hundred KiB a thread. With engine cuda the arrays are the device's, and the work is queued on
  /// `stream`; errors: also ErrorCode::value for other memory, and for a stream with engine cpu.
  void run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream = {}) const;

  /// In place, of affine maps of dense arrays and equal layouts: one pass or two, no second array. Only a
  /// device's arrays that are smaller than a tile (2 KiB of bits, 512 bytes of nibbles) or do not begin at
  /// multiples of 16 bytes go by way of one, in the stream's order. Errors: as for two arrays, and
  /// ErrorCode::unsupported for other permutations.
  void run(std::span<std::byte> data, Stream stream = {}) const;

  std::uint64_t in_bytes() const;
  std::uint64_t out_bytes() const;
  const PackedProblem& problem() const;
  /// Whether an index array is kept, of the host or of a device: 4 or 8 bytes an element.
  bool has_index_array() const;
  /// The way that is taken, in a line.
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The first element that is not where it belongs, as text; empty where all are. By the obvious loop, which
/// shares nothing with a plan. Requires: arrays of the plan's sizes (unchecked). Cost: tens of nanoseconds an
/// element.
std::string find_packed_mismatch(const PackedProblem& problem, std::span<const std::byte> in,
                                 std::span<const std::byte> out, int threads = 0);

struct PackedFileOptions {
  std::uint64_t memory_bytes = 0;  // for both arrays together; 0: file::default_memory_bytes()
  int threads = 0;
  bool verify = false;                // every element, before the result takes its name
  Engine engine = Engine::automatic;  // cuda: the arrays go to the device and back, all or a panel at a time
  int device = cuda::kCurrentDevice;
};

/// What lies before an array in a file.
struct PackedFile {
  std::filesystem::path path;
  std::uint64_t offset = 0;  // of the array
};

/// The array of a file, permuted into another file that begins with `header`; whole or not at all. Where both
/// do not fit the memory, a matrix is transposed by panels, other axes, rolled or flipped, go by boxes, and
/// affine maps by tiles of segments, the longer the more memory there is: each element is read and written
/// once. Errors: those of PackedPlan; ErrorCode::file for a file of another size, and as io does;
/// ErrorCode::unsupported for larger files whose permutation is neither, an index array say, or a tile of
/// which does not fit; ErrorCode::verification.
void permute_packed_file(const PackedProblem& problem, const PackedFile& in, const std::filesystem::path& out,
                         std::span<const std::byte> header, const PackedFileOptions& options = {});

/// A PLINK 1 .bed file, whichever of its two orders it has, in the other one: variant-major (a row of samples
/// for each variant, as PLINK writes it) becomes sample-major, and back. 2 bits a genotype, rows padded with
/// zeros to bytes. What is 0 of the two is counted in the lines of the .fam and .bim beside the input.
/// Errors: those of permute_packed_file(); ErrorCode::file for a file that does not begin as a .bed.
struct BedSize {
  std::uint64_t samples = 0;
  std::uint64_t variants = 0;
};
void transpose_bed(const std::filesystem::path& in, const std::filesystem::path& out,
                   const BedSize& size = {}, const PackedFileOptions& options = {});

}  // namespace faro
