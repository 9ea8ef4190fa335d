// Emitted CUDA text made to run on the CPU: many texts, one translation unit, one library that is loaded.
//
//     EmittedLibrary library;
//     library.add("k0", emit::emit(map, {.name = "k0"}));    any number of them, each with its own name
//     library.build();
//     library.function("k0")(in, out, nullptr);              one thread of it; emitted_run.hpp runs them all
//
// The text is compiled as it stands, with three kinds of lines replaced, none of which moves data:
//
//     using NAME_element = T;                                   T counted; so too NAME_word, NAME_result
//     struct alignas(16) NAME_vector { NAME_element at[4]; };   a vector that counts as one access
//     extern __shared__ … NAME_bytes[];                         stays, and is defined behind the text
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define FARO_CUDA_ON_CPU_HOST
#include "emitted/cuda_on_cpu.hpp"
#include "faro/emit/emit.hpp"

#if !defined(FARO_TEST_CXX)
#define FARO_TEST_CXX "c++"
#endif

namespace faro::testing {

/// A directory of its own, gone at the end.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "faro_emitted_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no directory like " + name);
    path_ = name;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs a shell command; throws with the end of what it said where it fails.
inline std::string run_command(const std::string& command, const std::filesystem::path& log) {
  const int status = std::system((command + " > '" + log.string() + "' 2>&1").c_str());
  std::string said = read_text(log);
  if (status != 0) throw std::runtime_error(command + "\n" + said.substr(0, 4000));
  return said;
}

/// The text with its types counted. Throws where the line of the element type is not there exactly once.
inline std::string counted_text(const std::string& name, const emit::Source& source) {
  const std::regex element("using (" + name + "_element|" + name + "_word|" + name + "_result) = ([^;]+);");
  const std::string& text = source.text;
  std::size_t elements = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), element), end; it != end; ++it) {
    if ((*it)[1] == name + "_element") ++elements;
  }
  if (elements != 1)
    throw std::runtime_error(name + ": `using " + name + "_element = T;` is there " +
                             std::to_string(elements) + " times");
  std::string result = std::regex_replace(text, element, "using $1 = counted<$2>;");
  const std::regex vector("struct\\s+alignas\\((\\w+)\\)\\s+(" + name + "_\\w+)\\s*\\{\\s*(" + name +
                          "_\\w+)\\s+at\\[(\\w+)\\];\\s*\\}");
  result = std::regex_replace(result, vector, "using $2 = counted_vector<$3, $4, $1>");
  const std::regex dynamic("extern\\s+__shared__\\s+((?:__align__|alignas)\\(\\w+\\)\\s*)?([\\w ]+?)\\s+(" +
                           name + "_\\w+)\\[\\];");
  std::map<std::string, std::string> definitions;
  std::uint64_t bytes = 0;
  for (const emit::Kernel& kernel : source.kernels) bytes = std::max(bytes, kernel.dynamic_shared_bytes);
  for (std::sregex_iterator it(result.begin(), result.end(), dynamic), end; it != end; ++it) {
    const std::string type = (*it)[2];
    definitions[(*it)[3]] = "thread_local __align__(128) " + type + " " + std::string((*it)[3]) + "[" +
                            std::to_string(bytes + 128) + " / sizeof(" + type + ")];\n";
  }
  for (const auto& [array, definition] : definitions) result += "\n" + definition;
  return result;
}

class EmittedLibrary {
 public:
  /// `addend`: of those that add an array; others do not look at it.
  using Function = void (*)(const void* in, void* out, const void* addend);

  void add(const std::string& name, const emit::Source& source) {
    text_ += counted_text(name, source) + "\n";
  }
  /// Text that is added as it is.
  void add_text(const std::string& text) { text_ += text + "\n"; }

  /// Compiles and loads what has been added. Throws std::runtime_error with the compiler's words.
  void build() {
    const std::filesystem::path here = std::filesystem::absolute(__FILE__).parent_path();
    const std::filesystem::path source = scratch_.path() / "emitted.cpp";
    const std::filesystem::path library = scratch_.path() / "emitted.so";
    std::ofstream(source) << "#include \"cuda_on_cpu.hpp\"\n" << text_;
    run_command("'" FARO_TEST_CXX "' -std=c++20 -O0 -w -fPIC -shared -I'" + here.string() + "' -I'" +
                    (here / "stub_headers").string() + "' '" + source.string() + "' -o '" + library.string() +
                    "'",
                scratch_.path() / "log");
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    state_ = static_cast<CudaOnCpu*>(symbol("faro_cuda_on_cpu"));
  }

  Function function(const std::string& kernel) const { return reinterpret_cast<Function>(symbol(kernel)); }
  CudaOnCpu& state() const { return *state_; }
  const std::string& text() const { return text_; }

  EmittedLibrary() = default;
  EmittedLibrary(const EmittedLibrary&) = delete;
  EmittedLibrary& operator=(const EmittedLibrary&) = delete;
  ~EmittedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }

 private:
  void* symbol(const std::string& name) const {
    void* found = handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
    if (found == nullptr) throw std::runtime_error("the emitted text defines no " + name);
    return found;
  }

  ScratchDirectory scratch_;
  std::string text_;
  void* handle_ = nullptr;
  CudaOnCpu* state_ = nullptr;
};

}  // namespace faro::testing
