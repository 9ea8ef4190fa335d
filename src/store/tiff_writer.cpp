#include "store/tiff_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "store/file_numbers.hpp"

namespace faro::store {
namespace {

constexpr std::uint64_t kDataAlignment = 16;
constexpr std::uint64_t kTileMultiple = 16;
constexpr std::uint64_t kMostTiffPages = std::uint64_t{1} << 20;

// The last two axes and those before, of an array and of its tiles.
struct Pages {
  std::uint64_t count = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
};
Pages pages_of(const Shape& shape) {
  Pages pages;
  if (!shape.empty()) pages.columns = shape.back();
  if (shape.size() > 1) pages.rows = shape[shape.size() - 2];
  for (std::size_t a = 0; a + 2 < shape.size(); ++a) pages.count *= shape[a];
  return pages;
}

std::uint64_t sample_format(const ElementType& type) {
  const std::string& name = type.name;
  if (type.number && name != "bfloat16" && !name.starts_with("float8")) {
    if (name.starts_with("uint")) return 1;
    if (name.starts_with("int")) return 2;
    if (name.starts_with("float")) return 3;
    if (name.starts_with("complex")) return 6;
  }
  fail(ErrorCode::unsupported, "write TIFF", "elements of type " + name,
       "integers, floats and complex numbers", "--dtype converts");
}

void require_pages(const WantedArray& wanted) {
  const Pages pages = pages_of(wanted.shape);
  constexpr std::uint64_t kMostExtent = 0xffffffff;
  if (is_empty(wanted.shape) || pages.rows > kMostExtent || pages.columns > kMostExtent ||
      pages.count > kMostTiffPages) {
    fail(ErrorCode::unsupported, "write TIFF", fmt::format("an array of ({})", fmt::join(wanted.shape, ", ")),
         "some elements, and at most 2^20 pages of fewer than 2^32 rows and columns");
  }
}

void require_tiles(const Shape& tile, const Shape& shape) {
  const std::size_t rank = tile.size();
  bool fits = rank >= 2 && rank == shape.size() && tile[rank - 1] % kTileMultiple == 0 &&
              tile[rank - 2] % kTileMultiple == 0 && tile[rank - 1] >> 32 == 0 && tile[rank - 2] >> 32 == 0;
  for (std::size_t a = 0; a + 2 < rank; ++a) fits = fits && tile[a] == 1;
  if (fits) return;
  fail(ErrorCode::value, "write TIFF", fmt::format("tiles of ({})", fmt::join(tile, ", ")),
       "multiples of 16 rows and columns, of one page");
}

class TiffHeader {
 public:
  TiffHeader(const WantedArray& wanted, bool is_big)
      : pages_(pages_of(wanted.shape)),
        is_big_(is_big),
        bits_(8 * wanted.type.bytes),
        format_(sample_format(wanted.type)),
        description_(fmt::format("{{\"shape\": [{}]}}", fmt::join(wanted.shape, ", "))) {
    if (wanted.chunks.empty()) {
      cell_bytes_ = pages_.rows * pages_.columns * wanted.type.bytes;
    } else {
      tile_ = pages_of(wanted.chunks);
      cells_ = volume(cells_of({pages_.rows, pages_.columns}, {tile_.rows, tile_.columns}));
      cell_bytes_ = tile_.rows * tile_.columns * wanted.type.bytes;
    }
    description_.push_back('\0');
  }

  std::uint64_t data_bytes() const { return pages_.count * cells_ * cell_bytes_; }

  // What is before the elements, which begin at its end.
  Bytes bytes() const {
    const std::uint64_t data = make(0).size();
    return make(data).take();
  }

 private:
  static constexpr std::uint64_t kShort = 3;
  static constexpr std::uint64_t kLong = 4;
  static constexpr std::uint64_t kAscii = 2;

  std::uint64_t word() const { return is_big_ ? 8 : 4; }
  std::uint64_t directory_bytes(std::uint64_t entries) const {
    return is_big_ ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
  }
  std::uint64_t entries(std::uint64_t page) const { return (tile_is_set() ? 12 : 11) + (page == 0 ? 1 : 0); }
  bool tile_is_set() const { return tile_.columns > 1; }
  // Values of a word each that do not fit their entry.
  std::uint64_t table_bytes() const { return cells_ > 1 ? cells_ * word() : 0; }

