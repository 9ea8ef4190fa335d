// A plan of moving rows in lines.
#include <fmt/format.h>

#include <string>
#include <variant>

#include "faro/plan/row_plan.hpp"
#include "size_text.hpp"
#include "tell/row_counts.hpp"

namespace faro {

std::string RowPlan::explain() const {
  const RowNumbers& numbers = row_numbers(move_);
  const bool takes = std::holds_alternative<Take>(move_);
  std::string text = fmt::format("{}: {} rows of {}, {} {}", name(move_), numbers.count,
                                 size_text(layout_.row_bytes), takes ? "from" : "to", numbered_rows(move_));
  if (layout_.outer != 1) text += fmt::format(", in each of {} arrays", layout_.outer);
  if (const auto* const add = std::get_if<Add>(&move_))
    text += fmt::format("; numbers {}, sums {}", name(add->number), name(add->sums));
  text += fmt::format("\nentries: {} bytes each, {}", numbers.type.bytes,
                      numbers.type.is_signed ? "signed" : "unsigned");
  if (target_.engine == Engine::cuda) {
    text += "; on the device, checked by each run";
  } else {
    text += fmt::format("; {} absent, {}{} run{} of neighbours", census_.absent,
                        check_ == EntryCheck::meanwhile ? "checked while they are read, about " : "",
                        census_.runs, census_.runs == 1 ? "" : "s");
  }
  text += fmt::format("\nway: {}: {}", name(way_), reason_);
  for (const RowPass& pass : passes()) {
    text += fmt::format("\nlaunch: {} blocks of {} threads: {}; reads {}, writes {}", pass.blocks,
                        pass.threads, pass.text, size_text(pass.read_bytes), size_text(pass.written_bytes));
    const detail::RowCounts counts = detail::count_rows(*this, pass);
    const char* const bound = counts.at_most ? "at most" : "at least";
    text += fmt::format(
        "\n  accesses: loads {} {} requests, {} sectors of 32 bytes; stores {} requests, {} sectors", bound,
        counts.load_requests, counts.load_sectors, counts.store_requests, counts.store_sectors);
  }
  if (const auto us = detail::predict_us(*this)) {
    const bool adds = std::holds_alternative<Add>(move_);
    text += fmt::format("\ntime: {}{:.4g} ms predicted, by the curves of {}", adds ? "at least " : "",
                        *us / 1e3, detail::rates_of(*this));
  }
  text += fmt::format("\nmemory: reads {}, writes {}, workspace {}; {}", size_text(in_bytes()),
                      size_text(out_bytes()), size_text(workspace_bytes()), target_.name);
  return text;
}

}  // namespace faro
