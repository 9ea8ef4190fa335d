// The picture: the program's text above; the table of a parm; the wires.
#include "network/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "drawing/svg_canvas.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace {

using svg::Box;
using svg::Canvas;
using svg::Point;

constexpr double kMargin = 40;
constexpr double kLabelWidth = 34;
constexpr double kNarrowest = 640;  // of the drawing
constexpr std::size_t kMostMeetings = 4096;

struct Extent {
  double right = 0;
  double bottom = 0;
};

/// A meeting's place within its stage: meetings side by side where their wires overlap.
struct Placed {
  const Meeting* meeting = nullptr;
  std::uint64_t top = 0;
  std::uint64_t bottom = 0;
  std::size_t column = 0;
};

// The widest first, so that mirror images make a V.
std::vector<Placed> placed(const std::vector<Meeting>& stage) {
  std::vector<Placed> result;
  result.reserve(stage.size());
  for (const Meeting& meeting : stage) {
    result.push_back(
        {&meeting, std::min(meeting.first, meeting.second), std::max(meeting.first, meeting.second), 0});
  }
  std::stable_sort(result.begin(), result.end(), [](const Placed& a, const Placed& b) {
    return a.bottom - a.top > b.bottom - b.top || (a.bottom - a.top == b.bottom - b.top && a.top < b.top);
  });
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto is_free = [&](std::size_t column) {
      return std::none_of(
          result.begin(), result.begin() + static_cast<std::ptrdiff_t>(i), [&](const Placed& other) {
            return other.column == column && other.top <= result[i].bottom && result[i].top <= other.bottom;
          });
    };
    while (!is_free(result[i].column)) ++result[i].column;
  }
  return result;
}

std::size_t column_count(const std::vector<Placed>& stage) {
  std::size_t count = 0;
  for (const Placed& item : stage) count = std::max(count, item.column + 1);
  return count;
}

/// Wires that meetings of a stage span without a gap: a V-column is one group.
struct DrawnGroup {
  std::uint64_t top = 0;
  std::uint64_t bottom = 0;
  std::size_t columns = 0;
};

std::vector<DrawnGroup> groups(std::vector<Placed> stage) {
  std::sort(stage.begin(), stage.end(), [](const Placed& a, const Placed& b) { return a.top < b.top; });
  std::vector<DrawnGroup> result;
  for (const Placed& item : stage) {
    if (result.empty() || item.top > result.back().bottom) result.push_back({item.top, item.bottom, 0});
    result.back().bottom = std::max(result.back().bottom, item.bottom);
    result.back().columns = std::max(result.back().columns, item.column + 1);
  }
  return result;
}

std::string hint(const Meeting& meeting) {
  if (is_elementwise(meeting.op.kind)) {
    return fmt::format("each({}) of {}", operator_text(meeting.op), meeting.first);
  }
  return fmt::format("pairs({}) of {} and {}: p = {}, n = {}", operator_text(meeting.op), meeting.first,
                     meeting.second, meeting.p, meeting.k);
}

class WiresSection {
 public:
  /// `pass_layers`: how many stages each pass carries out; empty where that is not known.
  WiresSection(Canvas& canvas, const Wiring& wires, const std::vector<std::size_t>& pass_layers)
      : canvas_(canvas), wires_(wires), starts_pass_(wires.stages.size() + 1) {
    for (const std::vector<Meeting>& stage : wires.stages) stages_.push_back(placed(stage));
    constexpr std::size_t kMany = 32;
    if (wires.wire_of.size() > kMany) wire_gap_ = 11;
    std::size_t stage = 0;
    for (const std::size_t layers : pass_layers) {
      if (stage > 0 && stage < stages_.size()) starts_pass_[stage] = true;
      stage += layers;
    }
    has_passes_ = std::count(starts_pass_.begin(), starts_pass_.end(), true) > 0;
  }

