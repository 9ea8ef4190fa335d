#include "store/codecs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include "faro/error.hpp"

#ifdef FARO_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef FARO_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef FARO_HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef FARO_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef FARO_HAVE_SZ
extern "C" {
#include <szlib.h>
}
#endif

namespace faro::store {
namespace {

using Data = std::vector<std::byte>;
using View = std::span<const std::byte>;

constexpr std::uint64_t kCrcBytes = 4;
constexpr std::uint64_t kMostOfInts = std::numeric_limits<std::int32_t>::max() - 64;

[[noreturn]] void fail_encoding(const char* codec) {
  fail(ErrorCode::internal, "encode a chunk", fmt::format("a failure of the library of {}", codec),
       "encoded bytes");
}

#ifdef FARO_HAVE_ZLIB
// What inflate() is told: both of zlib's containers.
constexpr int kWindowBits = 15;
constexpr int kAnyContainer = 32;
constexpr int kGzipContainer = 16;

DecodeFault inflate_all(const Codec& /*codec*/, View from, Data& to, std::uint64_t most) {
  to.resize(most);
  std::uint64_t made = 0;
  std::uint64_t taken = 0;
  // A gzip file may have several members.
  do {
    z_stream stream{};
    if (inflateInit2(&stream, kWindowBits + kAnyContainer) != Z_OK) return "no memory for zlib";
    int result = Z_OK;
    while (result == Z_OK) {
      const auto in = static_cast<uInt>(std::min(from.size() - taken, kMostOfInts));
      const auto out = static_cast<uInt>(std::min(most - made, kMostOfInts));
      std::byte none{};  // zlib wants to be told of a place even for nothing
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + taken));
      stream.avail_in = in;
      stream.next_out = reinterpret_cast<Bytef*>(out > 0 ? to.data() + made : &none);
      stream.avail_out = out;
      result = inflate(&stream, Z_NO_FLUSH);
      taken += in - stream.avail_in;
      made += out - stream.avail_out;
      if (result == Z_BUF_ERROR || (result == Z_OK && in == stream.avail_in && out == stream.avail_out))
        break;
    }
    inflateEnd(&stream);
    if (result == Z_BUF_ERROR || result == Z_OK)
      return made == most ? "a stream of more bytes than the chunk has" : "a stream that ends too early";
    if (result != Z_STREAM_END) return "a stream that zlib cannot decode";
  } while (taken < from.size());
  to.resize(made);
  return {};
}

void deflate_all(View from, Data& to, int level, int container) {
  z_stream stream{};
  constexpr int kMemory = 8;  // zlib's default
  if (deflateInit2(&stream, level, Z_DEFLATED, kWindowBits + container, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    fail_encoding("zlib");
  to.resize(deflateBound(&stream, from.size()) + 64);
  std::uint64_t made = 0;
  std::uint64_t taken = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const auto in = static_cast<uInt>(std::min(from.size() - taken, kMostOfInts));
    const auto out = static_cast<uInt>(std::min(to.size() - made, kMostOfInts));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + made);
    stream.avail_out = out;
    result = deflate(&stream, taken + in == from.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
  }
  deflateEnd(&stream);
  if (result != Z_STREAM_END) fail_encoding("zlib");
  to.resize(made);
}
#endif

#ifdef FARO_HAVE_ZSTD
DecodeFault zstd_decode(const Codec& /*codec*/, View from, Data& to, std::uint64_t most) {
  // A frame that says how much it holds is believed only as far as it may.
  to.resize(most);
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  const std::size_t made = ZSTD_decompressDCtx(context.get(), to.data(), most, from.data(), from.size());
  if (ZSTD_isError(made)) return fmt::format("a stream that zstd cannot decode: {}", ZSTD_getErrorName(made));
  to.resize(made);
  return {};
}

void zstd_encode(const Codec& codec, View from, Data& to) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, codec.level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, codec.has_checksum ? 1 : 0);
  to.resize(ZSTD_compressBound(from.size()));
  const std::size_t made = ZSTD_compress2(context.get(), to.data(), to.size(), from.data(), from.size());
  if (ZSTD_isError(made)) fail_encoding("zstd");
  to.resize(made);
}
#endif

