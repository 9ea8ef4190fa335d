// HDF5, and netCDF-4, which is HDF5: datasets by the HDF5 library, their bytes by ourselves.
//
//     the library says      names, shapes, types, fill values, filters, and where a contiguous dataset lies
//     contiguous            a run of bytes
//     chunked               chunks as the library finds them, decoded by zlib or szip and shuffled back, on all
//                           threads; written likewise (hdf5_writer.hpp)
//
// The library is one for all threads, which take turns at it: it decodes nothing. Where a chunk lies it is
// asked only of few that are not coded, whose parts are read from there: 1.10 looks through all chunks for
// the place, and takes some that can grow for missing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "store/file_numbers.hpp"
#include "store/store_formats.hpp"

#ifdef FARO_HAVE_HDF5_HEADERS
#include "store/hdf5_library.hpp"
#include "store/hdf5_notes.hpp"
#include "store/hdf5_writer.hpp"
#endif

namespace faro::store {
namespace {

namespace fs = std::filesystem;

// At the file's begin, or behind what MATLAB and others put before it: 512 bytes, 1024 or 2048.
bool has_signature(std::span<const std::byte> first) {
  constexpr std::array<std::uint64_t, 4> kBefore{0, 512, 1024, 2048};
  return std::any_of(kBefore.begin(), kBefore.end(), [&](std::uint64_t before) {
    return before < first.size() && begins_with(first.subspan(before), "\x89HDF\r\n\x1a\n");
  });
}

// What a build without the library knows, too.
class NamedHdf5 : public Format {
 public:
  const char* name() const override { return "HDF5"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    return has_signature(first);
  }
  bool is_meant(const fs::path& path) const override {
    return ends_with(path, {".h5", ".hdf5", ".nc", ".he5"});
  }
};

#ifdef FARO_HAVE_HDF5_HEADERS

struct H5Type {
  ElementType type;
  ByteOrder order = ByteOrder::little;
};

std::string member_of(hid_t type, unsigned number) {
  char* const name = FARO_H5(H5Tget_member_name)(type, number);
  std::string text = name == nullptr ? "" : name;
  FARO_H5(H5free_memory)(name);
  return text;
}

// FALSE = 0 and TRUE = 1, of bytes.
bool is_boolean(hid_t type) {
  if (FARO_H5(H5Tget_size)(type) != 1 || FARO_H5(H5Tget_nmembers)(type) != 2) return false;
  for (unsigned m = 0; m < 2; ++m) {
    std::uint8_t value = 0;
    if (FARO_H5(H5Tget_member_value)(type, m, &value) < 0 || value > 1 ||
        member_of(type, m) != (value == 0 ? "FALSE" : "TRUE"))
      return false;
  }
  return true;
}

std::optional<H5Type> type_of(hid_t type);

// Two floats r and i.
std::optional<H5Type> complex_of(hid_t type, std::uint64_t bytes) {
  if (FARO_H5(H5Tget_nmembers)(type) != 2 || member_of(type, 0) != "r" || member_of(type, 1) != "i")
    return std::nullopt;
  const Handle part(FARO_H5(H5Tget_member_type)(type, 0), FARO_H5(H5Tclose));
  const Handle other(FARO_H5(H5Tget_member_type)(type, 1), FARO_H5(H5Tclose));
  const auto of_part = type_of(part.get());
  if (!of_part || !of_part->type.name.starts_with("float") ||
      FARO_H5(H5Tequal)(part.get(), other.get()) <= 0 || bytes != 2 * of_part->type.bytes)
    return std::nullopt;
  const auto complex = element_type(fmt::format("complex{}", 8 * bytes));
  if (!complex) return std::nullopt;
  return H5Type{.type = *complex, .order = of_part->order};
}

// The name of a float whose fields, bias and hidden bit are those of IEEE's formats or of bfloat16: HDF5
// keeps others, too, whose bits mean other numbers. Empty for those.
std::string float_name(hid_t type, std::size_t bytes) {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
  FARO_H5(H5Tget_fields)(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits);
  const bool is_brain = bytes == 2 && exponent_bits == 8;
  const std::size_t usual_bits = is_brain || bytes == 4 ? 8 : bytes == 2 ? 5 : 11;
  const bool is_usual = exponent_bits == usual_bits && mantissa == 0 && exponent == mantissa_bits &&
                        sign == mantissa_bits + exponent_bits && sign + 1 == 8 * bytes &&
                        FARO_H5(H5Tget_ebias)(type) == (std::size_t{1} << (usual_bits - 1)) - 1 &&
                        FARO_H5(H5Tget_norm)(type) == H5T_NORM_IMPLIED;
  if (!is_usual) return {};
  return is_brain ? "bfloat16" : fmt::format("float{}", 8 * bytes);
}

std::optional<H5Type> type_of(hid_t type) {
  const std::size_t bytes = FARO_H5(H5Tget_size)(type);
  const H5T_order_t order = FARO_H5(H5Tget_order)(type);
  const H5T_class_t kind = FARO_H5(H5Tget_class)(type);
  std::string name;
  const bool is_whole = (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_BITFIELD) ||
                        (FARO_H5(H5Tget_precision)(type) == 8 * bytes && FARO_H5(H5Tget_offset)(type) == 0);
  if (!is_whole) return std::nullopt;
  if (kind == H5T_INTEGER)
    name = fmt::format("{}int{}", FARO_H5(H5Tget_sign)(type) == H5T_SGN_NONE ? "u" : "", 8 * bytes);
  if (kind == H5T_FLOAT) name = float_name(type, bytes);
  if (kind == H5T_STRING && FARO_H5(H5Tis_variable_str)(type) == 0) name = fmt::format("S{}", bytes);
  if (kind == H5T_OPAQUE) name = fmt::format("V{}", bytes);
  // As h5py keeps NumPy's types: bool as an enumeration of bytes, complex numbers as a pair.
  if (kind == H5T_ENUM && is_boolean(type)) name = "bool";
  if (kind == H5T_ENUM && name.empty()) {
    const Handle numbers(FARO_H5(H5Tget_super)(type), FARO_H5(H5Tclose));
    return type_of(numbers.get());
  }
  if (kind == H5T_COMPOUND) return complex_of(type, bytes);
  const auto known = element_type(name);
  if (!known) return std::nullopt;
  return H5Type{.type = *known, .order = order == H5T_ORDER_BE ? ByteOrder::big : ByteOrder::little};
}

// Whether the last call failed for a chunk that was never stored, which is an error in 1.10 where others are
// stored.
bool is_never_stored() {
  bool is_so = false;
  const auto look = [](unsigned number, const H5E_error2_t* error, void* found) -> herr_t {
    if (number == 0 && error->desc != nullptr)
      *static_cast<bool*>(found) = std::string_view(error->desc) == "chunk storage is not allocated";
    return 0;
  };
  FARO_H5(H5Ewalk2)(H5E_DEFAULT, H5E_WALK_UPWARD, look, &is_so);
  return is_so;
}

// The chunks of a dataset, as they are stored.
class H5Chunks final : public ChunkStore {
 public:
  // `placed`: cells of the grid of those whose places the library may be asked for; empty: none.
  H5Chunks(const fs::path& path, const std::string& name, const ChunkForm& form, Shape placed)
      : path_(path),
        label_(path.string() + ":" + name),
        chunk_(form.chunk),
        chunk_bytes_(form.chunk_bytes()),
        codecs_(form.codecs),
        placed_(std::move(placed)),
        file_(open_file(path)),
        dataset_(std::in_place, FARO_H5(H5Dopen2)(file_->get(), name.c_str(), H5P_DEFAULT),
                 FARO_H5(H5Dclose)) {}
  ~H5Chunks() override {
    const std::lock_guard lock(library_mutex());
    dataset_.reset();
    file_.reset();
  }

