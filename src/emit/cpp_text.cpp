// The portable C++ function: the same tile, by one thread.
//
//     for every tile      2^r rows of 2^s elements from the input into a buffer
//                         as many rows to the output, element by element from the buffer
//
// A row is 128 bytes unless options.tile_bits says otherwise, so cache lines are used whole on both sides;
// the buffer, at most 2^(2 s) elements, stays in the nearest cache. Places in the buffer are XORs: of the row
// that is written, of the block (turn, which is added to the columns), and of the column, by a table.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emit/bit_moves.hpp"
#include "emit/kernel_plan.hpp"
#include "emit/text.hpp"
#include "faro/layout/tile.hpp"

namespace faro::emit {
namespace {

using f2::Word;

layout::Tile tile_of(const TextContext& context) {
  constexpr int segment_bytes_bits = 7;
  constexpr int most_tile_bits = 16;
  const int given = context.options.tile_bits;
  const int usual = segment_bytes_bits - std::countr_zero(static_cast<unsigned>(context.element.bytes));
  const int segment_bits = std::min(given > 0 ? given : usual, context.map.bits());
  layout::Tile tile =
      layout::make_tile(context.map, {.segment_bits = segment_bits, .order = layout::BlockOrder::target});
  if (tile.tile_bits() > most_tile_bits) {
    fail(ErrorCode::unsupported, operation_of(context.options),
         fmt::format("a tile of 2^{} elements", tile.tile_bits()),
         fmt::format("at most 2^{}", most_tile_bits), "a smaller --n-tile");
  }
  return tile;
}

// Where in the buffer, which is in the order of the input, the element for place i of the output is.
struct Gather {
  std::vector<Word> columns;  // what the bits of a column lead to
  std::vector<Word> rows;
};

Gather gather_of(const layout::Tile& tile) {
  const auto inverse = tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  Gather gather;
  for (int i = 0; i < tile.tile_bits(); ++i) {
    (i < tile.segment_bits ? gather.columns : gather.rows).push_back(inverse->column(i));
  }
  return gather;
}

std::string table_text(const TextContext& context, const layout::Tile& tile,
                       const std::vector<Word>& columns) {
  constexpr int entries_a_line = 16;
  const int count = 1 << tile.segment_bits;
  std::string text =
      fmt::format("  static const {} column[{}] = {{  // of the buffer, for every column that is written\n",
                  context.index(), count);
  for (int k = 0; k < count; ++k) {
    text += fmt::format("{}{}", k % entries_a_line == 0 ? "      " : " ",
                        hex(f2::combine(columns.data(), static_cast<Word>(k)), ""));
    text += k + 1 < count ? "," : "";
    text += (k + 1) % entries_a_line == 0 || k + 1 == count ? "\n" : "";
  }
  return text + "  };\n";
}

std::string loop(const TextContext& context, const std::string& variable, const std::string& end,
                 const std::string& body) {
  return fmt::format("  for ({0} {1} = 0; {1} < {2}; ++{1}) {{\n{3}  }}\n", context.index(), variable, end,
                     indented(body));
}

std::string write_text(const TextContext& context, const layout::Tile& tile, const Gather& gather) {
  const MapExpression& f = context.function;
  const std::string columns = hex(f2::low_mask(tile.segment_bits), context.suffix());
  std::string element = "tile[from ^ column[k]]";
  std::string body;
  if (context.changes()) {
    if (f.uses_source) {
      body += fmt::format("  const {} at = from ^ column[k];\n", context.index());
      std::vector<Word> place;
      place.reserve(static_cast<std::size_t>(tile.tile_bits()));
      for (int i = 0; i < tile.segment_bits; ++i) place.push_back(f2::unit(i));
      place.insert(place.end(), tile.source_rows.begin(), tile.source_rows.end());
      body += later_text(context, "x", "source", {{"at", place}});
      element = "tile[at]";
    }
    element = call_text(context, element, "x", "to + k");
  }
  body += fmt::format("  out[to + k] = {};\n", element);
  std::string rows = later_text(context, "to", "target", {{"j", tile.target_rows}});
  rows += later_text(context, "from", "turn", {{"j", gather.rows}});
  return rows + loop(context, "k", fmt::format("{}", 1 << tile.segment_bits), body);
}

std::string block_text(const TextContext& context, const layout::Tile& tile, const Gather& gather) {
  const std::string row = fmt::format("{}", 1 << tile.segment_bits);
  const std::string rows = fmt::format("{}", 1 << tile.row_bits);
  const Word columns = f2::low_mask(tile.segment_bits);
  std::vector<Word> targets;
  std::vector<Word> turns;
  for (const Word target : tile.block_targets) {
    targets.push_back(target & ~columns);
    turns.push_back(f2::combine(gather.columns.data(), target & columns));
  }
  const Word turn = f2::combine(gather.columns.data(), tile.complement & columns);
  std::string text = value_text(context, "source", 0, {{"block", tile.block_sources}});
  text += value_text(context, "target", tile.complement & ~columns, {{"block", targets}});
  text += value_text(context, "turn", turn, {{"block", turns}});
  const std::string read = later_text(context, "from", "source", {{"j", tile.source_rows}}) +
                           loop(context, "k", row, fmt::format("  tile[j * {} + k] = in[from + k];\n", row));
  return text + loop(context, "j", rows, read) + loop(context, "j", rows, write_text(context, tile, gather));
}

}  // namespace

std::string cpp_tile_text(const TextContext& context) {
  const layout::Tile tile = tile_of(context);
  return fmt::format(
      "//   tile:     {0} rows of {1} elements -> a buffer -> {0} rows of {1} elements, 2^{2} times\n",
      1 << tile.row_bits, 1 << tile.segment_bits, tile.block_bits());
}

std::string cpp_text(const TextContext& context) {
  const layout::Tile tile = tile_of(context);
  const Gather gather = gather_of(tile);
  return fmt::format("extern \"C\" void {}(const {}* in, {}* out{}) {{\n", context.options.name,
                     context.element_name(), context.result_name(true), context.addend_parameter()) +
         table_text(context, tile, gather.columns) +
         fmt::format("  {} tile[{}];\n", context.element_name(), 1 << tile.tile_bits()) +
         loop(context, "block", hex(f2::unit(tile.block_bits()), context.suffix()),
              block_text(context, tile, gather)) +
         "}\n";
}

}  // namespace faro::emit
