// A drawing under construction: shapes in, one self-contained SVG out.
//
// Shapes carry class names only. What a class looks like, by day and by night, is in one style sheet
// (svg_canvas.cpp), so that a drawing reads well wherever it is shown and needs no file but itself.
#pragma once

#include <string>
#include <string_view>

namespace faro::svg {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  Point centre() const { return {x + width / 2, y + height / 2}; }
  Box grown(double by) const { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
};

class Canvas {
 public:
  /// `hint` is what a viewer shows under the pointer.
  void box(const Box& box, std::string_view classes, std::string_view hint = "");
  /// Text that stands on `at`, and text whose middle line goes through it.
  void text(Point at, std::string_view classes, std::string_view words);
  void label(Point at, std::string_view classes, std::string_view words);
  void line(Point from, Point to, std::string_view classes);

  /// The head of an arrow whose tip is at `tip` and whose base is `height` below it, or above where negative.
  void arrow(Point tip, double height, std::string_view classes);

  /// Leaves and arrives vertically.
  void curve(Point from, Point to, std::string_view classes);

  /// Further rules of the style sheet, for classes of one drawing's own.
  void style(std::string_view rules) { rules_ += rules; }

  /// The whole file. `title` and `description` are for readers who cannot see it.
  std::string finish(double width, double height, std::string_view title, std::string_view description) const;

 private:
  std::string shapes_;
  std::string rules_;
};

/// Text as XML content: markup escaped, what XML cannot hold replaced by a space.
std::string escape(std::string_view text);

/// At most `most` characters, the last three dots where something is cut off.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace faro::svg
