#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "faro/error.hpp"
#include "store/fill_value.hpp"
#include "store/zarr_metadata.hpp"

namespace faro::store {
namespace {

// {"name": …, "configuration": {…}}, or the name alone.
struct Extension {
  std::string name;
  Json configuration = Json::object();
};

Extension extension_of(const Json& json, const char* what, const std::string& operation) {
  if (json.is_string()) return {.name = json.get<std::string>()};
  if (!json.is_object())
    fail(ErrorCode::file, operation, excerpt_of(json) + " for " + what, "a name, or an object with one");
  Extension extension{.name = text_of(json, "name", operation)};
  if (const auto found = json.find("configuration"); found != json.end()) extension.configuration = *found;
  if (!extension.configuration.is_object())
    fail(ErrorCode::file, operation, excerpt_of(extension.configuration) + " for a configuration",
         "an object");
  return extension;
}

Json named(const char* name, Json configuration) {
  return {{"name", name}, {"configuration", std::move(configuration)}};
}

// "datetime64[25s]" of {"unit": "s", "scale_factor": 25}.
std::string time_type(const char* letters, const Json& configuration, const std::string& operation) {
  const std::uint64_t scale = number_of_key(configuration, "scale_factor", operation);
  const std::string unit = text_of(configuration, "unit", operation);
  if (unit == "generic") return letters;
  return fmt::format("{}[{}{}]", letters, scale == 1 ? "" : std::to_string(scale), unit);
}

// And back.
Json json_of_time(const std::string& name) {
  const std::size_t begin = name.find('[') + 1;  // 0: no unit
  const std::string unit = begin == 0 ? "generic" : name.substr(begin, name.size() - begin - 1);
  const std::size_t digits = std::min(unit.find_first_not_of("0123456789"), unit.size());
  const std::uint64_t scale = digits == 0 ? 1 : std::stoull(unit.substr(0, digits));
  return named(name.starts_with('M') ? "numpy.datetime64" : "numpy.timedelta64",
               {{"unit", unit.substr(digits)}, {"scale_factor", scale}});
}

ElementType type_of_json(const Json& json, const std::string& operation) {
  const Extension type = extension_of(json, "a data type", operation);
  const auto length = [&] { return number_of_key(type.configuration, "length_bytes", operation); };
  if (type.name == "numpy.datetime64")
    return element_type_or_fail(time_type("M8", type.configuration, operation), operation);
  if (type.name == "numpy.timedelta64")
    return element_type_or_fail(time_type("m8", type.configuration, operation), operation);
  if (type.name == "null_terminated_bytes")
    return element_type_or_fail(fmt::format("S{}", length()), operation);
  if (type.name == "raw_bytes") return element_type_or_fail(fmt::format("V{}", length()), operation);
  if (type.name == "fixed_length_utf32")
    return element_type_or_fail(fmt::format("U{}", length() / 4), operation);
  std::uint64_t bits = 0;
  const char* const end = type.name.data() + type.name.size();
  if (type.name.starts_with('r') && std::from_chars(type.name.data() + 1, end, bits).ptr == end &&
      bits % 8 == 0)
    return element_type_or_fail(fmt::format("V{}", bits / 8), operation);
  // NumPy's short names are no names here.
  const auto known = element_type(type.name);
  if (known && known->name == type.name && known->number) return *known;
  return element_type_or_fail("`" + type.name + "`", operation);
}

Json json_of_type(const ElementType& type, const std::string& operation) {
  if (type.number) return type.name;
  switch (type.name.front()) {
    case 'V':
      return fmt::format("r{}", type.bytes * 8);
    case 'S':
      return named("null_terminated_bytes", {{"length_bytes", type.bytes}});
    case 'U':
      return named("fixed_length_utf32", {{"length_bytes", type.bytes}});
    case 'M':
    case 'm':
      return json_of_time(type.name);
    default:
      fail(ErrorCode::unsupported, operation, "elements of type " + type.name, "a type that Zarr v3 has");
  }
}

ByteOrder byte_order_of(const Json& configuration, const std::string& operation) {
  const auto found = configuration.find("endian");
  if (found == configuration.end() || *found == "little") return ByteOrder::little;
  if (*found == "big") return ByteOrder::big;
  fail(ErrorCode::file, operation, excerpt_of(*found) + " for `endian`", "\"little\" or \"big\"");
}

int level_of_json(const Json& configuration, const char* key, int otherwise, const std::string& operation) {
  const auto found = configuration.find(key);
  if (found == configuration.end()) return otherwise;
  constexpr int kMost = 200'000;
  if (!found->is_number_integer() || found->get<std::int64_t>() > kMost ||
      found->get<std::int64_t>() < -kMost)
    fail(ErrorCode::file, operation, excerpt_of(*found) + fmt::format(" for `{}`", key), "a level");
  return found->get<int>();
}

Codec codec_of(const Extension& codec, std::uint64_t element_bytes, const std::string& operation) {
  const Json& configuration = codec.configuration;
  if (codec.name == "gzip")
    return {.kind = CodecKind::gzip, .level = level_of_json(configuration, "level", 5, operation)};
  if (codec.name == "zstd") {
    return {.kind = CodecKind::zstd,
            .level = level_of_json(configuration, "level", 0, operation),
            .has_checksum = configuration.value("checksum", false)};
  }
  if (codec.name == "crc32c") return {.kind = CodecKind::crc32c, .level = 0};
  if (codec.name == "blosc") return blosc_of(configuration, element_bytes, operation);
  fail(ErrorCode::unsupported, operation, "the codec `" + codec.name + "`",
       "transpose, bytes, sharding_indexed, gzip, zstd, blosc or crc32c");
}

Json json_of_codec(const Codec& codec, const std::string& operation) {
  switch (codec.kind) {
    case CodecKind::gzip:
      return named("gzip", {{"level", codec.level}});
    case CodecKind::zstd:
      return named("zstd", {{"level", codec.level}, {"checksum", codec.has_checksum}});
    case CodecKind::crc32c:
      return {{"name", "crc32c"}};
    case CodecKind::blosc: {
      constexpr std::array<const char*, 3> kShuffles{"noshuffle", "shuffle", "bitshuffle"};
      Json configuration{{"cname", codec.compressor},
                         {"clevel", codec.level},
                         {"shuffle", kShuffles.at(static_cast<std::size_t>(codec.shuffle))},
                         {"blocksize", codec.block_bytes}};
      if (codec.shuffle != 0) configuration["typesize"] = codec.shuffled_bytes;
      return named("blosc", configuration);
    }
    default:
      fail(ErrorCode::unsupported, operation, fmt::format("the codec {} in Zarr v3", name(codec.kind)),
           "zstd, blosc, gzip or crc32c");
  }
}

// [transpose …] bytes or sharding_indexed [gzip | …]
struct CodecChain {
  std::vector<std::size_t> order;
  std::optional<ByteOrder> byte_order = {};  // nothing: shards
  Json sharding = {};
  std::vector<Codec> codecs = {};
};

void transpose(CodecChain& chain, const Json& configuration, const std::string& operation) {
  const Shape by = shape_of(configuration, "order", operation);
  Shape sorted = by;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = by.size() == chain.order.size();
  for (std::size_t a = 0; is_permutation && a < by.size(); ++a) is_permutation = sorted[a] == a;
  if (!is_permutation)
    fail(ErrorCode::file, operation, excerpt_of(configuration) + " for transpose",
         "a permutation of the axes");
  std::vector<std::size_t> order(by.size());
  for (std::size_t a = 0; a < by.size(); ++a) order[a] = chain.order[by[a]];
  chain.order = std::move(order);
}

CodecChain chain_of(const Json& list, std::size_t rank, const ElementType& type,
                    const std::string& operation) {
  if (!list.is_array()) fail(ErrorCode::file, operation, excerpt_of(list) + " for `codecs`", "a list");
  CodecChain chain{.order = c_order(rank)};
  bool has_bytes = false;
  for (const Json& each : list) {
    const Extension codec = extension_of(each, "a codec", operation);
    if (codec.name == "transpose" && !has_bytes) {
      transpose(chain, codec.configuration, operation);
    } else if (codec.name == "bytes" && !has_bytes) {
      chain.byte_order = byte_order_of(codec.configuration, operation);
      has_bytes = true;
    } else if (codec.name == "sharding_indexed" && !has_bytes) {
      chain.sharding = codec.configuration;
      has_bytes = true;
    } else if (has_bytes) {
      chain.codecs.push_back(codec_of(codec, type.bytes, operation));
    } else {
      fail(ErrorCode::unsupported, operation, "the codec `" + codec.name + "` before `bytes`",
           "transpose, then bytes or sharding_indexed");
    }
  }
  if (!has_bytes)
    fail(ErrorCode::file, operation, "codecs without `bytes` or `sharding_indexed`", "one of them");
  return chain;
}

ShardLevel level_of(const Json& sharding, const Shape& shard, const ElementType& type,
                    const std::string& operation) {
  ShardLevel level{.chunk = shape_of(sharding, "chunk_shape", operation)};
  require_chunks(level.chunk, shard, type.bytes, operation);
  std::uint64_t chunks = 1;
  for (std::size_t a = 0; a < level.chunk.size(); ++a) {
    if (shard[a] % level.chunk[a] != 0)
      fail(ErrorCode::file, operation, "shards that are no whole number of chunks",
           "a multiple along each axis");
    const std::uint64_t along = shard[a] / level.chunk[a];
    if (along > kMostChunksOfShard / chunks)
      fail(ErrorCode::unsupported, operation, "shards of more than 2^24 chunks", "fewer");
    chunks *= along;
  }
  const CodecChain index = chain_of(member(sharding, "index_codecs", operation), shard.size() + 1,
                                    known_element_type("uint64"), operation);
  level.index_has_checksum = index.codecs.size() == 1 && index.codecs.front().kind == CodecKind::crc32c;
  if (!index.byte_order || (!index.codecs.empty() && !level.index_has_checksum) ||
      index.order != c_order(index.order.size()))
    fail(ErrorCode::unsupported, operation, "an index of other codecs than bytes and crc32c", "those");
  level.index_order = *index.byte_order;
  const auto location = sharding.find("index_location");
  level.index_at_end = location == sharding.end() || *location == "end";
  if (!level.index_at_end && *location != "start")
    fail(ErrorCode::file, operation, excerpt_of(*location) + " for `index_location`", "\"start\" or \"end\"");
  return level;
}

// The array's chunks are shards: its chunks are what they hold, or what shards in them do.
void read_shards(ZarrArray& array, CodecChain chain, const std::string& operation) {
  constexpr std::size_t kMostLevels = 4;
  ChunkForm& form = array.form;
  ShardForm shards{.shape = form.shape, .shard = form.chunk, .levels = {}};
  Shape shard = form.chunk;
  while (!chain.byte_order) {
    if (chain.order != c_order(form.shape.size()) || !chain.codecs.empty()) {
      fail(ErrorCode::unsupported, operation, "codecs around `sharding_indexed`",
           "codecs within its `codecs`, which are applied to each chunk");
    }
    if (shards.levels.size() == kMostLevels)
      fail(ErrorCode::unsupported, operation, "shards of more than 4 levels", "fewer");
    shards.levels.push_back(level_of(chain.sharding, shard, form.type, operation));
    shard = shards.levels.back().chunk;
    const Json codecs = member(chain.sharding, "codecs", operation);
    chain = chain_of(codecs, form.shape.size(), form.type, operation);
  }
  form.chunk = shards.chunk();
  form.order = chain.order;
  form.byte_order = *chain.byte_order;
  form.codecs = chain.codecs;
  array.shards = std::move(shards);
}

ChunkKeys keys_of(const Json& metadata, const std::string& operation) {
  const auto found = metadata.find("chunk_key_encoding");
  if (found == metadata.end()) return {};
  const Extension encoding = extension_of(*found, "a chunk key encoding", operation);
  const bool is_default = encoding.name == "default";
  if (!is_default && encoding.name != "v2") {
    fail(ErrorCode::unsupported, operation, "the chunk key encoding `" + encoding.name + "`",
         "`default` or `v2`");
  }
  const std::string separator = encoding.configuration.value("separator", is_default ? "/" : ".");
  if (separator != "/" && separator != ".")
    fail(ErrorCode::file, operation, "a separator that is neither / nor .", "one of them");
  return {.has_prefix = is_default, .separator = separator.front()};
}

// Keys that are not known may say anything, unless they say that they need not be understood.
void require_known_keys(const Json& metadata, const std::string& operation) {
  constexpr std::array kKnown{"zarr_format",     "node_type",           "shape",
                              "data_type",       "chunk_grid",          "fill_value",
                              "codecs",          "attributes",          "chunk_key_encoding",
                              "dimension_names", "storage_transformers"};
  for (const auto& [key, value] : metadata.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) continue;
    if (value.is_object() && value.contains("must_understand") && value["must_understand"] == false) continue;
    fail(ErrorCode::unsupported, operation, "metadata with the key " + excerpt_of(key),
         "keys of Zarr v3's core");
  }
  const auto transformers = metadata.find("storage_transformers");
  if (transformers != metadata.end() && !transformers->empty())
    fail(ErrorCode::unsupported, operation, "storage transformers", "none");
}

Json chain_json(const ChunkForm& form, const std::string& operation) {
  Json codecs = Json::array();
  if (form.order != c_order(form.order.size())) codecs.push_back(named("transpose", {{"order", form.order}}));
  Json bytes = Json::object();
  if (form.type.swapped_together > 1) bytes["endian"] = form.byte_order == ByteOrder::big ? "big" : "little";
  codecs.push_back(bytes.empty() ? Json{{"name", "bytes"}} : named("bytes", bytes));
  for (const Codec& codec : form.codecs) codecs.push_back(json_of_codec(codec, operation));
  return codecs;
}

}  // namespace

