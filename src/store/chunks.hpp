// Arrays that are grids of chunks, each stored by itself.
//
//     array        |-----|-----|---|             shape 13, chunks of 5
//     chunk 2      [k l m 0 0]                   whole all the same, filled up with the fill value
//     in memory    in C order, or with its axes in another order (Zarr's `transpose`, v2's order F)
//     stored       byte order, then codecs       a file, a range of a shard, a range of a TIFF; or missing: all
//                                                elements are the fill value
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/box.hpp"
#include "store/codecs.hpp"
#include "store/element_type.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// The stored bytes of chunks by their place in the grid. By many threads at once, each at another chunk.
class ChunkStore {
 public:
  virtual ~ChunkStore() = default;
  /// False where there is no such chunk. Errors: ErrorCode::file, also for one of more than `most` bytes.
  virtual bool read(const Shape& index, Bytes& into, std::uint64_t most) const = 0;
  /// Whether parts of chunks that are not encoded can be read: read_part().
  virtual bool has_parts() const { return false; }
  /// Of a chunk of `whole` bytes those from `offset` on. False where there is no such chunk. Errors:
  /// ErrorCode::file, also for one of another length.
  virtual bool read_part(const Shape& index, std::uint64_t whole, std::uint64_t offset,
                         std::span<std::byte> to) const;
  /// What tells it from itself after a change. Errors: ErrorCode::file.
  virtual std::string identity() const = 0;
  /// Whether a later process can go on behind what is written.
  virtual bool is_settled() const { return true; }
  /// The file that a chunk is in, for errors.
  virtual std::string label(const Shape& index) const = 0;
  /// Each chunk of the array is written or left out once, over what an unfinished run may have left of it.
  /// Errors: ErrorCode::file.
  virtual void write(const Shape& index, std::span<const std::byte> stored);
  virtual void leave_out(const Shape& index);
  /// What a thread that writes needs beside the bytes that it is given.
  virtual std::uint64_t workspace_bytes() const { return 0; }
};

/// How chunks are made of elements.
struct ChunkForm {
  Shape shape;  // of the array
  Shape chunk;
  std::vector<std::size_t> order;  // of a chunk's axes in memory, slowest first
  ElementType type;
  ByteOrder byte_order = ByteOrder::little;
  std::vector<Codec> codecs;
  Bytes fill;                 // an element, in this machine's order; empty: zeros
  bool ends_are_cut = false;  // chunks at the array's end have no rests
  bool has_all = false;       // chunks of nothing but the fill value are stored as well

  std::uint64_t chunk_bytes() const { return volume(chunk) * type.bytes; }
};

/// Repeats an element as often as it goes. Empty: zeros.
void fill_with(const Bytes& fill, std::span<std::byte> elements);
/// Whether the elements, one at least, are all the same as it.
bool is_all(const Bytes& fill, std::uint64_t element_bytes, std::span<const std::byte> elements);

std::unique_ptr<Source> chunk_source(ChunkForm form, std::shared_ptr<const ChunkStore> store);
std::unique_ptr<Sink> chunk_sink(ChunkForm form, std::shared_ptr<ChunkStore> store);

}  // namespace faro::store
