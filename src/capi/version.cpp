// By itself: the build's facts change with each commit, and what includes them is compiled again.
#include "faro/faro.h"
#include "faro_build_info.hpp"

const char* faro_version(void) { return FARO_VERSION; }
int faro_abi_version(void) { return FARO_ABI_VERSION; }
