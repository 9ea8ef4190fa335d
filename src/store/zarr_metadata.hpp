// The metadata of an array in Zarr's two versions, and what it says of chunks.
//
//     v3   zarr.json                   {"zarr_format": 3, "node_type": "array", "shape": …, "codecs": [
//                                         {"name": "transpose", …}, {"name": "bytes", …}, {"name": "zstd", …}]}
//          with shards                 {"name": "sharding_indexed", …: chunks and codecs of their own}
//     v2   .zarray and .zattrs         {"zarr_format": 2, "shape": …, "order": "F", "compressor": {"id": "blosc", …}}
#pragma once

#include <string>

#include "store/format.hpp"
#include "store/json.hpp"
#include "store/zarr_chunks.hpp"

namespace faro::store {

struct ZarrArray {
  ChunkForm form = {};
  ChunkKeys keys = {};
  std::optional<ShardForm> shards = {};
  Notes notes = {};
};

/// Errors, all: ErrorCode::file for what is malformed; ErrorCode::unsupported, naming a codec, type or key
/// that is not known.
ZarrArray read_zarr_v3(const Json& metadata, const std::string& operation);
ZarrArray read_zarr_v2(const Json& metadata, const Json& attributes, const std::string& operation);

/// Laws: read_zarr_v3(zarr_v3_of(a)) is a, and likewise of v2. Errors: ErrorCode::unsupported for a type, a
/// codec or shards that the version has not.
Json zarr_v3_of(const ZarrArray& array, const std::string& operation);
Json zarr_v2_of(const ZarrArray& array, const std::string& operation);
/// What v2 can say of the fill value: NaN has no bits, and where there is no fill value every chunk is
/// stored.
void settle_fill_of_v2(ZarrArray& array);
/// The attributes of v2, with the names of the dimensions as xarray keeps them.
Json zarr_v2_attributes(const ZarrArray& array);

/// Errors: ErrorCode::file for chunks of no elements, of another rank or of 2^62 bytes.
void require_chunks(const Shape& chunk, const Shape& shape, std::uint64_t element_bytes,
                    const std::string& operation);

/// A codec of blosc from the keys that both versions have.
Codec blosc_of(const Json& configuration, std::uint64_t element_bytes, const std::string& operation);

}  // namespace faro::store
