#include "cli/store_options.hpp"

#include "cli/arguments.hpp"

namespace faro::cli {

void StoreOptions::add(CLI::App& command) {
  add_text(command, "--chunks", chunks, "EXTENTS",
           "Of a Zarr store or HDF5: extents of chunks, such as 256,256,64; of TIFF: of tiles");
  add_text(command, "--shard-chunks", shards, "EXTENTS",
           "Of a Zarr v3 store: extents of its shards, multiples of the chunks'; A/B: shards B within A");
  add_text(command, "--codec", codec, "CODEC",
           "none, zstd:3, gzip:1, blosc:lz4:5:shuffle, lz4, with +crc32c behind it; of HDF5 gzip, "
           "shuffle+gzip, szip");
  add_text(command, "--format", format, "FORMAT", "zarr2 or zarr3, where the name of OUT does not tell");
  command.add_flag("--explain", explain, "Of stores: explain how it would be done, and write nothing");
}

bool StoreOptions::is_given() const {
  return explain || !chunks.empty() || !shards.empty() || !codec.empty() || !format.empty();
}

}  // namespace faro::cli