  Extent draw(double top) {
    canvas_.text({kMargin, top}, "heading", "Wires: the elements from left to right");
    top = legend(top + 24);
    Extent extent{legend_right_, top};
    for (std::size_t first = 0;;) {
      const std::size_t end = end_of_line(first);
      extent.right = std::max(extent.right, line(first, end, top) + 40);
      extent.bottom = height_of(wires_.wire_of.size() - 1) + 24;
      if (end == stages_.size()) return extent;
      first = end;
      top = extent.bottom + 20;
    }
  }

 private:
  static constexpr double kColumnGap = 14;
  static constexpr double kGap = 18;          // between stages
  static constexpr double kWidestLine = 960;  // what is wider goes on below

  double height_of(std::uint64_t wire) const { return top_ + wire_gap_ * static_cast<double>(wire); }

  static double column_x(std::size_t column, double x) {
    return x + kColumnGap * (static_cast<double>(column) + 0.5);
  }

  static double after(const std::vector<Placed>& stage, double x) {
    return x + kColumnGap * static_cast<double>(column_count(stage)) + kGap;
  }

  static double first_x() { return kMargin + kLabelWidth + kGap; }

  // As many stages as there is room for, one at least; rather whole passes than parts of them.
  std::size_t end_of_line(std::size_t first) const {
    std::size_t end = first;
    std::size_t whole_passes = first;
    for (double x = first_x(); end < stages_.size(); ++end) {
      x = after(stages_[end], x);
      if (x > kWidestLine && end > first) break;
      if (starts_pass_[end + 1]) whole_passes = end + 1;
    }
    return end < stages_.size() && whole_passes > first ? whole_passes : end;
  }

  double legend(double y) {
    if (stages_.empty()) return y;
    double x = kMargin;
    const auto entry = [&](bool upright, const std::string& words) {
      comparator(x + 6, y - 12, y + 4, upright);
      canvas_.label({x + 20, y - 4}, "small", words);
      x += 40 + 5.9 * static_cast<double>(words.size());
    };
    entry(true, "a pair; the arrow points to its second element, the larger of min_max");
    entry(false, "a pair in reverse order");
    if (has_passes_) {
      canvas_.line({x, y - 12}, {x, y + 4}, "write");
      canvas_.label({x + 14, y - 4}, "small", "a pass over memory ends");
      x += 170;
    }
    legend_right_ = x;
    return y + 34;
  }

  // The stages first .. end - 1 on wires of their own. Returns where the wires end.
  double line(std::size_t first, std::size_t end, double top) {
    top_ = top;
    double right = first_x();
    for (std::size_t k = first; k < end; ++k) right = after(stages_[k], right);
    const double bottom = height_of(wires_.wire_of.size() - 1);
    double x = first_x();
    for (std::size_t k = first; k < end; ++k) x = shade(stages_[k], x);
    for (std::uint64_t wire = 0; wire < wires_.wire_of.size(); ++wire) {
      const double y = height_of(wire);
      canvas_.label({kMargin + kLabelWidth - 10, y}, "note small end", fmt::format("{}", wire));
      canvas_.line({kMargin + kLabelWidth, y}, {right, y}, "block-line");
    }
    x = first_x();
    for (std::size_t k = first; k < end; ++k) {
      if (starts_pass_[k] && k > first)
        canvas_.line({x - kGap / 2, top_ - 12}, {x - kGap / 2, bottom + 12}, "write");
      x = meetings(stages_[k], x);
    }
    if (end < stages_.size()) {
      if (starts_pass_[end])
        canvas_.line({right - kGap / 2, top_ - 12}, {right - kGap / 2, bottom + 12}, "write");
      canvas_.label({right + 8, (top_ + bottom) / 2}, "note small", "goes on");
      return right + 20;
    }
    for (std::uint64_t i = 0; i < wires_.wire_of.size(); ++i) {
      canvas_.label({right + 10, height_of(wires_.wire_of[i])}, "note small", fmt::format("{}", i));
    }
    return right;
  }

