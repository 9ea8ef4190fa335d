// How axes are permuted on a GPU: which kernel, with which parameters, for which alignment. Host only; the
// engine looks the kernels up and launches them.
//
//     axes                                        choice      variants, the first that suits both addresses
//     nothing moves                               AxesCopy    -
//     few bytes                                   AxesElements    the widest unit; the element's own
//     rows stay, of more than 256 bytes           AxesRows    the widest unit of a row; the element's own
//     a plane with long sides, few rows or        AxesLines   aligned to 16 and 32; to a wide unit; to a unit
//       columns of a large one, odd ones
//     small arrays of a batch                     AxesWhole   aligned to a wide unit; to a unit
//     all else                                    AxesBoxes   aligned to 16; to a unit
//     what these are slow for, at vectors         AxesRegisters   before them, for aligned arrays
//
// The grid is the params' tiles (AxesBoxes, AxesLines) or vectors over the kernel's threads (AxesRows), a
// block each, in launches of at most 2^31 - 1 blocks that begin at first_tile or first_vector. Shared memory
// is params.shared_bytes. There are no tables, and no buffers but the input and the output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "faro/permutation/axes.hpp"
#include "faro/permutation/strided.hpp"
#include "kernels/axes_params.hpp"
#include "layout/strided_box.hpp"
#include "plan/gpu/axes_forms.hpp"

namespace faro::detail {

/// What a benchmark may have otherwise than is usual.
struct AxesVariant {
  bool alternatives = true;                       // for arrays that are less aligned
  std::optional<int> plane_shape = std::nullopt;  // as kernels::AxesLinesOptions, all three
  std::uint64_t band = 0;
  std::optional<bool> turned = std::nullopt;
  std::optional<bool> elements = std::nullopt;     // axes_elements.hpp, whatever the size; or never
  bool boxes_only = false;                         // axes_box.hpp for transposes, too
  bool lines_only = false;                         // never axes_box.hpp where lines fit
  bool skinny = true;                              // axes_skinny.hpp for few rows or columns
  std::uint32_t skinny_bytes = 0;                  // of a block of it; 0: as usual
  bool few_vectors = true;                         // axes_few_vectors.hpp for few of them at vectors
  bool ragged = true;                              // axes_ragged_box.hpp for rows that begin between vectors
  bool triples = true;                             // axes_triples.hpp for elements of three units
  std::optional<bool> whole = std::nullopt;        // axes_whole.hpp wherever it fits, or never
  std::uint32_t whole_bytes = 0;                   // of a block of it; 0: as usual
  std::optional<bool> registers = std::nullopt;    // axes_registers.hpp wherever it fits, or never
  std::optional<bool> rows = std::nullopt;         // axes_rows.hpp wherever rows stay, or never
  std::uint32_t most_box_bytes = 0;                // that boxes may have; 0: as usual
  std::uint32_t box_bytes = 0;                     // that boxes are wanted to have; 0: as usual
  bool grouped = false;                            // boxes of one array of many in a launch
  std::uint64_t least_row_bytes = 0;               // of rows of a view that stay whole; 0: as usual
  std::optional<bool> drops_first = std::nullopt;  // what boxes move, from the second-level cache
};

struct AxesChoice {
  std::variant<AxesCopy, AxesBoxes, AxesLines, AxesRows, AxesElements, AxesWhole> form;
  std::uint64_t unit_bytes = 1;                           // the element's, which all arrays are aligned to
  std::optional<AxesRegisters> registers = std::nullopt;  // instead, where arrays are aligned
};

/// Counts and batches of 0 give a copy of no bytes. Errors: ErrorCode::unsupported past 2^62 bytes.
/// Cost: under a millisecond.
AxesChoice choose_axes(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                       const AxesVariant& variant = {});

/// A view's elements, where these are few or read in the order in which they are written, its small arrays,
/// its planes, or its rows and its boxes: the first that suits both addresses.
struct ViewChoice {
  std::optional<AxesElements> elements;
  std::optional<AxesWhole> whole;
  std::optional<AxesLines> lines;
  std::optional<kernels::ViewRowsChoice> rows;
  AxesBoxes boxes;  // of neither elements nor small arrays, nor planes
};

/// The choice for a view in normal form. Errors: ErrorCode::unsupported where it reaches past 2^47 bytes.
/// Requires: at least one element. Cost: under a millisecond.
ViewChoice choose_view(const AxisMap& view, std::uint64_t element_bytes, const AxesVariant& variant = {});

/// What is chosen for a view without a search of boxes, for arrays that begin there: small arrays and what is
/// in order by elements, rows that stay, planes, few rows or columns; else nothing. Requires: a normal form
/// in units of 1, 2, 4, 8 or 16 bytes, at least one. Errors: those of choose_view(). Cost: a microsecond; of
/// few rows or columns that are not moved by vectors some tens, for banks.
using QuickChoice =
    std::variant<std::monostate, AxesElements::Variant, kernels::ViewRowsChoice, AxesLines::Variant>;
QuickChoice choose_quickly(const AxisMap& units, std::uintptr_t in, std::uintptr_t out);
/// Of these elements and rows, which a search would choose, too.
QuickChoice choose_quick_rows(const AxisMap& units, std::uintptr_t in, std::uintptr_t out);

/// Errors: ErrorCode::unsupported for arrays past 2^62 bytes. Requires: count, element_bytes > 0.
void require_countable(std::uint64_t count, std::uint64_t element_bytes, std::uint64_t batch);

}  // namespace faro::detail
