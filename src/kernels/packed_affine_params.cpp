#include "kernels/packed_affine_params.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/split_mix.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// The map of a thread's elements, (b, i) to (c, j), by blocks.
struct SquareMap {
  Matrix c_of_b, c_of_i, j_of_b, j_of_i;
};

// P of fewest bits such that c_of_i + c_of_b P is invertible: each direction of i that c does not tell gets a
// bit of b whose image is new.
Matrix turning(const SquareMap& map) {
  const int q = map.c_of_b.rows();
  const Subspace untold = Subspace::span(q, map.c_of_i.kernel());
  Subspace told = Subspace::span(q, map.c_of_i.column_span());
  Matrix turns = Matrix::zero(q, q);
  std::size_t next = 0;
  for (int a = 0; a < q && next < untold.basis().size(); ++a) {
    if (!told.insert(map.c_of_b.column(a))) continue;
    const int pivot = f2::leading_bit(untold.basis()[next++]);
    turns.set_column(pivot, turns.column(pivot) | f2::unit(a));
  }
  FARO_CHECK(next == untold.basis().size());
  return turns;
}

Matrix inverse_of(const Matrix& matrix) {
  const auto inverse = matrix.inverse();
  FARO_CHECK(inverse.has_value());
  return *inverse;
}

// The bits of a word at places b that the functional has odd: row `row` of `functionals`.
std::uint32_t mask_of(const Matrix& functionals, int row) {
  const int q = functionals.columns();
  const int element_bits = (8 << kWordBytesBits) >> q;
  std::uint32_t mask = 0;
  for (Word b = 0; b < f2::unit(q); ++b) {
    if (!f2::bit(functionals * b, row)) continue;
    for (int k = 0; k < element_bits; ++k)
      mask |= std::uint32_t{1} << (static_cast<int>(b) * element_bits + k);
  }
  return mask;
}

// What a thread exchanges, as source places: words that have elements of one word on either side.
Subspace square_of(const Matrix& local, int q) {
  const Subspace word = Subspace::low(local.rows(), q);
  Subspace owned = f2::sum(word, f2::image(inverse_of(local), word));
  for (int i = local.rows() - 1; owned.dimension() < 2 * q; --i) owned.insert(f2::unit(i));
  return owned;
}

// Words that are loaded beside one another: the lowest bits that no square has. Nothing where sectors would
// be parted.
std::optional<std::vector<Word>> beside_squares(const Matrix& local, int q) {
  constexpr int kSectorWordBits = 3;
  Subspace taken = square_of(local, q);
  std::vector<Word> free;
  for (int i = q; i < local.rows(); ++i) {
    if (taken.insert(f2::unit(i)))
      free.push_back(f2::unit(i));
    else if (i < q + kSectorWordBits)
      return std::nullopt;
  }
  return free;
}

