// Kernels that are compiled while the program runs, for what cannot be known before: a function of the
// user's, a map written out as constants.
//
//     const auto module = compile({.text = source.text}, device);    // 0.1 s once, then from the cache
//     const RuntimeKernel kernel = module->kernel("faro_kernel");
//     void* arguments[] = {&in, &out};
//     kernel.launch(blocks, 256, 1, 0, arguments, stream);
//
// A kernel holds its module; whoever queues work keeps the kernel until that work is done. In a build without
// CUDA compile() refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "faro/engines/nvrtc.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

class RuntimeModule;

/// A kernel of a module, ready to be launched on the module's device. Cheap to copy.
class RuntimeKernel {
 public:
  /// Queues the kernel and returns. `arguments`: one pointer a parameter, read before launch() returns. The
  /// calling thread's current device is left as it was. Errors: ErrorCode::unsupported for more blocks than a
  /// launch may have (2^31 - 1); ErrorCode::device for a failed launch.
  void launch(std::uint64_t blocks, int threads_x, int threads_y, std::uint64_t dynamic_shared_bytes,
              void** arguments, Stream stream) const;

  int registers() const;              // a thread
  std::uint64_t local_bytes() const;  // a thread: stack and spills
  std::uint64_t static_shared_bytes() const;
  int threads_per_block_max() const;
  int blocks_per_multiprocessor(int threads, std::uint64_t dynamic_shared_bytes) const;

 private:
  friend class RuntimeModule;
  RuntimeKernel(std::shared_ptr<const RuntimeModule> module, void* function, std::string name);

  std::shared_ptr<const RuntimeModule> module_;
  [[maybe_unused]] void* function_;  // CUfunction; unused in builds without CUDA
  std::string name_;
};

/// The kernels of one text on one device.
class RuntimeModule : public std::enable_shared_from_this<RuntimeModule> {
 public:
  /// Loads what was compiled for a device. Errors: ErrorCode::device.
  RuntimeModule(const CompiledText& compiled, int device);
  RuntimeModule(const RuntimeModule&) = delete;
  RuntimeModule& operator=(const RuntimeModule&) = delete;
  /// Waits for the device where it was in use.
  ~RuntimeModule();

  /// By its extern "C" name, or by one of the source's name expressions. A launch may then ask for all the
  /// shared memory that the device gives a block; blocks of a kernel that uses any are given as much as there
  /// is rather than a larger cache. Errors: ErrorCode::value for a name that is not in the module.
  RuntimeKernel kernel(const std::string& name_or_expression, bool uses_shared_memory = true) const;

  int device() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline constexpr std::size_t kMostCachedModules = 64;

/// The module of a source on a device: compiled and loaded, or found among the kMostCachedModules that were
/// used last. Thread-safe. Errors: those of compile_text and RuntimeModule; ErrorCode::device without that
/// device.
std::shared_ptr<const RuntimeModule> compile(const RuntimeSource& source, int device);

}  // namespace faro::cuda
