// What the command of `make demo` runs in the place of a function that it was built without
// (cmake/FaroDemo.cmake).
#include "faro/error.hpp"

extern "C" [[noreturn]] void faro_left_out();

void faro_left_out() {
  faro::fail(faro::ErrorCode::unsupported, "run", "a part of faro that `make demo` does not build",
             "what the demo shows", "`make build` builds all of it");
}