  double shade(const std::vector<Placed>& stage, double x) {
    for (const DrawnGroup& group : groups(stage)) {
      canvas_.box({x - 2, height_of(group.top) - 7, kColumnGap * static_cast<double>(group.columns) + 4,
                   height_of(group.bottom) - height_of(group.top) + 14},
                  "zero");
    }
    return after(stage, x);
  }

  // An arrow from the pair's first wire to its second: blue downwards, orange upwards.
  void comparator(double x, double top, double bottom, bool upright) {
    canvas_.line({x, top}, {x, bottom}, upright ? "column-line" : "row-line");
    canvas_.arrow({x, upright ? bottom : top}, upright ? -7 : 7, upright ? "column" : "row");
  }

  double meetings(const std::vector<Placed>& stage, double x) {
    for (const Placed& item : stage) {
      const bool upright = (item.meeting->first == item.top) != item.meeting->op.reversed;
      const double at = column_x(item.column, x);
      if (item.top != item.bottom) {
        comparator(at, height_of(item.top), height_of(item.bottom), upright);
      } else {
        canvas_.line({at, height_of(item.top)}, {at, height_of(item.bottom)},
                     upright ? "column-line" : "row-line");
      }
      for (const std::uint64_t wire : {item.top, item.bottom}) {
        const bool is_second = item.top != item.bottom && (wire == item.bottom) == upright;
        const double half = is_second ? 2 : 3;  // the arrow's head shows it
        canvas_.box({at - half, height_of(wire) - half, 2 * half, 2 * half}, upright ? "column" : "row",
                    hint(*item.meeting));
      }
    }
    return after(stage, x);
  }

  Canvas& canvas_;
  const Wiring& wires_;
  std::vector<std::vector<Placed>> stages_;
  std::vector<bool> starts_pass_;
  bool has_passes_ = false;
  double wire_gap_ = 20;
  double legend_right_ = 0;
  double top_ = 0;
};

class ParmSection {
 public:
  ParmSection(Canvas& canvas, const Program& program)
      : canvas_(canvas), mask_(program.mask()), q_(maps::parm(program.bits(), program.mask())) {}

  Extent draw(double top) {
    canvas_.text({kMargin, top}, "heading",
                 fmt::format("parm {}: which sub-array, and where in it", mask_text(mask_)));
    double y = top + 18;
    y = array(y);
    const double left = table(y + 26);
    return {std::max(kMargin + kCell * static_cast<double>(count()), matrix(y + 26)), left};
  }

 private:
  static constexpr double kCell = 26;
  static constexpr double kRow = 20;

  std::uint64_t count() const { return std::uint64_t{1} << q_.bits(); }
  int half_bits() const { return q_.bits() - 1; }
  bool side(std::uint64_t x) const { return f2::bit(q_(x), half_bits()); }
  std::uint64_t place(std::uint64_t x) const { return q_(x) & f2::low_mask(half_bits()); }
  const char* fill(std::uint64_t x) const { return side(x) ? "row" : "column"; }

  double array(double y) {
    for (std::uint64_t x = 0; x < count(); ++x) {
      const Box box{kMargin + kCell * static_cast<double>(x), y, kCell - 2, kCell - 2};
      canvas_.box(box, fill(x));
      canvas_.label(box.centre(), "ink middle small", fmt::format("{}", x));
    }
    return y + kCell + 10;
  }

  double table(double y) {
    constexpr double kColumns[] = {kMargin + 40, kMargin + 130, kMargin + 220};
    constexpr const char* kTitles[] = {"index x", "sub-array", "sub-index"};
    for (int i = 0; i < 3; ++i) canvas_.text({kColumns[i], y}, "note small middle", kTitles[i]);
    canvas_.line({kMargin, y + 8}, {kMargin + 264, y + 8}, "rule");
    y += 22;
    for (std::uint64_t x = 0; x < count(); ++x, y += kRow) {
      canvas_.box({kMargin, y - 9, 264, kRow - 2}, fill(x));
      const std::uint64_t values[] = {x, side(x) ? 1U : 0U, place(x)};
      for (int i = 0; i < 3; ++i) {
        canvas_.label({kColumns[i], y}, "ink small middle", fmt::format("{}", values[i]));
      }
    }
    return y + 10;
  }

