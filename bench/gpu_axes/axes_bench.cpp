#include "bench/gpu_axes/axes_bench.hpp"

#include <fmt/format.h>

#include "faro/error.hpp"

namespace faro::bench::gpu {

detail::AxesVariant variant_of(const std::string& words) {
  detail::AxesVariant as;
  std::size_t begin = 0;
  while (begin <= words.size()) {
    const std::size_t end = std::min(words.find('+', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    begin = end + 1;
    if (word == "boxes") {
      as.boxes_only = true;
    } else if (word == "elements") {
      as.elements = true;
    } else if (word == "tiles") {
      as.elements = false;
    } else if (word == "lines") {
      as.lines_only = true;
    } else if (word == "joined") {
      as.skinny = false;
    } else if (word == "words") {
      as.few_vectors = false;
    } else if (word == "thick" || word == "slim") {
      as.skinny_bytes = word == "thick" ? 32 << 10 : 8 << 10;
    } else if (word == "low" || word == "tall" || word == "huge") {
      as.most_box_bytes = word == "low" ? 1 : word == "tall" ? 88 << 10 : 120 << 10;
    } else if (word == "single") {
      as.triples = false;
    } else if (word == "aligned") {
      as.ragged = false;
    } else if (word == "whole" || word == "wide") {
      as.whole = true;
      if (word == "wide") as.whole_bytes = 40 << 10;
    } else if (word == "middle") {
      as.whole = true;
      as.whole_bytes = 24 << 10;
    } else if (word == "narrow") {
      as.whole = true;
      as.whole_bytes = 12 << 10;
    } else if (word == "parts") {
      as.whole = false;
    } else if (word == "rows") {
      as.least_row_bytes = 64;
    } else if (word == "dropped" || word == "kept") {
      as.drops_first = word == "dropped";
    } else if (word == "small") {
      as.box_bytes = 20 << 10;
    } else if (word == "large") {
      as.box_bytes = 44 << 10;
    } else {
      fail(ErrorCode::value, "--as", word,
           "boxes, lines, elements, tiles, joined, words, thick, slim, low, tall, huge, single, aligned, "
           "small, "
           "large, whole, wide, middle, narrow, parts, rows, dropped or kept");
    }
  }
  return as;
}

std::string kernel_of(const Plan& plan) {
  if (plan.passes().empty()) return "none";
  const Pass& pass = plan.passes().front();
  return pass.launch && !pass.launch->kernel.empty() ? pass.launch->kernel : name(pass.kind);
}

void require_none_elsewhere(std::uint64_t wrong, const std::string& as) {
  if (wrong == 0) return;
  fail(ErrorCode::verification, "gpu_axes_bench", fmt::format("{}{} elements elsewhere", as, wrong),
       "every element in its place");
}

}  // namespace faro::bench::gpu