void require_chunks(const Shape& chunk, const Shape& shape, std::uint64_t element_bytes,
                    const std::string& operation) {
  if (chunk.size() != shape.size() || is_empty(chunk)) {
    fail(ErrorCode::file, operation, fmt::format("chunks of {} axes, or of no elements", chunk.size()),
         fmt::format("chunks of {} axes, of elements", shape.size()));
  }
  require_shape(chunk, element_bytes, operation);
}

Codec blosc_of(const Json& configuration, std::uint64_t element_bytes, const std::string& operation) {
  Codec codec{.kind = CodecKind::blosc, .level = level_of_json(configuration, "clevel", 5, operation)};
  codec.compressor = text_of(configuration, "cname", operation);
  constexpr std::array<std::string_view, 5> kCompressors{"lz4", "lz4hc", "blosclz", "zlib", "zstd"};
  if (std::find(kCompressors.begin(), kCompressors.end(), codec.compressor) == kCompressors.end())
    fail(ErrorCode::unsupported, operation, "blosc's compressor `" + codec.compressor + "`",
         "lz4, zstd, zlib …");
  constexpr std::array<std::string_view, 3> kShuffles{"noshuffle", "shuffle", "bitshuffle"};
  const auto shuffle = configuration.find("shuffle");
  codec.shuffle = element_bytes == 1 ? 2 : 1;  // what -1 in v2 means
  if (shuffle != configuration.end() && shuffle->is_string()) {
    const auto* const found = std::find(kShuffles.begin(), kShuffles.end(), shuffle->get<std::string>());
    if (found == kShuffles.end())
      fail(ErrorCode::file, operation, excerpt_of(*shuffle) + " for `shuffle`",
           "noshuffle, shuffle or bitshuffle");
    codec.shuffle = static_cast<int>(found - kShuffles.begin());
  } else if (shuffle != configuration.end() && shuffle->is_number_integer()) {
    const auto number = shuffle->get<std::int64_t>();
    if (number < -1 || number > 2)
      fail(ErrorCode::file, operation, excerpt_of(*shuffle) + " for `shuffle`", "-1, 0, 1 or 2");
    if (number >= 0) codec.shuffle = static_cast<int>(number);
  }
  constexpr std::uint64_t kMostTypeBytes = 255;  // blosc takes more for 1
  codec.shuffled_bytes = configuration.contains("typesize")
                             ? number_of_key(configuration, "typesize", operation)
                             : element_bytes;
  if (codec.shuffled_bytes == 0 || codec.shuffled_bytes > kMostTypeBytes) codec.shuffled_bytes = 1;
  if (configuration.contains("blocksize"))
    codec.block_bytes = number_of_key(configuration, "blocksize", operation) & 0x7fffffff;
  return codec;
}

