// Any permutation in a few passes that read and write long runs: the elements are partitioned by the high
// bits of where they go, then by the next bits, until what is left fits on chip.
//
//     N = 16, chunks of 4, one level of 2 bits:    targets  9 2 14 5 | 0 8 3 13 | 7 12 1 10 | 15 4 11 6
//
//     chunk 0, targets 9 2 14 5, buckets 2 0 3 1   places 2 0 3 1   runs: one element to each bucket
//     …
//     after the level, bucket by bucket            2 0 3 1 | 5 7 4 6 | 9 8 10 11 | 14 13 12 15
//     the last pass places within chunks           0 1 2 3 | 4 5 6 7 | 8 9 10 11 | 12 13 14 15
//
// A *chunk* is 2^chunk_bits consecutive elements, what one block holds at a time; only the array's last one
// may be short. A *level* is a partition pass. At level l a *region* is 2^region_bits(l) consecutive places,
// whole chunks (the whole array at level 0), and its *buckets* are the regions of level l + 1; the last
// level's buckets are chunks. Because the map is a permutation, bucket b of a region holds exactly its own
// places: no table says where buckets begin, only where in the bucket a chunk's run does.
//
//     level l      chunk k: element i of the chunk goes to place places[i] of the chunk, stable by bucket;
//                  places starts[b] .. starts[b + 1] - 1 are bucket b's run, copied to
//                  region + (b << region_bits(l + 1)) + offsets[b] onwards
//     last pass    element i of the chunk goes to place last[i] of the chunk
//
// Run forwards this is scatter by the array it was made from; run backwards, each pass undone, it is gather
// by it. It says nothing of element widths. Its size: 2 bytes an element a pass, and 6 a run.
//
// Passes: 1 + levels. With runs of 2^r elements a level takes chunk_bits - r bits of the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "faro/permutation/indexed.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::schedule {

inline constexpr int kMaxChunkBits = 15;      // a start may be the chunk's size, and is 16 bits wide
inline constexpr int kMaxSoleChunkBits = 16;  // without levels there are only places
inline constexpr int kMaxLevelBits = 12;

struct PartitionShape {
  std::uint64_t count = 0;
  int chunk_bits = 14;
  std::vector<int> level_bits;  // first level first; empty: the array is one chunk

  int levels() const { return static_cast<int>(level_bits.size()); }
  std::uint64_t chunk_elements() const { return std::uint64_t{1} << chunk_bits; }
  std::uint64_t chunks() const { return (count + chunk_elements() - 1) >> chunk_bits; }
  /// Elements of chunk k: chunk_elements(), or what is left.
  std::uint64_t chunk_size(std::uint64_t chunk) const;
  std::uint32_t buckets(int level) const {
    return std::uint32_t{1} << level_bits[static_cast<std::size_t>(level)];
  }
  /// Bits of a place within a region of `level`; region_bits(levels()) is chunk_bits.
  int region_bits(int level) const;
  /// Bytes of the schedule: places, starts and offsets.
  std::uint64_t bytes() const;

  friend bool operator==(const PartitionShape&, const PartitionShape&) = default;
};

/// Whether the shape can hold a schedule: chunk_bits in 1..kMaxChunkBits (1..kMaxSoleChunkBits without
/// levels), levels of 1..kMaxLevelBits bits that reach the count, buckets of at most 2^31 places, so that
/// offsets have 32 bits. Errors: ErrorCode::value naming the number.
void check_shape(const PartitionShape& shape);

/// The levels that cover `count` elements, as few and as equal as possible, each of at most `most_bits`, the
/// larger first. Of 2^30, chunks of 2^14 and 8 bits: 8 8. Errors: ErrorCode::value for `most_bits` outside
/// 1..kMaxLevelBits.
std::vector<int> even_levels(std::uint64_t count, int chunk_bits, int most_bits);

struct PartitionLevel {
  std::vector<std::uint16_t> places;   // count
  std::vector<std::uint16_t> starts;   // chunks x buckets; the end of the last run is the chunk's size
  std::vector<std::uint32_t> offsets;  // chunks x buckets, within the bucket
};

struct PartitionSchedule {
  PartitionShape shape;
  std::vector<PartitionLevel> levels;
  std::vector<std::uint16_t> last;  // count
};

/// Law:    run forwards it takes element i to entry(i) of `indexed`, whatever its direction. Runs are in the
///         order of the source, so the schedule is the only one of its shape: the CUDA engine makes the same,
///         byte for byte.
/// Errors: ErrorCode::value for an array on a device, a count that is not the shape's, and too little memory,
///         saying how much it takes.
/// Cost:   two sweeps a level by `threads` threads (0: what OpenMP would use). Memory beside the schedule: 4
///         bytes an element with two levels, 8 with more, and 6 bytes x chunk for each thread.
PartitionSchedule partition_schedule(const Indexed& indexed, const PartitionShape& shape, int threads = 0);

/// Whether a schedule from anywhere does what the page above says: places are permutations of their chunks,
/// runs follow one another in their buckets, in the order of the chunks, and fill them. What passes is safe
/// to run and is a permutation. The order inside a run is free. Errors: ErrorCode::value naming pass, chunk
/// and entry.   Cost: a sweep of it, all threads.
void check_schedule(const PartitionSchedule& schedule, int threads = 0);

/// The array whose scatter it is, by running it on 0 .. N - 1. Requires: a checked schedule.
std::vector<std::uint64_t> entries_of(const PartitionSchedule& schedule);

