// Emitted kernels with shuffles, on the CPU: each thread of a block is a fibre, with a stack of its own, that
// waits at a shuffle or barrier until the others are there.
//
//     WarpLibrary library;
//     library.add(kernel.text);                                  any number of texts
//     library.build();
//     library.run("kernel", {.blocks = 2, .threads = 64}, {in, out}, Order::forward);
//
// Between two waits one thread runs alone as far as it gets, in an order that the test chooses: a kernel that
// needs its lanes in step where it does not say so gives another result in another order. A lane of a
// shuffle's mask that does not come is an error, as is a barrier that not all threads reach.
#pragma once

#include <cstdint>

// What the host tells the kernels.
struct WarpOnCpu {
  struct Index {
    unsigned x, y, z;
  };
  Index thread_idx, block_idx, block_dim, grid_dim;
  std::uint64_t (*shuffle)(unsigned mask, std::uint64_t value, int lane, int width);
  void (*barrier)();
};

#if !defined(FARO_WARP_ON_CPU_HOST)

extern "C" {
WarpOnCpu faro_warp_on_cpu;
}

#define threadIdx faro_warp_on_cpu.thread_idx
#define blockIdx faro_warp_on_cpu.block_idx
#define blockDim faro_warp_on_cpu.block_dim
#define gridDim faro_warp_on_cpu.grid_dim
#define __syncthreads() faro_warp_on_cpu.barrier()
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static  // one block at a time

inline float __int_as_float(int bits) {
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = faro_warp_on_cpu.shuffle(mask, bits, lane, width);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return __shfl_sync(mask, value, static_cast<int>(threadIdx.x % 32) ^ lanes);
}
#define __syncwarp() __syncthreads()  // of one warp
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32U | a;
  unsigned word = 0;
  for (unsigned i = 0; i < 4; ++i)
    word |= static_cast<unsigned>(both >> 8U * (selector >> 4U * i & 7U) & 0xffU) << 8U * i;
  return word;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

#else

#include <dlfcn.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "emitted/emitted_library.hpp"  // ScratchDirectory, run_command

namespace faro::testing {

enum class Order : std::uint8_t { forward, backward };

struct WarpLaunch {
  unsigned blocks = 1;
  unsigned threads = 32;
};

/// One block's threads as fibres.
class FibreBlock {
 public:
  using Call = void (*)(void* function, const std::vector<void*>& arguments);

  FibreBlock(WarpOnCpu& state, unsigned threads, Call call, void* function,
             const std::vector<void*>& arguments)
      : state_(state), call_(call), function_(function), arguments_(arguments), fibres_(threads) {}

  void run(Order order) {
    current() = this;
    state_.shuffle = [](unsigned mask, std::uint64_t value, int lane, int width) {
      return current()->shuffle(mask, value, lane, width);
    };
    state_.barrier = [] { current()->barrier(); };
    for (Fibre& fibre : fibres_) start(fibre);
    const auto count = fibres_.size();
    while (true) {
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t thread = order == Order::forward ? k : count - 1 - k;
        while (fibres_[thread].wait == Wait::none) resume(thread);
      }
      if (std::all_of(fibres_.begin(), fibres_.end(), [](const Fibre& f) { return f.wait == Wait::done; }))
        return;
      if (!release()) throw std::runtime_error("threads wait for threads that do not come");
    }
  }

 private:
  enum class Wait : std::uint8_t { none, shuffle, barrier, done };
  struct Fibre {
    ucontext_t context = {};
    std::vector<std::byte> stack;
    Wait wait = Wait::none;
    unsigned mask = 0;
    std::uint64_t value = 0;
    int lane = 0, width = 32;
  };
  static constexpr std::size_t kWarp = 32, kStackBytes = std::size_t{64} << 10U;

  static FibreBlock*& current() {
    static FibreBlock* block = nullptr;
    return block;
  }

  void start(Fibre& fibre) {
    fibre.stack.resize(kStackBytes);
    if (getcontext(&fibre.context) != 0) throw std::runtime_error("getcontext");
    fibre.context.uc_stack.ss_sp = fibre.stack.data();
    fibre.context.uc_stack.ss_size = fibre.stack.size();
    fibre.context.uc_link = &main_;
    makecontext(&fibre.context, &FibreBlock::enter, 0);
  }
  static void enter() {
    FibreBlock& block = *current();
    block.call_(block.function_, block.arguments_);
    block.fibres_[block.running_].wait = Wait::done;
  }
  void resume(std::size_t thread) {
    running_ = thread;
    state_.thread_idx = {static_cast<unsigned>(thread), 0, 0};
    if (swapcontext(&main_, &fibres_[thread].context) != 0) throw std::runtime_error("swapcontext");
  }
  void pause(Wait why) {
    Fibre& fibre = fibres_[running_];
    fibre.wait = why;
    if (swapcontext(&fibre.context, &main_) != 0) std::abort();
  }

  std::uint64_t shuffle(unsigned mask, std::uint64_t value, int lane, int width) {
    Fibre& fibre = fibres_[running_];
    fibre.mask = mask;
    fibre.value = value;
    fibre.lane = lane;
    fibre.width = width;
    pause(Wait::shuffle);
    return fibre.value;
  }
  void barrier() { pause(Wait::barrier); }

