// A distribution of an array of a given shape: cells, who holds them, and which of them have given places.
//
// A cell is what a rank holds; ranks that hold the same share one. Cells are named by places of dials. Of
// cuts there is a dial for each array axis, with as many places as the mesh axes over it have ranks; of boxes
// one dial, with a place for each box, which sets all axes:
//
//     mesh 2x3; axis 1 over 1          dials 1 and 3 places; cell (0, 2): all rows of the last columns
//                                      its copies: ranks 2 and 5
//
// No function goes through all ranks, but that which checks boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/distribution.hpp"
#include "shard/runs.hpp"

namespace faro::detail {

/// The places of a cell's dials.
using Cell = std::vector<std::uint64_t>;

class Holdings {
 public:
  /// `role` is "in" or "out", for messages. Errors: ErrorCode::value for a distribution that is none of this
  /// shape, or of more than `ranks` ranks.
  Holdings(const Distribution& distribution, std::vector<std::uint64_t> shape, int ranks,
           const std::string& role);

  const std::vector<std::uint64_t>& shape() const { return shape_; }

  std::size_t dials() const { return is_boxes() ? 1 : axes_.size(); }
  std::uint64_t places(std::size_t dial) const { return is_boxes() ? boxes_.size() : axes_[dial].places; }
  /// Those that a dial sets.
  std::vector<std::size_t> axes_of(std::size_t dial) const;

  /// What the rank holds; nothing for ranks that are outside the mesh or have no box.
  std::optional<Cell> cell_of(int rank) const;
  /// The runs of one of its axes; none where it is empty there.
  std::vector<LocalRuns> runs(std::size_t axis, std::uint64_t place) const;
  /// Of the cell as an array of its own.
  std::vector<std::uint64_t> part_shape(const Cell& cell) const;
  std::uint64_t part_elements(const Cell& cell) const;

  /// Ranks that hold it, ascending by i.
  std::uint64_t copies(const Cell& cell) const;
  int copy(const Cell& cell, std::uint64_t i) const;
  /// Of the copies, those that are ranks from `first` to before `end`: from which i to before which.
  struct Copies {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::uint64_t count() const { return end - first; }
  };
  Copies copies_among(const Cell& cell, int first, int end) const;
  /// Whether any cell has more than one.
  bool is_replicated() const { return is_replicated_; }

  /// The places of a dial whose cells may have places of all of these: a list for each of axes_of(), where an
  /// empty one is of no places. May name too many.
  std::vector<std::uint64_t> met(std::size_t dial, const std::vector<std::vector<LocalRuns>>& wanted) const;

  /// Whose an element is, the first where several hold it, and which of the cell's own; and back.
  struct Place {
    int rank = 0;
    std::uint64_t element = 0;
  };
  Place place(std::uint64_t x) const;
  std::uint64_t index(const Cell& cell, std::uint64_t element) const;

  /// The same as bits of the index that are the rank's, lowest first, where it is: all `ranks` hold as much,
  /// of powers of two, and nothing twice.
  std::optional<std::vector<int>> bits(int ranks) const;

 private:
  // An array axis over mesh axes.
  struct Cut {
    std::uint64_t places = 1;
    std::uint64_t block = 0;
    std::vector<std::uint64_t> starts = {};  // of slabs of given extents; of places: the extent
    struct Digit {
      std::uint64_t ranks = 1;
      int stride = 1;  // in ranks
    };
    std::vector<Digit> over = {};  // slowest first
  };
  struct Box {
    std::vector<std::uint64_t> begin;
    std::vector<std::uint64_t> end;
    std::vector<int> ranks;  // ascending
  };

  bool is_boxes() const { return !boxes_.empty(); }
  std::uint64_t place_along(const Cell& cell, std::size_t axis) const {
    return is_boxes() ? cell[0] : cell[axis];
  }
  void cut_axes(const Distribution& distribution);
  void cut_axis(const CutAxis& asked, const Mesh& mesh, std::vector<bool>& taken);
  void take_boxes(const Distribution& distribution);
  void check_boxes() const;
  [[noreturn]] void refuse(const std::string& got, const std::string& wanted) const;

  std::uint64_t place_of(std::size_t axis, std::uint64_t x) const;
  std::uint64_t slab_start(std::size_t axis, std::uint64_t place) const;

  std::string role_;
  std::vector<std::uint64_t> shape_;
  int first_ = 0;
  int mesh_ranks_ = 1;
  std::vector<Cut> axes_;
  std::vector<Cut::Digit> free_;  // mesh axes that cut nothing
  bool is_replicated_ = false;
  std::vector<Box> boxes_;
  std::vector<std::pair<int, std::size_t>> box_of_rank_;  // ascending
};

}  // namespace faro::detail
