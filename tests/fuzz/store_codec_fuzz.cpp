// Any bytes as a chunk by every codec: as many bytes as the chunk has, or a fault in words; and what is
// encoded is decoded.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "store/codecs.hpp"

namespace {

using namespace faro;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<store::Codec> codecs_numbered(std::uint64_t number) {
  constexpr std::array kTexts{
      "gzip:1", "zlib:1", "zstd:1",         "blosc:lz4:1:shuffle", "blosc:zstd:1:bitshuffle",
      "lz4",    "crc32c", "shuffle+gzip:1", "zstd:1+crc32c",       "shuffle",
      "szip",   "none"};
  std::vector<store::Codec> codecs =
      store::parse_codecs(kTexts.at(number % kTexts.size()), 1 + number / kTexts.size() % 8);
  for (store::Codec& codec : codecs) {
    if (codec.kind == store::CodecKind::szip) codec.szip = {141, 16, 32, 64};  // as HDF5 has float32
  }
  return codecs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHeader = 3;
  if (size < kHeader) return 0;
  const std::vector<store::Codec> codecs = codecs_numbered(data[0]);
  try {
    store::require_built(codecs, "fuzz");
  } catch (const Error&) {
    return 0;
  }
  const std::uint64_t bytes = data[1] + 256U * data[2];
  const auto input = std::as_bytes(std::span(data, size)).subspan(kHeader);
  std::vector<std::byte> chunk(input.begin(), input.end());
  std::vector<std::byte> between;
  const store::DecodeFault fault = store::decode(codecs, chunk, bytes, between);
  require(fault.find('\n') == std::string::npos && (!fault.empty() || chunk.size() == bytes));
  // What szip takes are whole lines of pixels.
  if (input.empty() || (codecs.size() == 1 && codecs.front().kind == store::CodecKind::szip)) return 0;
  std::vector<std::byte> stored;
  const auto encoded = store::encode(codecs, input, stored, between);
  require(encoded.size() <= store::most_encoded_bytes(codecs, input.size()));
  std::vector<std::byte> back(encoded.begin(), encoded.end());
  require(store::decode(codecs, back, input.size(), between).empty());
  require(std::equal(back.begin(), back.end(), input.begin(), input.end()));
  return 0;
}
