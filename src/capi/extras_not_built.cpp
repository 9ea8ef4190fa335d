// The functions of faro.h that projects of extras/ have, in a build without them: they say so.
#include <string>

#include "capi/status.hpp"

namespace faro::capi {
namespace {

[[maybe_unused]] faro_status refused(const char* operation, const char* extra) {
  return guarded([&] {
    fail(ErrorCode::unsupported, operation, std::string("a build without extras/") + extra, "one with it",
         "configure with -DFARO_EXTRAS=ON");
  });
}

}  // namespace
}  // namespace faro::capi

#ifdef FARO_WITHOUT_PAPERS
faro_status faro_simulate(const char* /*request*/, char** /*json*/) {
  return faro::capi::refused("simulate", "papers");
}
#endif

#ifdef FARO_WITHOUT_SWIZZLE
faro_status faro_synth(const char* /*request*/, int (* /*keep_on*/)(void*), void* /*context*/,
                       char** /*json*/) {
  return faro::capi::refused("synth", "swizzle");
}
faro_status faro_layout_convert(const char* /*from*/, const char* /*to*/, const char* /*options*/,
                                char** /*json*/) {
  return faro::capi::refused("layout convert", "swizzle");
}
faro_status faro_layout_check(const char* /*layout*/, const char* /*indices*/, uint64_t /*element_bits*/,
                              char** /*json*/) {
  return faro::capi::refused("layout check", "swizzle");
}
#endif

#ifdef FARO_WITHOUT_NETWORK
faro_status faro_network_run(const char* /*program*/, int /*bits*/, const char* /*element*/,
                             uint64_t /*batch*/, int /*threads*/, const void* /*in*/, void* /*out*/) {
  return faro::capi::refused("run a network", "network");
}
faro_status faro_network_explain(const char* /*program*/, int /*bits*/, const char* /*element*/,
                                 char** /*text*/) {
  return faro::capi::refused("explain a network", "network");
}
faro_status faro_network_plan_make(const char* /*program*/, int /*bits*/, const char* /*element*/,
                                   const faro_options* /*options*/, faro_network_plan** /*plan*/) {
  return faro::capi::refused("compile a network", "network");
}
void faro_network_plan_destroy(faro_network_plan* /*plan*/) {}
faro_status faro_network_plan_run(const faro_network_plan* /*plan*/, const void* /*in*/, void* /*out*/,
                                  void* /*stream*/) {
  return faro::capi::refused("run a network", "network");
}
faro_status faro_network_plan_explain(const faro_network_plan* /*plan*/, char** /*text*/) {
  return faro::capi::refused("explain a network", "network");
}
#endif
