// The functions of libnvrtc, found in whatever library of that name there is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace faro::cuda::nvrtc {

// From nvrtc.h, which has kept them since CUDA 11.2.
using Result = int;
using ProgramHandle = struct OpaqueProgram*;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidOption = 5;
inline constexpr Result kCompilationFailed = 6;

struct Library {
  Result (*version)(int* major, int* minor) = nullptr;
  Result (*create)(ProgramHandle*, const char* text, const char* name, int headers, const char* const* texts,
                   const char* const* names) = nullptr;
  Result (*destroy)(ProgramHandle*) = nullptr;
  Result (*add_name)(ProgramHandle, const char* expression) = nullptr;
  Result (*compile)(ProgramHandle, int options, const char* const*) = nullptr;
  Result (*log_size)(ProgramHandle, std::size_t*) = nullptr;
  Result (*log)(ProgramHandle, char*) = nullptr;
  Result (*cubin_size)(ProgramHandle, std::size_t*) = nullptr;
  Result (*cubin)(ProgramHandle, char*) = nullptr;
  Result (*ptx_size)(ProgramHandle, std::size_t*) = nullptr;
  Result (*ptx)(ProgramHandle, char*) = nullptr;
  Result (*lowered_name)(ProgramHandle, const char* expression, const char** name) = nullptr;
  const char* (*error_text)(Result) = nullptr;
  Result (*architecture_count)(int*) = nullptr;
  Result (*architectures)(int*) = nullptr;

  std::string fault;       // why it cannot be used; empty where it can
  std::string path;        // of the file
  std::string include;     // of CUDA's headers; empty where they were not found
  std::vector<int> known;  // architectures, as 90

  std::string version_text() const;  // "13.0"
};

/// Loaded at the first call, and never unloaded.
const Library& library();

}  // namespace faro::cuda::nvrtc