  bool read(const Shape& index, Bytes& into, std::uint64_t most) const override {
    const std::string operation = "read `" + label_ + "`";
    std::vector<hsize_t> corner(index.size());
    for (std::size_t a = 0; a < index.size(); ++a) corner[a] = index[a] * chunk_[a];
    std::uint32_t left_out = 0;
    hsize_t bytes = 0;
    const std::lock_guard lock(library_mutex());
    if (FARO_H5(H5Dget_chunk_storage_size)(dataset_->get(), corner.data(), &bytes) < 0) {
      if (is_never_stored()) return false;
      fail(ErrorCode::file, operation, "a chunk that the HDF5 library does not find", "a whole file");
    }
    if (bytes == 0) return false;
    if (bytes > most) {
      fail(ErrorCode::file, operation, fmt::format("a chunk of {} bytes", bytes),
           fmt::format("at most {}", most));
    }
    into.resize(bytes);
    if (FARO_H5(H5Dread_chunk)(dataset_->get(), H5P_DEFAULT, corner.data(), &left_out, into.data()) < 0)
      fail(ErrorCode::file, operation, "a chunk that the HDF5 library does not read", "a whole file");
    if (left_out != 0) code_alike(into, left_out, operation);
    return true;
  }

  bool has_parts() const override { return !placed_.empty(); }
  bool read_part(const Shape& index, std::uint64_t whole, std::uint64_t offset,
                 std::span<std::byte> to) const override {
    std::call_once(asked_, [&] { ask_for_places(whole); });
    std::uint64_t number = 0;
    for (std::size_t a = 0; a < index.size(); ++a) number = number * placed_[a] + index[a];
    if (const std::uint64_t place = places_[number]; place != 0) {
      bytes_->read(place + offset, to);
      return true;
    }
    Bytes all;
    if (!read(index, all, whole)) return false;
    if (all.size() != whole) {
      fail(ErrorCode::file, "read `" + label_ + "`", fmt::format("a chunk of {} bytes", all.size()),
           fmt::format("the {} of its elements", whole));
    }
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return true;
  }

