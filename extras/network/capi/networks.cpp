#include <optional>

#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "faro/network/network.hpp"
#include "network/text.hpp"

struct faro_network_plan {
  faro::network::Executable network;
};

namespace faro::capi {
namespace {

network::Executable compiled(const char* program, int bits, const char* element, std::uint64_t batch,
                             const PlanOptions& options) {
  require_argument("compile a network", {{program, "program"}, {element, "element"}});
  network::Problem problem{.program = network::parse_program(program, bits),
                           .element = network::parse_element_type(element),
                           .batch = batch};
  return network::compile(problem,
                          {.engine = options.engine, .threads = options.threads, .device = options.device});
}

void run(const network::Executable& network, const void* in, void* out, Stream stream) {
  // One array as both is in place: what is begun is brought to its end.
  std::optional<Endable> endable;
  if (in != out) endable.emplace(network.plan().array_bytes());
  network.run(in, out, network.plan().array_bytes(), stream);
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_network_run(const char* program, int bits, const char* element, uint64_t batch, int threads,
                             const void* in, void* out) {
  return guarded([&] {
    const faro::PlanOptions options{.engine = faro::Engine::cpu, .threads = threads};
    faro::capi::run(faro::capi::compiled(program, bits, element, batch, options), in, out, {});
  });
}

faro_status faro_network_explain(const char* program, int bits, const char* element, char** text) {
  return guarded([&] {
    require_argument(text, "explain a network", "text");
    *text = faro::capi::given_away(
        faro::capi::compiled(program, bits, element, 1, {.engine = faro::Engine::cpu}).explain());
  });
}

faro_status faro_network_plan_make(const char* program, int bits, const char* element,
                                   const faro_options* options, faro_network_plan** plan) {
  return guarded([&] {
    require_argument(plan, "compile a network", "plan");
    const std::uint64_t batch = options == nullptr || options->batch == 0 ? 1 : options->batch;
    *plan = new faro_network_plan{
        faro::capi::compiled(program, bits, element, batch, faro::capi::plan_options(options))};
  });
}

void faro_network_plan_destroy(faro_network_plan* plan) { delete plan; }

faro_status faro_network_plan_run(const faro_network_plan* plan, const void* in, void* out, void* stream) {
  return guarded([&] {
    require_argument(plan, "run a network", "plan");
    faro::capi::run(plan->network, in, out, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_network_plan_explain(const faro_network_plan* plan, char** text) {
  return guarded([&] {
    require_argument("explain a network", {{plan, "plan"}, {text, "text"}});
    *text = faro::capi::given_away(plan->network.explain());
  });
}
