// The HDF5 library, which is loaded when the first such file is met, and what all that call it share.
//
// It is one for all threads and locks nothing: whoever calls it holds library_mutex().
#pragma once

#include <dlfcn.h>
#include <hdf5.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "faro/error.hpp"

namespace faro::store {

/// The library is not made for several threads.
inline std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Errors: ErrorCode::unsupported.
inline void* library() {
  static void* const loaded = [] {
    void* const handle = dlopen(FARO_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return handle;
    // Types and classes of properties have numbers from then on.
    const auto open = reinterpret_cast<decltype(&H5open)>(dlsym(handle, "H5open"));
    // Nor does it close at the end what it could not before: 1.10 crashes there.
    reinterpret_cast<decltype(&H5dont_atexit)>(dlsym(handle, "H5dont_atexit"))();
    const auto tell = reinterpret_cast<decltype(&H5Eset_auto2)>(dlsym(handle, "H5Eset_auto2"));
    open();
    tell(H5E_DEFAULT, nullptr, nullptr);  // faults are told by us
    return handle;
  }();
  if (loaded != nullptr) return loaded;
  fail(ErrorCode::unsupported, "read or write HDF5", "no library " FARO_HDF5_LIBRARY " on this machine",
       "that library", "Debian's package libhdf5-103-1 has it");
}

template <typename Symbol>
Symbol& of_library(const char* symbol) {
  void* const found = dlsym(library(), symbol);
  FARO_CHECK(found != nullptr);
  return *reinterpret_cast<Symbol*>(found);
}

/// A function or a number of the library, as its header declares it.
#define FARO_H5(symbol) of_library<decltype(symbol)>(#symbol)

// H5F_ACC_RDONLY and others, without the calls of functions that their macros make.
inline constexpr unsigned kReadOnly = 0;
inline constexpr unsigned kReadAndWrite = 1;
inline constexpr unsigned kTruncate = 2;

/// A handle of the library's, closed at the end.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// Below 0: it failed.
  herr_t end() { return close_(std::exchange(id_, -1)); }
  hid_t get() const { return id_; }
  bool is_open() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Errors: ErrorCode::file.
inline Handle open_file(const std::filesystem::path& path) {
  Handle file(FARO_H5(H5Fopen)(path.c_str(), kReadOnly, H5P_DEFAULT), FARO_H5(H5Fclose));
  if (file.is_open()) return file;
  fail(ErrorCode::file, "read `" + path.string() + "`", "a file that the HDF5 library cannot open",
       "a whole HDF5 file that nobody is writing");
}

}  // namespace faro::store
