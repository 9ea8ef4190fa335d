#include "capi/status.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "engines/cpu/run_watch.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.h"

namespace faro::capi {
namespace {

struct LastFailure {
  std::string message;
  ErrorReport report;
  bool out_of_memory = false;  // and there was none left to say so
};

LastFailure& last_failure() {
  thread_local LastFailure failure;
  return failure;
}

faro_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::internal:
      return FARO_INTERNAL;
    case ErrorCode::usage:
      return FARO_USAGE;
    case ErrorCode::spec:
      return FARO_SPEC;
    case ErrorCode::value:
      return FARO_VALUE;
    case ErrorCode::unsupported:
      return FARO_UNSUPPORTED;
    case ErrorCode::device:
      return FARO_DEVICE;
    case ErrorCode::verification:
      return FARO_VERIFICATION;
    case ErrorCode::file:
      return FARO_FILE;
  }
  return FARO_INTERNAL;
}

void keep(const ErrorReport& report) {
  LastFailure& failure = last_failure();
  const Error error(report);  // says it in one line
  failure.message = error.what();
  failure.report = error.report();
  failure.out_of_memory = false;
}

const char* last_text(const std::string& text) {
  return last_failure().out_of_memory ? "not enough memory" : text.c_str();
}

}  // namespace

faro_status keep_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    try {
      keep(error.report());
    } catch (...) {
      last_failure().out_of_memory = true;
    }
    return status_of(error.code());
  } catch (const cpu::RunEnded&) {
    try {
      keep({.code = ErrorCode::value,
            .operation = "run",
            .got = "a caller who ended it",
            .wanted = "one who keeps on",
            .remedy = "the output is partly written"});
    } catch (...) {
      last_failure().out_of_memory = true;
    }
    return FARO_ENDED;
  } catch (const std::bad_alloc&) {
    try {
      keep({.code = ErrorCode::value,
            .operation = "allocate",
            .got = "less memory than is needed",
            .wanted = "enough of it",
            .remedy = {}});
    } catch (...) {
      last_failure().out_of_memory = true;
    }
    return FARO_MEMORY;
  } catch (const std::exception& exception) {
    try {
      keep({.code = ErrorCode::internal,
            .operation = "faro",
            .got = exception.what(),
            .wanted = "no such exception",
            .remedy = "a bug in faro: please report it"});
    } catch (...) {
      last_failure().out_of_memory = true;
    }
    return FARO_INTERNAL;
  } catch (...) {
    last_failure().out_of_memory = true;
    return FARO_INTERNAL;
  }
}

void require_argument(const void* argument, const char* operation, const char* name) {
  if (argument != nullptr) return;
  fail(ErrorCode::value, operation, std::string("a null pointer as ") + name, "an address");
}

void require_argument(const char* operation, std::initializer_list<GivenArgument> arguments) {
  for (const auto& [address, name] : arguments) require_argument(address, operation, name);
}

void require_structures(const void* first, std::uint64_t count, const char* operation, const char* name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (count > 0) require_argument(first, operation, name);
  if (count > kMost) fail(ErrorCode::value, operation, std::to_string(count) + " " + name, "at most 2^40");
}

char* given_away(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::size_t checked_rank(const char* operation, int rank, int most) {
  if (rank >= 0 && rank <= most) return static_cast<std::size_t>(rank);
  fail(ErrorCode::value, operation, std::to_string(rank) + " axes", "0 to " + std::to_string(most));
}

}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::last_failure;
using faro::capi::last_text;

const char* faro_last_message(void) { return last_text(last_failure().message); }
const char* faro_last_operation(void) { return last_text(last_failure().report.operation); }
const char* faro_last_got(void) { return last_text(last_failure().report.got); }
const char* faro_last_wanted(void) { return last_text(last_failure().report.wanted); }
const char* faro_last_remedy(void) { return last_text(last_failure().report.remedy); }

void faro_free(void* memory) { std::free(memory); }

faro_status faro_cuda_status(int* available, char** reason) {
  return guarded([&] {
    faro::capi::require_argument(available, "ask for CUDA", "available");
    const faro::cuda::Status status = faro::cuda::status();
    if (reason != nullptr) *reason = faro::capi::given_away(status.reason);
    *available = status.available ? 1 : 0;
  });
}

void faro_set_memory_known(int known) { faro::cuda::is_memory_known() = known != 0; }

faro_status faro_cuda_device(int* device) {
  return guarded([&] {
    faro::capi::require_argument(device, "ask for CUDA", "device");
    *device = faro::cuda::target().device;
  });
}

int faro_cuda_device_of(const void* memory) { return faro::cuda::device_of_memory(memory); }

namespace faro::capi {
namespace {

struct KeepOn {
  int (*ask)(void* context) = nullptr;
  void* context = nullptr;
};

KeepOn& keep_on_of_this_thread() {
  static thread_local KeepOn keep_on;
  return keep_on;
}

}  // namespace

Endable::Endable(std::uint64_t bytes) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 20;  // less is over in a blink
  const KeepOn keep_on = keep_on_of_this_thread();
  if (keep_on.ask == nullptr || bytes < kLeastBytes) return;
  watch_.emplace([keep_on] { return keep_on.ask(keep_on.context) != 0; });
}

}  // namespace faro::capi

void faro_set_keep_on(int (*keep_on)(void* context), void* context) {
  faro::capi::keep_on_of_this_thread() = {.ask = keep_on, .context = context};
}
