// Views of arrays by strides: what numpy's ascontiguousarray, torch's contiguous and copy_ do, of any view.
//
//     strided(3 4; -4 1; 4 1; 8 0)      3 rows of 4, from row 2 of the input backwards: the rows flipped
//
//     out[out_offset + i * 4 + j] = in[in_offset - i * 4 + j]       for all i below 3, j below 4
//
// Strides and offsets are in elements. Those of the input may be negative (a flip), 0 (a broadcast), larger
// than the rows (a slice, padding) or smaller (a sliding window). In the output no two elements may meet,
// and what no element reaches stays as it is.
//
//     axes(2 3 4; 2 0 1)                        strided(2 3 4; 12 4 1; 3 1 6)
//     a[:, ::2] of 10 x 8 elements              strided(10 4; 8 2; 4 1)
//     a row, repeated 5 times                   strided(5 8; 0 1; 8 1)
//     the inside of 6 x 6, written to 4 x 4     strided(4 4; 6 1; 4 1; 7 0)
//     windows of 3 of 10 elements               strided(8 3; 1 1; 3 1)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro {

/// out[out_offset + i . out_strides] = in[in_offset + i . in_strides], for every index i below the extents.
struct Strided {
  std::vector<std::uint64_t> extents;  // slowest axis first, as a shape; the order says nothing more
  std::vector<std::int64_t> in_strides;
  std::vector<std::int64_t> out_strides;
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;

  friend bool operator==(const Strided&, const Strided&) = default;
};

/// Elements that are moved. Errors: as check().
std::uint64_t element_count(const Strided& view);

/// Elements that an array must have for the view: one past the last that it reaches; 0 where nothing is
/// moved. Errors: as check().
std::uint64_t in_elements(const Strided& view);
std::uint64_t out_elements(const Strided& view);

/// Refuses what is no view. Errors: ErrorCode::value for lists of different lengths, more than 64 axes, more
/// than 2^40 elements, a side that leaves the array below element 0 or past 2^56, and two elements that meet
/// in the output, both named; ErrorCode::unsupported for strides of the output so entangled that 2^24
/// trials do not tell whether elements meet: never of two axes.   Cost: microseconds, as a rule; at most a
/// second or two.
void check(const Strided& view);

/// Two indices that the output's strides take to one element; nothing where all differ.
/// Errors: ErrorCode::unsupported as check().
struct MeetingIndices {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
};
std::optional<MeetingIndices> meeting_indices(const Strided& view);

/// The one view that says the same: no axis of extent 1, none that continues its neighbour on both sides,
/// strides of the output above 0 and descending, so that a flip is a negative stride of the input. A view of
/// no elements has the one extent 0.   Errors: as check().
Strided normal_form(const Strided& view);

/// The permutation of as many elements that a view is, where both sides are dense and begin at 0: in
/// faro::normal_form(): axes of powers of two affine, axes of which some are flipped CyclicAxes. Nothing for
/// all others.
std::optional<Permutation> as_permutation(const Strided& view);

/// The view that a permutation of axes is.
Strided as_strided(const Axes& axes);

/// "strided(3 4; -4 1; 4 1; 8 0)"; without the offsets where both are 0.
std::string to_text(const Strided& view);

/// Law: parse_strided(to_text(v)) == v. Errors: ErrorCode::spec with the place in the text; those of check().
Strided parse_strided(std::string_view text);
/// Whether a text means to be a view: its first word is `strided`.
bool is_strided_text(std::string_view text);

namespace detail {
AxisMap axis_map(const Strided& view);
/// The permutation that a normal form is, if it is one.
std::optional<Permutation> as_permutation(const AxisMap& normal);
/// Requires: axes without shifts; no element below 0 is reached.
Strided as_strided(const AxisMap& map);
/// The shape that a view makes: as its extents say, where the output is that array or has no elements; else
/// the elements that the output must have, one after another.
std::vector<std::uint64_t> result_shape(const Strided& view);
}  // namespace detail

}  // namespace faro