  std::string identity() const override { return identity_of_file(path_); }
  std::string label(const Shape& /*index*/) const override { return label_; }

 private:
  // A chunk that a filter would have made longer was stored without it, which a bit for each says: coded as
  // the others are.
  void code_alike(Bytes& chunk, std::uint32_t left_out, const std::string& operation) const {
    std::vector<Codec> applied;
    for (std::size_t c = 0; c < codecs_.size(); ++c) {
      if ((left_out >> c & 1U) == 0) applied.push_back(codecs_[c]);
    }
    Bytes between;
    if (const DecodeFault fault = decode(applied, chunk, chunk_bytes_, between); !fault.empty())
      fail(ErrorCode::file, operation, fault, fmt::format("a chunk of {} bytes", chunk_bytes_));
    Bytes stored;
    const auto coded = encode(codecs_, chunk, stored, between);
    chunk = Bytes(coded.begin(), coded.end());
  }

  // Asks for the places of those that are stored whole.
  void ask_for_places(std::uint64_t whole) const {
    const std::lock_guard lock(library_mutex());
    bytes_.emplace(path_);
    places_.assign(volume(placed_), 0);
    std::size_t number = 0;
    Shape index(placed_.size(), 0);
    do {
      std::vector<hsize_t> corner(index.size());
      for (std::size_t a = 0; a < index.size(); ++a) corner[a] = index[a] * chunk_[a];
      unsigned left_out = 0;
      haddr_t place = HADDR_UNDEF;
      hsize_t bytes = 0;
      const bool is_known =
          FARO_H5(H5Dget_chunk_info_by_coord)(dataset_->get(), corner.data(), &left_out, &place, &bytes) >= 0;
      if (is_known && place != HADDR_UNDEF && bytes == whole) places_[number] = place;
      ++number;
    } while (advance(index, placed_));
  }