#ifdef FARO_HAVE_BLOSC
DecodeFault blosc_decode(const Codec& /*codec*/, View from, Data& to, std::uint64_t most) {
  std::size_t bytes = 0;
  if (from.size() < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(from.data(), from.size(), &bytes) != 0)
    return "bytes that are no Blosc buffer";
  if (bytes > most) return fmt::format("a Blosc buffer of {} bytes", bytes);
  to.resize(bytes);
  if (bytes == 0) return {};
  const int made = blosc_decompress_ctx(from.data(), to.data(), bytes, 1);
  if (made < 0 || static_cast<std::size_t>(made) != bytes) return "a buffer that Blosc cannot decode";
  return {};
}

void blosc_encode(const Codec& codec, View from, Data& to) {
  if (from.size() > BLOSC_MAX_BUFFERSIZE) {
    fail(ErrorCode::unsupported, "encode a chunk", fmt::format("{} bytes by blosc", from.size()),
         "less than 2 GiB", "smaller chunks, or the codec zstd");
  }
  to.resize(from.size() + BLOSC_MAX_OVERHEAD);
  const int made =
      blosc_compress_ctx(codec.level, codec.shuffle, codec.shuffled_bytes, from.size(), from.data(),
                         to.data(), to.size(), codec.compressor.c_str(), codec.block_bytes, 1);
  if (made <= 0) fail_encoding("blosc");
  to.resize(static_cast<std::size_t>(made));
}
#endif

#ifdef FARO_HAVE_LZ4
// As numcodecs writes it: the length in four bytes, then a block.
constexpr std::uint64_t kLz4Header = 4;

DecodeFault lz4_decode(const Codec& /*codec*/, View from, Data& to, std::uint64_t most) {
  std::uint32_t bytes = 0;
  if (from.size() < kLz4Header) return "fewer bytes than LZ4's length has";
  std::memcpy(&bytes, from.data(), kLz4Header);
  if (bytes > most) return fmt::format("a block of {} bytes", bytes);
  to.resize(bytes);
  const View block = from.subspan(kLz4Header);
  if (block.size() > kMostOfInts || bytes > kMostOfInts) return "a block of more than LZ4 takes";
  const int made =
      LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(to.data()),
                          static_cast<int>(block.size()), static_cast<int>(bytes));
  if (made < 0 || static_cast<std::uint32_t>(made) != bytes) return "a block that LZ4 cannot decode";
  return {};
}

void lz4_encode(const Codec& codec, View from, Data& to) {
  if (from.size() > LZ4_MAX_INPUT_SIZE) {
    fail(ErrorCode::unsupported, "encode a chunk", fmt::format("{} bytes by lz4", from.size()),
         "less than 2 GiB", "smaller chunks, or the codec zstd");
  }
  const auto bytes = static_cast<std::uint32_t>(from.size());
  to.resize(kLz4Header + static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes))));
  std::memcpy(to.data(), &bytes, kLz4Header);
  const int made = LZ4_compress_fast(reinterpret_cast<const char*>(from.data()),
                                     reinterpret_cast<char*>(to.data() + kLz4Header), static_cast<int>(bytes),
                                     static_cast<int>(to.size() - kLz4Header), codec.level);
  if (made <= 0) fail_encoding("lz4");
  to.resize(kLz4Header + static_cast<std::size_t>(made));
}
#endif

#ifdef FARO_HAVE_SZ
// As HDF5 stores it: the length in four bytes, then a stream.
constexpr std::uint64_t kSzipHeader = 4;

