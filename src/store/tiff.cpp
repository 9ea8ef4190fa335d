// TIFF and BigTIFF without compression: pages of strips or tiles.
//
//     header -> directory -> directory -> …        each a list of tags; a page
//     pages that are alike                         one array: (pages, samples, rows, columns, samples)
//     strips one behind another                    a run of bytes
//     other strips, and tiles                      a grid of chunks: ranges of the file
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "store/file_numbers.hpp"
#include "store/ranges.hpp"
#include "store/store_formats.hpp"
#include "store/tiff_writer.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

enum Tag : std::uint64_t {
  kColumns = 256,
  kRows = 257,
  kBits = 258,
  kCompression = 259,
  kFillOrder = 266,
  kDescription = 270,
  kStripOffsets = 273,
  kSamples = 277,
  kRowsPerStrip = 278,
  kStripBytes = 279,
  kPlanar = 284,
  kTileColumns = 322,
  kTileRows = 323,
  kTileOffsets = 324,
  kTileBytes = 325,
  kSampleFormat = 339,
  kDepth = 32997,
};

// What the tags of one page say.
struct TiffPage {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t samples = 1;
  bool is_planar = false;       // samples are planes
  std::uint64_t cell_rows = 0;  // of a strip or a tile
  std::uint64_t cell_columns = 0;
  bool is_tiled = false;
  std::string type = {};
  std::vector<FileRange> ranges = {};
  std::string description = {};

  bool is_like(const TiffPage& other) const {
    const auto form = [](const TiffPage& page) {
      return std::tuple(page.rows, page.columns, page.samples, page.is_planar, page.cell_rows,
                        page.cell_columns, page.is_tiled, page.type);
    };
    return form(*this) == form(other);
  }
};

class TiffFile {
 public:
  explicit TiffFile(const fs::path& path) : operation_("read `" + path.string() + "`"), file_(path) {
    const Bytes begin = file_.read(0, std::min<std::uint64_t>(file_.size(), 16));
    order_ = begins_with(begin, "MM") ? ByteOrder::big : ByteOrder::little;
    FileNumbers numbers(begin, order_, operation_);
    numbers.skip(2);
    constexpr std::uint64_t kBig = 43;
    is_big_ = numbers.u16() == kBig;
    if (is_big_) numbers.skip(4);
    first_ = numbers.number(word());
  }

  ByteOrder order() const { return order_; }
  std::uint64_t bytes() const { return file_.size(); }

  std::vector<TiffPage> pages() const {
    constexpr std::size_t kMostPages = std::size_t{1} << 20;
    std::vector<TiffPage> found;
    std::set<std::uint64_t> seen;
    for (std::uint64_t at = first_; at != 0;) {
      if (!seen.insert(at).second || seen.size() > kMostPages)
        fail(ErrorCode::file, operation_, "pages in a circle, or more than 2^20", "a list that ends");
      found.push_back(page_at(at));
    }
    return found;
  }

 private:
  using Values = std::vector<std::uint64_t>;

  std::uint64_t word() const { return is_big_ ? 8 : 4; }

  // Reads a directory; `at` becomes the next one's place.
  TiffPage page_at(std::uint64_t& at) const {
    const std::uint64_t count_bytes = is_big_ ? 8 : 2;
    const std::uint64_t entry_bytes = is_big_ ? 20 : 12;
    const Bytes of_count = file_.read(at, count_bytes);
    const std::uint64_t count = FileNumbers(of_count, order_, operation_).number(count_bytes);
    constexpr std::uint64_t kMostTags = 65535;
    if (count > kMostTags) fail(ErrorCode::file, operation_, fmt::format("{} tags", count), "at most 65535");
    const Bytes bytes = file_.read(at + count_bytes, count * entry_bytes + word());
    FileNumbers numbers(bytes, order_, operation_);
    std::map<std::uint64_t, Values> tags;
    std::string description;
    for (std::uint64_t t = 0; t < count; ++t) {
      const std::uint64_t tag = numbers.u16();
      const std::uint64_t type = numbers.u16();
      const std::uint64_t values = numbers.number(word());
      const std::span<const std::byte> field = numbers.bytes(word());
      if (tag == kDescription) {
        const Bytes text = value_bytes(field, values);
        description.assign(reinterpret_cast<const char*>(text.data()), text.size());
      } else if (is_known(tag)) {
        tags[tag] = values_of(type, values, field);
      }
    }
    at = numbers.number(word());
    TiffPage page = page_of(tags);
    page.description = description.substr(0, description.find('\0'));
    return page;
  }

