// Compiled kernels kept between processes: files in the user's folder, $FARO_CACHE or ~/.cache/faro,
// kernels/.
//
//     name     hash of the key: source, options, architecture, NVRTC's version
//     file     magic, the whole key, the code, the lowered names, a checksum
//
// The folder and its files are the owner's alone; a folder that others may write to is neither read nor
// written, for what lies there would be run. Whatever is wrong with a file, the kernel is compiled again.
#pragma once

#include <optional>
#include <string>

#include "faro/engines/nvrtc.hpp"

namespace faro::cuda {

/// What was kept under a key; nothing where it was not. Never throws.
std::optional<CompiledText> kept_kernel(const std::string& key);

/// Keeps it, the oldest beyond 512 forgotten. Never throws: what cannot be kept is compiled again.
void keep_kernel(const std::string& key, const CompiledText& compiled);

/// compile_text(), or what it made earlier of the same text by the same NVRTC. Errors: those of compile_text.
CompiledText compile_or_find(const RuntimeSource& source, int major, int minor);

}  // namespace faro::cuda
