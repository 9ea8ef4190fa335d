// Reads one map by recursive descent; every entry of the catalogue reads its own arguments through this
// class.
//
//     map        = name | name "(" arguments ")" | "@" path
//     arguments  = what the entry asks for, with the signs that its syntax shows; what the array at hand fixes
//                  may be left out
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cursor.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/text.hpp"

namespace faro {
struct MapEntry;
}  // namespace faro

namespace faro::detail {

class SpecReader {
 public:
  /// `text` must outlive the reader.
  SpecReader(std::string_view text, const ParseOptions& options, AtHand at_hand)
      : cursor_(text), options_(options), at_hand_(at_hand) {}

  /// A map and nothing after it.
  ParsedPermutation whole();

  // What the entries' readers are made of. Each reads one thing and fails with the entry's syntax where it is
  // not there.

  Permutation map();
  int bits();  // n, in 0..64
  std::uint64_t number(std::string_view what);
  int small_number(std::string_view what);  // refused past 10^9, where no size or position can be
  std::int64_t integer(std::string_view what);
  std::vector<std::uint64_t> numbers();  // none or more, up to the next sign
  std::string_view word(std::string_view what);
  Permutation index_file(Direction direction);  // @index.npy, and no other file
  void allow_index_array(std::uint64_t count);  // refused where all are past most_index_elements
  std::uint64_t index_elements() const { return index_elements_; }  // of all arrays so far

  // What the array at hand fixes, where there is one: it need not be typed.

  /// n, and the comma behind it, which may be left out where one of `arguments` is missing.
  int bits_of(std::size_t arguments);
  /// The same of the number of elements.
  std::uint64_t count_of(std::size_t arguments, std::string_view what);
  std::optional<int> bits_at_hand() const;
  std::optional<std::uint64_t> count_at_hand() const;
  const std::vector<std::uint64_t>* shape_at_hand() const {
    return options_.shape ? &*options_.shape : nullptr;
  }
  std::size_t count_ahead(char c) { return cursor_.count_ahead(c); }

  /// The shape at hand of a map whose result has these axes of it in this order: itself, but where it is that
  /// of the result. Remembers that it was taken.
  std::vector<std::uint64_t> take_shape(const std::vector<int>& order);
  /// Whether a map took it since this was last asked.
  bool took_shape() { return std::exchange(took_shape_, false); }
  void note_shape_taken() { took_shape_ = true; }
  /// Another array is at hand. Returns the shape of the one before.
  std::optional<std::vector<std::uint64_t>> exchange_shape(std::optional<std::vector<std::uint64_t>> shape) {
    return std::exchange(options_.shape, std::move(shape));
  }
  /// The array at hand is what the map gives, as within inverse(f), or again what it takes.
  void turn_round() { at_hand_ = shape_is_result() ? AtHand::input : AtHand::result; }
  bool shape_is_result() const { return at_hand_ == AtHand::result; }

  /// What a map does to axes and shapes.
  struct ShapeEffect {
    std::optional<NamedAxes> axes;         // where it does nothing else
    std::optional<RegroupedShape> shapes;  // what it takes and gives, where it names them
  };
  /// The map that is being read moves these axes, or is such a one.
  void name_axes(NamedAxes axes);
  void name(ShapeEffect effect) { effect_ = std::move(effect); }
  /// What the map that was read last does to a shape.
  const ShapeEffect& effect() const { return effect_; }
  /// What the files that were read hold beyond their map.
  const std::vector<std::string>& notes() const { return notes_; }

  void comma() { sign(','); }
  void semicolon() { sign(';'); }
  bool take(char c) { return cursor_.take(c); }
  bool at(char c) { return cursor_.peek() == c; }
  std::size_t position() { return cursor_.position(); }
  void go_to(std::size_t position) { cursor_.go_to(position); }
  void skip_to(char sign) { cursor_.skip_to(sign); }
  bool at_digit();

  /// "`;` at character 9".
  std::string here() { return cursor_.here(); }

  [[noreturn]] void fail(ErrorCode code, std::string got, std::string wanted, std::string remedy = {}) const {
    cursor_.fail(code, std::move(got), std::move(wanted), std::move(remedy));
  }

 private:
  Permutation file();
  Permutation view(std::size_t start);  // strided(...), whose name begins there
  Permutation allowed(Permutation from_file);
  Permutation arguments_of(const MapEntry& entry);
  Permutation bare(const MapEntry& entry);
  [[noreturn]] void unknown_name(std::size_t start) const;
  void sign(char c);
  std::string in_syntax(std::string_view what) const;

  Cursor cursor_;
  ParseOptions options_;
  AtHand at_hand_;
  const MapEntry* entry_ = nullptr;  // whose arguments are being read
  ShapeEffect effect_;
  bool took_shape_ = false;
  std::vector<std::string> notes_;
  std::uint64_t index_elements_ = 0;
  int depth_ = 0;
};

// The arguments of the maps that are not affine by their name: each reads what stands between the
// parentheses.

Permutation read_transpose(SpecReader& reader);    // rows, columns: affine where both are powers of two
Permutation read_aos_to_soa(SpecReader& reader);   // count, words
Permutation read_soa_to_aos(SpecReader& reader);   // count, words
Permutation read_aosoa(SpecReader& reader);        // count, words, tile
Permutation read_axes(SpecReader& reader);         // extents; order
Permutation read_roll(SpecReader& reader);         // count, shift
Permutation read_flip(SpecReader& reader);         // count
Permutation read_multiply(SpecReader& reader);     // count, factor
Permutation read_affine_mod(SpecReader& reader);   // count, factor, shift
Permutation read_good_thomas(SpecReader& reader);  // rows, columns
Permutation read_rader(SpecReader& reader);        // prime
Permutation read_random(SpecReader& reader);       // count, seed
Permutation read_sequency(SpecReader& reader);     // n, the order before
Permutation read_morton(SpecReader& reader);       // d, b
Permutation read_hilbert(SpecReader& reader);      // d, b
Permutation read_healpix(SpecReader& reader);      // k
Permutation read_indices(SpecReader& reader);      // the entries of a scatter
Permutation read_compose(SpecReader& reader);      // f, g
Permutation read_inverse(SpecReader& reader);      // f
Permutation read_power(SpecReader& reader);        // f, k

// The same by their bare names, of the array at hand.
Permutation transpose_of_shape(SpecReader& reader,
                               const std::vector<std::uint64_t>& shape);  // all axes reversed
Permutation aos_to_soa_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation soa_to_aos_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation flip_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation morton_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation hilbert_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation healpix_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation rader_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);

}  // namespace faro::detail
