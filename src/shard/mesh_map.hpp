// A permutation of axes between two distributions: which cells share elements, and where each has them.
//
// The index is a list of digits, each of which lies within one axis of the input and within one of the
// output: those of axes(2 3 5; 2 0 1) are its axes; where brackets join axes, an axis has several digits.
//
//     axis 0 of the input    [ a b ]       c            dials that share digits are one component:
//     axis 0 of the output     a         [ b c ]        {0, 1} of the input with {0, 1} of the output here
//
// What a cell holds is, along each digit, runs (shard/runs.hpp); what two cells share is the product of what
// they share along the components. So the work is a sum over components, and not a product over ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "shard/holdings.hpp"
#include "shard/runs.hpp"

namespace faro::detail {

/// A part of the index: its place in either array is that of the output, by `weight` within the axis.
struct IndexDigit {
  struct Side {
    std::size_t axis = 0;
    std::uint64_t weight = 1;  // places of the axis from one place of the digit to the next
  };
  std::uint64_t extent = 1;
  Side in;
  Side out;
  bool is_flipped = false;  // the input counts from the other end,
  std::uint64_t shift = 0;  // and the output is moved on by so many places
};

/// Slowest first in the input. Nothing where no axes say the permutation, or digits lie across the axes of
/// the shapes. Requires: as many elements as either shape, one or more.
std::optional<std::vector<IndexDigit>> index_digits(const Permutation& permutation,
                                                    const std::vector<std::uint64_t>& in_shape,
                                                    const std::vector<std::uint64_t>& out_shape);

/// Runs of each digit, by the output's places, that two cells share: a box.
using SharedBox = std::vector<SharedRuns>;

/// A cell of the other side that one meets, and the boxes of what they share, in an order that follows from
/// the two alone.
struct MetCell {
  Cell cell;
  std::vector<SharedBox> boxes;
  std::uint64_t elements() const;
};

class MeshMap {
 public:
  /// Requires: digits of these shapes; both live as long as this.
  MeshMap(std::vector<IndexDigit> digits, const Holdings& in, const Holdings& out);

  const std::vector<IndexDigit>& digits() const { return digits_; }

  /// The cells of the output that have elements of a cell of the input, and the other way round.
  std::vector<MetCell> met_targets(const Cell& source) const;
  std::vector<MetCell> met_sources(const Cell& target) const;

  /// The most boxes that two cells may share, of the first places of the dials: where brackets join axes that
  /// are cut anywhere, there may be very many.
  std::uint64_t most_boxes() const;

  /// The same without the boxes: how many elements. What one component gives is kept for other cells that
  /// have the same places there.
  struct Counted {
    Cell cell;
    std::uint64_t elements = 0;
  };
  struct CountedPlaces {
    std::vector<std::uint64_t> places;
    std::uint64_t elements = 0;
  };
  using KeptCounts = std::map<std::pair<std::size_t, Cell>, std::vector<CountedPlaces>>;
  std::vector<Counted> counted_targets(const Cell& source, KeptCounts& kept) const;

 private:
  enum class End { in, out };
  // Runs of some digits; `of` is a digit's number.
  struct DigitRuns {
    std::size_t of = 0;
    LocalRuns runs;
  };
  using DigitBox = std::vector<DigitRuns>;

  struct Component {
    std::vector<std::size_t> in_dials;
    std::vector<std::size_t> out_dials;
    std::vector<std::size_t> digits;
  };
  // Places of a component's dials of the other side, and what is shared along its digits.
  struct Meeting {
    std::vector<std::uint64_t> places;
    std::vector<SharedBox> boxes;
  };

  const Holdings& holdings(End end) const { return end == End::in ? in_ : out_; }
  const IndexDigit::Side& side(std::size_t digit, End end) const {
    return end == End::in ? digits_[digit].in : digits_[digit].out;
  }
  void find_components();
  std::vector<std::size_t> digits_of(std::size_t axis, End end) const;
  std::vector<DigitBox> boxes_of(std::size_t dial, std::uint64_t place, End end) const;
  std::vector<DigitBox> boxes_along(std::size_t axis, std::uint64_t place, End end) const;
  std::vector<DigitBox> by_output(const std::vector<DigitBox>& boxes) const;
  std::vector<LocalRuns> projected(const std::vector<DigitBox>& boxes, std::size_t axis, End end) const;
  std::vector<Meeting> meetings(const Component& component, const Cell& fixed, End end) const;
  const std::vector<CountedPlaces>& counted(std::size_t component, const Cell& source,
                                            KeptCounts& kept) const;
  std::vector<SharedBox> shared(const Component& component, const std::vector<DigitBox>& sources,
                                const std::vector<DigitBox>& targets) const;
  std::vector<MetCell> met(const Cell& fixed, End end) const;

  std::vector<IndexDigit> digits_;
  const Holdings& in_;
  const Holdings& out_;
  std::vector<Component> components_;
};

}  // namespace faro::detail
