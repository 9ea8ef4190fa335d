#ifdef FARO_HAVE_HDF5_HEADERS
#include "store/hdf5_writer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "io/file_system.hpp"
#include "rounding.hpp"
#include "store/file_numbers.hpp"
#include "store/hdf5_library.hpp"
#include "store/hdf5_notes.hpp"
#include "store/ranges.hpp"

namespace faro::store {
namespace {

constexpr const char* kWriteHdf5 = "write HDF5";

// The library's type of elements.
Handle type_in_file(const ElementType& type) {
  const auto copied = [](hid_t known) { return Handle(FARO_H5(H5Tcopy)(known), FARO_H5(H5Tclose)); };
  static const std::array<std::pair<std::string_view, hid_t>, 10> kTypes{
      {{"int8", FARO_H5(H5T_STD_I8LE_g)},
       {"uint8", FARO_H5(H5T_STD_U8LE_g)},
       {"int16", FARO_H5(H5T_STD_I16LE_g)},
       {"uint16", FARO_H5(H5T_STD_U16LE_g)},
       {"int32", FARO_H5(H5T_STD_I32LE_g)},
       {"uint32", FARO_H5(H5T_STD_U32LE_g)},
       {"int64", FARO_H5(H5T_STD_I64LE_g)},
       {"uint64", FARO_H5(H5T_STD_U64LE_g)},
       {"float32", FARO_H5(H5T_IEEE_F32LE_g)},
       {"float64", FARO_H5(H5T_IEEE_F64LE_g)}}};
  for (const auto& [name, known] : kTypes) {
    if (name == type.name) return copied(known);
  }
  if (type.name == "bool") return hdf5_bool();
  if (type.name == "float16") {
    Handle half = copied(FARO_H5(H5T_IEEE_F32LE_g));
    FARO_H5(H5Tset_fields)(half.get(), 15, 10, 5, 0, 10);
    FARO_H5(H5Tset_size)(half.get(), 2);
    FARO_H5(H5Tset_ebias)(half.get(), 15);
    return half;
  }
  if (type.name == "complex64" || type.name == "complex128") {
    const hid_t part = type.bytes == 8 ? FARO_H5(H5T_IEEE_F32LE_g) : FARO_H5(H5T_IEEE_F64LE_g);
    Handle pair(FARO_H5(H5Tcreate)(H5T_COMPOUND, type.bytes), FARO_H5(H5Tclose));
    FARO_H5(H5Tinsert)(pair.get(), "r", 0, part);
    FARO_H5(H5Tinsert)(pair.get(), "i", type.bytes / 2, part);
    return pair;
  }
  fail(ErrorCode::unsupported, kWriteHdf5, "elements of type " + type.name,
       "bool, integers, float16 to float64 or complex numbers", "--dtype converts");
}

Handle space_of(const Shape& shape) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {extents.empty()
              ? FARO_H5(H5Screate)(H5S_SCALAR)
              : FARO_H5(H5Screate_simple)(static_cast<int>(extents.size()), extents.data(), nullptr),
          FARO_H5(H5Sclose)};
}

// Groups on the way are made.
Handle link_properties() {
  Handle links(FARO_H5(H5Pcreate)(FARO_H5(H5P_CLS_LINK_CREATE_ID_g)), FARO_H5(H5Pclose));
  FARO_H5(H5Pset_create_intermediate_group)(links.get(), 1);
  return links;
}

std::string dataset_name(const WantedArray& wanted) { return wanted.name.empty() ? "data" : wanted.name; }

// What the library is told of an array's chunks. Empty: a contiguous dataset.
Shape chunks_in_file(const WantedArray& wanted) {
  if (is_empty(wanted.shape)) return {};
  Shape chunks = wanted.chunks;
  for (std::size_t a = 0; a < chunks.size(); ++a) chunks[a] = std::min(chunks[a], wanted.shape[a]);
  return chunks;
}
bool is_coded(const WantedArray& wanted) {
  return !chunks_in_file(wanted).empty() && wanted.codecs && !wanted.codecs->empty();
}

// `elements`: of a chunk.
void add_filter(hid_t properties, const Codec& codec, std::uint64_t elements) {
  // szip's blocks have an even number.
  const auto pixels = static_cast<unsigned>(std::min<std::uint64_t>(16, elements / 2 * 2));
  herr_t added = -1;
  switch (codec.kind) {
    case CodecKind::gzip:
    case CodecKind::zlib:
      added = FARO_H5(H5Pset_deflate)(properties, static_cast<unsigned>(codec.level));
      break;
    case CodecKind::shuffle:
      added = FARO_H5(H5Pset_shuffle)(properties);
      break;
    case CodecKind::szip:
      if (pixels == 0)
        fail(ErrorCode::unsupported, kWriteHdf5, "szip of chunks of one element", "two at least");
      added = codec.szip[1] == 0
                  ? FARO_H5(H5Pset_szip)(properties, H5_SZIP_NN_OPTION_MASK, pixels)
                  : FARO_H5(H5Pset_szip)(properties,
                                         codec.szip[0] & (H5_SZIP_NN_OPTION_MASK | H5_SZIP_EC_OPTION_MASK),
                                         std::min(codec.szip[1], pixels));
      break;
    default:
      break;
  }
  if (added >= 0) return;
  fail(ErrorCode::unsupported, kWriteHdf5, "the codec " + to_text({codec}),
       "gzip, shuffle, or szip where its library has it", "for example --codec shuffle+gzip:4");
}

// A dataset that has its place, if it is not coded, and nothing in it.
Handle make_dataset(hid_t file, const WantedArray& wanted) {
  const Handle space = space_of(wanted.shape);
  const Handle type = type_in_file(wanted.type);
  const Handle links = link_properties();
  const Handle properties(FARO_H5(H5Pcreate)(FARO_H5(H5P_CLS_DATASET_CREATE_ID_g)), FARO_H5(H5Pclose));
  const Shape chunks = chunks_in_file(wanted);
  constexpr std::uint64_t kMostChunkBytes = ~std::uint32_t{0};
  if (volume(chunks) * wanted.type.bytes > kMostChunkBytes)
    fail(ErrorCode::value, kWriteHdf5, "chunks of 4 GiB or more", "smaller ones");
  if (chunks.empty()) {
    FARO_H5(H5Pset_layout)(properties.get(), H5D_CONTIGUOUS);
  } else {
    const std::vector<hsize_t> extents(chunks.begin(), chunks.end());
    FARO_H5(H5Pset_chunk)(properties.get(), static_cast<int>(extents.size()), extents.data());
  }
  if (is_coded(wanted)) {
    for (const Codec& codec : *wanted.codecs) add_filter(properties.get(), codec, volume(chunks));
  } else {
    FARO_H5(H5Pset_alloc_time)(properties.get(), H5D_ALLOC_TIME_EARLY);
    FARO_H5(H5Pset_fill_time)(properties.get(), H5D_FILL_TIME_NEVER);
  }
  if (wanted.notes.fill) FARO_H5(H5Pset_fill_value)(properties.get(), type.get(), wanted.notes.fill->data());
  Handle made(FARO_H5(H5Dcreate2)(file, dataset_name(wanted).c_str(), type.get(), space.get(), links.get(),
                                  properties.get(), H5P_DEFAULT),
              FARO_H5(H5Dclose));
  if (made.is_open()) return made;
  fail(ErrorCode::value, kWriteHdf5,
       "a dataset `" + dataset_name(wanted) + "` that its library does not make", "another name, or chunks");
}

#ifdef FARO_HDF5_HL_LIBRARY
// Null where the library of dimension scales is not on this machine.
void* scales_library() {
  static void* const loaded = dlopen(FARO_HDF5_HL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return loaded;
}
#else
void* scales_library() { return nullptr; }
#endif

// As hdf5_hl.h declares them.
herr_t set_scale(hid_t dataset, const char* title) {
  return reinterpret_cast<herr_t (*)(hid_t, const char*)>(dlsym(scales_library(), "H5DSset_scale"))(dataset,
                                                                                                    title);
}
herr_t attach_scale(hid_t dataset, hid_t scale, unsigned axis) {
  return reinterpret_cast<herr_t (*)(hid_t, hid_t, unsigned)>(dlsym(scales_library(), "H5DSattach_scale"))(
      dataset, scale, axis);
}

// Names of dimensions as scales: arrays of one axis of that name where they are there, else a dimension that
// is no variable, as netCDF has them. In the group of the array that names them.
class Scales {
 public:
  Scales(hid_t file, const WantedStore& wanted, std::vector<Handle>& datasets)
      : file_(file), wanted_(wanted), datasets_(datasets) {
    for (std::size_t a = 0; a < wanted.arrays.size(); ++a) arrays_[dataset_name(wanted.arrays[a])] = a;
  }

  // Returns whether all of them are said.
  bool name_axes() {
    bool all = true;
    for (std::size_t a = 0; a < wanted_.arrays.size(); ++a) {
      const WantedArray& array = wanted_.arrays[a];
      for (std::size_t axis = 0; axis < array.notes.dimension_names.size(); ++axis) {
        const Json& name = array.notes.dimension_names[axis];
        if (name.is_null()) continue;
        all = name.is_string() && scales_library() != nullptr &&
              name_axis(a, axis, name.get<std::string>()) && all;
      }
    }
    return all;
  }

 private:
  bool name_axis(std::size_t array, std::size_t axis, const std::string& name) {
    const std::string own = dataset_name(wanted_.arrays[array]);
    const std::uint64_t extent = wanted_.arrays[array].shape[axis];
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      return false;
    // The nearest group above that has an array of the name says what it is.
    for (std::string group = own.substr(0, own.rfind('/') + 1);;) {
      const auto found = arrays_.find(group + name);
      if (found != arrays_.end()) return name_by_array(array, axis, found->second);
      if (group.empty()) break;
      group = group.substr(0, group.find_last_of('/', group.size() - 2) + 1);
    }
    const std::string path = own.substr(0, own.rfind('/') + 1) + name;
    const auto [made, is_new] = made_.try_emplace(path, extent, -1);
    if (is_new) made->second.second = make_bare(path, extent);
    if (made->second.first != extent || made->second.second < 0) return false;
    return attach_scale(datasets_[array].get(), made->second.second, static_cast<unsigned>(axis)) >= 0;
  }

  bool name_by_array(std::size_t array, std::size_t axis, std::size_t scale) {
    const WantedArray& coordinates = wanted_.arrays[scale];
    if (coordinates.shape != Shape{wanted_.arrays[array].shape[axis]}) return false;
    const hid_t id = datasets_[scale].get();
    if (!std::exchange(is_scale_[scale], true)) set_scale(id, dataset_name(coordinates).c_str());
    if (scale == array) return true;  // its own
    return attach_scale(datasets_[array].get(), id, static_cast<unsigned>(axis)) >= 0;
  }

  hid_t make_bare(const std::string& path, std::uint64_t extent) {
    const Handle links = link_properties();
    const Handle space = space_of({extent});
    bare_.emplace_back(FARO_H5(H5Dcreate2)(file_, path.c_str(), FARO_H5(H5T_IEEE_F32BE_g), space.get(),
                                           links.get(), H5P_DEFAULT, H5P_DEFAULT),
                       FARO_H5(H5Dclose));
    if (!bare_.back().is_open()) return -1;
    set_scale(bare_.back().get(), fmt::format("{}{:10}", kBareDimension, extent).c_str());
    return bare_.back().get();
  }

  hid_t file_;
  const WantedStore& wanted_;
  std::vector<Handle>& datasets_;
  std::vector<Handle> bare_;
  std::map<std::string, std::size_t> arrays_;
  std::map<std::size_t, bool> is_scale_;
  std::map<std::string, std::pair<std::uint64_t, hid_t>> made_;
};

// Where the elements of a dataset go.
struct DatasetPlace {
  std::uint64_t address = 0;  // of those that are coded and those of none: 0
  std::uint64_t bytes = 0;
  std::size_t array = 0;
  std::optional<ChunkForm> chunks = {};
};

ChunkForm chunk_form(hid_t dataset, const WantedArray& wanted) {
  ChunkForm form{.shape = wanted.shape,
                 .chunk = chunks_in_file(wanted),
                 .order = c_order(wanted.shape.size()),
                 .type = wanted.type,
                 .codecs = {},
                 .fill = wanted.notes.fill.value_or(Bytes(wanted.type.bytes)),
                 .has_all = !is_coded(wanted)};
  if (form.has_all) return form;
  form.codecs = *wanted.codecs;
  const Handle properties(FARO_H5(H5Dget_create_plist)(dataset), FARO_H5(H5Pclose));
  for (Codec& codec : form.codecs) {
    if (codec.kind == CodecKind::gzip) codec.kind = CodecKind::zlib;
    if (codec.kind != CodecKind::szip) continue;
    // What the library makes of the chunks and the type.
    std::size_t values = codec.szip.size();
    unsigned flags = 0;
    unsigned configuration = 0;
    FARO_H5(H5Pget_filter_by_id2)
    (properties.get(), H5Z_FILTER_SZIP, &flags, &values, codec.szip.data(), 0, nullptr, &configuration);
  }
  require_built(form.codecs, kWriteHdf5);
  return form;
}

// Where the chunk `index` lies, which has its place.
std::uint64_t address_of_chunk(hid_t dataset, const ChunkForm& form, const Shape& index) {
  std::vector<hsize_t> corner(index.size());
  for (std::size_t a = 0; a < index.size(); ++a) corner[a] = index[a] * form.chunk[a];
  unsigned left_out = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (FARO_H5(H5Dget_chunk_info_by_coord)(dataset, corner.data(), &left_out, &address, &bytes) < 0 ||
      address == HADDR_UNDEF)
    fail(ErrorCode::internal, kWriteHdf5, "a chunk without a place in its file", "one with a place");
  return address;
}

DatasetPlace place_of_dataset(hid_t dataset, const WantedArray& wanted) {
  DatasetPlace place;
  if (!chunks_in_file(wanted).empty()) place.chunks = chunk_form(dataset, wanted);
  if (is_empty(wanted.shape) || is_coded(wanted)) return place;
  if (place.chunks) {
    const Shape cells = cells_of(wanted.shape, place.chunks->chunk);
    Shape last = cells;
    for (std::uint64_t& each : last) --each;
    place.address = address_of_chunk(dataset, *place.chunks, Shape(cells.size(), 0));
    place.bytes = volume(cells) * place.chunks->chunk_bytes();
    FARO_CHECK(address_of_chunk(dataset, *place.chunks, last) ==
               place.address + place.bytes - place.chunks->chunk_bytes());
    return place;
  }
  place.address = FARO_H5(H5Dget_offset)(dataset);
  place.bytes = volume(wanted.shape) * wanted.type.bytes;
  if (place.address == HADDR_UNDEF)
    fail(ErrorCode::internal, kWriteHdf5, "a dataset without a place in its file", "one with a place");
  return place;
}

// Chunks that are one behind another are of files that 1.10 and newer read.
Handle file_properties(const WantedStore& wanted) {
  Handle properties(FARO_H5(H5Pcreate)(FARO_H5(H5P_CLS_FILE_ACCESS_ID_g)), FARO_H5(H5Pclose));
  const bool has_plain_chunks =
      std::any_of(wanted.arrays.begin(), wanted.arrays.end(),
                  [](const auto& array) { return !chunks_in_file(array).empty() && !is_coded(array); });
  FARO_H5(H5Pset_file_locking)(properties.get(), 0, 1);
  FARO_H5(H5Pset_fapl_stdio)(properties.get());  // others look for a name, which it has not
  if (has_plain_chunks) FARO_H5(H5Pset_libver_bounds)(properties.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  return properties;
}

// A file of the output's, by the library. Errors: ErrorCode::file.
void put_chunks(int descriptor, const std::vector<std::pair<std::string, RunOutput>>& outputs) {
  const std::lock_guard lock(library_mutex());
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const auto require = [](bool is_done) {
    if (!is_done)
      fail(ErrorCode::file, kWriteHdf5, "chunks that its library does not take", "room on the disk");
  };
  const Handle properties(FARO_H5(H5Pcreate)(FARO_H5(H5P_CLS_FILE_ACCESS_ID_g)), FARO_H5(H5Pclose));
  FARO_H5(H5Pset_file_locking)(properties.get(), 0, 1);  // it is locked by ourselves
  FARO_H5(H5Pset_fapl_stdio)(properties.get());          // others look for a name, which it may not have yet
  Handle file(FARO_H5(H5Fopen)(path.c_str(), kReadAndWrite, properties.get()), FARO_H5(H5Fclose));
  require(file.is_open());
  for (const auto& [name, output] : outputs) {
    const Handle dataset(FARO_H5(H5Dopen2)(file.get(), name.c_str(), H5P_DEFAULT), FARO_H5(H5Dclose));
    const ChunkForm& form = *output.tiles;
    const auto slots = slots_in_file(descriptor, name, form, output.waiting_at);
    const Shape cells = cells_of(form.shape, form.chunk);
    Bytes stored;
    Shape index(cells.size(), 0);
    do {
      if (!slots->read(index, stored, most_encoded_bytes(form.codecs, form.chunk_bytes()))) continue;
      std::vector<hsize_t> corner(index.size());
      for (std::size_t a = 0; a < index.size(); ++a) corner[a] = index[a] * form.chunk[a];
      require(FARO_H5(H5Dwrite_chunk)(dataset.get(), H5P_DEFAULT, 0, corner.data(), stored.size(),
                                      stored.data()) >= 0);
    } while (advance(index, cells));
  }
  require(file.end() >= 0);
}

std::vector<DatasetPlace> make_file(const std::string& path, const WantedStore& wanted,
                                    std::vector<std::string>& left_out) {
  const std::lock_guard lock(library_mutex());
  const Handle properties = file_properties(wanted);
  const auto require = [](bool is_done) {
    if (!is_done)
      fail(ErrorCode::file, kWriteHdf5, "a header that its library does not write", "room in memory");
  };
  Handle file(FARO_H5(H5Fcreate)(path.c_str(), kTruncate, H5P_DEFAULT, properties.get()), FARO_H5(H5Fclose));
  require(file.is_open());
  for (const Group& group : wanted.groups) {
    const Handle links = link_properties();
    const Handle made(
        group.name.empty() ? FARO_H5(H5Oopen)(file.get(), "/", H5P_DEFAULT)
        : FARO_H5(H5Lexists)(file.get(), group.name.c_str(), H5P_DEFAULT) > 0
            ? FARO_H5(H5Oopen)(file.get(), group.name.c_str(), H5P_DEFAULT)
            : FARO_H5(H5Gcreate2)(file.get(), group.name.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
        FARO_H5(H5Oclose));
    if (!made.is_open())
      fail(ErrorCode::value, kWriteHdf5, "a group `" + group.name + "` that its library does not make",
           "another name");
    write_hdf5_attributes(made.get(), group.attributes, "/" + group.name, left_out);
  }
  std::vector<Handle> datasets;
  std::vector<DatasetPlace> places;
  for (std::size_t a = 0; a < wanted.arrays.size(); ++a) {
    const WantedArray& array = wanted.arrays[a];
    datasets.push_back(make_dataset(file.get(), array));
    write_hdf5_attributes(datasets.back().get(), array.notes.attributes, dataset_name(array), left_out);
    places.push_back(place_of_dataset(datasets.back().get(), array));
    places.back().array = a;
  }
  if (!Scales(file.get(), wanted, datasets).name_axes()) left_out.emplace_back("some names of dimensions");
  // What it holds back is written when nothing of the file is open.
  datasets.clear();
  require(file.end() >= 0);
  std::sort(places.begin(), places.end(),
            [](const DatasetPlace& a, const DatasetPlace& b) { return a.address < b.address; });
  return places;
}

}  // namespace

std::vector<RunOutput> hdf5_outputs(const WantedStore& wanted, std::vector<std::string>& left_out) {
  // In memory, of which elements take none; it goes with the process, whatever ends that.
  const io::Descriptor file(memfd_create("faro-h5", MFD_CLOEXEC));
  if (!file.is_open()) fail(ErrorCode::file, kWriteHdf5, io::error_text(errno), "a file in memory");
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  const std::vector<DatasetPlace> places = make_file(path, wanted, left_out);
  const FileReader whole(path);
  std::vector<RunOutput> outputs;
  std::vector<std::pair<std::string, RunOutput>> waiting;
  std::uint64_t at = 0;
  constexpr std::uint64_t kMostOfIndex = 1024;  // that the library keeps of a chunk
  constexpr std::uint64_t kSlack = std::uint64_t{1} << 20;
  std::uint64_t end = whole.size() + kSlack;
  for (const DatasetPlace& place : places) {
    if (place.address == 0 && place.chunks)
      end += slots_bytes(*place.chunks) +
             kMostOfIndex * volume(cells_of(place.chunks->shape, place.chunks->chunk));
  }
  for (const DatasetPlace& place : places) {
    const WantedArray& array = wanted.arrays[place.array];
    RunOutput output{.header = whole.read(at, place.address - std::min(at, place.address)),
                     .form = dense_run(array.shape, array.type, place.address),
                     .tiles = place.chunks};
    output.array = place.array;
    if (place.address == 0 && place.chunks) {
      constexpr std::uint64_t kPage = 4096;
      output.waiting_at = end = detail::round_up(end, kPage);
      end += slots_bytes(*place.chunks);
      waiting.emplace_back(dataset_name(array), output);
    }
    at = place.address + place.bytes;
    outputs.push_back(std::move(output));
  }
  if (!waiting.empty())
    outputs.back().finish = [waiting](int descriptor) { put_chunks(descriptor, waiting); };
  // Where no dataset has a place all is header.
  Bytes rest = whole.read(at, whole.size() - at);
  (at == 0 ? outputs.back().header : outputs.back().tail) = std::move(rest);
  return outputs;
}

}  // namespace faro::store
#endif
