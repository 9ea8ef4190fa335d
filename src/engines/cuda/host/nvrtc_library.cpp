#include "engines/cuda/host/nvrtc_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace faro::cuda::nvrtc {
namespace {

constexpr int kLeastMajor = 12;  // the first with C++20

template <typename Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool find_all(void* handle, Library& library) {
  return find(handle, "nvrtcVersion", library.version) &&
         find(handle, "nvrtcCreateProgram", library.create) &&
         find(handle, "nvrtcDestroyProgram", library.destroy) &&
         find(handle, "nvrtcAddNameExpression", library.add_name) &&
         find(handle, "nvrtcCompileProgram", library.compile) &&
         find(handle, "nvrtcGetProgramLogSize", library.log_size) &&
         find(handle, "nvrtcGetProgramLog", library.log) &&
         find(handle, "nvrtcGetCUBINSize", library.cubin_size) &&
         find(handle, "nvrtcGetCUBIN", library.cubin) && find(handle, "nvrtcGetPTXSize", library.ptx_size) &&
         find(handle, "nvrtcGetPTX", library.ptx) &&
         find(handle, "nvrtcGetLoweredName", library.lowered_name) &&
         find(handle, "nvrtcGetErrorString", library.error_text) &&
         find(handle, "nvrtcGetNumSupportedArchs", library.architecture_count) &&
         find(handle, "nvrtcGetSupportedArchs", library.architectures);
}

std::string environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

// Where CUDA may be installed, besides where the loader looks by itself.
std::vector<std::string> toolkits() {
  std::vector<std::string> folders;
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    // A relative one would depend on where the command is called, and on who put what there.
    if (const std::string folder = environment(name); folder.starts_with('/')) folders.push_back(folder);
  }
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

void* open_library() {
  if (const std::string chosen = environment("FARO_NVRTC"); !chosen.empty())
    return dlopen(chosen.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::vector<std::string> folders{""};
  for (const std::string& toolkit : toolkits()) {
    folders.push_back(toolkit + "/lib64/");
    folders.push_back(toolkit + "/lib/");
  }
  for (const char* const name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}) {
    for (const std::string& folder : folders) {
      if (void* const handle = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  return nullptr;
}

// As toolkits and Python's wheels lay them out.
std::string find_headers(const std::filesystem::path& library) {
  const std::filesystem::path folder = library.parent_path();
  std::vector<std::filesystem::path> places{folder / "../include", folder / "../../include",
                                            folder / "../../cuda_runtime/include"};
  for (const std::string& toolkit : toolkits()) places.emplace_back(toolkit + "/include");
  for (const std::filesystem::path& place : places) {
    std::error_code ignored;
    if (std::filesystem::exists(place / "cuda_fp16.h", ignored)) return place.string();
  }
  return {};
}

Library load() {
  Library library;
  void* const handle = open_library();
  if (handle == nullptr) {
    const std::string chosen = environment("FARO_NVRTC");
    library.fault = chosen.empty()
                        ? "no libnvrtc.so.13 or .so.12 where the loader looks, nor in CUDA_HOME or "
                          "/usr/local/cuda"
                        : "FARO_NVRTC names " + chosen + ", which cannot be loaded";
    return library;
  }
  if (!find_all(handle, library)) {
    library.fault = "the libnvrtc that was found is older than CUDA 11.2";
    return library;
  }
  int major = 0;
  int minor = 0;
  if (library.version(&major, &minor) != kSuccess || major < kLeastMajor) {
    library.fault = "libnvrtc " + library.version_text() + " was found, and 12.0 or later is wanted";
    return library;
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(library.version), &info) != 0 && info.dli_fname != nullptr) {
    library.path = info.dli_fname;
    library.include = find_headers(library.path);
  }
  int count = 0;
  if (library.architecture_count(&count) == kSuccess) {
    library.known.resize(static_cast<std::size_t>(count));
    if (library.architectures(library.known.data()) != kSuccess) library.known.clear();
  }
  return library;
}

}  // namespace

std::string Library::version_text() const {
  int major = 0;
  int minor = 0;
  if (version(&major, &minor) != kSuccess) return "?";
  return std::to_string(major) + "." + std::to_string(minor);
}

const Library& library() {
  static const Library* const loaded = new Library(load());
  return *loaded;
}

}  // namespace faro::cuda::nvrtc