SZ_com_t szip_parameters(const Codec& codec) {
  return {.options_mask = static_cast<int>(codec.szip[0]),
          .bits_per_pixel = static_cast<int>(codec.szip[2]),
          .pixels_per_block = static_cast<int>(codec.szip[1]),
          .pixels_per_scanline = static_cast<int>(codec.szip[3])};
}

// What its library takes.
bool are_of_szip(const Codec& codec) {
  constexpr std::uint32_t kMostOfBlock = 32;
  constexpr std::uint32_t kMostOfLine = 4096;
  constexpr std::uint32_t kMostBits = 64;
  const auto& [options, block, bits, line] = codec.szip;
  return block > 0 && block <= kMostOfBlock && block % 2 == 0 && bits > 0 && bits <= kMostBits && line > 0 &&
         line <= kMostOfLine;
}

DecodeFault szip_decode(const Codec& codec, View from, Data& to, std::uint64_t most) {
  std::uint32_t bytes = 0;
  if (from.size() < kSzipHeader) return "fewer bytes than szip's length has";
  std::memcpy(&bytes, from.data(), kSzipHeader);
  if (bytes > most) return fmt::format("a stream of {} bytes", bytes);
  if (!are_of_szip(codec))
    return fmt::format("blocks and lines that szip has not ({})", fmt::join(codec.szip, ", "));
  to.resize(bytes);
  std::size_t made = bytes;
  SZ_com_t parameters = szip_parameters(codec);
  const View stream = from.subspan(kSzipHeader);
  if (SZ_BufftoBuffDecompress(to.data(), &made, stream.data(), stream.size(), &parameters) != SZ_OK ||
      made != bytes)
    return "a stream that szip cannot decode";
  return {};
}

void szip_encode(const Codec& codec, View from, Data& to) {
  if (from.size() > kMostOfInts) {
    fail(ErrorCode::unsupported, "encode a chunk", fmt::format("{} bytes by szip", from.size()),
         "less than 2 GiB", "smaller chunks");
  }
  if (!are_of_szip(codec)) fail_encoding("szip");
  const auto bytes = static_cast<std::uint32_t>(from.size());
  to.resize(most_encoded_bytes({codec}, bytes));
  std::memcpy(to.data(), &bytes, kSzipHeader);
  std::size_t made = to.size() - kSzipHeader;
  SZ_com_t parameters = szip_parameters(codec);
  if (SZ_BufftoBuffCompress(to.data() + kSzipHeader, &made, from.data(), from.size(), &parameters) != SZ_OK)
    fail_encoding("szip");
  to.resize(kSzipHeader + made);
}
#endif

DecodeFault crc_decode(const Codec& /*codec*/, View from, Data& to, std::uint64_t /*most*/) {
  if (from.size() < kCrcBytes) return "fewer bytes than a checksum has";
  const View data = from.first(from.size() - kCrcBytes);
  std::uint32_t wanted = 0;
  std::memcpy(&wanted, from.data() + data.size(), kCrcBytes);
  if (const std::uint32_t got = crc32c(data); got != wanted)
    return fmt::format("the checksum {:08x}, where the bytes have {:08x}", wanted, got);
  to.assign(data.begin(), data.end());
  return {};
}

void crc_encode(const Codec& /*codec*/, View from, Data& to) {
  const std::uint32_t sum = crc32c(from);
  to.assign(from.begin(), from.end());
  to.resize(from.size() + kCrcBytes);
  std::memcpy(to.data() + from.size(), &sum, kCrcBytes);
}

// Calls move with the bytes of an element, as a constant where that is usual: loops over it become vectors'.
template <typename Move>
void with_bytes_of_element(std::uint64_t bytes, const Move& move) {
  switch (bytes) {
    case 2:
      return move(std::integral_constant<std::uint64_t, 2>());
    case 4:
      return move(std::integral_constant<std::uint64_t, 4>());
    case 8:
      return move(std::integral_constant<std::uint64_t, 8>());
    default:
      return move(bytes);
  }
}

