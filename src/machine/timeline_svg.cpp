// Time goes down, one row a unit. Left the banks with the word that enters for each, right the stages of the
// pipeline with the warp whose request is there; a request slides one stage to the right in every unit.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "drawing/svg_canvas.hpp"
#include "faro/machine/timeline.hpp"

namespace faro::machine {
namespace {

using detail::MemoryTimeline;
using detail::TimelineRow;

constexpr double kMargin = 24;
constexpr double kTitleHeight = 60;
constexpr double kLegendHeight = 46;
constexpr double kPanelHead = 52;  // title and column heads of a memory
constexpr double kPanelGap = 28;
constexpr double kRow = 22;
constexpr double kUnitWidth = 80;
constexpr double kEntersWidth = 140;
constexpr double kWordsWidth = 420;  // where banks are not shown
constexpr double kStage = 36;
constexpr double kGap = 28;  // between banks and pipeline
constexpr double kDigit = 7.5;
constexpr std::uint64_t kColours = 8;

std::string colour(const TimelineStage& stage) { return fmt::format("bank b{}", stage.warp % kColours); }

std::string hint(const TimelineStage& stage) {
  return fmt::format("warp {}, round {}: {}", stage.warp, stage.round, detail::words_text(stage, 400));
}

// Where a memory's columns are.
struct Panel {
  const MemoryTimeline& memory;
  double top = 0;
  double cell = 0;  // of a bank

  Panel(const MemoryTimeline& of, double at) : memory(of), top(at) {
    std::size_t digits = 2;
    for (const TimelineRow& row : of.rows) {
      if (row.entering == nullptr) continue;
      for (const std::uint64_t word : row.entering->words)
        digits = std::max(digits, std::to_string(word).size());
    }
    cell = 12 + kDigit * static_cast<double>(digits);
  }

