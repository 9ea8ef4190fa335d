#ifdef FARO_HAVE_HDF5_HEADERS
#include "store/hdf5_notes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace faro::store {
namespace {

constexpr hsize_t kMostValues = hsize_t{1} << 20;
// What the library and netCDF keep in attributes for themselves.
constexpr std::array<std::string_view, 9> kInternal{"CLASS",
                                                    "NAME",
                                                    "DIMENSION_LIST",
                                                    "REFERENCE_LIST",
                                                    "DIMENSION_LABELS",
                                                    "_Netcdf4Dimid",
                                                    "_Netcdf4Coordinates",
                                                    "_NCProperties",
                                                    "_nc3_strict"};

Handle open_attribute(hid_t object, const char* name) {
  return {FARO_H5(H5Aopen)(object, name, H5P_DEFAULT), FARO_H5(H5Aclose)};
}

// Values that are read into memory as the library keeps them there.
template <typename Value>
std::optional<std::vector<Value>> read_values(hid_t attribute, hid_t type, hsize_t count) {
  std::vector<Value> values(count);
  if (FARO_H5(H5Aread)(attribute, type, values.data()) < 0) return std::nullopt;
  return values;
}

std::optional<std::vector<Json>> read_texts(hid_t attribute, hid_t type, hsize_t count) {
  std::vector<Json> texts;
  if (FARO_H5(H5Tis_variable_str)(type) > 0) {
    auto pointers = read_values<char*>(attribute, type, count);
    if (!pointers) return std::nullopt;
    for (char* const each : *pointers) {
      texts.emplace_back(each == nullptr ? std::string() : std::string(each));
      FARO_H5(H5free_memory)(each);
    }
  } else {
    const std::size_t bytes = FARO_H5(H5Tget_size)(type);
    if (bytes == 0 || bytes > kMostValues || count > kMostValues / bytes) return std::nullopt;
    std::string all(bytes * count, '\0');
    if (FARO_H5(H5Aread)(attribute, type, all.data()) < 0) return std::nullopt;
    for (hsize_t i = 0; i < count; ++i) {
      std::string text = all.substr(i * bytes, bytes);
      text.resize(std::min(text.find('\0'), text.size()));
      texts.emplace_back(text);
    }
  }
  const bool are_texts = std::all_of(texts.begin(), texts.end(),
                                     [](const Json& each) { return is_utf8(each.get<std::string>()); });
  if (!are_texts) return std::nullopt;
  return texts;
}

template <typename Value>
std::optional<std::vector<Json>> as_json(const std::optional<std::vector<Value>>& values) {
  if (!values) return std::nullopt;
  return std::vector<Json>(values->begin(), values->end());
}

bool is_bool(hid_t type) {
  return FARO_H5(H5Tget_class)(type) == H5T_ENUM && FARO_H5(H5Tget_size)(type) == 1 &&
         FARO_H5(H5Tget_nmembers)(type) == 2;
}

std::optional<std::vector<Json>> read_numbers(hid_t attribute, hid_t type, hsize_t count) {
  const H5T_class_t kind = FARO_H5(H5Tget_class)(type);
  if (is_bool(type)) {
    const auto bytes = read_values<std::int8_t>(attribute, type, count);
    if (!bytes) return std::nullopt;
    std::vector<Json> values;
    for (const std::int8_t each : *bytes) values.emplace_back(each != 0);
    return values;
  }
  if (kind == H5T_INTEGER && FARO_H5(H5Tget_sign)(type) == H5T_SGN_NONE)
    return as_json(read_values<std::uint64_t>(attribute, FARO_H5(H5T_NATIVE_UINT64_g), count));
  if (kind == H5T_INTEGER)
    return as_json(read_values<std::int64_t>(attribute, FARO_H5(H5T_NATIVE_INT64_g), count));
  if (kind != H5T_FLOAT) return std::nullopt;
  const auto values = read_values<double>(attribute, FARO_H5(H5T_NATIVE_DOUBLE_g), count);
  const bool are_finite =
      values && std::all_of(values->begin(), values->end(), [](double each) { return std::isfinite(each); });
  if (!are_finite) return std::nullopt;
  return as_json(values);
}

// Nothing for what JSON cannot say.
std::optional<Json> read_attribute(hid_t attribute) {
  const Handle type(FARO_H5(H5Aget_type)(attribute), FARO_H5(H5Tclose));
  const Handle space(FARO_H5(H5Aget_space)(attribute), FARO_H5(H5Sclose));
  const int rank = FARO_H5(H5Sget_simple_extent_ndims)(space.get());
  if (rank < 0 || rank > 1 || FARO_H5(H5Sget_simple_extent_type)(space.get()) == H5S_NULL)
    return std::nullopt;
  const auto count = static_cast<hsize_t>(FARO_H5(H5Sget_simple_extent_npoints)(space.get()));
  if (count > kMostValues) return std::nullopt;
  const bool is_text = FARO_H5(H5Tget_class)(type.get()) == H5T_STRING;
  const auto values =
      is_text ? read_texts(attribute, type.get(), count) : read_numbers(attribute, type.get(), count);
  if (!values) return std::nullopt;
  return rank == 0 ? values->front() : Json(*values);
}

struct Attributes {
  Json json = Json::object();
  std::vector<std::string> left_out = {};
};

Attributes attributes_of(hid_t object, const std::string& of) {
  std::vector<std::string> names;
  const auto note = [](hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  hsize_t first = 0;
  FARO_H5(H5Aiterate2)(object, H5_INDEX_NAME, H5_ITER_NATIVE, &first, note, &names);
  Attributes found;
  for (const std::string& name : names) {
    if (std::find(kInternal.begin(), kInternal.end(), name) != kInternal.end()) continue;
    const Handle attribute = open_attribute(object, name.c_str());
    const auto value = attribute.is_open() && is_utf8(name) ? read_attribute(attribute.get()) : std::nullopt;
    if (value) {
      found.json[name] = *value;
    } else {
      found.left_out.push_back("attribute `" + name + "` of `" + of + "`");
    }
  }
  return found;
}

std::string name_of_object(hid_t object) {
  std::array<char, 1024> name{};
  const ssize_t bytes = FARO_H5(H5Iget_name)(object, name.data(), name.size());
  return bytes > 0 ? std::string(name.data()) : std::string();
}

std::string text_attribute(hid_t object, const char* name) {
  if (FARO_H5(H5Aexists)(object, name) <= 0) return {};
  const Handle attribute = open_attribute(object, name);
  const auto value = attribute.is_open() ? read_attribute(attribute.get()) : std::nullopt;
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// The first of the scales that each axis refers to.
std::vector<Json> names_of_scales(hid_t dataset, std::size_t rank) {
  if (FARO_H5(H5Aexists)(dataset, "DIMENSION_LIST") <= 0) return {};
  const Handle attribute = open_attribute(dataset, "DIMENSION_LIST");
  const Handle type(FARO_H5(H5Aget_type)(attribute.get()), FARO_H5(H5Tclose));
  const Handle space(FARO_H5(H5Aget_space)(attribute.get()), FARO_H5(H5Sclose));
  if (FARO_H5(H5Tget_class)(type.get()) != H5T_VLEN ||
      FARO_H5(H5Sget_simple_extent_npoints)(space.get()) != static_cast<hssize_t>(rank))
    return {};
  std::vector<hvl_t> lists(rank);
  if (FARO_H5(H5Aread)(attribute.get(), type.get(), lists.data()) < 0) return {};
  std::vector<Json> names(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    if (lists[a].len == 0) continue;
    const Handle scale(FARO_H5(H5Rdereference2)(dataset, H5P_DEFAULT, H5R_OBJECT, lists[a].p),
                       FARO_H5(H5Oclose));
    if (scale.is_open()) names[a] = last_part(name_of_object(scale.get()));
  }
  FARO_H5(H5Dvlen_reclaim)(type.get(), space.get(), H5P_DEFAULT, lists.data());
  return names;
}

// Writes values in memory, of this type.
bool write_values(hid_t object, const std::string& name, hid_t type, const Json& value, const void* values) {
  const hsize_t count = value.is_array() ? value.size() : 1;
  const Handle space(
      value.is_array() ? FARO_H5(H5Screate_simple)(1, &count, nullptr) : FARO_H5(H5Screate)(H5S_SCALAR),
      FARO_H5(H5Sclose));
  const Handle made(FARO_H5(H5Acreate2)(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                    FARO_H5(H5Aclose));
  return made.is_open() && FARO_H5(H5Awrite)(made.get(), type, values) >= 0;
}

template <typename Value>
bool write_all(hid_t object, const std::string& name, hid_t type, const Json& value) {
  std::vector<Value> values;
  if (!value.is_array()) {
    values.push_back(value.get<Value>());
  } else {
    for (const Json& each : value) values.push_back(each.get<Value>());
  }
  return write_values(object, name, type, value, values.data());
}

bool write_texts(hid_t object, const std::string& name, const Json& value) {
  const Handle type(FARO_H5(H5Tcopy)(FARO_H5(H5T_C_S1_g)), FARO_H5(H5Tclose));
  FARO_H5(H5Tset_size)(type.get(), H5T_VARIABLE);
  FARO_H5(H5Tset_cset)(type.get(), H5T_CSET_UTF8);
  std::vector<std::string> texts;
  if (!value.is_array())
    texts.push_back(value.get<std::string>());
  else
    texts = value.get<std::vector<std::string>>();
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos) return false;
    pointers.push_back(text.c_str());
  }
  return write_values(object, name, type.get(), value, pointers.data());
}

// False for what HDF5 cannot say so: null, objects, lists of lists, or of several kinds.
bool write_attribute(hid_t object, const std::string& name, const Json& value) {
  const auto all = [&](const auto& is_kind) {
    return value.is_array() ? !value.empty() && std::all_of(value.begin(), value.end(), is_kind)
                            : is_kind(value);
  };
  if (name.empty() || name.find('\0') != std::string::npos) return false;
  if (all([](const Json& each) { return each.is_string(); })) return write_texts(object, name, value);
  if (all([](const Json& each) { return each.is_boolean(); })) {
    const Handle type = hdf5_bool();
    return write_all<std::int8_t>(object, name, type.get(), value);
  }
  constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();
  if (all([](const Json& each) {
        return each.is_number_integer() &&
               !(each.is_number_unsigned() && each.get<std::uint64_t>() > kMostSigned);
      }))
    return write_all<std::int64_t>(object, name, FARO_H5(H5T_STD_I64LE_g), value);
  if (all([](const Json& each) { return each.is_number_unsigned(); }))
    return write_all<std::uint64_t>(object, name, FARO_H5(H5T_STD_U64LE_g), value);
  if (all([](const Json& each) { return each.is_number(); }))
    return write_all<double>(object, name, FARO_H5(H5T_IEEE_F64LE_g), value);
  return false;
}

}  // namespace

Handle hdf5_bool() {
  Handle type(FARO_H5(H5Tenum_create)(FARO_H5(H5T_STD_I8LE_g)), FARO_H5(H5Tclose));
  for (const std::int8_t value : {std::int8_t{0}, std::int8_t{1}})
    FARO_H5(H5Tenum_insert)(type.get(), value == 0 ? "FALSE" : "TRUE", &value);
  return type;
}

bool is_bare_dimension(hid_t dataset) { return text_attribute(dataset, "NAME").starts_with(kBareDimension); }

void add_hdf5_notes(hid_t dataset, std::size_t rank, Notes& notes) {
  const std::string name = name_of_object(dataset);
  Attributes attributes = attributes_of(dataset, name);
  notes.attributes = std::move(attributes.json);
  notes.left_out = std::move(attributes.left_out);
  notes.dimension_names = names_of_scales(dataset, rank);
  if (notes.dimension_names.empty() && rank == 1 && text_attribute(dataset, "CLASS") == "DIMENSION_SCALE")
    notes.dimension_names = {last_part(name)};
}

std::vector<Group> hdf5_groups(hid_t file) {
  std::vector<std::string> names;
  const auto note = [](hid_t /*file*/, const char* name, const H5O_info_t* info, void* list) -> herr_t {
    if (info->type == H5O_TYPE_GROUP) static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
#if H5_VERSION_GE(1, 12, 0)
  FARO_H5(H5Ovisit3)(file, H5_INDEX_NAME, H5_ITER_NATIVE, note, &names, H5O_INFO_BASIC);
#else
  FARO_H5(H5Ovisit2)(file, H5_INDEX_NAME, H5_ITER_NATIVE, note, &names, H5O_INFO_BASIC);
#endif
  std::vector<Group> groups;
  for (const std::string& name : names) {
    const Handle group(FARO_H5(H5Oopen)(file, name.c_str(), H5P_DEFAULT), FARO_H5(H5Oclose));
    if (!group.is_open()) continue;
    groups.push_back({.name = name == "." ? "" : name});
    Attributes attributes = attributes_of(group.get(), groups.back().name);
    groups.back().attributes = std::move(attributes.json);
    groups.back().left_out = std::move(attributes.left_out);
  }
  return groups;
}

void write_hdf5_attributes(hid_t object, const Json& attributes, const std::string& of,
                           std::vector<std::string>& left_out) {
  for (const auto& [name, value] : attributes.items()) {
    if (!write_attribute(object, name, value)) left_out.push_back("attribute `" + name + "` of `" + of + "`");
  }
}

}  // namespace faro::store
#endif