  static bool is_known(std::uint64_t tag) {
    constexpr std::array kKnown{kColumns,     kRows,         kBits,         kCompression,
                                kFillOrder,   kStripOffsets, kSamples,      kRowsPerStrip,
                                kStripBytes,  kPlanar,       kTileColumns,  kTileRows,
                                kTileOffsets, kTileBytes,    kSampleFormat, kDepth};
    return std::find(kKnown.begin(), kKnown.end(), tag) != kKnown.end();
  }

  // Where they are few, they are in the entry itself.
  Bytes value_bytes(std::span<const std::byte> field, std::uint64_t bytes) const {
    if (bytes <= word()) return {field.begin(), field.begin() + static_cast<std::ptrdiff_t>(bytes)};
    return file_.read(FileNumbers(field, order_, operation_).number(word()), bytes);
  }

  Values values_of(std::uint64_t type, std::uint64_t count, std::span<const std::byte> field) const {
    constexpr std::array<std::uint64_t, 19> kBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    const std::uint64_t width = type < kBytes.size() ? kBytes.at(type) : 0;
    if (width == 0 || count > file_.size() / width)
      fail(ErrorCode::file, operation_, fmt::format("{} values of type {}", count, type),
           "values in the file");
    const Bytes bytes = value_bytes(field, count * width);
    FileNumbers numbers(bytes, order_, operation_);
    Values values(count);
    for (std::uint64_t& value : values) value = numbers.number(width);
    return values;
  }

  TiffPage page_of(const std::map<std::uint64_t, Values>& tags) const {
    const auto values = [&](Tag tag) -> Values {
      const auto found = tags.find(tag);
      return found == tags.end() ? Values{} : found->second;
    };
    const auto value = [&](Tag tag, std::uint64_t otherwise) {
      const Values all = values(tag);
      return all.empty() ? otherwise : all.front();
    };
    if (const std::uint64_t compression = value(kCompression, 1); compression != 1) {
      fail(ErrorCode::unsupported, operation_, fmt::format("pages of compression {}", compression),
           "uncompressed ones");
    }
    if (value(kDepth, 1) != 1)
      fail(ErrorCode::unsupported, operation_, "pages that are deep", "rows and columns");
    TiffPage page{.rows = value(kRows, 0), .columns = value(kColumns, 0), .samples = value(kSamples, 1)};
    page.type = type_of(values(kBits), values(kSampleFormat), value(kFillOrder, 1));
    constexpr std::uint64_t kMostExtent = std::uint64_t{1} << 32;
    if (page.rows == 0 || page.columns == 0 || page.samples == 0 || page.rows > kMostExtent ||
        page.columns > kMostExtent || page.samples > kMostExtent)
      fail(ErrorCode::file, operation_, "a page of no or of 2^32 rows, columns or samples", "some of each");
    constexpr std::uint64_t kPlanes = 2;
    page.is_planar = page.samples > 1 && value(kPlanar, 1) == kPlanes;
    page.is_tiled = tags.contains(kTileOffsets);
    page.cell_rows =
        page.is_tiled ? value(kTileRows, 0) : std::min(value(kRowsPerStrip, page.rows), page.rows);
    page.cell_columns = page.is_tiled ? value(kTileColumns, 0) : page.columns;
    if (page.cell_rows == 0 || page.cell_columns == 0 || page.cell_rows > kMostExtent ||
        page.cell_columns > kMostExtent)
      fail(ErrorCode::file, operation_, "strips or tiles of no elements", "some rows and columns");
    const Values offsets = values(page.is_tiled ? kTileOffsets : kStripOffsets);
    const Values bytes = values(page.is_tiled ? kTileBytes : kStripBytes);
    if (offsets.size() != bytes.size())
      fail(ErrorCode::file, operation_, "other numbers of offsets than of lengths",
           "one of each for a strip or tile");
    for (std::size_t c = 0; c < offsets.size(); ++c) page.ranges.push_back({offsets[c], bytes[c]});
    return page;
  }