// `others`: directions of groups.
PackedWordMap word_map(const Matrix& local, int q, bool squares, const std::vector<Word>& others) {
  const int m = local.rows();
  const Word in_word = f2::low_mask(q);
  const Subspace word = Subspace::low(m, q);

  // Directions of words: those that lead into a word, then any. Lanes run along the lowest that are left.
  const Subspace owned = square_of(local, q);
  std::vector<Word> from;
  for (const Word w : f2::complete(word, owned)) from.push_back(w & ~in_word);
  const Subspace reached = f2::image(local, owned);
  std::vector<Word> to;
  for (const Word v : f2::complete(word, reached)) to.push_back(v & ~in_word);

  // Coordinates of what the tile's map makes of words and of places in them.
  std::vector<Word> basis;
  basis.reserve(static_cast<std::size_t>(q) + to.size());
  for (int a = 0; a < q; ++a) basis.push_back(f2::unit(a));
  basis.insert(basis.end(), to.begin(), to.end());
  const Matrix of_basis = Matrix::from_columns(m, basis);
  const auto coordinates = [&](Word place) {
    const auto solved = of_basis.solve(place);
    FARO_CHECK(solved.has_value());
    return *solved;
  };
  Matrix square = Matrix::zero(2 * q, 2 * q);
  for (int a = 0; a < q; ++a) {
    square.set_column(a, coordinates(local.column(a)));
    square.set_column(q + a, coordinates(local * from[static_cast<std::size_t>(a)]));
  }
  const SquareMap map{square.block(0, 0, q, q), square.block(0, q, q, q), square.block(q, 0, q, q),
                      square.block(q, q, q, q)};

  const Matrix turns = turning(map);
  const Matrix renumbered = inverse_of(map.c_of_i + map.c_of_b * turns);  // i of before by i of now
  const Matrix turned = turns * renumbered;
  const Matrix j_of_i = (map.j_of_i + map.j_of_b * turns) * renumbered;
  const Matrix j_of_word = map.j_of_b + j_of_i * map.c_of_b;  // j of before by the number of a stored word
  const Matrix after = inverse_of(j_of_word) * j_of_i;

  PackedWordMap made;
  for (int a = 0; a < q; ++a) {
    for (Word i = 0; i < f2::unit(q); ++i) {
      if (f2::bit(turned * i, a)) made.exchange.turned[a] |= std::uint32_t{1} << i;
    }
    made.exchange.before[a] = mask_of(map.c_of_b, a);
    made.exchange.after[a] = mask_of(after, a);
  }
  made.stored = after;

  // Words of the thread and where what is stored in their slots belongs, then the groups'.
  std::vector<Word> slots;
  std::vector<Word> places;
  for (int t = 0; t < q; ++t) {
    made.words.push_back(f2::combine(from.data(), renumbered.column(t)));
    slots.push_back(made.words.back() >> q);
    places.push_back(f2::combine(to.data(), j_of_word.column(t)) >> q);
  }
  for (const Word free : others) {
    // The word of the group whose elements keep their places, where there is one and it is as good.
    const Word shift = squares ? 0 : (local * free) & in_word;
    made.groups.push_back(free ^ f2::combine(made.words.data(), shift));
    slots.push_back(made.groups.back() >> q);
    places.push_back(local * made.groups.back() >> q);
  }
  made.local = Matrix::from_columns(m - q, places) * inverse_of(Matrix::from_columns(m - q, slots));
  return made;
}

layout::Tile tile_of_words(const layout::Tile& tile, const Matrix& local, int q) {
  layout::Tile words = tile;
  words.index_bits -= q;
  words.segment_bits -= q;
  words.complement >>= q;
  words.local = local;
  for (std::vector<Word>* directions :
       {&words.source_rows, &words.target_rows, &words.block_sources, &words.block_targets}) {
    for (Word& direction : *directions) direction >>= q;
  }
  return words;
}

PackedGroupSlots slots_of(const PackedWordMap& map, const Matrix& local, Word group, int q) {
  const Word place = local * group & f2::low_mask(q);
  return {.read = (group ^ f2::combine(map.words.data(), place)) >> q,
          .written = (group ^ f2::combine(map.words.data(), map.stored * place)) >> q};
}

// Orders groups such that lanes, the low bits of their numbers, touch as many banks as can be: how many,
// log2, on both ways together.
int order_groups(PackedWordMap& map, const Matrix& local, int q, int lanes, const layout::Xor& layout,
                 const machine::MemoryGeometry& geometry) {
  const int bank_bits = machine::log2_exact(geometry.banks);
  const auto bank = [&](Word slot) {
    return layout(static_cast<std::uint32_t>(slot)) & f2::low_mask(bank_bits);
  };
  Subspace read(bank_bits);
  Subspace written(bank_bits);
  std::stable_partition(map.groups.begin(), map.groups.end(), [&](Word group) {
    const PackedGroupSlots slots = slots_of(map, local, group, q);
    if (read.dimension() == lanes || read.contains(bank(slots.read)) || written.contains(bank(slots.written)))
      return false;
    return read.insert(bank(slots.read)) && written.insert(bank(slots.written));
  });
  return read.dimension();
}

