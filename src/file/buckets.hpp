// Records to places that are computed or read, not derived from bits or axes: a distribution into buckets of
// places, then a sweep of the buckets.
//
//     input       chunks of records, in order      read
//     scratch     |bucket 0|bucket 1|..|           each record behind the others of its bucket, with its
//                                                  place in the bucket, 4 bytes
//     output      a bucket at a time               read whole, placed in memory, written in order
//
// A bucket is the records of so many places in a row as a buffer holds, so its room in the scratch file is
// known beforehand. Data is read twice and written twice; where one buffer holds all, once.
#pragma once

#include <cstdint>
#include <span>

#include "faro/file.hpp"

namespace faro::file {

/// Where records go: a permutation of count() records.
class Places {
 public:
  virtual ~Places() = default;
  virtual std::uint64_t count() const = 0;
  /// Of records first, first + 1, …. By any thread.
  virtual void fill(std::uint64_t first, std::span<std::uint64_t> places) const = 0;
};

struct BucketFacts {
  std::uint64_t buckets = 0;
  std::uint64_t bucket_records = 0;
  std::uint64_t chunk_records = 0;  // that are distributed at a time
};

/// Requires: count and record_bytes above 0 (unchecked). Errors: ErrorCode::value for a budget of less than
/// three records.
BucketFacts bucket_facts(std::uint64_t count, std::uint64_t record_bytes, std::uint64_t memory_bytes);

/// out[place of x] = in[x] for records of record_bytes. Errors: as run() of a sweep; ErrorCode::value, before
/// the output is there, for places that are no permutation.
Report place_records(const Places& places, std::uint64_t record_bytes, const Input& in, const Output& out,
                     const Options& options);

}  // namespace faro::file