  fs::path path_;
  std::string label_;
  Shape chunk_;
  std::uint64_t chunk_bytes_;
  std::vector<Codec> codecs_;
  Shape placed_;
  mutable std::once_flag asked_;
  mutable std::optional<FileReader> bytes_;
  mutable std::vector<std::uint64_t> places_;  // 0: not known
  std::optional<Handle> file_;
  std::optional<Handle> dataset_;
};

// deflate, shuffle and szip, in the order in which they are applied; what else there is, in words.
struct Filters {
  std::vector<Codec> codecs = {};
  std::string unknown = {};
};
Filters filters_of(hid_t properties, std::uint64_t element_bytes) {
  Filters filters;
  const int count = FARO_H5(H5Pget_nfilters)(properties);
  for (int f = 0; f < count; ++f) {
    unsigned flags = 0;
    std::size_t values = 0;
    unsigned configuration = 0;
    std::array<char, 64> name{};
    std::array<unsigned, 4> numbers{};
    values = numbers.size();
    const H5Z_filter_t filter =
        FARO_H5(H5Pget_filter2)(properties, static_cast<unsigned>(f), &flags, &values, numbers.data(),
                                name.size(), name.data(), &configuration);
    if (filter == H5Z_FILTER_DEFLATE) {
      filters.codecs.push_back(
          {.kind = CodecKind::zlib, .level = static_cast<int>(std::min(numbers[0], 9U))});
    } else if (filter == H5Z_FILTER_SZIP) {
      filters.codecs.push_back({.kind = CodecKind::szip, .level = 0, .szip = numbers});
    } else if (filter == H5Z_FILTER_SHUFFLE) {
      filters.codecs.push_back({.kind = CodecKind::shuffle, .level = 0, .shuffled_bytes = element_bytes});
    } else {
      filters.unknown = fmt::format("the filter `{}`", name.data());
    }
  }
  return filters;
}

bool may_grow(hid_t space, const std::vector<hsize_t>& extents) {
  std::vector<hsize_t> most(extents.size());
  FARO_H5(H5Sget_simple_extent_dims)(space, nullptr, most.data());
  return most != extents;
}

bool has_user_block(hid_t file) {
  const Handle properties(FARO_H5(H5Fget_create_plist)(file), FARO_H5(H5Pclose));
  hsize_t bytes = 0;
  return FARO_H5(H5Pget_userblock)(properties.get(), &bytes) < 0 || bytes != 0;
}

// As the library's versions call them.
#if H5_VERSION_GE(1, 12, 0)
using LinkInfo = H5L_info2_t;
using ObjectInfo = H5O_info2_t;
#define FARO_H5_VISIT_LINKS FARO_H5(H5Lvisit2)
#define FARO_H5_INFO_OF FARO_H5(H5Oget_info_by_name3)
#else
using LinkInfo = H5L_info_t;
using ObjectInfo = H5O_info_t;
#define FARO_H5_VISIT_LINKS FARO_H5(H5Lvisit)
#define FARO_H5_INFO_OF FARO_H5(H5Oget_info_by_name2)
#endif

// By each of its names; soft and external links are not followed, for they may lead out of the file.
std::vector<std::string> dataset_names(const fs::path& path) {
  std::vector<std::string> names;
  const std::lock_guard lock(library_mutex());
  const Handle file = open_file(path);
  const auto note = [](hid_t group, const char* name, const LinkInfo* link, void* list) -> herr_t {
    ObjectInfo object{};
    const bool is_dataset = link->type == H5L_TYPE_HARD &&
                            FARO_H5_INFO_OF(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
                            object.type == H5O_TYPE_DATASET;
    if (is_dataset) static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
  };
  if (FARO_H5_VISIT_LINKS(file.get(), H5_INDEX_NAME, H5_ITER_INC, note, &names) < 0)
    fail(ErrorCode::file, "read `" + path.string() + "`", "groups that the HDF5 library cannot read",
         "a whole file");
  return names;
}

class Hdf5 final : public NamedHdf5 {
 public:
  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const std::vector<std::string> names = dataset_names(path);
    std::vector<StoredArray> found;
    found.reserve(names.size());
    for (const std::string& each : names) {
      if (auto array = array_of(path, "/" + each)) found.push_back(*std::move(array));
    }
    return found;
  }

  std::vector<Group> groups(const fs::path& path) const override {
    const std::lock_guard lock(library_mutex());
    return hdf5_groups(open_file(path).get());
  }

  bool has_tiles() const override { return true; }
  bool has_codecs() const override { return true; }
  bool knows(const Codec& codec) const override {
    return codec.kind == CodecKind::gzip || codec.kind == CodecKind::zlib;
  }
  bool holds_several() const override { return true; }
  std::optional<std::vector<RunOutput>> run_outputs(const WantedStore& wanted,
                                                    std::vector<std::string>& left_out) const override {
    return hdf5_outputs(wanted, left_out);
  }

 private:
  // Nothing for a dataset that is no more than the name of a dimension.
  std::optional<StoredArray> array_of(const fs::path& path, const std::string& dataset_name) const {
    const std::string operation = "read `" + path.string() + ":" + dataset_name + "`";
    const std::lock_guard lock(library_mutex());
    return described(path, dataset_name, operation);
  }

  StoredArray refused(const std::string& dataset_name, const std::string& operation,
                      const std::string& got) const {
    return {.name = dataset_name,
            .format = name(),
            .refusal = ErrorReport{
                .code = ErrorCode::unsupported,
                .operation = operation,
                .got = got,
                .wanted = "numbers of whole bytes, contiguous or chunked by deflate, shuffle and szip",
                .remedy = {}}};
  }

  std::optional<StoredArray> described(const fs::path& path, const std::string& dataset_name,
                                       const std::string& operation) const {
    const Handle file = open_file(path);
    const Handle dataset(FARO_H5(H5Dopen2)(file.get(), dataset_name.c_str(), H5P_DEFAULT), FARO_H5(H5Dclose));
    if (!dataset.is_open()) return refused(dataset_name, operation, "a dataset that the library cannot open");
    if (is_bare_dimension(dataset.get())) return std::nullopt;
    const Handle type(FARO_H5(H5Dget_type)(dataset.get()), FARO_H5(H5Tclose));
    const Handle space(FARO_H5(H5Dget_space)(dataset.get()), FARO_H5(H5Sclose));
    const Handle properties(FARO_H5(H5Dget_create_plist)(dataset.get()), FARO_H5(H5Pclose));
    const auto known = type_of(type.get());
    if (!known) return refused(dataset_name, operation, "elements of another type than numbers and texts");
    const int rank = FARO_H5(H5Sget_simple_extent_ndims)(space.get());
    if (rank < 0 || FARO_H5(H5Sget_simple_extent_type)(space.get()) == H5S_NULL)
      return refused(dataset_name, operation, "a dataset of no elements");
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    FARO_H5(H5Sget_simple_extent_dims)(space.get(), extents.data(), nullptr);
    const Shape shape(extents.begin(), extents.end());
    require_shape(shape, known->type.bytes, operation);
    StoredArray array{.name = dataset_name,
                      .format = name(),
                      .shape = shape,
                      .type = known->type,
                      .byte_order = known->order};
    Bytes fill(known->type.bytes);
    if (FARO_H5(H5Pget_fill_value)(properties.get(), type.get(), fill.data()) < 0)
      fill.assign(fill.size(), std::byte{0});
    if (known->order == ByteOrder::big) swap_bytes(fill, known->type);
    H5D_fill_value_t is_given = H5D_FILL_VALUE_ERROR;
    FARO_H5(H5Pfill_value_defined)(properties.get(), &is_given);
    if (is_given == H5D_FILL_VALUE_USER_DEFINED) array.notes.fill = fill;
    add_hdf5_notes(dataset.get(), shape.size(), array.notes);
    const H5D_layout_t layout = FARO_H5(H5Pget_layout)(properties.get());
    if (layout == H5D_CONTIGUOUS && FARO_H5(H5Pget_external_count)(properties.get()) == 0) {
      const haddr_t address = FARO_H5(H5Dget_offset)(dataset.get());
      if (address == HADDR_UNDEF && !is_empty(shape))
        return refused(dataset_name, operation, "a dataset that nothing was written to");
      StoredArray run = run_array(*this, dataset_name, path,
                                  dense_run(shape, known->type, is_empty(shape) ? 0 : address, known->order));
      run.notes = array.notes;
      return run;
    }
    if (layout != H5D_CHUNKED)
      return refused(dataset_name, operation, "a compact, virtual or external dataset");
    const Filters filters = filters_of(properties.get(), known->type.bytes);
    if (!filters.unknown.empty()) return refused(dataset_name, operation, filters.unknown);
    require_built(filters.codecs, operation);
    std::vector<hsize_t> chunk(static_cast<std::size_t>(rank));
    FARO_H5(H5Pget_chunk)(properties.get(), rank, chunk.data());
    const Shape cell(chunk.begin(), chunk.end());
    Shape placed = filters.codecs.empty() ? cells_of(shape, cell) : Shape();
    constexpr std::uint64_t kMostPlaced = 2048;
    if (volume(placed) > kMostPlaced || is_empty(placed) || may_grow(space.get(), extents) ||
        has_user_block(file.get()))
      placed.clear();
    const ChunkForm form{.shape = shape,
                         .chunk = cell,
                         .order = c_order(shape.size()),
                         .type = known->type,
                         .byte_order = known->order,
                         .codecs = filters.codecs,
                         .fill = fill};
    array.chunks =
        ChunksInStore{.form = form, .store = std::make_shared<H5Chunks>(path, dataset_name, form, placed)};
    return array;
  }
};

#else

class Hdf5 final : public NamedHdf5 {
 public:
  std::vector<StoredArray> arrays(const fs::path& path) const override {
    fail(ErrorCode::unsupported, "read `" + path.string() + "`", "HDF5, in a build without its library",
         "a build that has it", "tools/install_dependencies.sh installs libhdf5-dev, for a new build");
  }
};

#endif

}  // namespace

const Format& hdf5_format() {
  static const Hdf5 format;
  return format;
}

}  // namespace faro::store
