// The schedule of an index array: the one value that engines execute and that files keep.
//
//     what                 arrays                                       one run
//     DirectSchedule       the index array                              a gather, or a scatter
//     WindowSchedule       16-bit displacements of the gather           one pass through tiles that overlap
//     RunsSchedule         start and target of every run                one pass, runs copied
//     PartitionSchedule    schedule/partition.hpp                       1 + levels passes
//     RowColumnSchedule    three lists of 16-bit places                 3 passes: rows, columns, rows
//
// All are made from the stored array as a scatter: `applied` says whether a run goes forwards
// (out[E[i]] = in[i] for entries E) or backwards (out[i] = in[E[i]]), and inverse() turns it round for
// nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "faro/permutation/indexed.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/schedule/partition.hpp"

namespace faro::schedule {

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
/// columns + j]. By edge colouring (schedule/row_column.hpp).
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

  /// Bytes of its arrays.
  std::uint64_t bytes() const;
  IndexSchedule inverse() const;
};

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
