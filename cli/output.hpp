// Files that the command writes: none is one that it reads, and none takes its place before what is told of
// it has been told. A standard output that takes no more then ends the command with nothing changed.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace faro::io {
class OutputFile;
}

namespace faro::cli {

/// The files that a permutation's or program's text reads: what follows each `@`.
std::vector<std::string> files_in(std::string_view text);

/// Refuses an output that is one of the files read, by whatever name. `role` is OUT, --svg and the like,
/// `what` is read from the inputs. Errors: ErrorCode::value. An empty `out` is none.
void require_own_file(const std::string& operation, const char* role, const std::string& out,
                      const std::vector<std::string>& inputs, const char* what = "the permutation");

/// Refuses what cannot be written, before work that takes long. Errors: ErrorCode::usage for `-`, by which
/// other commands mean standard output; ErrorCode::file.
void require_text_file(const std::string& path);

/// A small file, whole and on the disk, that takes its place by commit(). Nothing where `path` is empty.
class TextFile {
 public:
  /// Errors: ErrorCode::file; ErrorCode::usage for `-`.
  TextFile(const std::string& path, std::string_view text);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void commit();

 private:
  std::unique_ptr<io::OutputFile> file_;
};

/// --no-sync, of verbs that write files.
void add_no_sync(CLI::App& command);

}  // namespace faro::cli