// The schedule of an index array: the one value that engines execute and that files keep.
//
//     what                 arrays                                       one run
//     DirectSchedule       the index array                              a gather, or a scatter
//     WindowSchedule       16-bit displacements of the gather           one pass through tiles that overlap
//     RunsSchedule         start and target of every run                one pass, runs copied
//     PartitionSchedule    above                                        1 + levels passes
//     RowColumnSchedule    three lists of 16-bit places                 3 passes: rows, columns, rows
//
// All are made from the stored array as a scatter: `applied` says whether a run goes forwards
// (out[E[i]] = in[i] for entries E) or backwards (out[i] = in[E[i]]), and inverse() turns it round for
// nothing.

/// The entries; `applied` says how they are meant, and the makers and load() tag the array likewise.
struct DirectSchedule {
  Indexed indexed;
};

/// out[i] = in[i + shift[i] - window]: everything moves at most `window` places.
struct WindowSchedule {
  std::uint64_t count = 0;
  std::uint32_t window = 0;          // at most 32767
  std::vector<std::uint16_t> shift;  // count, each at most 2 window
};

/// Run r: elements source[r] .. source[r + 1] - 1 go to target[r] onwards. Sources ascend from 0.
struct RunsSchedule {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> source;  // runs + 1, the last is count
  std::vector<std::uint64_t> target;  // runs
};

/// count = rows x columns, both at most 2^16. Forwards: row i's element j goes to column first[i columns +
/// j]; then column c's element i goes to row middle[c rows + i]; then row i's element j to column last[i
/// columns + j]. By edge colouring (faro/schedule/row_column.hpp).
struct RowColumnSchedule {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint16_t> first;
  std::vector<std::uint16_t> middle;
  std::vector<std::uint16_t> last;
};

/// Window and runs have a direction of their own worked in: a WindowSchedule is always the gather form, a
/// RunsSchedule always the scatter form, of the stored array as a scatter.
struct IndexSchedule {
  std::variant<DirectSchedule, WindowSchedule, RunsSchedule, PartitionSchedule, RowColumnSchedule> what;
  std::uint64_t count = 0;
  Direction applied = Direction::scatter;
  std::uint64_t fingerprint = 0;  // of the entries it was made from, see fingerprint()
  /// For an index array of equal blocks it is one block's, of `count` elements that are as many of
  /// the array's as `blocks.together`.
  Blocks blocks = {};

  /// Bytes of its arrays.
  std::uint64_t bytes() const;
  IndexSchedule inverse() const;
};

/// The index array that a schedule is of: a block of `indexed`, or itself; nothing where that has no such
/// blocks. Errors: ErrorCode::value for an array on a device.   Cost: of blocks two sweeps of the array.
std::optional<Indexed> scheduled_block(const Indexed& indexed, const Blocks& blocks);

/// A 64-bit hash (XXH3, seed 0) of the count and the entries, the same for 32- and 64-bit entries.
/// Errors: ErrorCode::value for an array on a device.
std::uint64_t fingerprint(const Indexed& indexed);

/// Errors, all: ErrorCode::value for an array on a device, and where the array is not of the kind, naming the
/// first position. Direction of the result: the array's.
IndexSchedule direct_schedule(const Indexed& indexed);
IndexSchedule window_schedule(const Indexed& indexed, std::uint32_t window, int threads = 0);
IndexSchedule runs_schedule(const Indexed& indexed);
IndexSchedule partition_index_schedule(const Indexed& indexed, const PartitionShape& shape, int threads = 0);
/// Cost: edge colouring, seconds at 2^24. Errors: also ErrorCode::unsupported where count is no rows x
/// columns with both at most 2^16 and `columns` at most `most_columns`.
IndexSchedule row_column_schedule(const Indexed& indexed, std::uint64_t most_columns = 1 << 16);

/// Whether a schedule from anywhere is safe to run and a permutation. Errors: ErrorCode::value.
void check_schedule(const IndexSchedule& schedule, int threads = 0);

/// The entries E that it was made from. Requires: a checked schedule (unchecked). Errors: ErrorCode::value
/// for a direct schedule on a device.   Cost: one thread, up to 16 bytes an element.
std::vector<std::uint64_t> entries_of(const IndexSchedule& schedule);

/// An i whose entry is not `indexed`'s, or nothing where the schedule is of that array, read either way:
/// whatever fingerprint it has. Requires: a checked schedule of as many elements, an array of the host
/// (checked). Cost: a sweep with all threads; of a partition, entries_of.
std::optional<std::uint64_t> first_difference(const IndexSchedule& schedule, const Indexed& indexed,
                                              int threads = 0);

/// out[E[i]] = in[i] or its inverse on the host, element by element, as the definition says: what engines are
/// tested against. Requires: a checked schedule, arrays of count x element_bytes (unchecked).
void run_by_definition(const IndexSchedule& schedule, const std::byte* in, std::byte* out,
                       std::uint64_t element_bytes);

/// Writes the schedule to a file, whole or not at all: magic and version, kind, direction, count,
/// fingerprint, sizes, the arrays, and an XXH3 checksum of everything. docs/guide/plan-files.md has the
/// layout. Errors: ErrorCode::file.
void save(const IndexSchedule& schedule, const std::filesystem::path& path);

/// Reads and checks one. Errors: ErrorCode::file for a file that is missing, no plan file, of another
/// version, truncated, longer than it says, or whose checksum differs; ErrorCode::value where it is intact
/// and yet no permutation, and for too little memory. Nothing is allocated on the word of a size that the
/// file's length does not bear out.
IndexSchedule load(const std::filesystem::path& path);

}  // namespace faro::schedule