// How many banks, log2, the lanes of load_squares write.
int banks_of_squares(const PackedWordMap& map, const Matrix& local, const PackedAffineShape& shape, int lanes,
                     const layout::Xor& layout, const machine::MemoryGeometry& geometry) {
  const int bank_bits = machine::log2_exact(geometry.banks);
  Subspace written(bank_bits);
  for (int t = 0; t < lanes; ++t) {
    const Word group =
        map.groups[static_cast<std::size_t>(shape.words.vector_bits) + static_cast<std::size_t>(t)];
    const Word slot = slots_of(map, local, group, shape.word_index_bits).written;
    written.insert(layout(static_cast<std::uint32_t>(slot)) & f2::low_mask(bank_bits));
  }
  return written.dimension();
}

// The layout of the tile, and the order of groups that goes with it. The theorem's is free of conflicts where
// tiles are loaded and stored; of others that are as well, one is taken whose groups have none.
layout::Xor arrange(PackedWordMap& map, const layout::Tile& of_words, const Matrix& local,
                    const PackedAffineShape& shape, const machine::MemoryGeometry& geometry) {
  constexpr int kTries = 200;
  const int q = shape.word_index_bits;
  const int lanes = std::min({machine::log2_exact(geometry.warp_size), machine::log2_exact(geometry.banks),
                              shape.words.thread_bits, shape.group_bits()});
  const SharedPhases phases = shared_phases(of_words, shape.other(), geometry);
  const layout::Xor first = make_tile_layout(of_words, shape.other(), geometry);
  layout::Xor best = first;
  const auto banks = [&](PackedWordMap& of, const layout::Xor& layout) {
    return shape.has_squares() ? banks_of_squares(of, local, shape, lanes, layout, geometry)
                               : order_groups(of, local, q, lanes, layout, geometry);
  };
  int most = banks(map, best);
  faro::detail::SplitMix64 draw(1);
  for (int i = 0; i < kTries && most < lanes; ++i) {
    layout::Xor other = first;
    for (int row = 0; row < first.tile_bits - first.bank_row_bits; ++row) {
      other.mask[row] = static_cast<std::uint32_t>(draw.next() & f2::low_mask(first.bank_row_bits));
    }
    if (layout::predicted_congestion(other, kWordBytesBits, phases.read, geometry) != 1) continue;
    PackedWordMap tried = map;
    const int found = banks(tried, other);
    if (found <= most) continue;
    most = found;
    best = other;
    map.groups = tried.groups;
  }
  return best;
}

