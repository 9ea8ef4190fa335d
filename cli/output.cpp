#include "cli/output.hpp"

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"

namespace faro::cli {

std::vector<std::string> files_in(std::string_view text) {
  std::vector<std::string> files;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    if (text.substr(at + 1).starts_with('"')) {
      files.emplace_back(text.substr(at + 2, text.find('"', at + 2) - at - 2));
      continue;
    }
    std::string read(text.substr(at + 1, text.find_first_of("),;", at) - at - 1));
    // White space around a file's name is none of it.
    constexpr const char* kBlanks = " \t\r\n\v\f";
    read.erase(0, read.find_first_not_of(kBlanks));
    read.erase(read.find_last_not_of(kBlanks) + 1);
    files.push_back(read);
  }
  return files;
}

void require_own_file(const std::string& operation, const char* role, const std::string& out,
                      const std::vector<std::string>& inputs, const char* what) {
  if (out.empty()) return;
  for (const std::string& input : inputs) {
    if (input.empty() || !io::same_target(out, input)) continue;
    fail(ErrorCode::value, operation, out + " as " + role + ", which " + what + " is read from",
         "a file of its own");
  }
}

namespace {

void refuse_dash(const std::string& path) {
  if (path == "-")
    fail(ErrorCode::usage, "write `-`", "`-` for a file", "a file's name", "`./-` is a file of that name");
}

}  // namespace

void require_text_file(const std::string& path) {
  refuse_dash(path);
  io::require_output(path);
}

TextFile::TextFile(const std::string& path, std::string_view text) {
  if (path.empty()) return;
  refuse_dash(path);
  file_ = std::make_unique<io::OutputFile>(path);
  file_->reserve(text.size());
  file_->write(std::as_bytes(std::span(text.data(), text.size())), 0);
  file_->finish();
}

TextFile::~TextFile() = default;

void TextFile::commit() {
  if (file_) file_->commit();
}

void add_no_sync(CLI::App& command) {
  command.add_flag_callback(
      "--no-sync", [] { io::set_sync(false); },
      "Do not wait until files are on the disk: faster, but a power cut may lose both the old and the new "
      "file");
}

}  // namespace faro::cli
