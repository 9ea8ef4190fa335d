// The one list of maps: what the text grammar knows, `faro maps` prints and docs/guide/maps.md describes.
//
// An entry holds both how a map is described to a reader and how its arguments are read, so that a map cannot
// be in one list and not in the other. To add a map: a function in affine.hpp, an entry in catalogue.cpp, a
// case in the tests.
//
// A bit picture shows where the bits of an index come from: under each bit of pi(x), the bits of x whose sum
// it is, with `~` where the complement flips it.
//
//     gray(4)     pi(x)  y3   y2     y1     y0
//                        x3   x2^x3  x1^x2  x0^x1
//
// For other maps the picture shows an array before and after:
//
//     roll(5, 2)  in   a b c d e
//                 out  d e a b c
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro {

namespace detail {
class SpecReader;
}

struct MapEntry {
  std::string_view name;          // "rotate_bits"
  std::string_view syntax;        // "rotate_bits(n, k)"
  std::string_view meaning;       // one line, beginning in lower case
  std::string_view content = {};  // of a file alone: what such a file has; no end of line at the last
  std::string_view example;       // a small map, of 4 bits where it is affine: "rotate_bits(4, 1)"
  std::string_view command;       // to paste into a shell

  /// The map of n bits, where n is all it needs: such a map may be given by its bare name.
  Affine (*of_bits)(int n) = nullptr;

  /// The map of an array of this shape, where that is all it needs: it, too, may be given by its bare name.
  Permutation (*of_shape)(detail::SpecReader& reader, const std::vector<std::uint64_t>& shape) = nullptr;

  /// Reads what stands between the parentheses. Null where that is n alone, and for files.
  Permutation (*read)(detail::SpecReader& arguments) = nullptr;

  /// "@file.qasm", "gather(@file.npy)" and the like: `example` is another text, which says the same as the
  /// file.
  bool is_file() const { return syntax.find('@') != std::string_view::npos; }
};

/// Every map, in the order in which to show them.
std::span<const MapEntry> catalogue();

/// The entry of that name, or null.
const MapEntry* find_map(std::string_view name);

/// "did you mean `gray`?" for a misspelt name, or where to find the list.
std::string suggest_map(std::string_view misspelt);

/// Two aligned lines, the bits of pi(x) from the highest down and what each is made of; no trailing spaces.
std::string bit_picture(const Affine& map);

/// bit_picture() of an affine map; of others an array of letters before and after.
/// Requires: at most 52 elements, if not affine (checked).
std::string picture(const Permutation& map);
/// Of the entry's example, or what a file of its kind has.
std::string picture(const MapEntry& entry);

}  // namespace faro