// What load_squares and store_words want in bytes, and where they read.
void make_squares(PackedAffineParams& params, const PackedWordMap& map, const layout::Tile& of_words,
                  const Matrix& local, const PackedAffineShape& shape, const layout::Xor& layout) {
  const int q = shape.word_index_bits;
  const Word in_vector = f2::low_mask(shape.words.vector_bits);
  const auto source = [&](Word word) {
    return ((word & f2::low_mask(shape.words.segment_bits) & ~in_vector) ^
            f2::combine(of_words.source_rows.data(), word >> shape.words.segment_bits))
           << kWordBytesBits;
  };
  const auto address = [&](Word word) { return layout(static_cast<std::uint32_t>(word)) << kWordBytesBits; };
  for (std::size_t k = 0; k < map.groups.size(); ++k) {
    params.group_source[k] = source(map.groups[k] >> q);
    params.group_word[k] = address(slots_of(map, local, map.groups[k], q).written);
    params.is_renumbered |= params.group_place[k];
  }
  for (int t = 0; t < q; ++t) {
    const auto place = static_cast<std::size_t>(t);
    params.word_source[t] = source(map.words[place] >> q);
    params.word_component[t] = static_cast<std::uint8_t>(map.words[place] >> q & in_vector);
    params.is_renumbered |= params.word_component[t];
    params.word_address[t] = address(map.words[place] >> q);
    params.place_address[t] = address(f2::combine(map.words.data(), map.stored.column(t)) >> q);
  }
  for (const auto& digit : params.block_place) {
    for (const std::uint8_t place : digit) params.is_renumbered |= place;
  }
  params.is_renumbered |= params.complement_place;
  const auto steps = [](const auto& masks) {
    return std::count_if(std::begin(masks), std::end(masks), [](std::uint32_t mask) { return mask != 0; });
  };
  const auto sheared = steps(params.exchange.before) + steps(params.exchange.after);
  constexpr int kFew = 2;  // steps that are not asked for, though they do nothing
  params.steps = sheared + kFew >= 2 * q ? SquareSteps::all : SquareSteps::asked;
  if (params.is_renumbered == 0 && sheared + steps(params.exchange.turned) == 0)
    params.steps = SquareSteps::transpose;
  for (std::uint32_t& read : params.tile.read_address) read <<= kWordBytesBits;
  for (std::uint64_t& row : params.tile.target_row) row <<= kWordBytesBits;
}

}  // namespace

PackedWordMap make_packed_word_map(const Matrix& local, int word_index_bits) {
  constexpr int kLineWordBits = 4;
  const Subspace owned = square_of(local, word_index_bits);
  const Subspace line = Subspace::low(local.rows(), std::min(local.rows(), word_index_bits + kLineWordBits));
  const Subspace near = f2::sum(owned, f2::sum(line, f2::image(inverse_of(local), line)));
  std::vector<Word> others = f2::complete(owned, near);
  const Subspace far = f2::complement(near);
  others.insert(others.end(), far.basis().begin(), far.basis().end());
  return word_map(local, word_index_bits, false, others);
}

PackedGroupSlots packed_group_slots(const PackedWordMap& map, const Matrix& local, Word group,
                                    int word_index_bits) {
  return slots_of(map, local, group, word_index_bits);
}

layout::Tile make_packed_tile(const Affine& map, const PackedAffineShape& shape) {
  const int segment_bits = shape.words.segment_bits + shape.word_index_bits;
  // Blocks that run at the same time make 256 bytes of both sides; by the lowest bits of the source alone,
  // segments of the target would each come by themselves.
  constexpr int kNearWordBits = 6;
  return layout::make_tile(map, {.segment_bits = segment_bits,
                                 .min_row_bits = shape.words.row_bits,
                                 .near_bits = kNearWordBits + shape.word_index_bits});
}

namespace {

// Squares that are stored are those that the way back loads.
PackedAffineShape way_back(PackedAffineShape shape) {
  shape.squares = PackedSquares::loaded;
  return shape;
}

}  // namespace

bool fits(const Affine& map, const PackedAffineShape& shape) {
  if (shape.squares == PackedSquares::stored) return fits(map.inverse(), way_back(shape));
  if (map.bits() < element_tile_bits(shape) || map.bits() - element_tile_bits(shape) > kMaxBlockBits)
    return false;
  return !shape.has_squares() ||
         beside_squares(make_packed_tile(map, shape).local, shape.word_index_bits).has_value();
}

PackedAffineParams make_packed_affine_params(const Affine& map, const PackedAffineShape& shape,
                                             std::uint64_t batch, const machine::MemoryGeometry& geometry) {
  if (!fits(map, shape)) {
    fail(ErrorCode::unsupported, "fit the tile kernel of packed elements",
         std::to_string(map.bits()) + " index bits",
         std::to_string(element_tile_bits(shape)) + " to " +
             std::to_string(element_tile_bits(shape) + kMaxBlockBits));
  }
  if (shape.squares == PackedSquares::stored)
    return make_packed_affine_params(map.inverse(), way_back(shape), batch, geometry);
  return make_packed_affine_params(make_packed_tile(map, shape), shape, batch, geometry);
}

