// NVRTC, CUDA's compiler as a library: looked for when it is first needed, so that nothing links to it.
//
//     text  --compile_text-->  code for one kind of device  --load (runtime_compiler.hpp)-->  kernels
//
// Host-only and in every build: compiling needs neither a device nor CUDA's runtime. What is missing or wrong
// is an Error; a fault of the text carries the compiler's own words.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace faro::cuda {

/// A translation unit, as it would lie in a file.
struct RuntimeSource {
  std::string text;
  std::string file_name = "faro_kernel.cu";                       // in the compiler's messages
  std::vector<std::pair<std::string, std::string>> headers = {};  // name in #include, text
  std::vector<std::string> options = {};                          // beyond language and architecture: "-DX=3"
  std::vector<std::string> name_expressions = {};                 // templates to instantiate: "tile<4, 8>"

  /// One string that no other source has.
  std::string key() const;
};

struct CompiledText {
  std::string code;  // a cubin, or PTX for devices that NVRTC does not know yet
  std::map<std::string, std::string> lowered = {};  // of each name expression: its name in the code
};

/// Compiles C++20 for a device of this compute capability. <cstdint>, <cstddef> and their C forms are there,
/// in the little that device code needs, and CUDA's own headers (cuda_fp16.h) where they lie beside the
/// library. Errors: ErrorCode::device, "NVRTC not found", without a libnvrtc of CUDA 12.0 or later;
/// ErrorCode::value for a text that does not compile: `got` is the compiler's first error, `remedy` its whole
/// log as one line. Cost: 10 ms and up; any number of threads at a time.
CompiledText compile_text(const RuntimeSource& source, int major, int minor);

struct NvrtcStatus {
  bool available = false;
  std::string reason;  // "NVRTC 13.0, /usr/…/libnvrtc.so.13", or "NVRTC not found: …"
};

/// Never throws. The environment's FARO_NVRTC names a library to take instead of those that are searched for.
NvrtcStatus nvrtc_status();

}  // namespace faro::cuda
