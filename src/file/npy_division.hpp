// How the items of a .npy file are divided, outermost first, into a batch of arrays and their elements: the
// picture is in file/npy_problem.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace faro::file {

/// A shape, its axes cut where a batch and where an element end.
struct CutShape {
  std::vector<std::uint64_t> extents;
  bool is_batch_cut = false;    // the last axis of the batch and the next are one of the file's
  bool is_element_cut = false;  // the first axis of an element and the one before
};

/// Axes first_axis .. end_axis - 1 of a shape.
struct AxesPart {
  std::size_t first_axis = 0;
  std::size_t end_axis = 0;
};

/// How the file's items are divided, outermost first.
struct Division {
  std::uint64_t batch = 1;
  std::uint64_t elements = 0;  // of each array
  std::uint64_t group = 1;     // items of an element
  CutShape cut;
  std::optional<AxesPart> part;     // of the cut shape that is an array
  std::optional<std::size_t> axis;  // of --axis and --rows, or found by the lengths

  /// The shape of one of its arrays.
  std::vector<std::uint64_t> array_shape() const;
  /// "2^20 elements of 4 bytes", "1000 rows of 12 bytes".
  std::string elements_text(std::uint64_t item_bytes, const std::vector<std::uint64_t>& shape) const;
};

/// The product of axes begin .. end - 1.
std::uint64_t product(const std::vector<std::uint64_t>& shape, std::size_t begin, std::size_t end);
std::vector<std::uint64_t> axes_of_part(const std::vector<std::uint64_t>& shape, const AxesPart& part);
/// `shape` with `other` in the place of the part.
std::vector<std::uint64_t> with_part(const std::vector<std::uint64_t>& shape, const AxesPart& part,
                                     const std::vector<std::uint64_t>& other);

/// The axes between a batch and an element, where both are whole axes. There may be several ways, by axes of
/// extent 1; the first has the most axes.
std::vector<AxesPart> parts_of(const std::vector<std::uint64_t>& shape, std::uint64_t batch,
                               std::uint64_t group);

/// `shape` with axes that begin and end where batches and elements do, as far as there are such places.
CutShape cut_shape(const std::vector<std::uint64_t>& shape, std::uint64_t batch, std::uint64_t group);

/// The arrays are of axes first .. end - 1: those before are a batch, those behind one element.
Division along(const std::vector<std::uint64_t>& shape, std::size_t first, std::size_t end);

}  // namespace faro::file