ZarrArray read_zarr_v3(const Json& metadata, const std::string& operation) {
  require_known_keys(metadata, operation);
  ZarrArray array;
  ChunkForm& form = array.form;
  form.shape = shape_of(metadata, "shape", operation);
  form.type = type_of_json(member(metadata, "data_type", operation), operation);
  require_shape(form.shape, form.type.bytes, operation);
  const Extension grid = extension_of(member(metadata, "chunk_grid", operation), "a chunk grid", operation);
  if (grid.name != "regular")
    fail(ErrorCode::unsupported, operation, "the chunk grid `" + grid.name + "`", "`regular`");
  form.chunk = shape_of(grid.configuration, "chunk_shape", operation);
  require_chunks(form.chunk, form.shape, form.type.bytes, operation);
  array.keys = keys_of(metadata, operation);
  const CodecChain chain =
      chain_of(member(metadata, "codecs", operation), form.shape.size(), form.type, operation);
  if (chain.byte_order) {
    form.order = chain.order;
    form.byte_order = *chain.byte_order;
    form.codecs = chain.codecs;
  } else {
    read_shards(array, chain, operation);
  }
  form.fill = fill_of_json(member(metadata, "fill_value", operation), form.type, operation);
  array.notes.fill = form.fill;
  if (const auto found = metadata.find("attributes"); found != metadata.end()) {
    if (!found->is_object())
      fail(ErrorCode::file, operation, excerpt_of(*found) + " for `attributes`", "an object");
    array.notes.attributes = *found;
  }
  if (const auto found = metadata.find("dimension_names"); found != metadata.end() && !found->is_null()) {
    if (!found->is_array() || found->size() != form.shape.size())
      fail(ErrorCode::file, operation, excerpt_of(*found) + " for `dimension_names`", "one for each axis");
    array.notes.dimension_names.assign(found->begin(), found->end());
  }
  return array;
}

