// Records to places that are computed or read, not derived from bits or axes: a distribution into buckets of
// places, then a sweep of the buckets.
//
//     input       chunks of records, in order       read
//     scratch     |bucket 0        |bucket 1|..|    of each chunk a run: its records that go to the bucket
//     output      a bucket at a time                its runs read, brought together in memory, written
//
// A bucket is the records of so many places in a row as a buffer holds. It has cells of 2^cell_bits places,
// few enough for a core's cache. A run has its records in the order of their places:
//
//     run         count of each cell, 4 bytes | records | tags of 2 bytes, their places in their cells
//
// Where each record comes from can be computed (a shuffle's seed), there are no tags: for the places of a
// cell in order, the chunk that each comes from says which run has it next. So data is read twice and written
// twice, and nothing else but the counts; an index array's tags are 2 bytes a record. Where one buffer holds
// all, data is read and written once.
#pragma once

#include <cstdint>
#include <optional>

#include "faro/file.hpp"
#include "file/places.hpp"

namespace faro::file {

/// How records are cut into chunks, buckets and cells.
struct BucketShape {
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
  bool is_tagged = false;
  int cell_bits = 0;
  std::uint64_t chunk_records = 0;  // that are distributed at a time
  std::uint64_t bucket_cells = 0;
  std::uint64_t run_unit = 1;  // what a run's bytes are a multiple of: blocks of the disk for long ones
  /// Bytes of a bucket's runs together, at most; a run for each chunk.
  std::uint64_t region_bytes = 0;

  std::uint64_t chunks() const;
  std::uint64_t cells() const;
  std::uint64_t buckets() const;
  std::uint64_t bucket_records() const { return bucket_cells << cell_bits; }
  std::uint64_t stored_bytes() const { return record_bytes + (is_tagged ? 2 : 0); }
  std::uint64_t cells_of(std::uint64_t bucket) const;
  std::uint64_t records_of(std::uint64_t bucket) const;
  std::uint64_t run_bytes(std::uint64_t bucket, std::uint64_t run_records) const;
};

/// The shape for a budget of memory, whatever the number of threads; nothing where it is too small. Requires:
/// records and record_bytes above 0 (unchecked).
std::optional<BucketShape> bucket_shape(std::uint64_t records, std::uint64_t record_bytes, bool is_tagged,
                                        std::uint64_t memory_bytes);

/// out[place of x] = in[x] for records of record_bytes. Errors: as run() of a sweep; ErrorCode::value, before
/// the output is there, for places that are no permutation, and for a budget that is too small.
Report place_records(const Places& places, std::uint64_t record_bytes, const Input& in, const Output& out,
                     const Options& options);

}  // namespace faro::file
