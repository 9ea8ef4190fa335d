// NIfTI-1 and -2: images of scanners.
//
//     header of 348 or 540 bytes, either byte order | extensions | from vox_offset elements, the first axis fastest
//
// What the header says beside that are attributes. The affine map from a voxel's index to its place in the
// scanner follows the axes as they are turned, as long as the axes of space stay the first three.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "faro/error.hpp"
#include "store/file_numbers.hpp"
#include "store/nifti_notes.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::array kNiftiTypes{
    TypeNumber{2, "uint8"},    TypeNumber{4, "int16"},      TypeNumber{8, "int32"},
    TypeNumber{16, "float32"}, TypeNumber{32, "complex64"}, TypeNumber{64, "float64"},
    TypeNumber{256, "int8"},   TypeNumber{512, "uint16"},   TypeNumber{768, "uint32"},
    TypeNumber{1024, "int64"}, TypeNumber{1280, "uint64"},  TypeNumber{1792, "complex128"}};

constexpr std::uint64_t kNifti1Bytes = 348;
constexpr std::uint64_t kNifti2Bytes = 540;

class Nifti final : public Format {
 public:
  const char* name() const override { return "NIfTI"; }

  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    const auto has = [&](std::uint64_t at, std::string_view magic) {
      return first.size() >= kNifti1Bytes && begins_with(first.subspan(at), magic);
    };
    return has(344, std::string_view("n+1\0", 4)) || has(4, std::string_view("n+2\0", 4));
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".nii"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const std::string operation = "read `" + path.string() + "`";
    const Bytes header = first_bytes(path, kNifti2Bytes);
    FileNumbers little(header, ByteOrder::little, operation);
    const std::uint64_t length = little.u32();
    const bool is_little = length == kNifti1Bytes || length == kNifti2Bytes;
    const ByteOrder order = is_little ? ByteOrder::little : ByteOrder::big;
    FileNumbers numbers(header, order, operation);
    const std::uint64_t own_length = numbers.u32();
    if (own_length != kNifti1Bytes && own_length != kNifti2Bytes)
      fail(ErrorCode::file, operation, fmt::format("a header of {} bytes", own_length), "348 or 540");
    const bool is_second = own_length == kNifti2Bytes;
    numbers.go_to(is_second ? 12 : 70);
    const auto type = static_cast<std::int64_t>(numbers.u16());
    numbers.go_to(is_second ? 16 : 40);
    const std::uint64_t width = is_second ? 8 : 2;
    const std::uint64_t rank = numbers.number(width);
    if (rank < 1 || rank > 7) fail(ErrorCode::file, operation, fmt::format("{} axes", rank), "1 to 7");
    Shape shape(rank);
    for (std::uint64_t& extent : shape) {
      extent = numbers.number(width);
      // Numbers with a sign.
      if (extent >> (8 * width - 1) != 0)
        fail(ErrorCode::file, operation, "an axis below 0", "one from 0 on");
    }
    numbers.go_to(is_second ? 168 : 108);
    const std::uint64_t offset = is_second ? numbers.u64() : whole(numbers.f32(), operation);
    StoredArray array = run_array(
        *this, "", path, fortran_run(shape, type_numbered(kNiftiTypes, type, operation), offset, order));
    const double slope = is_second ? numbers.f64() : numbers.f32();
    const double intercept = is_second ? numbers.f64() : numbers.f32();
    if (slope != 0 && std::isfinite(slope) && std::isfinite(intercept) && (slope != 1 || intercept != 0))
      array.notes.attributes = {{"scl_slope", slope}, {"scl_inter", intercept}};
    if (header.size() >= own_length) add_notes(numbers, is_second, rank, array.notes.attributes);
    return {std::move(array)};
  }

  std::vector<std::string> attributes_kept() const override {
    return {"scl_slope",    "scl_inter",        "nifti_affine", "nifti_xform_code",
            "nifti_pixdim", "nifti_xyzt_units", "nifti_descrip"};
  }

  // NIfTI-1 where its numbers of 16 bits hold the shape.
  std::optional<RunOutput> run_output(const WantedArray& wanted) const override {
    const auto* const type =
        std::find_if(kNiftiTypes.begin(), kNiftiTypes.end(),
                     [&](const TypeNumber& each) { return each.name == wanted.type.name; });
    if (type == kNiftiTypes.end()) {
      fail(ErrorCode::unsupported, "write NIfTI", "elements of type " + wanted.type.name,
           "numbers that NIfTI has", "--dtype converts");
    }
    if (wanted.shape.size() > 7) {
      fail(ErrorCode::unsupported, "write NIfTI", fmt::format("{} axes", wanted.shape.size()), "at most 7");
    }
    const bool is_second = std::any_of(wanted.shape.begin(), wanted.shape.end(),
                                       [](std::uint64_t extent) { return extent > 32767; });
    const auto number_of = [&](const char* key, double otherwise) {
      const auto found = wanted.notes.attributes.find(key);
      return found != wanted.notes.attributes.end() && found->is_number() ? found->get<double>() : otherwise;
    };
    const double slope = number_of("scl_slope", 1);
    const double intercept = number_of("scl_inter", 0);
    HeaderBytes header;
    is_second ? second_header(header, wanted, type->number, slope, intercept)
              : first_header(header, wanted, type->number, slope, intercept);
    put_notes(header, is_second, wanted);
    header.u32(0);  // no extensions
    const std::uint64_t offset = is_second ? kSecondData : kFirstData;
    header.fill_to(offset);
    return RunOutput{.header = header.take(), .form = fortran_run(wanted.shape, wanted.type, offset)};
  }

 private:
  static constexpr std::uint64_t kFirstData = 352;
  static constexpr std::uint64_t kSecondData = 544;

  // Where both versions say the rest.
  struct Places {
    std::uint64_t pixdim, units, text, forms, quaternion, rows;
    std::uint64_t real, code;  // widths
  };
  static Places places_of(bool is_second) {
    if (is_second)
      return {.pixdim = 104,
              .units = 500,
              .text = 240,
              .forms = 344,
              .quaternion = 352,
              .rows = 400,
              .real = 8,
              .code = 4};
    return {.pixdim = 76,
            .units = 123,
            .text = 148,
            .forms = 252,
            .quaternion = 256,
            .rows = 280,
            .real = 4,
            .code = 2};
  }
  static constexpr std::uint64_t kTextBytes = 80;

  static void add_notes(FileNumbers& numbers, bool is_second, std::uint64_t rank, Json& attributes) {
    const Places places = places_of(is_second);
    const auto reals = [&](std::uint64_t at, std::uint64_t count) {
      numbers.go_to(at);
      std::vector<double> found(count);
      for (double& each : found) each = is_second ? numbers.f64() : numbers.f32();
      return found;
    };
    const auto are_finite = [](const std::vector<double>& values) {
      return std::all_of(values.begin(), values.end(), [](double each) { return std::isfinite(each); });
    };
    const std::vector<double> spacing = reals(places.pixdim, 8);
    numbers.go_to(places.forms);
    const std::uint64_t quaternion_code = numbers.number(places.code);
    const std::uint64_t rows_code = numbers.number(places.code);
    const auto is_code = [](std::uint64_t code) { return code > 0 && code < 128; };
    std::vector<double> affine;
    if (is_code(rows_code)) {
      affine = reals(places.rows, 12);
    } else if (is_code(quaternion_code)) {
      affine = affine_of_quaternion(reals(places.quaternion, 6), spacing);
    }
    if (!affine.empty() && are_finite(affine)) {
      affine.insert(affine.end(), {0, 0, 0, 1});
      attributes["nifti_affine"] = affine;
      attributes["nifti_xform_code"] = is_code(rows_code) ? rows_code : quaternion_code;
    }
    const std::vector<double> along(spacing.begin() + 1,
                                    spacing.begin() + 1 + static_cast<std::ptrdiff_t>(rank));
    if (are_finite(along) && std::any_of(along.begin(), along.end(), [](double each) { return each != 1; }))
      attributes["nifti_pixdim"] = along;
    numbers.go_to(places.units);
    if (const std::uint64_t units = is_second ? numbers.u32() : numbers.u8(); units != 0 && units < 256)
      attributes["nifti_xyzt_units"] = units;
    numbers.go_to(places.text);
    std::string text = numbers.text(kTextBytes);
    text.resize(std::min(text.find('\0'), text.size()));
    if (!text.empty() && is_utf8(text)) attributes["nifti_descrip"] = text;
  }

  // As the standard's method 2: b, c, d, and where the first voxel is; the sign of the third axis is pixdim's
  // first number.
  static std::vector<double> affine_of_quaternion(const std::vector<double>& from,
                                                  const std::vector<double>& spacing) {
    const double b = from[0];
    const double c = from[1];
    const double d = from[2];
    const double a = std::sqrt(std::max(0.0, 1 - b * b - c * c - d * d));
    const double sign = spacing[0] < 0 ? -1 : 1;
    const std::array<double, 9> turn{
        a * a + b * b - c * c - d * d, 2 * (b * c - a * d),           2 * (b * d + a * c),
        2 * (b * c + a * d),           a * a + c * c - b * b - d * d, 2 * (c * d - a * b),
        2 * (b * d - a * c),           2 * (c * d + a * b),           a * a + d * d - b * b - c * c};
    std::vector<double> affine(12);
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t axis = 0; axis < 3; ++axis)
        affine[4 * row + axis] = turn[3 * row + axis] * spacing[axis + 1] * (axis == 2 ? sign : 1);
      affine[4 * row + 3] = from[3 + row];
    }
    return affine;
  }

  static void put_notes(HeaderBytes& header, bool is_second, const WantedArray& wanted) {
    const Places places = places_of(is_second);
    const Json& attributes = wanted.notes.attributes;
    const auto put_reals = [&](std::uint64_t at, std::span<const double> values) {
      HeaderBytes reals;
      for (const double each : values) is_second ? reals.f64(each) : reals.f32(static_cast<float>(each));
      header.put(at, reals.take());
    };
    const auto small = [&](const char* name, std::uint64_t otherwise) {
      const auto found = attributes.find(name);
      const bool is_small = found != attributes.end() && found->is_number_integer() &&
                            found->get<std::int64_t>() >= 0 && found->get<std::uint64_t>() < 128;
      return is_small ? found->get<std::uint64_t>() : otherwise;
    };
    const auto put_small = [&](std::uint64_t at, std::uint64_t value, std::uint64_t width) {
      HeaderBytes number;
      number.number(value, width);
      header.put(at, number.take());
    };
    const std::vector<double> affine = nifti_numbers(attributes, "nifti_affine", 16);
    std::vector<double> spacing = nifti_numbers(attributes, "nifti_pixdim", wanted.shape.size());
    for (std::size_t a = spacing.size(); a < std::min<std::size_t>(3, wanted.shape.size()) && !affine.empty();
         ++a)
      spacing.push_back(std::hypot(affine[a], affine[4 + a], affine[8 + a]));
    put_reals(places.pixdim + places.real, spacing);
    if (!affine.empty()) {
      put_reals(places.rows, std::span(affine).first(12));
      put_small(places.forms + places.code, small("nifti_xform_code", 2),
                places.code);  // 2: aligned to another
    }
    put_small(places.units, small("nifti_xyzt_units", 0), is_second ? 4 : 1);
    const auto text = attributes.find("nifti_descrip");
    if (text == attributes.end() || !text->is_string()) return;
    HeaderBytes letters;
    letters.text(text->get<std::string>().substr(0, kTextBytes - 1));
    header.put(places.text, letters.take());
  }

  // The number of axes, their extents, and 1 for those that are not there.
  static void put_axes(HeaderBytes& header, const Shape& shape, std::uint64_t width) {
    // A single element has an axis all the same.
    header.number(std::max<std::uint64_t>(shape.size(), 1), width);
    for (std::size_t a = 0; a < 7; ++a) header.number(a < shape.size() ? shape[a] : 1, width);
  }

  static void first_header(HeaderBytes& header, const WantedArray& wanted, int type, double slope,
                           double intercept) {
    header.u32(kNifti1Bytes);
    header.fill_to(40);
    put_axes(header, wanted.shape, 2);
    header.fill_to(70);
    header.u16(static_cast<std::uint64_t>(type));
    header.u16(8 * wanted.type.bytes);
    header.fill_to(76);
    for (int p = 0; p < 8; ++p) header.f32(1);  // pixdim
    header.f32(static_cast<float>(kFirstData));
    header.f32(static_cast<float>(slope));
    header.f32(static_cast<float>(intercept));
    header.fill_to(344);
    header.text(std::string_view("n+1\0", 4));
  }

  static void second_header(HeaderBytes& header, const WantedArray& wanted, int type, double slope,
                            double intercept) {
    header.u32(kNifti2Bytes);
    header.text(std::string_view("n+2\0\r\n\x1a\n", 8));
    header.u16(static_cast<std::uint64_t>(type));
    header.u16(8 * wanted.type.bytes);
    put_axes(header, wanted.shape, 8);
    header.fill_to(104);
    for (int p = 0; p < 8; ++p) header.u64(std::bit_cast<std::uint64_t>(1.0));  // pixdim
    header.u64(kSecondData);
    header.u64(std::bit_cast<std::uint64_t>(slope));
    header.u64(std::bit_cast<std::uint64_t>(intercept));
    header.fill_to(kNifti2Bytes);
  }

  static std::uint64_t whole(double value, const std::string& operation) {
    constexpr double kMost = 1e9;  // of a float
    if (!(value >= 0 && value <= kMost && std::floor(value) == value))
      fail(ErrorCode::file, operation, fmt::format("data that begin at {}", value),
           "a whole number of bytes");
    return static_cast<std::uint64_t>(value);
  }
};

}  // namespace

const Format& nifti_format() {
  static const Nifti format;
  return format;
}

}  // namespace faro::store