  double banks_x() const { return kMargin + kUnitWidth + kEntersWidth; }
  double banks_width() const {
    return memory.shows_banks() ? cell * static_cast<double>(memory.width) : kWordsWidth;
  }
  double pipeline_x() const { return banks_x() + banks_width() + kGap; }
  double right() const {
    return memory.shows_pipeline() ? pipeline_x() + kStage * static_cast<double>(memory.latency)
                                   : banks_x() + banks_width();
  }
  double rows_y() const { return top + kPanelHead; }
  double bottom() const { return rows_y() + kRow * static_cast<double>(memory.rows.size()); }
  svg::Box bank_cell(std::uint64_t bank, double y) const {
    return {banks_x() + cell * static_cast<double>(bank), y, cell, kRow};
  }
  svg::Box pipeline_cell(std::uint64_t stage, double y) const {
    return {pipeline_x() + kStage * static_cast<double>(stage), y, kStage, kRow};
  }
};

void draw_cell(svg::Canvas& canvas, const svg::Box& box, const TimelineStage* stage,
               const std::string& words) {
  if (stage == nullptr) {
    canvas.box(box, "zero");
    return;
  }
  canvas.box(box, colour(*stage), hint(*stage));
  canvas.label(box.centre(), "ink small mono middle", words);
}

void draw_heads(svg::Canvas& canvas, const Panel& panel) {
  const MemoryTimeline& memory = panel.memory;
  const double y = panel.rows_y() - 10;
  canvas.text({kMargin, panel.top + 14}, "heading", memory.title);
  canvas.text({kMargin, y}, "note small", "unit");
  canvas.text({kMargin + kUnitWidth, y}, "note small", "enters");
  if (memory.shows_banks()) {
    for (std::uint64_t bank = 0; bank < memory.width; ++bank) {
      canvas.text({panel.bank_cell(bank, y).centre().x, y}, "note small middle", std::to_string(bank));
    }
    canvas.text({panel.banks_x(), y - 16}, "note small", "bank");
  } else {
    canvas.text({panel.banks_x(), y}, "note small", "words");
  }
  if (!memory.shows_pipeline()) return;
  for (std::uint64_t stage = 0; stage < memory.latency; ++stage) {
    canvas.text({panel.pipeline_cell(stage, y).centre().x, y}, "note small middle",
                std::to_string(stage + 1));
  }
  canvas.text({panel.pipeline_x(), y - 16}, "note small", "stage of the pipeline");
}

void draw_row(svg::Canvas& canvas, const Panel& panel, const TimelineRow& row, double y) {
  const MemoryTimeline& memory = panel.memory;
  const TimelineStage* stage = row.entering;
  const double middle = y + kRow / 2;
  canvas.label({kMargin, middle}, "mono small",
               row.first_unit == row.last_unit ? std::to_string(row.first_unit)
                                               : fmt::format("{}-{}", row.first_unit, row.last_unit));
  if (stage != nullptr) {
    canvas.label({kMargin + kUnitWidth, middle}, "small",
                 fmt::format("warp {}, round {}", stage->warp, stage->round));
  }
  if (memory.shows_banks()) {
    std::vector<const std::uint64_t*> words(memory.width, nullptr);
    if (stage != nullptr) {
      for (const std::uint64_t& word : stage->words) words[word % memory.width] = &word;
    }
    for (std::uint64_t bank = 0; bank < memory.width; ++bank) {
      const std::uint64_t* word = words[bank];
      draw_cell(canvas, panel.bank_cell(bank, y), word == nullptr ? nullptr : stage,
                word == nullptr ? "" : std::to_string(*word));
    }
  } else if (stage != nullptr) {
    canvas.box({panel.banks_x(), y, kWordsWidth, kRow}, colour(*stage), hint(*stage));
    canvas.label({panel.banks_x() + 6, middle}, "ink small mono",
                 detail::words_text(*stage, detail::kMostWordsText));
  }
  for (std::size_t i = 0; i < row.pipeline.size(); ++i) {
    const TimelineStage* in = row.pipeline[i];
    draw_cell(canvas, panel.pipeline_cell(i, y), in, in == nullptr ? "" : fmt::format("W{}", in->warp));
  }
}

// What the colours and the cells mean; the warps that ask, as many as there are colours. Returns its right
// end.
double draw_timeline_legend(svg::Canvas& canvas, const Timeline& timeline, double y) {
  std::uint64_t warps = 0;
  for (const TimelineStage& stage : timeline.stages) warps = std::max(warps, stage.warp + 1);
  constexpr double kLetter = 7.2;
  double x = kMargin;
  const auto entry = [&](std::string_view classes, const std::string& words) {
    canvas.box({x, y - 10, 14, 14}, classes);
    canvas.label({x + 20, y - 3}, "small", words);
    x += 36 + kLetter * static_cast<double>(words.size());
  };
  for (std::uint64_t warp = 0; warp < std::min(warps, kColours); ++warp) {
    const std::string also = warp + kColours < warps ? fmt::format(", {}", warp + kColours) : "";
    entry(fmt::format("bank b{}", warp),
          fmt::format("warp {}{}{}", warp, also, warps > 2 * kColours ? "…" : ""));
  }
  const double first_right = x;
  x = kMargin;
  y += 22;
  entry("zero", "nothing");
  canvas.label({x, y - 3}, "note small",
               "Left: the address that enters each bank. Right: the warp whose request is in each stage of "
               "the pipeline.");
  return std::max(first_right, x + 640);
}

}  // namespace

std::string timeline_svg(const Timeline& timeline, std::string_view name) {
  constexpr std::size_t title_length = 44;
  svg::Canvas canvas;
  const std::string title =
      fmt::format("{}: {}", svg::shortened(name, title_length), detail::units_text(timeline));
  canvas.text({kMargin, 34}, "title", title);

  const std::vector<MemoryTimeline> memories = detail::memory_timelines(timeline);
  double right = draw_timeline_legend(canvas, timeline, kTitleHeight + 4);
  double y = kTitleHeight + kLegendHeight;
  for (const MemoryTimeline& memory : memories) {
    const Panel panel(memory, y);
    draw_heads(canvas, panel);
    double row_y = panel.rows_y();
    for (const TimelineRow& row : memory.rows) {
      draw_row(canvas, panel, row, row_y);
      row_y += kRow;
    }
    y = panel.bottom() + kPanelGap;
    right = std::max(right, panel.right());
  }
  return canvas.finish(right + kMargin, y, title,
                       "Time goes down, one row a time unit. On the left the words that enter the pipeline, "
                       "bank by bank; on the right what each stage of the pipeline holds. Requests are "
                       "coloured by warp.");
}

}  // namespace faro::machine
