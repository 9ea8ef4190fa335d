// The part of XLA's foreign function interface that the handler in xla.cpp uses: its structures as version 0 of the
// interface lays them out (xla/ffi/api/c_api.h of OpenXLA). Each structure begins with its size, and later versions of
// the interface append fields; so these declarations fit every 0.x, and JAX is not needed to build the package.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::python::xla {

inline constexpr int kMajor = 0;
inline constexpr int kMinor = 1;  // the least that has what is used here

struct Extension {
  std::size_t struct_size;
  int type;  // 1: the handler is asked for its version
  Extension* next;
};
inline constexpr int kMetadata = 1;

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};

struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Failure;  // XLA's own

struct FailureArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  int code;
};
inline constexpr int kInvalidArgument = 3;
inline constexpr int kInternal = 13;

struct StreamArguments {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  void* stream;
};

// The table of functions: of the first five the first, and the last.
struct Functions {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Failure* (*make_failure)(FailureArguments*);
  void* unused[3];
  Failure* (*get_stream)(StreamArguments*);
};

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  int element_type;
  void* data;
  std::int64_t rank;
  std::int64_t* shape;
};

// Arguments and results alike.
struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  Buffer** buffers;
};

struct Text {
  const char* data;
  std::size_t size;
};

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;  // 4: a text
  Text** names;
  void** values;
};
inline constexpr int kText = 4;

struct Call {
  std::size_t struct_size;
  Extension* extensions;
  const Functions* functions;
  void* context;
  int stage;  // 3: to be carried out
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};
inline constexpr int kExecute = 3;

}  // namespace faro::python::xla
