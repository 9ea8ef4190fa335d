#include "faro/engines/nvrtc.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "engines/cuda/host/nvrtc_library.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

using nvrtc::Library;
using nvrtc::ProgramHandle;
using nvrtc::Result;

constexpr const char* kCompilingText = "compile for the device";

// What device code includes of the standard library, for NVRTC brings none of it; with the
// types that a host of 64 bits has.
constexpr const char* kStdint = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef decltype(sizeof(0)) uintptr_t;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;
}
)";
constexpr const char* kStddef = R"(#pragma once
namespace std {
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
enum class byte : unsigned char {};
}
using std::size_t;
using std::ptrdiff_t;
)";
constexpr std::array<std::pair<const char*, const char*>, 4> kStandardHeaders{{
    {"cstdint", kStdint},
    {"stdint.h", kStdint},
    {"cstddef", kStddef},
    {"stddef.h", kStddef},
}};

const Library& require_library() {
  const Library& library = nvrtc::library();
  if (library.fault.empty()) return library;
  fail(ErrorCode::device, kCompilingText, "NVRTC not found: " + library.fault, "NVRTC of CUDA 12.0 or later",
       "install CUDA's toolkit or the wheel nvidia-cuda-nvrtc, and put libnvrtc where the loader "
       "looks, or set FARO_NVRTC to its path");
}

// --- one compilation

class Program {
 public:
  Program(const Library& library, const RuntimeSource& source) : library_(library) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, text] : source.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    for (const auto& [name, text] : kStandardHeaders) {
      const bool given = std::any_of(names.begin(), names.end(),
                                     [name = name](const char* other) { return std::string(other) == name; });
      if (given) continue;
      names.push_back(name);
      texts.push_back(text);
    }
    require(library.create(&handle_, source.text.c_str(), source.file_name.c_str(),
                           static_cast<int>(names.size()), texts.data(), names.data()),
            "nvrtcCreateProgram");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { static_cast<void>(library_.destroy(&handle_)); }

  ProgramHandle get() const { return handle_; }

  void require(Result result, const char* call) const {
    if (result == nvrtc::kSuccess) return;
    fail(ErrorCode::device, kCompilingText, std::string(call) + ": " + library_.error_text(result),
         "NVRTC_SUCCESS", "NVRTC is " + library_.path);
  }

  std::string log() const { return read(library_.log_size, library_.log, "nvrtcGetProgramLog"); }
  std::string code(bool as_ptx) const {
    if (as_ptx) return read(library_.ptx_size, library_.ptx, "nvrtcGetPTX");
    return read(library_.cubin_size, library_.cubin, "nvrtcGetCUBIN");
  }

 private:
  std::string read(Result (*size_of)(ProgramHandle, std::size_t*), Result (*copy)(ProgramHandle, char*),
                   const char* call) const {
    std::size_t size = 0;
    require(size_of(handle_, &size), call);
    std::string text(size, '\0');
    require(copy(handle_, text.data()), call);
    return text;
  }

  const Library& library_;
  ProgramHandle handle_ = nullptr;
};

std::vector<std::string> lines_of(const std::string& log) {
  std::vector<std::string> lines(1);
  for (const char c : log) {
    if (c == '\n') {
      lines.emplace_back();
    } else if (static_cast<unsigned char>(c) >= 0x20 && (c != ' ' || !lines.back().ends_with(' '))) {
      lines.back() += c;
    }
  }
  lines.erase(std::remove_if(
                  lines.begin(), lines.end(),
                  [](const std::string& line) { return line.find_first_not_of(" ^~") == std::string::npos; }),
              lines.end());
  return lines;
}

[[noreturn]] void fail_compilation(const std::string& log, const std::string& otherwise) {
  const std::vector<std::string> lines = lines_of(log);
  const auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("error:") != std::string::npos || line.find(": error") != std::string::npos;
  });
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : " | ") + line;
  fail(ErrorCode::value, kCompilingText, first != lines.end() ? *first : otherwise, "CUDA C++ that compiles",
       all.empty() ? "" : "the compiler said: " + all);
}

}  // namespace

std::string RuntimeSource::key() const {
  std::string key;
  const auto add = [&key](const std::string& part) { key += std::to_string(part.size()) + ":" + part; };
  const auto add_all = [&](const std::vector<std::string>& parts) {
    add(std::to_string(parts.size()));
    for (const std::string& part : parts) add(part);
  };
  add(text);
  add(file_name);
  add(std::to_string(headers.size()));
  for (const auto& [name, header] : headers) {
    add(name);
    add(header);
  }
  add_all(options);
  add_all(name_expressions);
  return key;
}

CompiledText compile_text(const RuntimeSource& source, int major, int minor) {
  const Library& library = require_library();
  const int wanted = 10 * major + minor;
  const bool known = std::find(library.known.begin(), library.known.end(), wanted) != library.known.end();
  int nearest = 0;  // the newest that such a device can run, by way of PTX
  for (const int architecture : library.known) {
    if (architecture <= wanted) nearest = std::max(nearest, architecture);
  }
  if (!known && nearest == 0) {
    fail(ErrorCode::device, kCompilingText,
         "compute capability " + std::to_string(major) + "." + std::to_string(minor),
         "one that NVRTC " + library.version_text() + " compiles for",
         "an older NVRTC may know it: set FARO_NVRTC");
  }

  const Program program(library, source);
  for (const std::string& expression : source.name_expressions)
    program.require(library.add_name(program.get(), expression.c_str()), "nvrtcAddNameExpression");
  std::vector<std::string> options{"--std=c++20",
                                   "--gpu-architecture=" + std::string(known ? "sm_" : "compute_") +
                                       std::to_string(known ? wanted : nearest)};
  if (!library.include.empty()) options.push_back("--include-path=" + library.include);
  options.insert(options.end(), source.options.begin(), source.options.end());
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const std::string& option : options) pointers.push_back(option.c_str());

  const Result result = library.compile(program.get(), static_cast<int>(pointers.size()), pointers.data());
  if (result == nvrtc::kCompilationFailed || result == nvrtc::kInvalidOption)
    fail_compilation(program.log(), library.error_text(result));
  program.require(result, "nvrtcCompileProgram");

  CompiledText compiled{.code = program.code(!known)};
  for (const std::string& expression : source.name_expressions) {
    const char* name = nullptr;
    program.require(library.lowered_name(program.get(), expression.c_str(), &name), "nvrtcGetLoweredName");
    compiled.lowered.emplace(expression, name);
  }
  return compiled;
}

NvrtcStatus nvrtc_status() {
  const Library& library = nvrtc::library();
  if (!library.fault.empty()) return {.available = false, .reason = "NVRTC not found: " + library.fault};
  return {.available = true, .reason = "NVRTC " + library.version_text() + ", " + library.path};
}

}  // namespace faro::cuda