  HeaderBytes make(std::uint64_t data) const {
    HeaderBytes header;
    header.text("II");
    header.u16(is_big_ ? 43 : 42);
    if (is_big_) header.u32(8);
    const std::uint64_t first = is_big_ ? 16 : 8;
    header.number(first, word());
    std::uint64_t tables =
        first + directory_bytes(entries(0)) + (pages_.count - 1) * directory_bytes(entries(1));
    const std::uint64_t description = tables;
    tables += (description_.size() + 7) / 8 * 8;
    for (std::uint64_t page = 0; page < pages_.count; ++page)
      directory(header, page, description, tables + 2 * page * table_bytes(), data);
    header.text(description_);
    header.fill_to(tables);
    for (std::uint64_t page = 0; page < pages_.count && cells_ > 1; ++page) {
      for (std::uint64_t cell = 0; cell < cells_; ++cell) header.number(place(page, cell, data), word());
      for (std::uint64_t cell = 0; cell < cells_; ++cell) header.number(cell_bytes_, word());
    }
    header.align(kDataAlignment);
    return header;
  }

  std::uint64_t place(std::uint64_t page, std::uint64_t cell, std::uint64_t data) const {
    return data + (page * cells_ + cell) * cell_bytes_;
  }

  void entry(HeaderBytes& header, std::uint64_t tag, std::uint64_t type, std::uint64_t count,
             std::uint64_t value) const {
    header.u16(tag);
    header.u16(type);
    header.number(count, word());
    // A value of fewer bytes is at the field's begin, where little endian has it anyway.
    header.number(value, word());
  }

  void directory(HeaderBytes& header, std::uint64_t page, std::uint64_t description, std::uint64_t table,
                 std::uint64_t data) const {
    constexpr std::uint64_t kLong8 = 16;
    const std::uint64_t place_type = is_big_ ? kLong8 : kLong;
    header.number(entries(page), is_big_ ? 8 : 2);
    entry(header, 256, kLong, 1, pages_.columns);
    entry(header, 257, kLong, 1, pages_.rows);
    entry(header, 258, kShort, 1, bits_);
    entry(header, 259, kShort, 1, 1);  // not compressed
    entry(header, 262, kShort, 1, 1);  // black is zero
    if (page == 0) entry(header, 270, kAscii, description_.size(), description);
    const std::uint64_t places = cells_ > 1 ? table : place(page, 0, data);
    const std::uint64_t lengths = cells_ > 1 ? table + table_bytes() : cell_bytes_;
    if (!tile_is_set()) entry(header, 273, place_type, 1, places);
    entry(header, 277, kShort, 1, 1);  // a sample
    if (!tile_is_set()) {
      entry(header, 278, kLong, 1, pages_.rows);
      entry(header, 279, place_type, 1, lengths);
    }
    entry(header, 284, kShort, 1, 1);
    if (tile_is_set()) {
      entry(header, 322, kLong, 1, tile_.columns);
      entry(header, 323, kLong, 1, tile_.rows);
      entry(header, 324, place_type, cells_, places);
      entry(header, 325, place_type, cells_, lengths);
    }
    entry(header, 339, kShort, 1, format_);
    const std::uint64_t next = header.size() + word();
    header.number(page + 1 == pages_.count ? 0 : next, word());
  }

  Pages pages_;
  Pages tile_;
  bool is_big_;
  std::uint64_t bits_;
  std::uint64_t format_;
  std::string description_;
  std::uint64_t cells_ = 1;  // of a page
  std::uint64_t cell_bytes_ = 0;
};

}  // namespace

RunOutput tiff_output(const WantedArray& wanted) {
  require_pages(wanted);
  if (!wanted.chunks.empty()) require_tiles(wanted.chunks, wanted.shape);
  constexpr std::uint64_t kMostOfClassic = std::uint64_t{1} << 32;
  const TiffHeader big(wanted, true);
  Bytes of_big = big.bytes();
  const bool is_big = of_big.size() + big.data_bytes() >= kMostOfClassic;
  RunOutput output{.header = is_big ? std::move(of_big) : TiffHeader(wanted, false).bytes()};
  output.form = dense_run(wanted.shape, wanted.type, output.header.size());
  if (!wanted.chunks.empty()) {
    output.tiles = ChunkForm{.shape = wanted.shape,
                             .chunk = wanted.chunks,
                             .order = c_order(wanted.shape.size()),
                             .type = wanted.type,
                             .codecs = {},
                             .fill = {}};
  }
  return output;
}

}  // namespace faro::store
