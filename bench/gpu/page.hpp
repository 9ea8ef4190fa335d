// Markdown that is printed as it grows, and kept for a file or in one.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "io/npy.hpp"

namespace faro::bench::gpu {

class Page {
 public:
  /// `file`, where it is named, holds at any time what was added, whatever becomes of the device.
  explicit Page(std::string file = {}) : file_(std::move(file)) {}

  void add(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    text_ += text;
    if (!file_.empty()) io::write_file(file_, text_);
  }
  const std::string& text() const { return text_; }

 private:
  std::string file_;
  std::string text_;
};

}  // namespace faro::bench::gpu
