// faro: plans and runs permutations of arrays at the speed of a copy.
//
//     #include <faro/faro.hpp>
//
//     std::vector<float> in(1 << 20), out(1 << 20);
//     auto plan = faro::plan({.permutation = faro::maps::bit_reversal(20), .element_bytes = sizeof(float)});
//     plan.run(std::span<const float>(in), std::span<float>(out));      // out[pi(x)] = in[x]
//
// This header is the whole public interface, host-only C++20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/plan/plan.hpp"
#include "faro/plan/problem.hpp"

namespace faro {

/// Most threads a plan may ask for.
inline constexpr int kMaxThreads = 4096;

struct PlanOptions {
  Engine engine = Engine::automatic;
  int threads = 0;  // 0: what OpenMP would use (OMP_NUM_THREADS respected)
};

/// A plan together with the engine that runs it. Cheap to move; every const member may be called from many
/// threads at once.
class ExecutablePlan {
 public:
  ExecutablePlan(ExecutablePlan&&) noexcept;
  ExecutablePlan& operator=(ExecutablePlan&&) noexcept;
  ~ExecutablePlan();

  /// out[b][pi(x)] = in[b][x]. `bytes` is the size of each of the two arrays and must equal
  /// total_bytes(problem). Errors: ErrorCode::value for a null pointer, another size, or overlapping arrays;
  /// nothing is written then. Any alignment is accepted. Cost:   one sweep over both arrays; allocates
  /// nothing.
  void run(const void* in, void* out, std::uint64_t bytes) const;

  /// The same for spans of trivially copyable values whose total size is total_bytes(problem).
  template <typename T>
  void run(std::span<const T> in, std::span<T> out) const {
    static_assert(std::is_trivially_copyable_v<T>, "faro moves bytes");
    require_same_size(in.size_bytes(), out.size_bytes());
    run(in.data(), out.data(), in.size_bytes());
  }

  const Plan& plan() const;
  std::string explain() const { return plan().explain(); }

  /// Bytes the caller must lend while running. The CPU engine's is 0.
  std::uint64_t workspace_bytes() const { return plan().workspace_bytes(); }

  Engine engine() const;
  /// Why this engine: one line.
  const std::string& engine_reason() const;

 private:
  struct State;
  explicit ExecutablePlan(std::unique_ptr<State> state);
  friend ExecutablePlan plan(const Problem& problem, const PlanOptions& options);
  static void require_same_size(std::uint64_t in_bytes, std::uint64_t out_bytes);

  std::unique_ptr<State> state_;
};

/// Plans `problem`. Errors: ErrorCode::value for an element width that is no power of two in 1..4096, n > 40
/// or a total size past 2^62; ErrorCode::unsupported for in place; ErrorCode::device for an engine that this
/// build or machine has not. Cost: under 1 ms at n = 34.
ExecutablePlan plan(const Problem& problem, const PlanOptions& options = {});

}  // namespace faro
