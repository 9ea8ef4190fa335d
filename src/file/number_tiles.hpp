// Sweeps that change numbers while they move them: a number has w bytes in the input, v in the output, and
// the tile is moved in the narrower of both.
//
//     buffer X     | the input's rows, w bytes a number | the added file's rows, a | perhaps a tile |
//     buffer Y     | the output's rows, v bytes a number | perhaps a tile of m bytes a number      |
//
//     v < w        X --convert--> behind Y --move--> Y
//     v > w        X --move--> behind X --convert--> Y
//     v = w        X --move--> Y, and converted there
//     what rests   X --convert--> Y
//     in place     X --convert--> X --move--> X, or the other way round, unless another width is added to
//
// An added file and values along an axis belong to places of the output: with them the tile is converted
// after the move, whatever the widths, and is moved to behind X or Y, where there is more room. The tiles
// themselves are those of any sweep, of m = min(v, w) bytes a number (converted late, of w), with the rows of
// both files as much longer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "faro/file.hpp"
#include "file/tiles.hpp"
#include "number_oracle.hpp"

namespace faro::file {

class ChangedNumbers {
 public:
  /// Errors: those of check(); ErrorCode::value for an addend with strides, and for axes without a shape.
  explicit ChangedNumbers(const Numbers& numbers);

  const Arithmetic& arithmetic() const { return numbers_.arithmetic; }
  const Input& addend() const { return numbers_.addend; }
  /// "u8 to f32, scaled by 2, in f32", and all of it for journals.
  std::string text() const { return to_text(numbers_.arithmetic); }
  std::string identity() const;

  // Bytes of a number.
  std::uint64_t in_width() const { return in_width_; }
  std::uint64_t out_width() const { return out_width_; }
  std::uint64_t added_width() const { return added_width_; }  // 0: none is added
  std::uint64_t moved_width() const { return moved_width_; }
  /// The width of each of a sweep's buffers.
  std::uint64_t buffer_width(Placement placement) const {
    return placement == Placement::in_place ? in_place_width_ : buffer_width_;
  }
  /// Whether tiles that are moved in place may be: nothing is added, or no number grows into what is.
  bool may_be_in_place() const { return added_width_ == 0 || in_width_ == out_width_; }

  /// Whether it is converted after the move.
  bool is_late() const { return is_late_; }
  /// Whether what is moved first is put behind the input's rows, rather than the output's.
  bool is_behind_input() const { return is_behind_input_; }

  /// Bytes of the input or the output as those of the tile that is moved.
  std::uint64_t moved_of_in(std::uint64_t bytes) const { return bytes / in_width_ * moved_width_; }
  Scale in_scale() const { return {.file = in_width_, .tile = moved_width_}; }
  Scale out_scale() const { return {.file = out_width_, .tile = moved_width_}; }

  /// Errors: ErrorCode::value for elements of no whole numbers, and for axes of another array than of
  /// `out_bytes`.
  void require(std::uint64_t element_bytes, std::uint64_t out_bytes) const;

  /// Which of the values along an axis is that of the output's number `place`.
  std::uint64_t scale_at(std::uint64_t place) const { return scale_.at(place); }
  std::uint64_t offset_at(std::uint64_t place) const { return offset_.at(place); }

  /// What is added, of the output's rows.
  Rows added_rows(const Rows& out) const;

 private:
  // An axis of the output: place / step % extent.
  struct Along {
    std::uint64_t step = 1;
    std::uint64_t extent = 1;
    std::uint64_t at(std::uint64_t place) const { return extent == 1 ? 0 : place / step % extent; }
  };
  Along along(const Coefficient& of) const;

  Numbers numbers_;
  std::uint64_t in_width_;
  std::uint64_t out_width_;
  std::uint64_t added_width_;
  bool is_late_;
  std::uint64_t moved_width_;
  bool is_behind_input_ = false;
  std::uint64_t in_place_width_;
  std::uint64_t buffer_width_;
  Along scale_;
  Along offset_;
};

/// Tiles that move and change numbers. `moved`: of numbers of moved_width() bytes.
std::unique_ptr<Tiles> tiles_of_numbers(std::unique_ptr<Tiles> moved,
                                        std::shared_ptr<const ChangedNumbers> numbers, int threads);

}  // namespace faro::file