  // Row i: which bits of x make bit i of y = A x.
  double matrix(double y) {
    const double x0 = kMargin + 330;
    canvas_.text({x0, y}, "note small", "the matrix A: y = A x, bit 0 first; the top bit is the sub-array");
    for (int row = 0; row < q_.bits(); ++row) {
      for (int column = 0; column < q_.bits(); ++column) {
        const bool one = q_.matrix().at(row, column);
        const Box box{x0 + kCell * column, y + 14 + kCell * row, kCell - 2, kCell - 2};
        canvas_.box(box, one ? "column" : "zero");
        canvas_.label(box.centre(), one ? "middle small ink" : "note middle small", one ? "1" : "0");
      }
    }
    return x0 + 400;
  }

  Canvas& canvas_;
  f2::Word mask_;
  Affine q_;
};

}  // namespace

std::string svg(const Program& program, const std::string& name,
                const std::vector<std::size_t>& pass_layers) {
  const Wiring wires = wiring(program);
  std::size_t meetings = 0;
  std::size_t alone = 0;  // of them, elements that a function takes one by one
  for (const std::vector<Meeting>& stage : wires.stages) {
    meetings += stage.size();
    for (const Meeting& meeting : stage) alone += is_elementwise(meeting.op.kind) ? 1 : 0;
  }
  if (meetings > kMostMeetings) {
    fail(ErrorCode::value, "draw the program `" + short_text(program) + "`",
         fmt::format("{} pairs that meet", meetings), fmt::format("at most {}", kMostMeetings),
         "a network of fewer bits looks alike");
  }
  const std::size_t pairs = meetings - alone;
  std::string words =
      fmt::format("{} {}; {} {}, {} {} of elements", wires.wire_of.size(),
                  wires.wire_of.size() == 1 ? "element" : "elements", wires.stages.size(),
                  wires.stages.size() == 1 ? "layer" : "layers", pairs, pairs == 1 ? "pair" : "pairs");
  // A rewritten program may have other layers than the one that is drawn.
  const std::size_t carried = std::accumulate(pass_layers.begin(), pass_layers.end(), std::size_t{0});
  const std::vector<std::size_t> fitting =
      carried == wires.stages.size() ? pass_layers : std::vector<std::size_t>();
  if (fitting.size() > 1) words += fmt::format(", {} passes over memory", fitting.size());
  if (alone > 0) words += fmt::format(", {} taken alone", alone);
  svg::Canvas canvas;
  const std::string title = name.empty() ? short_text(program, 200) : name;
  canvas.text({kMargin, kMargin + 32}, "note", words);
  Extent extent{kNarrowest, kMargin + 50};
  const auto section = [&](const Extent& drawn) {
    extent = {std::max(extent.right, drawn.right), drawn.bottom};
  };
  if (program.kind() == ProgramKind::parm) section(ParmSection(canvas, program).draw(extent.bottom + 24));
  if (meetings > 0 || program.kind() != ProgramKind::parm) {
    section(WiresSection(canvas, wires, fitting).draw(extent.bottom + 24));
  }
  constexpr double kLetterWidth = 13;  // of the title, generously
  canvas.text({kMargin, kMargin + 8}, "title",
              svg::shortened(title, static_cast<std::size_t>((extent.right - kMargin) / kLetterWidth)));
  return canvas.finish(extent.right + kMargin, extent.bottom + kMargin / 2, "faro network: " + title, words);
}

}  // namespace faro::network
