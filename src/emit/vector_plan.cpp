// Kernels with tiles along any subspace, 16 bytes at a time: the one-pass rung, and both halves of two-pass.
//
//     T = S + A^-1 S       the tile: 2^r rows of 2^s elements, read and written whole
//                          (docs/theory/one-pass.md)
//     place in the tile    [ row: r bits | vector in row: s - v | component: v ]
//     vector's number      [ iteration   | thread                ]
//
// It is the compiled kernel (kernels/affine_tile.hpp) with its tables written out, and one thing chosen anew:
// a block begins to write not at the image of where it begins to read, but at the lowest index of that coset
// of A T. Then the target of a block is the bits of its number moved to the bits that no tile covers, which
// merge into few moves, and what is left goes into the address in shared memory.
#include <algorithm>
#include <bit>

#include "emit/kernel_plan.hpp"
#include "faro/kernels/affine_tile_index.hpp"
#include "faro/layout/tile.hpp"
#include "kernels/affine_params.hpp"

namespace faro::emit {
namespace {

using f2::Subspace;
using f2::Word;
using kernels::AffineTileShape;

constexpr int kVectorBytesBits = 4;
constexpr int kUsualThreadBits = 7;
constexpr int kUsualIterationBits = 3;
constexpr int kMostThreadBits = 10;

int width_bits_of(int element_bytes) { return std::countr_zero(static_cast<unsigned>(element_bytes)); }

// The shape that is compiled for this width, register blocking apart.
const kernels::CompiledTile& compiled_tile(int element_bytes) {
  const auto* const found = std::find_if(
      std::begin(kernels::kCompiledTiles), std::end(kernels::kCompiledTiles), [&](const auto& tile) {
        return tile.shape.element_bytes() == element_bytes && !tile.blocked &&
               tile.shape.vector_bytes() == kernels::kMaxVectorBytes;
      });
  FARO_CHECK(found != std::end(kernels::kCompiledTiles));
  return *found;
}

// Log2 of the bytes of the widest number that a vector of elements becomes.
int widest_bits_of(int element_bytes, const Options& options) {
  if (!options.arithmetic) return width_bits_of(element_bytes);
  const Arithmetic& of = *options.arithmetic;
  const auto width = [](Number number) { return width_bits_of(static_cast<int>(bytes_of(number))); };
  const int addend = of.addend ? width(of.addend->number) : 0;
  return std::max({width_bits_of(element_bytes), width(of.to), addend});
}

AffineTileShape shape_of(int element_bytes, const layout::Tile& tile, const Options& options) {
  AffineTileShape shape;
  shape.width_bits = width_bits_of(element_bytes);
  shape.segment_bits = tile.segment_bits;
  shape.row_bits = tile.row_bits;
  shape.vector_bits = std::min(kVectorBytesBits - widest_bits_of(element_bytes, options), tile.segment_bits);
  const int vectors = shape.vector_count_bits();
  shape.thread_bits =
      std::min({vectors, kMostThreadBits, std::max(kUsualThreadBits, vectors - kUsualIterationBits)});
  return shape;
}

// As many as shared memory and registers allow.
int min_blocks_of(const AffineTileShape& shape) {
  const kernels::CompiledTile& compiled = compiled_tile(shape.element_bytes());
  if (compiled.shape == shape) return compiled.min_blocks;
  constexpr int most = 16;
  constexpr int registers = 65536;
  constexpr int registers_a_thread = 64;
  constexpr int reserved_bytes = 1024;
  const int by_registers = registers / (registers_a_thread * shape.threads());
  const int by_memory = static_cast<int>(kMaxSharedBytes) / (shape.tile_bytes() + reserved_bytes);
  return std::clamp(std::min(by_registers, by_memory), 1, most);
}

// The coset of A T that a target lies in, and where it lies in it.
class TargetSpace {
 public:
  explicit TargetSpace(const layout::Tile& tile)
      : segment_bits_(tile.segment_bits),
        rows_(Subspace::span(tile.index_bits, tile.target_rows)),
        all_(f2::sum(rows_, Subspace::low(tile.index_bits, tile.segment_bits))) {}

