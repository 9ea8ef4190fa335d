// An affine map between ranks that hold index bits.
//
// Places: local bits l_0 .. l_{m-1} below, the rank's bits d_0 .. d_{g-1} on top, on both sides.
//
//              local  rank
//     local  [  A11    A12  ]   l' = A11 l ^ A12 d ^ c_l
//     rank   [  A21    A22  ]   d' = A21 l ^ A22 d ^ c_d
//
// Let rho = rank A21, Q rho independent columns of it, and v the coordinates of A21 l in Q: elements with
// one v go to one rank, Q v ^ A22 d ^ c_d. So packing is any invertible map whose top rho bits are v; we
// take the columns at the highest local bits, and leave the others w in their order: long runs stay long, and
// where v is the top bits of the part themselves, packing is nothing. The top of w is what slices of messages
// are distinguished by.
//
// The receiver hears from a coset of ranks as large: by the same of the inverse map B, those are
// K u ^ B22 d' ^ (B c)_d with K columns of B21 and u the coordinates of B21 l' in K. The message of source u
// is put at place u, and unpacking is what is left:
//
//     (w, u) -> A11 P^-1 (w, v(u)) ^ A12 d(u) ^ c_l       v(u) = Q^-1 (d' ^ c_d ^ A22 d(u))
//
// Where the inverse needs no packing, u being the top bits of l', the roles change: the sender packs to
// where the elements shall lie, w = the low bits of l', and unpacking is nothing. The order of a message is
// the output's then, and its slices part tiles unless the map is kind: two passes can be the faster way.
#include <algorithm>
#include <bit>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"
#include "layout/functionals.hpp"
#include "shard/methods.hpp"

namespace faro::detail {
namespace {

using f2::Matrix;
using f2::Word;

// Local bits whose columns of A21 are independent, the highest there are, and the coordinates in them.
struct Coordinates {
  Matrix basis;     // g x rho: the columns there
  Matrix of_local;  // rho x m: v = of_local l

  bool is_top(int local_bits) const {
    const int rho = basis.columns();
    if (of_local.columns() != local_bits) return false;
    for (int j = 0; j < local_bits; ++j) {
      const int from_top = j - (local_bits - rho);
      if (of_local.column(j) != (from_top < 0 ? 0 : f2::unit(from_top))) return false;
    }
    return true;
  }
};

Coordinates coordinates_of(const Matrix& a21) {
  Coordinates made;
  f2::Subspace image(a21.rows());
  std::vector<Word> columns;
  for (int j = a21.columns() - 1; j >= 0; --j) {
    if (image.insert(a21.column(j))) columns.push_back(a21.column(j));
  }
  std::reverse(columns.begin(), columns.end());
  made.basis = Matrix::from_columns(a21.rows(), columns);
  std::vector<Word> coordinates;
  coordinates.reserve(static_cast<std::size_t>(a21.columns()));
  for (int j = 0; j < a21.columns(); ++j) coordinates.push_back(*made.basis.solve(a21.column(j)));
  made.of_local = Matrix::from_columns(made.basis.columns(), coordinates);
  return made;
}

// The matrix that has v on top, the functionals of `slicing` below it, and below these as many local bits as
// there is room for, in their order and the lowest there are: long runs stay long.
Matrix packing_matrix(const Coordinates& v, int local_bits, const std::vector<Word>& slicing) {
  const int rho = v.basis.columns();
  const Matrix of_local = v.of_local.transposed();
  f2::Subspace taken(local_bits);
  for (int i = 0; i < rho; ++i) taken.insert(of_local.column(i));
  for (const Word functional : slicing) taken.insert(functional);
  std::vector<Word> rows;
  for (int j = 0; j < local_bits; ++j) {
    if (taken.insert(f2::unit(j))) rows.push_back(f2::unit(j));
  }
  rows.insert(rows.end(), slicing.begin(), slicing.end());
  for (int i = 0; i < rho; ++i) rows.push_back(of_local.column(i));
  FARO_CHECK(static_cast<int>(rows.size()) == local_bits);
  return Matrix::from_columns(local_bits, rows).transposed();
}

// Standard form taken apart.
struct BlockMatrix {
  Matrix a11, a12, a21, a22;
  Word c_local = 0;
  Word c_rank = 0;

