#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// How far apart a thread's vectors should be, log2, the best first: whole lines, half lines (what device
// memory delivers at once), sectors. Never nearer than a vector, nor further than a segment.
std::vector<int> distances(const layout::Tile& tile, const AffineTileShape& shape,
                           const machine::MemoryGeometry& geometry) {
  std::vector<int> bits;
  const int sector = machine::log2_exact(geometry.sector_bytes) - shape.width_bits;
  for (int d = machine::log2_exact(geometry.line_bytes) - shape.width_bits; d >= sector; --d) {
    bits.push_back(std::max(shape.vector_bits, std::min(d, tile.segment_bits)));
  }
  return bits;
}

// Which elements share a word of shared memory, and which vectors a thread owns. For bit t < u:
//
//     t < exchanged    element bit t of a word leads to vector bit t, and the other way round
//     t >= exchanged   element bit t stays in the word; vector bit t leads elsewhere
struct Blocking {
  int exchanged = 0;
  std::vector<Word> components;   // a basis of a loaded vector's components; the first u share a word
  std::vector<Word> vector_step;  // target places: where vector bit t leads
  std::vector<Word> word_order;   // target places within a word: where element bit t of a written word leads
  std::vector<Word> word_step;    // target places: where bit t of the number of a word that is read leads
  std::vector<Word> directions;   // target places: where the (iteration, thread) bits lead
};

void append(std::vector<Word>& to, std::span<const Word> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Source components x in 0 .. 2^v - 1 with local(x) in `space`.
Subspace components_into(const Matrix& inverse, const Subspace& moved, const Subspace& space) {
  return f2::image(inverse, f2::intersection(moved, space));
}

std::optional<Blocking> find_blocking(const layout::Tile& tile, const AffineTileShape& shape, int distance) {
  const int m = tile.tile_bits();
  const int u = word_element_bits(shape);
  const auto inverse = tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  const Subspace components = Subspace::low(m, shape.vector_bits);
  const Subspace moved = f2::image(tile.local, components);
  const Subspace word = Subspace::low(m, u);
  const Subspace near = Subspace::low(m, distance);
  const Subspace staying = components_into(*inverse, moved, near);
  const Subspace kept = components_into(*inverse, moved, word);

  // Components that lead far first, then those that stay within their word.
  std::vector<Word> shared = f2::complete(staying, components);
  const std::size_t wanted = static_cast<std::size_t>(u);
  shared.resize(std::min(shared.size(), wanted));
  Blocking blocking;
  blocking.exchanged = static_cast<int>(shared.size());
  for (const Word x : kept.basis()) {
    if (shared.size() < wanted) shared.push_back(x);
  }
  if (shared.size() < wanted) return std::nullopt;
  blocking.components = shared;
  append(blocking.components, f2::complete(Subspace::span(m, shared), components));

  // The element bits of written words: those that came from vector bits, then those that stayed.
  std::vector<Word> stayed;
  Subspace owned = Subspace::low(m, shape.vector_bits);
  Subspace apart = near;
  for (int t = 0; t < u; ++t) {
    const Word target = tile.local * shared[static_cast<std::size_t>(t)];
    if (t >= blocking.exchanged) {
      stayed.push_back(target);
      continue;
    }
    blocking.vector_step.push_back(target);
    owned.insert(target);
    apart.insert(target);
  }
  blocking.word_order = f2::complete(Subspace::span(m, stayed), word);
  blocking.word_order.resize(static_cast<std::size_t>(blocking.exchanged));
  blocking.word_step = blocking.word_order;
  append(blocking.word_order, stayed);

  // Vectors elsewhere: lanes run along the lowest directions that are free, so take the highest.
  for (int t = blocking.exchanged; t < u; ++t) {
    const Subspace free = f2::complement(apart);
    if (free.dimension() == 0) return std::nullopt;
    const Word step = free.basis().back();
    blocking.vector_step.push_back(step);
    blocking.word_step.push_back(step);
    owned.insert(step);
    apart.insert(step);
  }
  append(blocking.directions, f2::complement(owned).basis());
  return blocking;
}

std::optional<Blocking> find_blocking(const layout::Tile& tile, const AffineTileShape& shape,
                                      const machine::MemoryGeometry& geometry) {
  for (const int distance : distances(tile, shape, geometry)) {
    if (auto blocking = find_blocking(tile, shape, distance)) return blocking;
  }
  return std::nullopt;
}

// N: column i is the i-th basis vector of the components, the rest of a place stays.
Matrix component_basis(const Blocking& blocking, int tile_bits) {
  Matrix basis = Matrix::identity(tile_bits);
  for (std::size_t i = 0; i < blocking.components.size(); ++i) {
    basis.set_column(static_cast<int>(i), blocking.components[i]);
  }
  return basis;
}

// The tile whose source places are counted along the new basis of components.
layout::Tile permuted(layout::Tile tile, const Matrix& basis) {
  tile.local = tile.local * basis;
  return tile;
}

// Where a target place whose block is at zero lies in the output, in elements.
std::uint64_t target_of_place(const layout::Tile& tile, Word place) {
  return tile.target_row(place >> tile.segment_bits) | (place & f2::low_mask(tile.segment_bits));
}

// The byte selector that puts element from(e) at place e of a word.
template <typename From>
std::uint32_t selector(int width_bits, const From& from) {
  std::uint32_t text = 0;
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    const std::uint32_t in_element = byte & ((1U << width_bits) - 1);
    const auto element = static_cast<std::uint32_t>(from(byte >> width_bits));
    text |= (element << width_bits | in_element) << 4 * byte;
  }
  return text;
}

