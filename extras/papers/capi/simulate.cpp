// faro_simulate(): programs of the memory machines, for other languages.
#include "capi/simulation_json.hpp"
#include "capi/status.hpp"

faro_status faro_simulate(const char* request, char** json) {
  return faro::capi::guarded([&] {
    faro::capi::require_argument("simulate", {{json, "json"}, {request, "request"}});
    const auto simulated = faro::capi::simulate_asked(request);
    *json = faro::capi::given_away(faro::capi::simulation_json(simulated.result, simulated.asked)
                                       .dump(2, ' ', false, faro::capi::Json::error_handler_t::replace));
  });
}