  BlockMatrix(const Affine& map, int m, int g)
      : a11(map.matrix().block(0, 0, m, m)),
        a12(map.matrix().block(0, m, m, g)),
        a21(map.matrix().block(m, 0, g, m)),
        a22(map.matrix().block(m, m, g, g)),
        c_local(map.complement() & f2::low_mask(m)),
        c_rank(m >= f2::kMaxDimension ? 0 : map.complement() >> m) {}
};

bool is_identity_matrix(const Matrix& a) { return a == Matrix::identity(a.rows()); }

// Functionals on the part that no tile of packing or unpacking runs through, so that slices by them part no
// tile: those that vanish on a segment's 2^s elements of the input, and on what becomes one of the output,
// `inverse_local` being B11. Local bits are taken first, the highest there are; a map without such bits has
// sums of bits, as long as 2 s is less than m. Together with v they are independent.
std::vector<Word> slicing_functionals(const Coordinates& v, const Matrix& inverse_local, int segment_bits) {
  const int m = v.of_local.columns();
  const int s = std::min(segment_bits, m);
  const int room = m - v.basis.columns() - s;
  std::vector<Word> tile;
  for (int i = 0; i < s; ++i) {
    tile.push_back(f2::unit(i));
    tile.push_back(inverse_local.column(i));
  }
  const auto is_constant_on_tiles = [&tile](Word functional) {
    return std::none_of(tile.begin(), tile.end(),
                        [functional](Word t) { return (std::popcount(functional & t) & 1) != 0; });
  };
  std::vector<Word> candidates;
  for (int j = m - 1; j >= 0; --j) {
    if (is_constant_on_tiles(f2::unit(j))) candidates.push_back(f2::unit(j));
  }
  const f2::Subspace constant = layout::detail::annihilator(f2::Subspace::span(m, tile));
  candidates.insert(candidates.end(), constant.basis().begin(), constant.basis().end());
  f2::Subspace taken(m);
  const Matrix of_local = v.of_local.transposed();
  for (int i = 0; i < of_local.columns(); ++i) taken.insert(of_local.column(i));
  std::vector<Word> made;
  for (const Word functional : candidates) {
    if (static_cast<int>(made.size()) == std::min(kMostSliceBits, room)) break;
    if (taken.insert(functional)) made.push_back(functional);
  }
  std::reverse(made.begin(), made.end());
  return made;
}

// For messages in the order of the output: its top bits that are constant on a segment of the input.
int slices_in_place(const Matrix& a11, int w_bits, int segment_bits) {
  Word varying = 0;
  for (int j = 0; j < std::min(segment_bits, a11.columns()); ++j) varying |= a11.column(j);
  int bits = 0;
  while (bits < std::min(kMostSliceBits, w_bits - segment_bits) && !f2::bit(varying, w_bits - 1 - bits))
    ++bits;
  return bits;
}

// The identity is no pass.
void set_pass(ShardPass& pass, const Matrix& matrix, Word complement) {
  if (!is_identity_matrix(matrix) || complement != 0) pass.permutation = Affine(matrix, complement);
}

// Beside one pass the identity is the other, where two were asked for.
void add_missing_pass(ShardPassing& made, int local_bits) {
  if (made.pack.is_nothing() == made.unpack.is_nothing()) return;
  (made.pack.is_nothing() ? made.pack : made.unpack).permutation = Affine(local_bits);
}

// Where packed messages lie among the places of all that is received: element w of the message of v goes to
// rank d' = Q v ^ A22 d ^ c_d, behind those of the sources before its own, u = K^-1 (d ^ B22 d' ^ (B c)_d).
struct Packed {
  Matrix pack;
  Matrix source_basis;  // K
};
Affine arrivals(const BlockMatrix& a, const BlockMatrix& b, const Packed& packed, int w_bits) {
  const int m = a.a11.columns();
  const int g = a.a22.columns();
  const auto place = [&](Word local, Word rank, Word complement) {
    const Word to = (a.a21 * local) ^ (a.a22 * rank) ^ (complement != 0 ? a.c_rank : 0);
    const Word source = rank ^ (b.a22 * to) ^ (complement != 0 ? b.c_rank : 0);
    const Word slot = *packed.source_basis.solve(source);
    return ((packed.pack * local) & f2::low_mask(w_bits)) | slot << w_bits | to << m;
  };
  Matrix matrix = Matrix::zero(m + g, m + g);
  for (int j = 0; j < m; ++j) matrix.set_column(j, place(f2::unit(j), 0, 0));
  for (int i = 0; i < g; ++i) matrix.set_column(m + i, place(0, f2::unit(i), 0));
  return Affine(matrix, place(0, 0, 1));
}

}  // namespace

Affine standard_form(const Affine& map, const ShardRankBits& bits) {
  const auto places = [&map](const std::vector<int>& rank_bits) {
    const int n = map.bits();
    const int m = n - static_cast<int>(rank_bits.size());
    std::vector<int> to(static_cast<std::size_t>(n), -1);
    for (std::size_t i = 0; i < rank_bits.size(); ++i)
      to[static_cast<std::size_t>(rank_bits[i])] = m + static_cast<int>(i);
    int local = 0;
    for (int& place : to) {
      if (place < 0) place = local++;
    }
    return maps::permute_bits(to);
  };
  return compose(places(bits.out), compose(map, places(bits.in).inverse()));
}

ShardPassing affine_passing(const Affine& map, const ShardRankBits& bits, int rank,
                            const SliceChoice& choice) {
  const int segment_bits = choice.segment_bits;
  const Affine standard = standard_form(map, bits);
  const int g = static_cast<int>(bits.in.size());
  const int m = standard.bits() - g;
  const BlockMatrix a(standard, m, g);
  const BlockMatrix b(standard.inverse(), m, g);
  const Coordinates v = coordinates_of(a.a21);
  const Coordinates u = coordinates_of(b.a21);
  const int rho = v.basis.columns();
  FARO_CHECK(rho == u.basis.columns());
  const int w_bits = m - rho;
  const auto self = static_cast<Word>(rank);

  ShardPassing made{.pack = {}, .unpack = {}, .sends = {}, .receives = {}, .rho = rho};
  made.places = standard;
  const std::uint64_t messages = std::uint64_t{1} << rho;
  const std::uint64_t elements = std::uint64_t{1} << w_bits;
  for (std::uint64_t at = 0; at < messages; ++at) {
    const Word to = (v.basis * at) ^ (a.a22 * self) ^ a.c_rank;
    made.sends.push_back({.peer = static_cast<int>(to), .offset_bytes = at * elements, .bytes = elements});
  }
  const Word first_source = (b.a22 * self) ^ b.c_rank;
  const auto receive_at = [&](Word moved_by) {
    made.receives.assign(messages, {});
    for (std::uint64_t at = 0; at < messages; ++at) {
      const Word from = (u.basis * at) ^ first_source;
      made.receives[at] = {
          .peer = static_cast<int>(from), .offset_bytes = (at ^ moved_by) * elements, .bytes = elements};
    }
  };

  const std::vector<Word> slicing = slicing_functionals(v, b.a11, segment_bits);
  // Bits of the message that are constant on tiles, where its order is that of the input.
  int bits_on_top = 0;
  while (bits_on_top < static_cast<int>(slicing.size()) &&
         std::find(slicing.begin(), slicing.end(), f2::unit(w_bits - 1 - bits_on_top)) != slicing.end())
    ++bits_on_top;
  const auto two_passes_have_more = [&](int slice_bits) {
    return choice.even_by_two_passes && slice_bits < static_cast<int>(slicing.size());
  };
  const bool sends_whole = v.is_top(m) && !two_passes_have_more(bits_on_top);
  if (!sends_whole && u.is_top(m) && !two_passes_have_more(slices_in_place(a.a11, w_bits, segment_bits))) {
    // Packed to where it shall lie: the low bits of l', and v on top of them.
    Matrix pack = Matrix::zero(m, m);
    for (int j = 0; j < m; ++j)
      pack.set_column(j, (a.a11.column(j) & f2::low_mask(w_bits)) | v.of_local.column(j) << w_bits);
    set_pass(made.pack, pack, ((a.a12 * self) ^ a.c_local) & f2::low_mask(w_bits));
    receive_at(0);
    made.slice_bits = slices_in_place(a.a11, w_bits, segment_bits);
    if (choice.even_by_two_passes) add_missing_pass(made, m);
    return made;
  }
  const Matrix pack = packing_matrix(v, m, sends_whole ? std::vector<Word>() : slicing);
  const Matrix unpacked = *pack.inverse();
  set_pass(made.pack, pack, 0);
  // Where slices lie in messages: on top, where the order was free; else those that happen to be there.
  made.slice_bits = sends_whole ? bits_on_top : static_cast<int>(slicing.size());
  // v(u) = first ^ by_source u, as a top part of a word of m bits.
  const auto slot = [&](Word target) { return *v.basis.solve(target) << w_bits; };
  Matrix unpack = Matrix::zero(m, m);
  for (int j = 0; j < w_bits; ++j) unpack.set_column(j, a.a11 * (unpacked * f2::unit(j)));
  for (int i = 0; i < rho; ++i) {
    const Word source = u.basis.column(i);
    unpack.set_column(w_bits + i, (a.a11 * (unpacked * slot(a.a22 * source))) ^ (a.a12 * source));
  }
  const Word first_slot = slot(self ^ a.c_rank ^ (a.a22 * first_source));
  const Word complement = (a.a11 * (unpacked * first_slot)) ^ (a.a12 * first_source) ^ a.c_local;
  if (is_identity_matrix(unpack) && (complement & f2::low_mask(w_bits)) == 0) {
    // Whole messages change places: they are received there.
    receive_at(complement >> w_bits);
    if (choice.even_by_two_passes) add_missing_pass(made, m);
    return made;
  }
  set_pass(made.unpack, unpack, complement);
  if (choice.even_by_two_passes) add_missing_pass(made, m);
  receive_at(0);
  made.arrivals = arrivals(a, b, {.pack = pack, .source_basis = u.basis}, w_bits);
  return made;
}

}  // namespace faro::detail
