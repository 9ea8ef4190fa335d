#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/status.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/permutation/indexed.hpp"
#include "permutation/catalogue.hpp"

namespace faro::capi {
namespace {

faro_map* new_map(Permutation permutation) { return new faro_map{std::move(permutation)}; }

const Permutation& permutation_in(const faro_map* map, const char* operation, const char* name = "map") {
  require_argument(map, operation, name);
  return map->permutation;
}

constexpr int kMaxPictureElements = 26;

void require_entries(const void* entries, std::uint64_t count, int entry_bytes) {
  constexpr const char* kDoing = "make a map of indices";
  if (count > 0) require_argument(entries, kDoing, "entries");
  if (entry_bytes != 4 && entry_bytes != 8) {
    fail(ErrorCode::value, kDoing, "entries of " + std::to_string(entry_bytes) + " bytes",
         "entries of 4 or 8 bytes");
  }
  if (count > Indexed::kMaxCount)
    fail(ErrorCode::value, kDoing, std::to_string(count) + " entries", "at most 2^40");
}

bool is_on_device(const Permutation& permutation) {
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  return indexed != nullptr && !indexed->on_host();
}

}  // namespace
}  // namespace faro::capi

using faro::capi::checked_rank;
using faro::capi::given_away;
using faro::capi::guarded;
using faro::capi::is_on_device;
using faro::capi::new_map;
using faro::capi::permutation_in;
using faro::capi::require_argument;
using faro::capi::require_entries;

faro_status faro_map_parse(const char* text, int rank, const uint64_t* shape, faro_map** map) {
  return guarded([&] {
    require_argument("parse a map", {{text, "text"}, {map, "map"}});
    const std::size_t axes = checked_rank("parse a map", rank);
    faro::ParseOptions options;
    if (axes > 0) {
      require_argument(shape, "parse a map", "shape");
      options.shape = std::vector<uint64_t>(shape, shape + axes);
    }
    *map = new_map(faro::parse_permutation(text, options));
  });
}

faro_status faro_map_from_matrix(int bits, const uint64_t* columns, uint64_t complement, faro_map** map) {
  return guarded([&] {
    require_argument(map, "make a map of a matrix", "map");
    const std::size_t n = checked_rank("make a map of a matrix", bits);
    if (n > 0) require_argument(columns, "make a map of a matrix", "columns");
    const std::span<const faro::f2::Word> given(columns, n);
    for (std::size_t j = 0; j < n; ++j) {
      if (n == 64 || given[j] >> n == 0) continue;
      faro::fail(faro::ErrorCode::value, "make a map of a matrix",
                 "column " + std::to_string(j) + " with bits past the " + std::to_string(n) + " of an index",
                 "columns of so many bits");
    }
    *map = new_map(faro::Affine(faro::f2::Matrix::from_columns(bits, given), complement));
  });
}

faro_status faro_map_from_axes(int rank, const uint64_t* shape, const int* order, faro_map** map) {
  return guarded([&] {
    require_argument(map, "make a map of axes", "map");
    const std::size_t axes = checked_rank("make a map of axes", rank);
    if (axes > 0) {
      require_argument("make a map of axes", {{shape, "shape"}, {order, "order"}});
    }
    *map = new_map(faro::Axes({shape, shape + axes}, {order, order + axes}));
  });
}

faro_status faro_map_from_indices(const void* entries, uint64_t count, int entry_bytes, int is_signed,
                                  int gather, faro_map** map) {
  return guarded([&] {
    require_argument(map, "make a map of indices", "map");
    require_entries(entries, count, entry_bytes);
    const std::span bytes(static_cast<const std::byte*>(entries), count * static_cast<uint64_t>(entry_bytes));
    *map =
        new_map(faro::Indexed::from_bytes(bytes, {.bytes = entry_bytes, .is_signed = is_signed != 0},
                                          gather != 0 ? faro::Direction::gather : faro::Direction::scatter));
  });
}

faro_status faro_map_from_device_indices(const void* entries, uint64_t count, int entry_bytes, int is_signed,
                                         int gather, int device, void* stream, faro_map** map) {
  return guarded([&] {
    require_argument(map, "make a map of indices", "map");
    require_entries(entries, count, entry_bytes);
    const auto direction = gather != 0 ? faro::Direction::gather : faro::Direction::scatter;
    *map = new_map(
        faro::cuda::copied_on_device(entries, count, {.bytes = entry_bytes, .is_signed = is_signed != 0},
                                     direction, device == 0 ? faro::cuda::kCurrentDevice : device - 1,
                                     faro::Stream(static_cast<CUstream_st*>(stream))));
  });
}

void faro_map_destroy(faro_map* map) { delete map; }

faro_status faro_map_compose(const faro_map* a, const faro_map* b, faro_map** composed) {
  return guarded([&] {
    require_argument(composed, "compose maps", "composed");
    const faro::Permutation& outer = permutation_in(a, "compose maps", "a");
    const faro::Permutation& inner = permutation_in(b, "compose maps", "b");
    const bool there = is_on_device(outer) || is_on_device(inner);
    *composed =
        new_map(there ? faro::Permutation(faro::cuda::compose(outer, inner)) : faro::compose(outer, inner));
  });
}

