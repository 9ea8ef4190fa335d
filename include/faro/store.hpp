// The files that people have: arrays in stores, laid out anew within a budget of memory.
//
//     faro::store::relayout("in.zarr", "out.zarr", {.axes = {2, 0, 1}, .chunks = {256, 256, 64},
//                                                   .codec = "zstd:3", .memory_bytes = 1 << 30});
//     faro::store::relayout("model.h5:/weights", "weights.safetensors", {.axes = {1, 0}, .dtype = "bfloat16"});
//
// A store is arrays by name. Each is one run of bytes in a file, or a grid of chunks that are coded one by
// one:
//
//     runs of bytes    .npy, .npz stored without compression, safetensors, GGUF's plain types, contiguous HDF5,
//                      NIfTI-1 and -2, FITS images, uncompressed TIFF and BigTIFF, Arrow tensors, raw
//     chunks           Zarr v3 (bytes, transpose, gzip, zstd, blosc, crc32c, sharding_indexed) and v2 (order C and F;
//                      blosc, zstd, lz4, gzip, zlib), chunked HDF5 (deflate, shuffle, szip), TIFF's tiles
//
// A chunk grid is a permutation of split axes, so that turning one store into another is axes between two
// levels whose segments are chunks (docs/theory/chunk-grids.md). Regions of the output that both grids cut
// are read once and written once; where the memory does not hold them, some chunks are decoded for several
// regions, or all goes by way of scratch space in two sweeps, whichever is counted cheaper.
//
// An output appears under its name whole and on the disk, or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::store {

/// What a store says of an array.
struct ArrayFacts {
  std::string name = {};    // in its store; empty: the only one, which needs none
  std::string format = {};  // "Zarr v3", "safetensors", …
  std::vector<std::uint64_t> shape = {};
  std::string dtype = {};  // "float32", "bfloat16", "S32", … as NumPy and Zarr v3 call it
  bool big_endian = false;
  std::uint64_t bytes = 0;                   // of its elements, decoded
  std::vector<std::uint64_t> chunks = {};    // empty: a run of bytes
  std::vector<std::uint64_t> shards = {};    // chunks that are stored together; empty: each by itself
  std::string codec = {};                    // "zstd:3"; "none"
  std::vector<std::string> dimensions = {};  // names of the axes; empty: none
  std::string attributes = {};               // a JSON object
  std::string refusal = {};                  // why it cannot be read; empty: it can
};

/// The arrays of a store. `path` may name one of them behind a colon, "in.h5:/t", and Zarr's also as a path.
/// Errors: ErrorCode::file for what is missing or malformed; ErrorCode::unsupported for what is of no known
/// format; ErrorCode::value for a name that is not there.   Cost: reads headers only.
std::vector<ArrayFacts> arrays(const std::string& path);

struct Progress {
  std::uint64_t done_bytes = 0;   // read, and written
  std::uint64_t total_bytes = 0;  // to be read, and to be written
};

/// A permutation of all elements, other than of axes.
struct ElementMap {
  Permutation permutation;
  std::vector<std::uint64_t> shape;  // of the result
  std::uint64_t batch = 1;           // arrays one behind another that are permuted alike
  std::uint64_t items = 1;           // of the array in an element that moves
};

struct Report;

struct Options {
  /// Of the output's axes: which of the input's each is, as numpy.transpose. Empty: as they are.
  std::vector<int> axes = {};
  /// Instead: goes by way of plain scratch files where the input is no plain run.
  std::optional<ElementMap> map = {};
  std::vector<std::uint64_t> chunks =
      {};  // empty: the input's, turned as the axes are, or the format's choice
  std::vector<std::uint64_t> shards = {};  // Zarr v3's; empty: none
  std::vector<std::vector<std::uint64_t>> inner_shards =
      {};                      // shards within those, outermost first; at most 3
  std::string codec = {};      // "zstd:3", "blosc:lz4:5:shuffle", "none"; empty: the input's, or zstd:3
  std::string dtype = {};      // numbers are converted to; empty: the input's
  bool fortran_order = false;  // first axis fastest: of .npy, raw, and within Zarr's chunks
  std::string format = {};     // of the output, "zarr2" or "zarr3"; empty: by its name
  /// Of the buffers, at most. 0: 60% of the memory that can be taken.
  std::uint64_t memory_bytes = 0;
  int threads = 0;
  /// Holds sums over places and values that were read against those that were stored, read back and decoded.
  bool verify = false;
  /// Leaves an unfinished output beside OUT with a journal of what is finished, for `resume`.
  bool keep_unfinished = false;
  /// Goes on where an earlier run with the same input, options and output was interrupted: regions that its
  /// journal says are finished are read back and compared by checksums. Where there is no such run, from the
  /// beginning. Implies keep_unfinished.
  bool resume = false;
  /// Seconds between two records of the journal, each of which waits for the disk.
  double checkpoint_seconds = 5;
  /// The input is raw bytes of this type and shape: all of the file, or behind `raw_offset` bytes of it.
  std::string raw_dtype = {};
  std::vector<std::uint64_t> raw_shape = {};
  std::optional<std::uint64_t> raw_offset = {};
  /// Called by any thread, but by one at a time, whenever some MiB are done.
  std::function<void(const Progress&)> progress = {};
  /// Asked as often; true ends the run, and no output is there.
  std::function<bool()> cancelled = {};
  /// Called once when all is on the disk but for the output's name.
  std::function<void(const Report&)> done = {};
};

/// What is done, before it is done.
struct Facts {
  ArrayFacts in = {};
  ArrayFacts out = {};
  std::vector<std::uint64_t> region = {};  // of the output, that a sweep holds at a time
  int sweeps = 1;
  bool uses_scratch = false;
  double decoded = 1;               // times that each of the input's chunks is, on the mean
  std::uint64_t read_bytes = 0;     // decoded, scratch space included
  std::uint64_t written_bytes = 0;  // before they are encoded, likewise
  std::uint64_t memory_bytes = 0;   // of all buffers
  int threads = 1;
  std::uint64_t arrays = 1;  // of a whole store, for which most is summed up
  /// Of explain(), where the disk was measured (`faro tune --disk`), and by what.
  std::optional<double> predicted_seconds = {};
  std::string prediction_source = {};

  /// "one sweep in regions of 256 x 64 x 512, each chunk decoded once, 96 MiB of memory"
  std::string text() const;
};

struct Report {
  Facts facts;
  bool finished = false;  // false: cancelled
  bool verified = false;
  std::uint64_t resumed_regions = 0;       // that an earlier run finished
  std::vector<std::string> left_out = {};  // what the output's format cannot say: "names of dimensions"
  double seconds = 0;
};

/// From an array to an array; from a store of several, of which none is named, to a store of as many, where
/// the output's format holds several: groups, attributes and names of dimensions as far as both formats have
/// them. Errors, of both: those of arrays(); ErrorCode::value for options that do not fit the array, memory
/// that does not hold a chunk of each side, and an output that is the input; ErrorCode::unsupported for what
/// the output's format cannot say; ErrorCode::file for an output that is there already where it is a folder,
/// or cannot be written, for damaged chunks, for an input that is written to meanwhile, and for a journal of
/// another run where one is to be resumed; ErrorCode::verification. Nothing is under the output's name then.
Facts explain(const std::string& in, const std::string& out, const Options& options = {});
Report relayout(const std::string& in, const std::string& out, const Options& options = {});

/// Whether a path is of a format of stores, other than .npy: what `faro permute` gives to relayout().
bool is_store(const std::string& path);

}  // namespace faro::store
