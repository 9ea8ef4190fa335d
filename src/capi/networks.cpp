#include <string>
#include <utility>

#include "capi/status.hpp"
#include "faro/network/network.hpp"
#include "network/text.hpp"

namespace faro::capi {
namespace {

network::Executable compiled(const char* program, int bits, const char* element, std::uint64_t batch,
                             int threads) {
  require_argument(program, "compile a network", "program");
  require_argument(element, "compile a network", "element");
  network::Problem problem{.program = network::parse_program(program, bits),
                           .element = network::parse_element_type(element),
                           .batch = batch};
  return network::compile(problem, {.engine = Engine::cpu, .threads = threads});
}

}  // namespace
}  // namespace faro::capi

faro_status faro_network_run(const char* program, int bits, const char* element, uint64_t batch, int threads,
                             const void* in, void* out) {
  return faro::capi::guarded([&] {
    const auto network = faro::capi::compiled(program, bits, element, batch, threads);
    network.run(in, out, network.plan().array_bytes());
  });
}

faro_status faro_network_explain(const char* program, int bits, const char* element, char** text) {
  return faro::capi::guarded([&] {
    faro::capi::require_argument(text, "explain a network", "text");
    *text = faro::capi::given_away(faro::capi::compiled(program, bits, element, 1, 0).explain());
  });
}