  /// Lets those go on whose partners are here.
  bool release() {
    bool any = false;
    for (std::size_t first = 0; first < fibres_.size(); first += kWarp) any = release_warp(first) || any;
    if (any) return true;
    if (!std::all_of(fibres_.begin(), fibres_.end(),
                     [](const Fibre& fibre) { return fibre.wait == Wait::barrier; }))
      return false;
    for (Fibre& fibre : fibres_) fibre.wait = Wait::none;
    return true;
  }

  bool release_warp(std::size_t first) {
    const std::size_t lanes = std::min(kWarp, fibres_.size() - first);
    std::vector<std::size_t> ready;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Fibre& fibre = fibres_[first + lane];
      if (fibre.wait != Wait::shuffle) continue;
      if ((fibre.mask >> lane & 1U) == 0) throw std::runtime_error("a lane shuffles outside its mask");
      bool all = true;
      for (std::size_t other = 0; other < kWarp; ++other) {
        if ((fibre.mask >> other & 1U) == 0) continue;
        all = all && other < lanes && fibres_[first + other].wait == Wait::shuffle &&
              fibres_[first + other].mask == fibre.mask && fibres_[first + other].width == fibre.width;
      }
      if (all) ready.push_back(lane);
    }
    std::vector<std::uint64_t> received;
    for (const std::size_t lane : ready) {
      const Fibre& fibre = fibres_[first + lane];
      const std::size_t within = static_cast<std::size_t>(fibre.width) - 1;
      const std::size_t from = (lane & ~within) | (static_cast<std::size_t>(fibre.lane) & within);
      if ((fibre.mask >> from & 1U) == 0) throw std::runtime_error("a shuffle from a lane outside the mask");
      received.push_back(fibres_[first + from].value);
    }
    for (std::size_t k = 0; k < ready.size(); ++k) {
      fibres_[first + ready[k]].value = received[k];
      fibres_[first + ready[k]].wait = Wait::none;
    }
    return !ready.empty();
  }

  WarpOnCpu& state_;
  Call call_;
  void* function_;
  const std::vector<void*>& arguments_;
  std::vector<Fibre> fibres_;
  ucontext_t main_ = {};
  std::size_t running_ = 0;
};

class WarpLibrary {
 public:
  WarpLibrary() = default;
  WarpLibrary(const WarpLibrary&) = delete;
  WarpLibrary& operator=(const WarpLibrary&) = delete;
  ~WarpLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  void add(const std::string& text) { text_ += text + "\n"; }

  /// Compiles and loads what has been added. Throws std::runtime_error with the
  /// compiler's words.
  void build() {
    const std::filesystem::path here = std::filesystem::absolute(__FILE__).parent_path();
    const auto file = [&](const char* name) { return "'" + (scratch_.path() / name).string() + "'"; };
    std::ofstream(scratch_.path() / "warps.cpp") << "#include \"warp_on_cpu.hpp\"\n" << text_;
    run_command("'" FARO_TEST_CXX
                "' -std=c++20 -O1 -w "
                "-fno-strict-aliasing -fPIC -shared -I'" +
                    here.string() + "' " + file("warps.cpp") + " -o " + file("warps.so"),
                scratch_.path() / "log");
    handle_ = dlopen((scratch_.path() / "warps.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }

  /// Runs all blocks of a kernel that takes up to five pointers, or numbers in their place.
  void run(const std::string& kernel, const WarpLaunch& launch, const std::vector<void*>& arguments,
           Order order) const {
    WarpOnCpu& state = *static_cast<WarpOnCpu*>(symbol("faro_warp_on_cpu"));
    state.block_dim = {launch.threads, 1, 1};
    state.grid_dim = {launch.blocks, 1, 1};
    for (unsigned k = 0; k < launch.blocks; ++k) {
      state.block_idx = {order == Order::forward ? k : launch.blocks - 1 - k, 0, 0};
      FibreBlock(state, launch.threads, &call, symbol(kernel), arguments).run(order);
    }
  }

 private:
  static void call(void* function, const std::vector<void*>& a) {
    using P = void*;
    switch (a.size()) {
      case 1:
        return reinterpret_cast<void (*)(P)>(function)(a[0]);
      case 2:
        return reinterpret_cast<void (*)(P, P)>(function)(a[0], a[1]);
      case 3:
        return reinterpret_cast<void (*)(P, P, P)>(function)(a[0], a[1], a[2]);
      case 4:
        return reinterpret_cast<void (*)(P, P, P, P)>(function)(a[0], a[1], a[2], a[3]);
      case 5:
        return reinterpret_cast<void (*)(P, P, P, P, P)>(function)(a[0], a[1], a[2], a[3], a[4]);
      default:
        std::abort();
    }
  }
  void* symbol(const std::string& name) const {
    void* found = handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
    if (found == nullptr) throw std::runtime_error("the emitted text defines no " + name);
    return found;
  }

  ScratchDirectory scratch_;
  std::string text_;
  void* handle_ = nullptr;
};

}  // namespace faro::testing

#endif
