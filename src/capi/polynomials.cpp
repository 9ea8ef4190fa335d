// Automorphisms of polynomials modulo X^n + 1, on the host or on the device that the arrays lie on.
#include <cstddef>
#include <span>

#include "api/array_checks.hpp"
#include "capi/plans.hpp"
#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "faro/faro.h"
#include "faro/faro.hpp"

namespace faro::capi {
namespace {

// Calls permute(in, out, threads) or permute(in, out, OnDevice).
template <typename Permute>
void permute_where(const void* in, void* out, std::uint64_t bytes, const faro_options* options, void* stream,
                   const Permute& permute) {
  const PlanOptions given = plan_options(options);
  const std::span from(static_cast<const std::byte*>(in), bytes);
  const std::span to(static_cast<std::byte*>(out), bytes);
  const Stream queue(static_cast<CUstream_st*>(stream));
  const bool on_gpu = given.engine == Engine::cuda ||
                      (given.engine == Engine::automatic && bytes > 0 && cuda::is_device_memory(in));
  if (on_gpu) return permute(from, to, OnDevice{.stream = queue, .device = given.device});
  faro::detail::check_stream(Engine::cpu, queue);
  faro::detail::check_on_host(in, out, "engine cuda moves them there");
  const Endable endable(bytes);
  permute(from, to, given.threads);
}

}  // namespace
}  // namespace faro::capi

faro_status faro_permute_negacyclic(uint64_t n, int64_t k, faro_number number, uint64_t modulus,
                                    const void* in, void* out, uint64_t bytes, const faro_options* options,
                                    void* stream) {
  return faro_permute_negacyclic_moduli(n, k, number, &modulus, 1, in, out, bytes, options, stream);
}

faro_status faro_permute_negacyclic_moduli(uint64_t n, int64_t k, faro_number number, const uint64_t* moduli,
                                           uint64_t moduli_count, const void* in, void* out, uint64_t bytes,
                                           const faro_options* options, void* stream) {
  return faro::capi::guarded([&] {
    if (moduli_count != 0) faro::capi::require_argument(moduli, "permute", "moduli");
    const faro::Negation negation{.number = faro::capi::number_of(number), .moduli = {moduli, moduli_count}};
    faro::capi::permute_where(in, out, bytes, options, stream, [&](auto from, auto to, auto where) {
      faro::permute_negacyclic(n, k, negation, from, to, where);
    });
  });
}

faro_status faro_permute_evaluations(uint64_t n, int64_t k, uint64_t element_bytes, const void* in, void* out,
                                     uint64_t bytes, const faro_options* options, void* stream) {
  return faro::capi::guarded([&] {
    faro::capi::permute_where(in, out, bytes, options, stream, [&](auto from, auto to, auto where) {
      faro::permute_evaluations(n, k, element_bytes, from, to, where);
    });
  });
}