// First bytes of all elements, then their second bytes, …; what is left at the end stays.
DecodeFault unshuffle(const Codec& codec, View from, Data& to, std::uint64_t /*most*/) {
  to.assign(from.begin(), from.end());
  with_bytes_of_element(codec.shuffled_bytes, [in = from.data(), out = to.data(), &from](auto bytes) {
    const std::uint64_t count = from.size() / bytes;
    for (std::uint64_t e = 0; e < count; ++e) {
      for (std::uint64_t b = 0; b < bytes; ++b) out[e * bytes + b] = in[b * count + e];
    }
  });
  return {};
}

void shuffle(const Codec& codec, View from, Data& to) {
  to.assign(from.begin(), from.end());
  with_bytes_of_element(codec.shuffled_bytes, [in = from.data(), out = to.data(), &from](auto bytes) {
    const std::uint64_t count = from.size() / bytes;
    for (std::uint64_t b = 0; b < bytes; ++b) {
      for (std::uint64_t e = 0; e < count; ++e) out[b * count + e] = in[e * bytes + b];
    }
  });
}

// What this build decodes and encodes, each by its library.
struct Coder {
  CodecKind kind;
  DecodeFault (*decode)(const Codec& codec, View from, Data& to, std::uint64_t most);
  void (*encode)(const Codec& codec, View from, Data& to);
};
constexpr std::array kCoders{
#ifdef FARO_HAVE_ZLIB
    Coder{
        CodecKind::gzip, inflate_all,
        [](const Codec& codec, View from, Data& to) { deflate_all(from, to, codec.level, kGzipContainer); }},
    Coder{CodecKind::zlib, inflate_all,
          [](const Codec& codec, View from, Data& to) { deflate_all(from, to, codec.level, 0); }},
#endif
#ifdef FARO_HAVE_ZSTD
    Coder{CodecKind::zstd, zstd_decode, zstd_encode},
#endif
#ifdef FARO_HAVE_BLOSC
    Coder{CodecKind::blosc, blosc_decode, blosc_encode},
#endif
#ifdef FARO_HAVE_LZ4
    Coder{CodecKind::lz4, lz4_decode, lz4_encode},
#endif
#ifdef FARO_HAVE_SZ
    Coder{CodecKind::szip, szip_decode, szip_encode},
#endif
    Coder{CodecKind::crc32c, crc_decode, crc_encode},
    Coder{CodecKind::shuffle, unshuffle, shuffle}};

// Null: this build has none.
const Coder* coder_of(CodecKind kind) {
  const auto* const found =
      std::find_if(kCoders.begin(), kCoders.end(), [&](const Coder& each) { return each.kind == kind; });
  return found == kCoders.end() ? nullptr : found;
}

// What each adds at most.
std::uint64_t most_added(CodecKind kind, std::uint64_t bytes) {
  constexpr std::uint64_t kHeaders = 128;
  switch (kind) {
    case CodecKind::crc32c:
      return kCrcBytes;
    case CodecKind::shuffle:
      return 0;
    case CodecKind::lz4:
    case CodecKind::zstd:
      return bytes / 128 + kHeaders;
    case CodecKind::szip:
      return bytes / 2 + 1024;  // an option a block, of 8 bits at least
    default:
      return bytes / 1000 + kHeaders;  // deflate: 5 bytes a block of 16 KiB
  }
}

struct Levels {
  int least;
  int most;
  int usual;
};
Levels levels_of(CodecKind kind) {
  switch (kind) {
    case CodecKind::zstd:
      return {-131072, 22, 3};
    case CodecKind::lz4:
      return {1, 65536, 1};
    default:
      return {0, 9, 5};
  }
}

bool has_level(CodecKind kind) {
  return kind != CodecKind::crc32c && kind != CodecKind::shuffle && kind != CodecKind::szip;
}

// Those that a text names.
constexpr std::array kKinds{CodecKind::gzip, CodecKind::zlib,   CodecKind::zstd,    CodecKind::blosc,
                            CodecKind::lz4,  CodecKind::crc32c, CodecKind::shuffle, CodecKind::szip};
