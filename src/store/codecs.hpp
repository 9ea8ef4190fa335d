// What makes a chunk's bytes fewer, or safe: the codecs of bytes to bytes that Zarr and others chain.
//
//     elements  ->  [shuffle]  ->  [gzip | zstd | blosc | lz4 | zlib]  ->  [crc32c]  ->  the file     and back
//
// The work is done by zlib, libzstd, libblosc, liblz4 and libsz; a build without one of them refuses its
// codec by name. What is decoded has a length that is known: a stream that gives more or less is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faro::store {

enum class CodecKind : std::uint8_t { gzip, zlib, zstd, blosc, lz4, crc32c, shuffle, szip };

/// "gzip", "zlib", "zstd", "blosc", "lz4", "crc32c", "shuffle" or "szip".
const char* name(CodecKind kind) noexcept;

struct Codec {
  CodecKind kind = CodecKind::zstd;
  int level = 3;
  bool has_checksum = false;         // of zstd's frames
  std::string compressor = "zstd";   // inside of blosc
  int shuffle = 1;                   // of blosc: 0 none, 1 bytes, 2 bits
  std::uint64_t shuffled_bytes = 1;  // of blosc and shuffle: an element's
  std::uint64_t block_bytes = 0;     // of blosc; 0: its own choice
  /// Of szip: options, pixels of a block, bits of a pixel, pixels of a line; 0: as HDF5 chooses.
  std::array<std::uint32_t, 4> szip = {};

  bool operator==(const Codec&) const = default;
};

/// "zstd:3", "blosc:lz4:5:bitshuffle", "shuffle+gzip:1", "zstd:3+crc32c"; "none" is no codec. `element_bytes`
/// is what is shuffled. Errors: ErrorCode::value.
std::vector<Codec> parse_codecs(std::string_view text, std::uint64_t element_bytes);
/// Where none is asked for: zstd.
std::vector<Codec> usual_codecs();
/// Law: parse_codecs(to_text(c), e) == c but for has_checksum, block_bytes and szip.
std::string to_text(const std::vector<Codec>& codecs);

/// Errors: ErrorCode::unsupported with `operation` for one that this build has not.
void require_built(const std::vector<Codec>& codecs, const std::string& operation);

/// What decoding found wrong, in words; empty: nothing.
using DecodeFault = std::string;

/// `data` decoded in the reverse order of the codecs to exactly `bytes` bytes, into `data`, by way of
/// `between`. Nothing is allocated on the word of a header beyond `bytes` and what a chain may add to it.
DecodeFault decode(const std::vector<Codec>& codecs, std::vector<std::byte>& data, std::uint64_t bytes,
                   std::vector<std::byte>& between);

/// `data` encoded: itself where there is no codec, else in `stored`. Errors: ErrorCode::internal where a
/// codec's library fails; ErrorCode::unsupported for more bytes than one takes.
std::span<const std::byte> encode(const std::vector<Codec>& codecs, std::span<const std::byte> data,
                                  std::vector<std::byte>& stored, std::vector<std::byte>& between);

/// Bytes that so many are at most when encoded.
std::uint64_t most_encoded_bytes(const std::vector<Codec>& codecs, std::uint64_t bytes);

/// Decoding and encoding a byte takes as long as reading so many from a plain file.
double decode_cost(const std::vector<Codec>& codecs);
double encode_cost(const std::vector<Codec>& codecs);

/// The checksum of RFC 3720.
std::uint32_t crc32c(std::span<const std::byte> data);
/// That of ZIP, of what comes behind bytes whose checksum is `before`, 0 of none. Errors:
/// ErrorCode::unsupported in a build without zlib.
std::uint32_t crc32_zip(std::uint32_t before, std::span<const std::byte> data);

}  // namespace faro::store