PackedAffineParams make_packed_affine_params(const layout::Tile& tile, const PackedAffineShape& shape,
                                             std::uint64_t batch, const machine::MemoryGeometry& geometry) {
  const int q = shape.word_index_bits;
  std::vector<Word> others;
  if (shape.has_squares()) {
    const auto beside = beside_squares(tile.local, q);
    FARO_CHECK(beside.has_value());
    others = *beside;
  } else {
    const Subspace complement = f2::complement(square_of(tile.local, q));
    others.assign(complement.basis().begin(), complement.basis().end());
  }
  PackedWordMap words = word_map(tile.local, q, shape.has_squares(), others);
  const layout::Tile of_words = tile_of_words(tile, words.local, q);
  const layout::Xor layout = arrange(words, of_words, tile.local, shape, geometry);

  PackedAffineParams params{};
  params.tile = make_affine_tile_params(of_words, shape.words, batch, layout);
  params.exchange = words.exchange;
  const Word in_word = f2::low_mask(q);
  for (std::size_t k = 0; k < words.groups.size(); ++k) {
    params.group_word[k] = layout(static_cast<std::uint32_t>(words.groups[k] >> q));
    params.group_place[k] = static_cast<std::uint8_t>(tile.local * words.groups[k] & in_word);
  }
  for (int t = 0; t < q; ++t) {
    params.word_address[t] =
        layout(static_cast<std::uint32_t>(words.words[static_cast<std::size_t>(t)] >> q));
    params.stored_word[t] = static_cast<std::uint8_t>(words.stored.column(t));
  }
  for (int bit = 0; bit < tile.block_bits(); ++bit) {
    const int digit = bit / kBlockDigitBits;
    for (int value = 0; value < kBlockDigitValues; ++value) {
      if ((value >> bit % kBlockDigitBits & 1) == 0) continue;
      params.block_place[digit][value] ^=
          static_cast<std::uint8_t>(tile.block_targets[static_cast<std::size_t>(bit)] & in_word);
    }
  }
  params.complement_place = static_cast<std::uint32_t>(tile.complement & in_word);
  if (shape.has_squares()) make_squares(params, words, of_words, tile.local, shape, layout);
  return params;
}

ExchangeCongestion predicted_exchange_congestion(const PackedAffineParams& params,
                                                 const PackedAffineShape& shape,
                                                 const machine::MemoryGeometry& geometry) {
  const int lanes =
      std::min({machine::log2_exact(geometry.warp_size), shape.words.thread_bits, shape.group_bits()});
  const int bank_bits = machine::log2_exact(geometry.banks);
  if (shape.has_squares()) {
    Subspace banks(bank_bits);
    for (int k = 0; k < lanes; ++k)
      banks.insert(params.group_word[shape.words.vector_bits + k] >> kWordBytesBits &
                   f2::low_mask(bank_bits));
    const int waiting = 1 << (lanes - banks.dimension());
    if (shape.squares == PackedSquares::stored) return {.loads = waiting, .stores = 1};
    return {.loads = 1, .stores = waiting};
  }
  const auto congestion = [&](const auto& word_of_place) {
    Subspace words(kMaxTileBits);
    Subspace banks(bank_bits);
    for (int k = 0; k < lanes; ++k) {
      const Word address =
          params.group_word[k] ^ f2::combine(params.word_address, word_of_place(params.group_place[k]));
      words.insert(address);
      banks.insert(address & f2::low_mask(bank_bits));
    }
    return 1 << (words.dimension() - banks.dimension());
  };
  return {.loads = congestion([](Word place) { return place; }),
          .stores = congestion([&](Word place) { return Word{f2::combine(params.stored_word, place)}; })};
}

}  // namespace faro::kernels