constexpr std::array<std::string_view, 3> kShuffles{"noshuffle", "shuffle", "bitshuffle"};
constexpr std::array<std::string_view, 5> kCompressors{"lz4", "lz4hc", "blosclz", "zlib", "zstd"};

[[noreturn]] void fail_codec(std::string_view text, std::string_view part) {
  fail(ErrorCode::value, fmt::format("read codec `{}`", text), fmt::format("`{}`", part),
       "none, gzip, zlib, zstd, blosc, lz4, crc32c, shuffle or szip, joined by + and with a level behind a "
       "colon",
       "for example zstd:3, blosc:lz4:5:shuffle or gzip:1+crc32c");
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end + 1;
  }
}

std::optional<int> level_of(std::string_view word, Levels levels) {
  int level = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), level);
  if (failed != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  if (level < levels.least || level > levels.most) return std::nullopt;
  return level;
}

Codec parse_codec(std::string_view all, std::string_view text, std::uint64_t element_bytes) {
  const std::vector<std::string_view> words = split(text, ':');
  const auto* const kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](CodecKind each) { return name(each) == words.front(); });
  if (kind == kKinds.end()) fail_codec(all, text);
  Codec codec{.kind = *kind, .level = levels_of(*kind).usual};
  for (std::size_t w = 1; w < words.size(); ++w) {
    const std::string_view word = words[w];
    const auto* const shuffle = std::find(kShuffles.begin(), kShuffles.end(), word);
    const bool is_blosc = *kind == CodecKind::blosc;
    if (const auto level = level_of(word, levels_of(*kind)); level && has_level(*kind)) {
      codec.level = *level;
    } else if (is_blosc && shuffle != kShuffles.end()) {
      codec.shuffle = static_cast<int>(shuffle - kShuffles.begin());
    } else if (is_blosc && std::find(kCompressors.begin(), kCompressors.end(), word) != kCompressors.end()) {
      codec.compressor = word;
    } else {
      fail_codec(all, word);
    }
  }
  if (*kind == CodecKind::blosc || *kind == CodecKind::shuffle) codec.shuffled_bytes = element_bytes;
  return codec;
}

}  // namespace

const char* name(CodecKind kind) noexcept {
  constexpr std::array kCodecNames{"gzip", "zlib", "zstd", "blosc", "lz4", "crc32c", "shuffle", "szip"};
  return kCodecNames.at(static_cast<std::size_t>(kind));
}

std::vector<Codec> parse_codecs(std::string_view text, std::uint64_t element_bytes) {
  if (text == "none") return {};
  std::vector<Codec> codecs;
  for (const std::string_view part : split(text, '+'))
    codecs.push_back(parse_codec(text, part, element_bytes));
  return codecs;
}

std::vector<Codec> usual_codecs() { return {{.kind = CodecKind::zstd, .level = 3}}; }

std::string to_text(const std::vector<Codec>& codecs) {
  if (codecs.empty()) return "none";
  std::string text;
  for (const Codec& codec : codecs) {
    if (!text.empty()) text += '+';
    text += name(codec.kind);
    if (codec.kind == CodecKind::blosc) text += ":" + codec.compressor;
    if (has_level(codec.kind)) text += fmt::format(":{}", codec.level);
    if (codec.kind == CodecKind::blosc)
      text += fmt::format(":{}", kShuffles.at(static_cast<std::size_t>(codec.shuffle)));
  }
  return text;
}

void require_built(const std::vector<Codec>& codecs, const std::string& operation) {
  for (const Codec& codec : codecs) {
    if (coder_of(codec.kind) != nullptr) continue;
    fail(ErrorCode::unsupported, operation, fmt::format("the codec {}", name(codec.kind)),
         "a codec that this build has",
         "tools/install_dependencies.sh installs its library, for a new build");
  }
}