  Word lowest(Word y) const { return all_.reduce(y); }
  Word place(Word y) const {
    const Word within = y ^ lowest(y);
    const Word column = within & f2::low_mask(segment_bits_);
    const Word row = rows_.coordinates(within ^ column);
    return column | (row == 0 ? 0 : row << segment_bits_);
  }

 private:
  int segment_bits_;
  Subspace rows_;
  Subspace all_;
};

// Where vector bit q of a row or of the rows leads: 2^q vectors along a row, then to the next row.
std::vector<Word> vector_columns(const AffineTileShape& shape, const std::vector<Word>& rows) {
  std::vector<Word> columns;
  for (int i = shape.vector_bits; i < shape.segment_bits; ++i) columns.push_back(f2::unit(i));
  columns.insert(columns.end(), rows.begin(), rows.end());
  return columns;
}

// The low vector bits are the thread's, the others the iteration's.
void assign_vectors(Form& form, const std::vector<Word>& columns, const AffineTileShape& shape) {
  const auto split = columns.begin() + shape.thread_bits;
  form.thread.assign(columns.begin(), split);
  form.iteration.assign(split, columns.end());
}

}  // namespace

int default_segment_bits(int element_bytes) { return compiled_tile(element_bytes).shape.segment_bits; }

KernelPlan plan_vectors(const Affine& map, const Affine& whole, const ElementType& element,
                        const Options& options) {
  const int n = map.bits();
  const int segment_bits =
      std::min(n, options.tile_bits > 0 ? options.tile_bits : default_segment_bits(element.bytes));
  // Square tiles, unless segments are so long that the rows have to be fewer; the map may ask for more.
  const int most_rows = std::max(0, 2 * default_segment_bits(element.bytes) - segment_bits);
  const layout::Tile tile =
      layout::make_tile(map, {.segment_bits = segment_bits,
                              .min_row_bits = std::min({segment_bits, n - segment_bits, most_rows}),
                              .order = layout::BlockOrder::target});
  KernelPlan plan;
  plan.map = map;
  plan.element_bytes = plan.result_bytes = element.bytes;
  plan.has_tile = true;
  plan.tile_bits = tile.tile_bits();
  plan.column_bits = segment_bits;
  plan.block_bits = tile.block_bits();
  require_room(plan, options);

  const AffineTileShape shape = shape_of(element.bytes, tile, options);
  plan.vector_bits = shape.vector_bits;
  plan.thread_bits = shape.thread_bits;
  plan.iteration_bits = shape.vector_count_bits() - shape.thread_bits;
  plan.min_blocks = min_blocks_of(shape);

  const layout::Xor placement = kernels::make_tile_layout(tile, shape);
  const auto inverse = tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  const auto loaded_from = [&](Word target_place) {
    return Word{placement(static_cast<std::uint32_t>(*inverse * target_place))};
  };
  std::vector<Word> stored;
  std::vector<Word> loaded;
  for (int i = 0; i < tile.tile_bits(); ++i) {
    if (i < shape.vector_bits) {
      plan.loaded.component.push_back(loaded_from(f2::unit(i)));
    } else {
      stored.push_back(placement(static_cast<std::uint32_t>(f2::unit(i))));
      loaded.push_back(loaded_from(f2::unit(i)));
    }
  }
  assign_vectors(plan.stored, stored, shape);
  assign_vectors(plan.loaded, loaded, shape);
  assign_vectors(plan.source, vector_columns(shape, tile.source_rows), shape);
  assign_vectors(plan.target, vector_columns(shape, tile.target_rows), shape);

  const TargetSpace targets(tile);
  plan.source.block = tile.block_sources;
  for (const Word target : tile.block_targets) {
    plan.target.block.push_back(targets.lowest(target));
    plan.loaded.block.push_back(loaded_from(targets.place(target)));
  }
  plan.target.constant = targets.lowest(tile.complement);
  plan.loaded.constant = loaded_from(targets.place(tile.complement));
  for (int k = 0; k < shape.vector_bits; ++k) plan.target.component.push_back(f2::unit(k));
  plan.origin = apply(whole.inverse(), plan.target);
  return plan;
}

}  // namespace faro::emit
