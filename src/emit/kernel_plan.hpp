// One kernel of the ladder as four affine functions, from which its text is written and its prediction
// counted.
//
//     load phase     element   =  in[source(block, thread, warp, i)]          i: iteration
//                    tile[stored(thread, warp, i)] = element
//     (barrier)
//     store phase    out[target(block, thread, warp, i)] = tile[loaded(block, thread, warp, i, k)]
//
// The published rungs move single elements and number threads in two dimensions (`thread` along a row of the
// tile, `warp` from row to row). Vector kernels move 2^v elements at a time, k numbers them, and have
// `thread` only. The naive rung has no tile: out[target] = in[source].
//
// Addresses of the tile are in elements. Where `turned` is not empty, rows are rotated: the column bits of an
// address are added to a shift that its row's bits select, and wrap around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/emit/options.hpp"
#include "faro/error.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::emit {

/// The numbers that tell one access of a kernel from another.
struct Place {
  f2::Word block = 0;
  f2::Word thread = 0;  // threadIdx.x
  f2::Word warp = 0;    // threadIdx.y
  f2::Word iteration = 0;
  f2::Word component = 0;  // of a vector
};

/// Affine in all of them: XORs of columns.
struct Form {
  std::vector<f2::Word> block = {};
  std::vector<f2::Word> thread = {};
  std::vector<f2::Word> warp = {};
  std::vector<f2::Word> iteration = {};
  std::vector<f2::Word> component = {};
  f2::Word constant = 0;

  f2::Word operator()(const Place& place) const;
};

/// A after f: the columns and the constant multiplied by the map's matrix, the constant XORed with its
/// complement.
Form apply(const Affine& map, const Form& form);

struct KernelPlan {
  std::string name = {};
  Affine map = Affine(0);
  int element_bytes = 0;
  int result_bytes = 0;  // of what it writes, where numbers are changed
  int addend_bytes = 0;  // of what it adds to them; 0: nothing

  int block_bits = 0;
  int thread_bits = 0;
  int warp_bits = 0;
  int iteration_bits = 0;
  int vector_bits = 0;  // elements of a vector
  int tile_bits = 0;    // elements of a tile
  int column_bits = 0;  // of the tile's rows
  bool has_tile = false;
  bool tile_an_iteration = false;  // each iteration has a tile of its own
  int min_blocks = 0;              // a multiprocessor, for __launch_bounds__; 0: not said

  Form source = {};
  Form stored = {};
  Form loaded = {};
  Form target = {};
  Form origin = {};                   // the index x of f(in[x]) at `target`: of the whole permutation
  int turn_bits = 0;                  // elements of a row that is rotated
  std::vector<f2::Word> turned = {};  // the shift that bit k of its number adds; empty: rows are not rotated

  int threads() const { return 1 << (thread_bits + warp_bits); }
  int iterations() const { return 1 << iteration_bits; }
  int element_count() const { return 1 << vector_bits; }
  int vector_bytes() const { return element_bytes << vector_bits; }
  int result_vector_bytes() const { return result_bytes << vector_bits; }
  int shared_bits() const { return tile_bits + (tile_an_iteration ? iteration_bits : 0); }
  std::uint64_t shared_bytes() const {
    return has_tile ? static_cast<std::uint64_t>(element_bytes) << shared_bits() : 0;
  }

  /// The address that a rotated row gives to place `address`; the same where rows are not rotated.
  std::uint32_t turn(std::uint32_t address) const;
  /// What is added to the columns of that address.
  f2::Word shift_of(f2::Word address) const;
};

/// What kernels share the shared memory of a multiprocessor of today's largest, and what a block may have.
inline constexpr std::uint64_t kMaxSharedBytes = 232448;    // 227 KiB, by opt-in
inline constexpr std::uint64_t kStaticSharedBytes = 49152;  // 48 KiB, without

/// The kernels of `options.rung`, in the order in which they run.
/// Errors: ErrorCode::unsupported, ErrorCode::value: as emit().
std::vector<KernelPlan> plan_kernels(const Affine& map, const ElementType& element, const Options& options);

/// naive, tile, banks and iters.
KernelPlan plan_published(const Affine& map, const ElementType& element, const Options& options);

/// One kernel with tiles along any subspace, 16 bytes at a time. `whole` is the permutation that ends here.
KernelPlan plan_vectors(const Affine& map, const Affine& whole, const ElementType& element,
                        const Options& options);

/// log2 of the elements in a row of the published tile, and in a segment of the vector kernels.
int default_tile_bits(int element_bytes);
int default_segment_bits(int element_bytes);

/// Runs the first blocks of the kernel from buffer kInput to kOutput.
void run(machine::CountingMemory& memory, const KernelPlan& plan, std::uint64_t blocks);

/// One block of the kernel, run on the counting memory, times the blocks.
machine::AccessCounts predict(const KernelPlan& plan);

// The refusals of emit().

/// Throws, for the operation "emit RUNG".
/// What errors say was being done: "emit rung tile".
std::string operation_of(const Options& options);

/// Errors: ErrorCode::unsupported for more threads, shared memory or blocks than a launch may have.
void require_room(const KernelPlan& plan, const Options& options);

/// Errors: ErrorCode::value for sizes that no map of `bits` bits has.
void require_sizes(int bits, const Options& options);

/// Errors: ErrorCode::value for what is no C++ identifier, or one that is taken.
void require_name(const Options& options);
void require_factors(const Options& options);

/// Errors: ErrorCode::value for an expression beside arithmetic, strides of an addend, and a shape of another
/// count; those of check().
void require_arithmetic(const Affine& map, const Options& options);

/// Errors: ErrorCode::unsupported for an element that C++ does not have, ErrorCode::value for a launcher of
/// it.
void require_language(const ElementType& element, const Options& options);

/// The entry of options.element. Errors: ErrorCode::value, naming the nearest type.
const ElementType& find_element(const Options& options);

}  // namespace faro::emit