faro_status faro_map_inverse(const faro_map* map, faro_map** inverse) {
  return guarded([&] {
    require_argument(inverse, "invert a map", "inverse");
    *inverse = new_map(faro::inverse(permutation_in(map, "invert a map")));
  });
}

faro_status faro_map_power(const faro_map* map, int64_t k, faro_map** power) {
  return guarded([&] {
    require_argument(power, "raise a map to a power", "power");
    *power = new_map(faro::power(permutation_in(map, "raise a map to a power"), k));
  });
}

faro_status faro_map_normal_form(const faro_map* map, faro_map** form) {
  return guarded([&] {
    require_argument(form, "bring a map to its normal form", "form");
    *form = new_map(faro::normal_form(permutation_in(map, "bring a map to its normal form")));
  });
}

faro_status faro_map_count(const faro_map* map, uint64_t* elements) {
  return guarded([&] {
    require_argument(elements, "count a map's elements", "elements");
    *elements = faro::element_count(permutation_in(map, "count a map's elements"));
  });
}

faro_status faro_map_apply(const faro_map* map, uint64_t x, uint64_t* image) {
  return guarded([&] {
    require_argument(image, "apply a map", "image");
    const faro::Permutation& permutation = permutation_in(map, "apply a map");
    // A map of 64 bits has a count that no number holds, and takes every index.
    const auto* const affine = std::get_if<faro::Affine>(&permutation);
    const bool takes_all = affine != nullptr && affine->bits() == 64;
    if (!takes_all && x >= faro::element_count(permutation)) {
      faro::fail(faro::ErrorCode::value, "apply a map", "index " + std::to_string(x),
                 "an index below " + std::to_string(faro::element_count(permutation)));
    }
    *image = faro::apply(permutation, x);
  });
}

faro_status faro_map_images(const faro_map* map, uint64_t* images) {
  return guarded([&] {
    const faro::Permutation& permutation = permutation_in(map, "list a map's images");
    const uint64_t count = faro::element_count(permutation);
    if (count > 0) require_argument(images, "list a map's images", "images");
    if (const auto* const indexed = std::get_if<faro::Indexed>(&permutation)) {
      for (uint64_t i = 0; i < count; ++i) {
        if (indexed->direction() == faro::Direction::scatter) {
          images[i] = indexed->entry(i);
        } else {
          images[indexed->entry(i)] = i;
        }
      }
      return;
    }
    for (uint64_t i = 0; i < count; ++i) images[i] = faro::apply(permutation, i);
  });
}

faro_status faro_map_equal(const faro_map* a, const faro_map* b, int* equal) {
  return guarded([&] {
    require_argument(equal, "compare maps", "equal");
    const faro::Permutation first = faro::normal_form(permutation_in(a, "compare maps", "a"));
    const faro::Permutation second = faro::normal_form(permutation_in(b, "compare maps", "b"));
    *equal = first == second ? 1 : 0;
  });
}

faro_status faro_map_matrix(const faro_map* map, int* bits, uint64_t* columns, uint64_t* complement) {
  return guarded([&] {
    constexpr const char* kDoing = "take a map's matrix";
    const faro::Permutation& permutation = permutation_in(map, kDoing);
    require_argument(kDoing, {{bits, "bits"}, {columns, "columns"}, {complement, "complement"}});
    const faro::Affine affine = faro::affine(faro::normal_form(permutation), kDoing);
    for (int j = 0; j < affine.bits(); ++j) columns[j] = affine.matrix().column(j);
    *complement = affine.complement();
    *bits = affine.bits();
  });
}

faro_status faro_map_text(const faro_map* map, char** text) {
  return guarded([&] {
    require_argument(text, "print a map", "text");
    *text = given_away(faro::to_text(permutation_in(map, "print a map")));
  });
}

faro_status faro_map_picture(const faro_map* map, char** text) {
  return guarded([&] {
    constexpr const char* kDoing = "draw a map";
    require_argument(text, kDoing, "text");
    const faro::Permutation form = faro::normal_form(permutation_in(map, kDoing));
    const bool is_affine = std::holds_alternative<faro::Affine>(form);
    if (!is_affine && faro::element_count(form) > faro::capi::kMaxPictureElements) {
      faro::fail(faro::ErrorCode::unsupported, kDoing, faro::to_text(form),
                 "an affine map, or one of at most 26 elements");
    }
    *text = given_away(faro::picture(form));
  });
}

faro_status faro_map_catalogue(char** json) {
  return guarded([&] {
    require_argument(json, "list the maps", "json");
    auto list = nlohmann::ordered_json::array();
    for (const faro::MapEntry& entry : faro::catalogue()) {
      list.push_back({{"name", entry.name},
                      {"syntax", entry.syntax},
                      {"meaning", entry.meaning},
                      {"example", entry.example}});
    }
    *json = given_away(list.dump(2));
  });
}
