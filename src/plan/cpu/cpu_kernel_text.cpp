// The loops of the CPU engine in words.
#include <fmt/format.h>

#include "plan/cpu/cpu_pass.hpp"
#include "plan/facts.hpp"

namespace faro::detail {
namespace {

std::string extents_text(const std::vector<std::uint64_t>& extents) {
  std::string text;
  for (const std::uint64_t extent : extents) {
    if (extent != 1) text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  }
  return text.empty() ? "1" : text;
}

struct CpuKernelName {
  const CpuPass& pass;

  std::string operator()(const CpuAffine& affine) const {
    switch (pass.kind) {
      case PassKind::copy:
        return "lines in order";
      case PassKind::segments:
        return affine.fetches_ahead ? "whole segments, fetched ahead" : "whole segments";
      case PassKind::tile:
        return fmt::format("tiles in registers of up to {} bytes{}", affine.vector_bytes,
                           affine.fetches_ahead ? ", fetched ahead" : "");
      default:
        return "element by element";
    }
  }
  std::string operator()(const CpuAxes& axes) const {
    const std::string elements = axes.box.element_bytes == pass.element_bytes
                                     ? "elements"
                                     : size_text(axes.box.element_bytes) + " side by side";
    if (axes.move == AxesMove::pieces) return "runs of " + size_text(axes.box.element_bytes);
    return fmt::format("boxes of {} {}, {}", extents_text(axes.box.extent), elements,
                       axes.move == AxesMove::planes ? "turned in registers" : "by a table of places");
  }
  std::string operator()(const CpuCyclic& cyclic) const {
    return cyclic.cyclic.reversed ? "vectors reversed" : "long copies";
  }
  std::string operator()(const CpuEntries& entries) const {
    return fmt::format("{} by entries{}{}", entries.way == Way::forwards ? "scatter" : "gather",
                       entries.from_schedule ? " worked out from the schedule" : "",
                       entries.fetches_ahead ? ", elements fetched ahead" : "");
  }
  std::string operator()(const CpuWindow& window) const {
    return fmt::format("{} within {} places", window.way == Way::forwards ? "gather" : "scatter",
                       window.window);
  }
  std::string operator()(const CpuRuns& runs) const {
    return fmt::format("{} copied in the order of the {}", count_text(runs.runs, "run"),
                       runs.way == Way::forwards ? "input" : "output");
  }
  std::string operator()(const CpuLevel& level) const {
    const bool forwards = level.way == Way::forwards;
    return fmt::format("chunks of {} {} {} buckets, {}", count_text(level.shape.chunk_elements(), "element"),
                       forwards ? "to" : "from", level.shape.buckets(level.level),
                       forwards ? "in whole lines" : "fetched ahead");
  }
  std::string operator()(const CpuChunks& chunks) const {
    return fmt::format("{} by places, chunks of {}", chunks.way == Way::forwards ? "scatter" : "gather",
                       count_text(chunks.shape.chunk_elements(), "element"));
  }
  std::string operator()(const CpuRows& rows) const {
    return fmt::format("{} by places, rows of {}", rows.way == Way::forwards ? "scatter" : "gather",
                       count_text(rows.columns, "element"));
  }
  std::string operator()(const CpuColumns& columns) const {
    return fmt::format("{} by places, strips of {}", columns.way == Way::forwards ? "scatter" : "gather",
                       count_text(columns.part.strip, "column"));
  }
  std::string operator()(const CpuSweep& sweep) const {
    switch (sweep.kind) {
      case CpuSweepKind::whole:
        return "whole arrays by way of the stack";
      case CpuSweepKind::square:
        return "pairs of tiles, turned in registers";
      case CpuSweepKind::panels:
        return fmt::format("panels, {} at a time", count_text(sweep.strip.columns, "column"));
      case CpuSweepKind::rows:
        return sweep.by_blocks ? "rows in blocks" : "rows, element by element";
      case CpuSweepKind::shared_rows:
        return "rows in blocks, each shared out";
      case CpuSweepKind::columns:
        break;
    }
    return fmt::format("strips of {}, {}", count_text(sweep.strip.columns, "column"),
                       sweep.strip.borrowed ? "by way of the borrowed row" : "within themselves");
  }
};

}  // namespace

std::string to_text(const CpuPass& pass) { return std::visit(CpuKernelName{pass}, pass.kernel); }

}  // namespace faro::detail
