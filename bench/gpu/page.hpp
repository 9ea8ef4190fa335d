// Markdown that is printed as it grows, and kept for a file.
#pragma once

#include <cstdio>
#include <string>

namespace faro::bench::gpu {

class Page {
 public:
  void add(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    text_ += text;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace faro::bench::gpu
