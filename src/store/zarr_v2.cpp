#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "store/fill_value.hpp"
#include "store/zarr_metadata.hpp"

namespace faro::store {
namespace {

// Where xarray keeps the names of dimensions.
constexpr const char* kDimensions = "_ARRAY_DIMENSIONS";

std::vector<Codec> compressor_of(const Json& json, std::uint64_t element_bytes,
                                 const std::string& operation) {
  if (json.is_null()) return {};
  const std::string id = text_of(json, "id", operation);
  const auto level = [&](const char* key, int otherwise) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<int>() : otherwise;
  };
  if (id == "blosc") return {blosc_of(json, element_bytes, operation)};
  if (id == "zlib") return {{.kind = CodecKind::zlib, .level = level("level", 1)}};
  if (id == "gzip") return {{.kind = CodecKind::gzip, .level = level("level", 1)}};
  if (id == "zstd")
    return {
        {.kind = CodecKind::zstd, .level = level("level", 1), .has_checksum = json.value("checksum", false)}};
  if (id == "lz4") return {{.kind = CodecKind::lz4, .level = level("acceleration", 1)}};
  fail(ErrorCode::unsupported, operation, "the compressor " + excerpt_of(id),
       "blosc, zlib, gzip, zstd or lz4");
}

Json json_of_compressor(const std::vector<Codec>& codecs, const std::string& operation) {
  if (codecs.empty()) return nullptr;
  const Codec& codec = codecs.front();
  if (codecs.size() > 1 || codec.kind == CodecKind::crc32c)
    fail(ErrorCode::unsupported, operation, "the codecs " + to_text(codecs) + " in Zarr v2",
         "one compressor");
  Json json{{"id", name(codec.kind)}};
  switch (codec.kind) {
    case CodecKind::blosc:
      json["cname"] = codec.compressor;
      json["clevel"] = codec.level;
      json["shuffle"] = codec.shuffle;
      json["blocksize"] = codec.block_bytes;
      break;
    case CodecKind::lz4:
      json["acceleration"] = codec.level;
      break;
    default:
      json["level"] = codec.level;
  }
  return json;
}

}  // namespace

ZarrArray read_zarr_v2(const Json& metadata, const Json& attributes, const std::string& operation) {
  ZarrArray array{.keys = {.has_prefix = false, .separator = '.'}};
  ChunkForm& form = array.form;
  form.shape = shape_of(metadata, "shape", operation);
  const Json& dtype = member(metadata, "dtype", operation);
  if (!dtype.is_string())
    fail(ErrorCode::unsupported, operation, "a structured dtype", "one type for all of an element");
  const std::string text = dtype.get<std::string>();
  form.type = element_type_or_fail(text, operation);
  if (form.type.swapped_together > 1) form.byte_order = byte_order_named(text).value_or(ByteOrder::little);
  require_shape(form.shape, form.type.bytes, operation);
  form.chunk = shape_of(metadata, "chunks", operation);
  require_chunks(form.chunk, form.shape, form.type.bytes, operation);
  const std::string order = text_of(metadata, "order", operation);
  if (order != "C" && order != "F")
    fail(ErrorCode::file, operation, "the order " + excerpt_of(order), "\"C\" or \"F\"");
  form.order = c_order(form.shape.size());
  if (order == "F") std::reverse(form.order.begin(), form.order.end());
  const auto filters = metadata.find("filters");
  if (filters != metadata.end() && !filters->is_null() && !(filters->is_array() && filters->empty())) {
    fail(ErrorCode::unsupported, operation, "the filters " + excerpt_of(*filters), "none",
         "Zarr v2's filters, such as shuffle and delta, are not decoded");
  }
  form.codecs = compressor_of(member(metadata, "compressor", operation), form.type.bytes, operation);
  const std::string separator = metadata.value("dimension_separator", ".");
  if (separator != "/" && separator != ".")
    fail(ErrorCode::file, operation, "a dimension separator that is neither / nor .", "one of them");
  array.keys.separator = separator.front();
  const Json& fill = member(metadata, "fill_value", operation);
  form.fill = fill_of_json(fill, form.type, operation);
  if (!fill.is_null()) array.notes.fill = form.fill;
  array.notes.attributes = attributes;
  const auto names = attributes.find(kDimensions);
  if (names != attributes.end() && names->is_array() && names->size() == form.shape.size()) {
    array.notes.dimension_names.assign(names->begin(), names->end());
    array.notes.attributes.erase(kDimensions);
  }
  return array;
}

void settle_fill_of_v2(ZarrArray& array) {
  array.form.has_all = !array.notes.fill;
  if (!array.notes.fill) return;
  const ElementType& type = array.form.type;
  array.form.fill = fill_of_json(json_of_fill(*array.notes.fill, type, FillText::v2), type, "write Zarr v2");
  array.notes.fill = array.form.fill;
}

Json zarr_v2_of(const ZarrArray& array, const std::string& operation) {
  const ChunkForm& form = array.form;
  if (array.shards) fail(ErrorCode::unsupported, operation, "shards in Zarr v2", "Zarr v3, or no shards");
  const auto dtype = numpy_text(form.type, form.byte_order);
  if (!dtype)
    fail(ErrorCode::unsupported, operation, "elements of type " + form.type.name, "a type that Zarr v2 has");
  std::vector<std::size_t> backwards = c_order(form.shape.size());
  std::reverse(backwards.begin(), backwards.end());
  const bool is_fortran = form.order == backwards && form.order != c_order(form.shape.size());
  if (!is_fortran && form.order != c_order(form.shape.size()))
    fail(ErrorCode::unsupported, operation, "chunks with their axes in another order", "C or F in Zarr v2");
  Json json{{"zarr_format", 2}, {"shape", form.shape}, {"chunks", form.chunk}, {"dtype", *dtype}};
  json["compressor"] = json_of_compressor(form.codecs, operation);
  json["fill_value"] = nullptr;
  if (array.notes.fill) json["fill_value"] = json_of_fill(*array.notes.fill, form.type, FillText::v2);
  json["order"] = is_fortran ? "F" : "C";
  json["filters"] = nullptr;
  json["dimension_separator"] = std::string(1, array.keys.separator);
  return json;
}

Json zarr_v2_attributes(const ZarrArray& array) {
  Json attributes = array.notes.attributes;
  const auto& names = array.notes.dimension_names;
  const bool are_texts = !names.empty() && std::all_of(names.begin(), names.end(),
                                                       [](const Json& name) { return name.is_string(); });
  if (are_texts) attributes[kDimensions] = names;
  return attributes;
}

}  // namespace faro::store