Json zarr_v3_of(const ZarrArray& array, const std::string& operation) {
  const ChunkForm& form = array.form;
  Json json{{"zarr_format", 3}, {"node_type", "array"}, {"shape", form.shape}};
  json["data_type"] = json_of_type(form.type, operation);
  json["chunk_grid"] = named("regular", {{"chunk_shape", array.shards ? array.shards->shard : form.chunk}});
  json["chunk_key_encoding"] =
      named(array.keys.has_prefix ? "default" : "v2", {{"separator", std::string(1, array.keys.separator)}});
  json["fill_value"] =
      json_of_fill(form.fill.empty() ? Bytes(form.type.bytes) : form.fill, form.type, FillText::v3);
  json["codecs"] = chain_json(form, operation);
  if (array.shards) {
    for (auto level = array.shards->levels.rbegin(); level != array.shards->levels.rend(); ++level) {
      Json index = Json::array(
          {named("bytes", {{"endian", level->index_order == ByteOrder::big ? "big" : "little"}})});
      if (level->index_has_checksum) index.push_back({{"name", "crc32c"}});
      json["codecs"] = Json::array(
          {named("sharding_indexed", {{"chunk_shape", level->chunk},
                                      {"codecs", json["codecs"]},
                                      {"index_codecs", index},
                                      {"index_location", level->index_at_end ? "end" : "start"}})});
    }
  }
  json["attributes"] = array.notes.attributes;
  if (!array.notes.dimension_names.empty()) json["dimension_names"] = array.notes.dimension_names;
  json["storage_transformers"] = Json::array();
  return json;
}

}  // namespace faro::store
