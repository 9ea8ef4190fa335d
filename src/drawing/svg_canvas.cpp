#include "drawing/svg_canvas.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace faro::svg {
namespace {

// Roles: column (inside a segment), row (of the tile), block. b0 .. b7: banks.
constexpr std::string_view kStyle = R"(
  text { font-family: ui-sans-serif, "DejaVu Sans", Helvetica, Arial, sans-serif; font-size: 13px; fill: #24292f; }
  .mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
  .paper { fill: #ffffff; stroke: #d0d7de; }
  .title { font-size: 20px; font-weight: 600; }
  .heading { font-size: 15px; font-weight: 600; }
  .note { fill: #57606a; }
  .small { font-size: 11px; }
  .tiny { font-size: 8px; }
  .middle { text-anchor: middle; }
  .end { text-anchor: end; }
  .good { fill: #1a7f37; font-weight: 600; }
  .bad { fill: #cf222e; font-weight: 600; }
  .rule { stroke: #d0d7de; stroke-width: 1; }
  .column { fill: #9cc7f4; stroke: #2f6fb0; }
  .row { fill: #ffc680; stroke: #b86a0c; }
  .block { fill: #e6e8eb; stroke: #8c959f; }
  .column-line { fill: none; stroke: #2f6fb0; stroke-width: 2; }
  .row-line { fill: none; stroke: #d97b0d; stroke-width: 2; }
  .block-line { fill: none; stroke: #8c959f; stroke-width: 1.2; }
  .ink { fill: #1f2328; }
  .zero { fill: #f6f8fa; stroke: #e3e6ea; stroke-width: 0.5; }
  .one { fill: #57606a; stroke: #ffffff; stroke-width: 0.5; }
  .one-low { fill: #2f6fb0; stroke: #ffffff; stroke-width: 0.5; }
  .one-spread { fill: #d97b0d; stroke: #ffffff; stroke-width: 0.5; }
  .outline { fill: none; stroke: #cf222e; stroke-width: 2.5; }
  .frame { fill: none; stroke: #8c959f; stroke-width: 1; }
  .bank { stroke: none; }
  .faint { opacity: 0.30; }
  .write { fill: none; stroke: #24292f; stroke-width: 2; stroke-dasharray: 5 3; }
  .read { fill: none; stroke: #24292f; stroke-width: 2.5; }
  .b0 { fill: #6ea8e5; } .b1 { fill: #f5a04a; } .b2 { fill: #7cc36f; } .b3 { fill: #ee7c7c; }
  .b4 { fill: #bd95dd; } .b5 { fill: #5ec4bd; } .b6 { fill: #ecd04f; } .b7 { fill: #b9a08c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .paper { fill: #0d1117; stroke: #30363d; }
    .note { fill: #9aa4af; }
    .good { fill: #56d364; }
    .bad { fill: #ff7b72; }
    .rule { stroke: #30363d; }
    .block { fill: #8b949e; stroke: #c9d1d9; }
    .zero { fill: #161b22; stroke: #262c36; }
    .one { fill: #aab3bd; stroke: #0d1117; }
    .one-low { fill: #6ea8e5; stroke: #0d1117; }
    .one-spread { fill: #f5a04a; stroke: #0d1117; }
    .outline { stroke: #ff7b72; }
    .write, .read { stroke: #f0f6fc; }
    .ink { fill: #1f2328; }
  }
)";

// Coordinates to a hundredth of a pixel, without trailing zeros.
double tidy(double x) { return std::round(x * 100) / 100; }

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  // Between two words: half a number would be another one.
  const auto is_of_a_word = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  std::size_t end = most < 3 ? 0 : most - 3;
  while (end > 0 && is_of_a_word(text[end]) && is_of_a_word(text[end - 1])) --end;
  return std::string(text.substr(0, end)) + "...";
}

void Canvas::box(const Box& box, std::string_view classes, std::string_view hint) {
  fmt::format_to(std::back_inserter(shapes_),
                 R"(<rect x="{}" y="{}" width="{}" height="{}" rx="2" class="{}")", tidy(box.x), tidy(box.y),
                 tidy(box.width), tidy(box.height), classes);
  shapes_ += hint.empty() ? "/>\n" : "><title>" + escape(hint) + "</title></rect>\n";
}

void Canvas::text(Point at, std::string_view classes, std::string_view words) {
  fmt::format_to(std::back_inserter(shapes_), R"(<text x="{}" y="{}" class="{}">{}</text>)", tidy(at.x),
                 tidy(at.y), classes, escape(words));
  shapes_ += '\n';
}

// Not dominant-baseline, which some viewers do not know.
void Canvas::label(Point at, std::string_view classes, std::string_view words) {
  fmt::format_to(std::back_inserter(shapes_), R"(<text x="{}" y="{}" dy="0.36em" class="{}">{}</text>)",
                 tidy(at.x), tidy(at.y), classes, escape(words));
  shapes_ += '\n';
}

void Canvas::line(Point from, Point to, std::string_view classes) {
  fmt::format_to(std::back_inserter(shapes_), R"(<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>)",
                 tidy(from.x), tidy(from.y), tidy(to.x), tidy(to.y), classes);
  shapes_ += '\n';
}

void Canvas::arrow(Point tip, double height, std::string_view classes) {
  const double half = std::abs(height) * 0.6;
  fmt::format_to(std::back_inserter(shapes_), R"(<path d="M{} {}L{} {}L{} {}Z" class="{}"/>)", tidy(tip.x),
                 tidy(tip.y), tidy(tip.x - half), tidy(tip.y + height), tidy(tip.x + half),
                 tidy(tip.y + height), classes);
  shapes_ += '\n';
}

void Canvas::curve(Point from, Point to, std::string_view classes) {
  const double bend = (to.y - from.y) / 2;
  fmt::format_to(std::back_inserter(shapes_), R"(<path d="M{} {}C{} {} {} {} {} {}" class="{}"/>)",
                 tidy(from.x), tidy(from.y), tidy(from.x), tidy(from.y + bend), tidy(to.x), tidy(to.y - bend),
                 tidy(to.x), tidy(to.y), classes);
  shapes_ += '\n';
}

std::string Canvas::finish(double width, double height, std::string_view title,
                           std::string_view description) const {
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">
<title>{2}</title>
<desc>{3}</desc>
<style>{4}{8}</style>
<rect x="0.5" y="0.5" width="{5}" height="{6}" rx="10" class="paper"/>
{7}</svg>
)",
      tidy(width), tidy(height), escape(title), escape(description), kStyle, tidy(width - 1),
      tidy(height - 1), shapes_, rules_);
}

}  // namespace faro::svg
