// What the tests of the command line share: the command run in a directory of its own, and the keys that
// docs/guide/json.md promises.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace faro::testing {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline fs::path faro_command() {
  if (const char* const given = std::getenv("FARO")) return given;
  for (fs::path directory = fs::read_symlink("/proc/self/exe").parent_path(); directory.has_relative_path();
       directory = directory.parent_path()) {
    if (fs::is_regular_file(directory / "faro")) return directory / "faro";
  }
  return {};
}

/// Whether the command has the verb of `faro ARGUMENTS`; those of extras/ may be left out of a build.
inline bool has_verb(const std::string& arguments) {
  const std::string missing = FARO_MISSING_VERBS;  // " network simulate "
  return missing.find(" " + arguments.substr(0, arguments.find(' ')) + " ") == std::string::npos;
}

inline std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Result {
  int status = -1;  // of the exit; minus the signal where one ended it
  std::string out;
  std::string err;
};

inline long lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

struct Refused {
  std::string arguments;
  int status;
  std::string part;  // of the line
};

/// A directory of its own, and the command run in it.
class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "faro-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    ASSERT_TRUE(fs::exists(faro_command())) << "no command; build it, or set FARO";
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Runs `faro ARGUMENTS` by the shell in the test's directory.
  Result run(const std::string& arguments, const std::string& before = "") const {
    const fs::path out = directory_ / ".stdout";
    const fs::path err = directory_ / ".stderr";
    const std::string line = "cd '" + directory_.string() + "' && " + before + " '" +
                             faro_command().string() + "' " + arguments + " >.stdout 2>.stderr </dev/null";
    const int status = std::system(line.c_str());
    Result result{.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                  .out = content_of(out),
                  .err = content_of(err)};
    fs::remove(out);
    fs::remove(err);
    return result;
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      contents[entry.path().filename().string()] = content_of(entry.path());
    }
    return contents;
  }

  // With this status and one line; standard output has nothing but JSON, and no file changes.
  void expect_refused(const std::string& arguments, int status, const std::string& part,
                      const std::string& before = "") const {
    SCOPED_TRACE("faro " + arguments);
    const auto kept = files();
    const Result result = run(arguments, before);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_TRUE(result.err.starts_with("faro: ")) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(result.out.empty(), !arguments.ends_with(" --json")) << result.out;
    EXPECT_TRUE(files() == kept);
  }

  std::string bytes_of(const std::string& name) const { return content_of(directory_ / name); }

  // "(30, 70)"
  std::string shape_of(const std::string& name) const {
    const std::string bytes = bytes_of(name);
    const std::size_t open = bytes.find("'shape': (") + 9;
    return bytes.substr(open, bytes.find(')', open) + 1 - open);
  }

  // The items of a file of u4 whose header has 128 bytes.
  std::vector<std::uint32_t> items_of(const std::string& name) const {
    const std::string whole = bytes_of(name);
    const auto byte = [&](std::size_t at) {
      return static_cast<std::size_t>(static_cast<unsigned char>(whole.at(at)));
    };
    const std::string data = whole.substr(10 + byte(8) + 256 * byte(9));  // behind a header of version 1
    std::vector<std::uint32_t> items(data.size() / 4);
    std::copy(data.begin(), data.end(), reinterpret_cast<char*>(items.data()));
    return items;
  }

  // `shape`: as a header says it, "(2, 3)".
  template <typename T>
  void write_npy(const std::string& name, const std::string& descr, const std::string& shape,
                 const std::vector<T>& values) const {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream file(directory_ / name, std::ios::binary);
    file << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header.size()) << '\x00' << header;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
  }
  template <typename T>
  void write_npy(const std::string& name, const std::string& descr, const std::vector<T>& values) const {
    write_npy(name, descr, "(" + std::to_string(values.size()) + ",)", values);
  }

  fs::path directory_;
};

// "rows[].spec" for every value in `json`.
inline void collect_keys(const Json& json, const std::string& prefix, std::set<std::string>& keys) {
  if (json.is_object() && !json.empty()) {
    for (const auto& [key, value] : json.items())
      collect_keys(value, prefix.empty() ? key : prefix + "." + key, keys);
  } else if (json.is_array() && !json.empty() && json.front().is_object()) {
    for (const Json& entry : json) collect_keys(entry, prefix + "[]", keys);
  } else {
    keys.insert(prefix);
  }
}

// What is inside an object is listed after the object itself, which may also be null.
inline std::set<std::string> leaves_of(const std::set<std::string>& keys) {
  std::set<std::string> leaves;
  for (const std::string& key : keys) {
    const auto inside = keys.lower_bound(key + ".");
    if (inside == keys.end() || !inside->starts_with(key + ".")) leaves.insert(key);
  }
  return leaves;
}

// What `keys` lists, but nothing inside the arrays that are empty in `json`: of those, the array itself.
inline std::set<std::string> without_empty_arrays(std::set<std::string> keys, const Json& json) {
  for (const auto& [key, value] : json.items()) {
    if (!value.is_array() || !value.empty()) continue;
    const std::string elements = key + "[]";
    if (std::erase_if(keys, [&](const std::string& k) { return k.starts_with(elements); }) > 0) {
      keys.insert(key);
    }
  }
  return keys;
}

// The first column of the tables in docs/guide/json.md, by section.
inline std::map<std::string, std::set<std::string>> documented_keys() {
  std::ifstream page(fs::path(FARO_SOURCE_DIR) / "docs" / "guide" / "json.md");
  std::map<std::string, std::set<std::string>> sections;
  std::string section;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (line.starts_with("| `")) sections[section].insert(line.substr(3, line.find('`', 3) - 3));
  }
  return sections;
}

}  // namespace faro::testing