// Element y of the result is element basis * y of the vector.
ByteGather make_gather(int width_bits, const Matrix& basis) {
  ByteGather gather{};
  for (std::uint32_t byte = 0; byte < kMaxVectorBytes; ++byte) {
    const std::uint32_t in_element = byte & ((1U << width_bits) - 1);
    const auto from = static_cast<std::uint32_t>(basis * (byte >> width_bits)) << width_bits | in_element;
    const std::uint32_t digit = 4 * (byte % 4);
    const bool high = from >= 8;
    (high ? gather.from_high : gather.from_low)[byte / 4] |= from % 8 << digit;
    gather.from_both[byte / 4] |= (byte % 4 + (high ? 4 : 0)) << digit;
  }
  return gather;
}

SharedPhases phases_of(const Blocking& blocking, const layout::Tile& permuted_tile,
                       const AffineTileShape& shape, const machine::MemoryGeometry& geometry) {
  SharedPhases phases = shared_phases(permuted_tile, shape, geometry);
  const auto inverse = permuted_tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  const int lane_bits = machine::log2_exact(geometry.lanes_per_phase(geometry.bank_bytes));
  const auto lanes = std::min({static_cast<std::size_t>(lane_bits),
                               static_cast<std::size_t>(shape.thread_bits), blocking.directions.size()});
  phases.read =
      Subspace::low(permuted_tile.tile_bits(), word_element_bits(shape));  // a lane reads whole words
  for (std::size_t j = 0; j < lanes; ++j) phases.read.insert(*inverse * blocking.directions[j]);
  return phases;
}
Blocking require_blocking(const layout::Tile& tile, const AffineTileShape& shape,
                          const machine::MemoryGeometry& geometry) {
  if (!fits(tile, shape) || !is_valid_blocked(shape))
    fail(ErrorCode::unsupported, "fit the register-blocked tile kernel",
         "a tile or a map that it cannot block",
         "1- or 2-byte elements whose words' elements leave their sectors or stay in their words",
         "use the plain tile kernel");
  std::optional<Blocking> blocking = find_blocking(tile, shape, geometry);
  if (!blocking)
    fail(ErrorCode::unsupported, "fit the register-blocked tile kernel",
         "a tile or a map that it cannot block",
         "1- or 2-byte elements whose words' elements leave their sectors or stay in their words",
         "use the plain tile kernel");
  return *std::move(blocking);
}

layout::Xor layout_of(const Blocking& blocking, const layout::Tile& tile, const AffineTileShape& shape,
                      const machine::MemoryGeometry& geometry) {
  const layout::Tile arranged = permuted(tile, component_basis(blocking, tile.tile_bits()));
  SharedPhases phases = phases_of(blocking, arranged, shape, geometry);
  return layout::make_xor(
      {tile.tile_bits(), shape.width_bits, std::move(phases.write), std::move(phases.read), geometry});
}

}  // namespace

bool fits_blocked(const layout::Tile& tile, const AffineTileShape& shape,
                  const machine::MemoryGeometry& geometry) {
  return fits(tile, shape) && is_valid_blocked(shape) && find_blocking(tile, shape, geometry).has_value();
}

layout::Xor make_blocked_layout(const layout::Tile& tile, const AffineTileShape& shape,
                                const machine::MemoryGeometry& geometry) {
  return layout_of(require_blocking(tile, shape, geometry), tile, shape, geometry);
}

AffineBlockedParams make_affine_blocked_params(const layout::Tile& tile, const AffineTileShape& shape,
                                               std::uint64_t batch, const machine::MemoryGeometry& geometry) {
  const Blocking blocking = require_blocking(tile, shape, geometry);
  const layout::Xor layout = layout_of(blocking, tile, shape, geometry);
  const Matrix basis = component_basis(blocking, tile.tile_bits());
  const layout::Tile arranged = permuted(tile, basis);
  const int u = word_element_bits(shape);
  const Word in_word = f2::low_mask(u);
  const Word in_vector = f2::low_mask(shape.vector_bits);

  AffineBlockedParams params{};
  params.tile = make_affine_tile_params(arranged, shape, batch, layout);
  params.gather = make_gather(shape.width_bits, basis);
  const auto read_from = [&](Word place) { return f2::combine(params.tile.read_address, place); };
  for (std::size_t j = 0; j < blocking.directions.size(); ++j) {
    params.thread_target[j] = target_of_place(tile, blocking.directions[j]);
    params.thread_read[j] = read_from(blocking.directions[j]);
  }
  for (int t = 0; t < u; ++t) {
    const auto at = static_cast<std::size_t>(t);
    const Word step = blocking.vector_step[at];
    params.vector_target[t] = target_of_place(tile, step & ~in_vector);
    params.unit_shift[t] = static_cast<std::uint32_t>((step & in_vector) >> u);
    params.vector_read[t] = read_from(blocking.word_step[at]);

    // Elements past a word's own are the other word's.
    const auto other = static_cast<std::uint32_t>(in_word) + 1;
    const std::uint32_t bit = 1U << t;
    const bool exchanged = t < blocking.exchanged;
    params.stage_low[t] = selector(shape.width_bits, [&](std::uint32_t e) {
      return exchanged ? (e & ~bit) + ((e & bit) != 0 ? other : 0) : e;
    });
    params.stage_high[t] = selector(shape.width_bits, [&](std::uint32_t e) {
      return exchanged ? (e | bit) + ((e & bit) != 0 ? other : 0) : e + other;
    });
  }
  const auto label_of = Matrix::from_columns(u, blocking.word_order).inverse();
  FARO_CHECK(label_of.has_value());
  for (std::uint32_t q = 0; q < 1U << u; ++q) {
    const Word shift = f2::combine(blocking.vector_step.data(), q) & in_word;
    params.write_order[q] =
        selector(shape.width_bits, [&](Word place) { return *label_of * (place ^ shift); });
  }
  return params;
}

}  // namespace faro::kernels