DecodeFault decode(const std::vector<Codec>& codecs, Data& data, std::uint64_t bytes, Data& between) {
  for (std::size_t c = codecs.size(); c-- > 0;) {
    const std::uint64_t most =
        c == 0 ? bytes
               : most_encoded_bytes({codecs.begin(), codecs.begin() + static_cast<std::ptrdiff_t>(c)}, bytes);
    const Coder* const coder = coder_of(codecs[c].kind);
    if (coder == nullptr) return fmt::format("the codec {}, which this build has not", name(codecs[c].kind));
    if (DecodeFault fault = coder->decode(codecs[c], data, between, most); !fault.empty()) return fault;
    data.swap(between);
  }
  if (data.size() != bytes) return fmt::format("{} bytes", data.size());
  return {};
}

View encode(const std::vector<Codec>& codecs, View data, Data& stored, Data& between) {
  for (const Codec& codec : codecs) {
    const Coder* const coder = coder_of(codec.kind);
    if (coder == nullptr) require_built({codec}, "encode a chunk");
    coder->encode(codec, data, between);
    stored.swap(between);
    data = stored;
  }
  return data;
}

std::uint64_t most_encoded_bytes(const std::vector<Codec>& codecs, std::uint64_t bytes) {
  for (const Codec& codec : codecs) bytes += most_added(codec.kind, bytes);
  return bytes;
}

// The time of one thread, beside a copy of some 4 GB/s.
double decode_cost(const std::vector<Codec>& codecs) {
  double cost = 0;
  for (const Codec& codec : codecs) {
    const bool is_deflate = codec.kind == CodecKind::gzip || codec.kind == CodecKind::zlib;
    const bool is_szip = codec.kind == CodecKind::szip;
    cost += is_deflate || is_szip ? 12 : codec.kind == CodecKind::zstd ? 4 : 2;
  }
  return cost;
}

double encode_cost(const std::vector<Codec>& codecs) {
  double cost = 0;
  for (const Codec& codec : codecs) {
    const bool is_deflate = codec.kind == CodecKind::gzip || codec.kind == CodecKind::zlib;
    const bool is_middling = codec.kind == CodecKind::zstd || codec.kind == CodecKind::szip;
    cost += is_deflate ? 60 : is_middling ? 12 : 3;
  }
  return cost;
}

std::uint32_t crc32_zip(std::uint32_t before, std::span<const std::byte> data) {
#ifdef FARO_HAVE_ZLIB
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(data.data()), data.size()));
#else
  static_cast<void>(before);
  static_cast<void>(data);
  fail(ErrorCode::unsupported, "write ZIP", "a build without zlib", "one with it");
#endif
}

std::uint32_t crc32c(std::span<const std::byte> data) {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected
  constexpr std::size_t kAtOnce = 8;
  // tables[k][b]: of byte b with k zero bytes behind it.
  static const auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, kAtOnce> made{};
    for (std::uint32_t b = 0; b < 256; ++b) {
      std::uint32_t rest = b;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest % 2 == 1 ? kPolynomial : 0);
      made[0][b] = rest;
    }
    for (std::size_t k = 1; k < kAtOnce; ++k) {
      for (std::size_t b = 0; b < 256; ++b)
        made[k][b] = (made[k - 1][b] >> 8) ^ made[0][made[k - 1][b] & 255];
    }
    return made;
  }();
  std::uint32_t sum = ~std::uint32_t{0};
  std::size_t at = 0;
  for (; at + kAtOnce <= data.size(); at += kAtOnce) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + at, kAtOnce);
    word ^= sum;
    sum = 0;
    for (std::size_t k = 0; k < kAtOnce; ++k) sum ^= tables[kAtOnce - 1 - k][word >> (8 * k) & 255];
  }
  for (; at < data.size(); ++at)
    sum = (sum >> 8) ^ tables[0][(sum ^ static_cast<std::uint32_t>(data[at])) & 255];
  return ~sum;
}

}  // namespace faro::store
