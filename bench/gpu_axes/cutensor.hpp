// cuTENSOR's permutation, where a library of version 2 is found while the benchmark runs: nothing of it is
// needed to build, and nothing is kept. FARO_CUTENSOR names the library; else the loader's own places are
// searched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/axes_suites.hpp"
#include "faro/stream.hpp"

namespace faro::bench::gpu {

class Cutensor {
 public:
  /// Errors: ErrorCode::unsupported where there is none.
  Cutensor();
  ~Cutensor();
  Cutensor(const Cutensor&) = delete;
  Cutensor& operator=(const Cutensor&) = delete;

  /// "cuTENSOR 2.3.1"
  std::string version() const;

  /// A permutation made ready, as its own heuristics choose.
  class Permutation {
   public:
    Permutation(Permutation&&) noexcept;
    Permutation& operator=(Permutation&&) noexcept;
    ~Permutation();
    void run(const void* in, void* out, Stream stream) const;

   private:
    friend class Cutensor;
    struct State;
    explicit Permutation(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  /// Errors: ErrorCode::unsupported, with its own number, for what it refuses: elements of 1 byte, say.
  Permutation prepare(const AxesShape& shape) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace faro::bench::gpu
