// Any text as a recorded trace: refused as the caller's fault, or it runs, and no machine is faster than its
// busiest bank.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "faro/machine/trace.hpp"
#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  faro::fuzzing::refuse_or([&] {
    const faro::machine::Trace trace = faro::machine::parse_trace(text, "fuzz");
    for (const faro::machine::TraceAccess& access : trace.accesses) {
      if (access.lanes == 0 || access.first_lane + access.lanes > trace.lanes.size()) std::abort();
    }
    for (const std::uint64_t width : {2, 32}) {
      for (const faro::machine::MachineKind kind :
           {faro::machine::MachineKind::dmm, faro::machine::MachineKind::umm}) {
        faro::fuzzing::refuse_or([&] {
          const auto run =
              faro::machine::run_trace({.kind = kind, .width = width, .latency = 3, .threads = 0}, trace);
          if (run.report.stages < run.report.requests) std::abort();  // a request takes a stage at least
        });
      }
    }
  });
  return 0;
}
