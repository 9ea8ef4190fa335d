// What safetensors files are made of beside their tensors' bytes, for who writes many tensors into one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "store/element_type.hpp"
#include "store/json.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// A tensor in a file: its bytes are behind those of the tensor before it.
struct SafeTensor {
  std::string name;
  Shape shape = {};
  ElementType type = {};
};

/// Length and header of a file of these tensors, as long as a multiple of `alignment` bytes. `metadata`: an
/// object of texts; an empty one is left out. Errors: ErrorCode::unsupported for types that safetensors has
/// not.
Bytes safetensors_header(std::span<const SafeTensor> tensors, const Json& metadata, std::uint64_t alignment);

/// The object of texts that a file has beside its tensors. Errors: ErrorCode::file.
Json safetensors_metadata(const std::filesystem::path& path);

}  // namespace faro::store
