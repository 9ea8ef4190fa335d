// Plan::svg(): the index bits above, the tile and its banks below; in place both
// passes, with what changes places.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "drawing/svg_canvas.hpp"
#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/reversals.hpp"
#include "size_text.hpp"
#include "tell/launch_facts.hpp"
#include "tell/prediction.hpp"
#include "tell/svg_figures.hpp"

namespace faro {
namespace {

std::string_view kind_text(PassKind kind) {
  switch (kind) {
    case PassKind::copy:
      return "a copy";
    case PassKind::segments:
      return "one sweep over memory in whole segments";
    case PassKind::tile:
      return "one sweep over memory in tiles";
    case PassKind::direct:
      return "one sweep, element by element";
    default:  // others are not of affine maps, and not drawn
      return "";
  }
}

std::string pass_summary(const Plan& plan, const Pass& pass) {
  std::string text(kind_text(pass.kind));
  if (pass.kind == PassKind::tile && pass.tile.row_bits == 0) {
    text += fmt::format(", each one segment of {}", size_text(pass.segment_bytes));
  } else if (pass.kind == PassKind::tile) {
    text += fmt::format(", each {} of {}, {}", count_text(std::uint64_t{1} << pass.tile.row_bits, "row"),
                        size_text(pass.segment_bytes), size_text(plan.unit_bytes() << pass.tile.tile_bits()));
  } else if (pass.kind == PassKind::segments) {
    text += fmt::format(" of {}", size_text(pass.segment_bytes));
  }
  return text;
}

// Those over all arrays; what is left of a batch is moved alike.
std::vector<std::size_t> drawn_passes(const Plan& plan) {
  std::vector<std::size_t> drawn;
  const bool in_place = plan.problem().placement == Placement::in_place;
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    if (i == 0 || (in_place && plan.passes()[i].offset == plan.passes().front().offset)) drawn.push_back(i);
  }
  return drawn;
}

std::string summary(const Plan& plan, std::size_t passes) {
  const Problem& problem = plan.problem();
  std::string text = fmt::format("{} of {}", count_text(element_count(problem.permutation), "element"),
                                 size_text(problem.element_bytes));
  if (problem.batch != 1) text += fmt::format(" in each of {}", count_text(problem.batch, "array"));
  if (passes == 0) return text + ": nothing to do";
  if (problem.placement == Placement::in_place) text += ", in place";
  return text + ": " +
         (passes == 1 ? pass_summary(plan, plan.passes().front()) : fmt::format("{} passes", passes));
}

// With the plan's time, where it is known.
std::string timed(const std::string& words, const std::optional<double>& us) {
  constexpr double us_per_ms = 1e3;
  return us && *us > 0 ? words + fmt::format("; {:.4g} ms predicted", *us / us_per_ms) : words;
}

std::string launch_summary(const Launch& launch) {
  std::string text = fmt::format("{}: {}", detail::kernel_text(launch), count_text(launch.blocks, "block"));
  if (launch.shared_bytes > 0) {
    text += fmt::format(", {} of shared memory each", size_text(launch.shared_bytes));
  }
  return text;
}

// What was counted of the first pass, the only one out of place.
std::string access_summary(const Plan& plan) {
  const Pass& pass = plan.passes().front();
  const auto counted = PassCounter(plan)(0);
  FARO_CHECK(counted.has_value());
  const detail::Accesses predicted = detail::accesses_of(*counted, pass, plan.target());
  std::string text = fmt::format("Sectors read: {}, written: {}", detail::least_text(predicted.sectors_read),
                                 detail::least_text(predicted.sectors_written));
  if (pass.launch->tile) text += "; " + detail::congestion_text(predicted.counts);
  return text;
}

}  // namespace

std::string Plan::svg() const {
  const Pass none;
  if (problem_.view) {
    const std::string words = fmt::format("{} elements of {}, one sweep, tile by tile", element_count(given_),
                                          size_text(given_.element_bytes));
    return svg::box_svg(to_text(given_), timed(words, predict_us(*this)),
                        passes_.empty() ? none : passes_.front());
  }
  if (transpose_plan_ || detail::reverses_in_place(problem_)) {
    fail(ErrorCode::unsupported, "draw " + to_text(problem_.permutation) + " in place",
         transpose_plan_ ? "sweeps along rows and columns" : "pieces that change places end for end",
         "passes of an affine map", "explain without --svg tells of them");
  }
  const bool is_of_axes = std::holds_alternative<Axes>(problem_.permutation) ||
                          std::holds_alternative<CyclicAxes>(problem_.permutation) ||
                          std::holds_alternative<Cyclic>(problem_.permutation);
  if (is_of_axes) {
    std::string words = summary(*this, std::min<std::size_t>(passes_.size(), 1));
    if (passes_.size() == 1) words += "one sweep over memory";
    if (passes_.size() > 1)
      words += fmt::format("{} sweeps, each over a part; the first is drawn", passes_.size());
    return svg::box_svg(to_text(problem_.permutation), timed(words, predict_us(*this)),
                        passes_.empty() ? none : passes_.front());
  }
  static_cast<void>(affine(problem_.permutation, "draw"));
  constexpr std::size_t title_length = 66;
  const std::string permutation = to_text(problem_.permutation);
  const std::vector<std::size_t> drawn = drawn_passes(*this);
  const std::string words = timed(summary(*this, drawn.size()), predict_us(*this));
  svg::Canvas canvas;
  double y = svg::kMargin + 8;
  canvas.text({svg::kMargin, y}, "title", svg::shortened(permutation, title_length));
  canvas.text({svg::kMargin, y += 24}, "note", words);
  for (const std::size_t i : drawn) {
    const Pass& pass = passes_[i];
    if (drawn.size() > 1) {
      if (i > 0) canvas.line({svg::kMargin, y + 6}, {svg::kWidth - svg::kMargin, y + 6}, "rule");
      canvas.text({svg::kMargin, y += 38}, "title", fmt::format("Pass {} of {}", i + 1, drawn.size()));
      canvas.text({svg::kMargin, y += 22}, "note", pass_summary(*this, pass));
    }
    if (pass.launch) {
      canvas.text({svg::kMargin, y += 19}, "note", launch_summary(*pass.launch));
      if (problem_.placement == Placement::out_of_place)
        canvas.text({svg::kMargin, y += 19}, "note", access_summary(*this));
    }
    y += 18;
    y = svg::draw_index_bits(canvas, *this, pass, y + 20);
    if (pass.orbits && pass.tile.block_bits() > 0) y = svg::draw_orbits(canvas, pass, y + 24);
    y = svg::draw_tile_banks(canvas, *this, pass, y + (pass.orbits ? 30 : 20));
  }
  return canvas.finish(svg::kWidth, y + svg::kMargin / 2, "faro: " + permutation, words);
}

}  // namespace faro