  std::string type_of(const Values& bits, const Values& formats, std::uint64_t fill_order) const {
    const auto is_one = [](const Values& all) {
      return std::all_of(all.begin(), all.end(), [&](std::uint64_t each) { return each == all.front(); });
    };
    constexpr std::array<std::string_view, 7> kFormats{"", "uint", "int", "float", "", "", "complex"};
    const std::uint64_t width = bits.empty() ? 1 : bits.front();
    const std::uint64_t format = formats.empty() ? 1 : formats.front();
    if (!is_one(bits) || !is_one(formats) || fill_order != 1 || format >= kFormats.size() ||
        kFormats.at(format).empty() || width % 8 != 0) {
      fail(ErrorCode::unsupported, operation_, fmt::format("samples of {} bits, of format {}", width, format),
           "samples of whole bytes, all alike");
    }
    const std::string name = fmt::format("{}{}", kFormats.at(format), width);
    return element_type_or_fail(name, operation_).name;
  }

  std::string operation_;
  FileReader file_;
  ByteOrder order_ = ByteOrder::little;
  bool is_big_ = false;
  std::uint64_t first_ = 0;
};

class Tiff final : public Format {
 public:
  const char* name() const override { return "TIFF"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    using namespace std::string_view_literals;
    return begins_with(first, "II*\0"sv) || begins_with(first, "MM\0*"sv) || begins_with(first, "II+\0"sv) ||
           begins_with(first, "MM\0+"sv);
  }
  bool is_meant(const fs::path& path) const override {
    return ends_with(path, {".tif", ".tiff", ".btf", ".tf8"});
  }

