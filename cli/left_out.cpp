// A part of the command of `make demo` alone.
#include "cli/verbs.hpp"
#include "faro/error.hpp"

void faro_left_out() {
  faro::fail(faro::ErrorCode::unsupported, "run", "a part of faro that `make demo` does not build",
             "what the demo shows", "`make build` builds all of it");
}
