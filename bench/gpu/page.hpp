// Markdown that is printed as it grows, and kept for a file or in one; and what its programs are asked.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {

/// What a program of turns takes beside options of its own: --rounds, --out, and how it was called.
struct PageOptions {
  int rounds = 9;  // turns of everything in a row
  std::string out = {};
  std::string command = {};

  void read(const CommandLine& line, std::vector<Option> own = {},
            const std::vector<std::string_view>& flags = {}) {
    constexpr int kMostRounds = 1000;
    command = line.text();
    own.push_back({"--rounds", [this](const Argument& a) { rounds = parse_int(a, 1, kMostRounds); }});
    own.push_back({"--out", [this](const Argument& a) { out = a.text; }});
    line.read(own, flags);
  }
};

/// Of a page whose rows are measured one by one.
struct RowOptions : PageOptions {
  std::string only = {};  // text that a row's name has

  void read(const CommandLine& line, std::vector<Option> own = {}) {
    own.push_back({"--only", [this](const Argument& a) { only = a.text; }});
    PageOptions::read(line, std::move(own));
  }
  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
};

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