  bool has_tiles() const override { return true; }
  std::optional<RunOutput> run_output(const WantedArray& wanted) const override {
    return tiff_output(wanted);
  }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const TiffFile file(path);
    const std::vector<TiffPage> pages = file.pages();
    std::vector<StoredArray> found;
    // Pages that are alike are one array; others begin the next.
    for (std::size_t first = 0; first < pages.size();) {
      std::size_t end = first + 1;
      while (end < pages.size() && pages[end].is_like(pages[first])) ++end;
      const std::string name = end - first == pages.size() ? "" : std::to_string(first);
      found.push_back(array_of(path, name, {pages.data() + first, end - first}, file));
      first = end;
    }
    return found;
  }

 private:
  // Pages, planes, rows, columns, samples: the axes that are there.
  struct Grid {
    Shape shape = {};
    Shape chunk = {};
  };
  static Grid grid_of(const TiffPage& page, std::uint64_t pages) {
    Grid grid;
    const auto add = [&](std::uint64_t extent, std::uint64_t cell) {
      grid.shape.push_back(extent);
      grid.chunk.push_back(cell);
    };
    if (pages > 1) add(pages, 1);
    if (page.is_planar) add(page.samples, 1);
    add(page.rows, page.cell_rows);
    add(page.columns, page.cell_columns);
    if (!page.is_planar && page.samples > 1) add(page.samples, page.samples);
    return grid;
  }

  StoredArray array_of(const fs::path& path, const std::string& name, std::span<const TiffPage> pages,
                       const TiffFile& file) const {
    const std::string operation = "read `" + path.string() + "`";
    const TiffPage& page = pages.front();
    const ElementType type = known_element_type(page.type);
    const ByteOrder order = file.order();
    require_shape(grid_of(page, 1).shape, type.bytes, operation);
    const bool is_only = pages.size() == 1 && name.empty();
    const std::uint64_t images = is_only ? stacked_images(page, type.bytes, file.bytes()) : pages.size();
    Grid grid = grid_of(page, images);
    require_shape(grid.shape, type.bytes, operation);
    require_shape(grid.chunk, type.bytes, operation);
    const Described told = described(page);
    const Shape shape = told.elements == volume(grid.shape) ? told.shape : grid.shape;
    std::vector<FileRange> ranges;
    for (const TiffPage& each : pages) ranges.insert(ranges.end(), each.ranges.begin(), each.ranges.end());
    if (images > pages.size() || (!page.is_tiled && is_run(ranges, volume(grid.shape) * type.bytes))) {
      return run_array(*this, name, path, dense_run(shape, type, ranges.front().offset, order));
    }
    if (auto finer = split_to(shape, grid)) grid = *std::move(finer);
    const ChunkForm form{.shape = grid.shape,
                         .chunk = grid.chunk,
                         .order = c_order(grid.shape.size()),
                         .type = type,
                         .byte_order = order,
                         .codecs = {},
                         .fill = {},
                         .ends_are_cut = !page.is_tiled};
    return {
        .name = name,
        .format = this->name(),
        .shape = grid.shape,
        .type = type,
        .byte_order = order,
        .chunks = ChunksInStore{
            .form = form, .store = chunk_ranges(path, cells_of(grid.shape, grid.chunk), std::move(ranges))}};
  }

  // Images that lie one behind another from the only page's on, as ImageJ writes large stacks, and tifffile
  // what it calls truncated. 1: the page's own, or they are not in the file.
  static std::uint64_t stacked_images(const TiffPage& page, std::uint64_t bytes, std::uint64_t file_bytes) {
    const std::uint64_t elements = volume(grid_of(page, 1).shape);
    if (page.is_tiled || !is_run(page.ranges, elements * bytes) || page.ranges.front().offset > file_bytes)
      return 1;
    std::uint64_t images = 1;
    constexpr std::string_view kImages = "\nimages=";
    const std::size_t at = page.description.find(kImages);
    if (page.description.starts_with("ImageJ=") && at != std::string::npos) {
      images = std::strtoull(page.description.c_str() + at + kImages.size(), nullptr, 10);
    } else if (const Described told = described(page); told.is_truncated) {
      images = told.elements / elements;
    }
    return images <= (file_bytes - page.ranges.front().offset) / (elements * bytes)
               ? std::max<std::uint64_t>(images, 1)
               : 1;
  }

  // Strips one behind another, as long as the array. What writes large stacks may count the first strip
  // alone.
  static bool is_run(std::span<const FileRange> ranges, std::uint64_t bytes) {
    if (ranges.empty()) return false;
    std::uint64_t at = ranges.front().offset;
    for (const FileRange& range : ranges) {
      if (range.offset != at) return false;
      at += range.bytes;
    }
    return at - ranges.front().offset == bytes;
  }

  // The same cells, one behind another, of an array of this shape: pages lie along several axes, and axes of
  // one index may be anywhere. None: the shape cuts other axes.
  static std::optional<Grid> split_to(const Shape& shape, const Grid& grid) {
    Grid split;
    const auto add = [&](std::uint64_t cell) {
      split.shape.push_back(shape[split.shape.size()]);
      split.chunk.push_back(cell);
      return split.shape.back();
    };
    const auto more = [&] { return split.shape.size() < shape.size(); };
    for (std::size_t a = 0; a < grid.shape.size(); ++a) {
      std::uint64_t extent = 1;
      if (grid.chunk[a] == 1) {
        while (extent < grid.shape[a] && more()) extent *= add(1);
      } else {
        while (grid.shape[a] != 1 && more() && shape[split.shape.size()] == 1) add(1);
        if (more()) extent = add(grid.chunk[a]);
      }
      if (extent != grid.shape[a]) return {};
    }
    while (more() && add(1) == 1) continue;
    if (more()) return {};
    return split;
  }

  // tifffile keeps the shape of an array of more axes in the first page's description.
  struct Described {
    Shape shape = {};
    std::uint64_t elements = 0;  // none: there is no shape, or one of too many
    bool is_truncated = false;
  };
  static Described described(const TiffPage& page) {
    const Json json =
        page.description.starts_with('{') ? Json::parse(page.description, nullptr, false) : Json();
    if (!json.is_object() || !json.contains("shape") || !json["shape"].is_array()) return {};
    Described told{.elements = 1, .is_truncated = json.contains("truncated") && json["truncated"] == true};
    constexpr std::uint64_t kMostElements = std::uint64_t{1} << 62;
    for (const Json& each : json["shape"]) {
      if (!each.is_number_unsigned() || each == 0 ||
          each.get<std::uint64_t>() > kMostElements / told.elements)
        return {};
      told.shape.push_back(each.get<std::uint64_t>());
      told.elements *= told.shape.back();
    }
    return told.shape.size() <= 64 ? told : Described{};
  }
};

}  // namespace

const Format& tiff_format() {
  static const Tiff format;
  return format;
}

}  // namespace faro::store
