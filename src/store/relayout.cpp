// From one store to another, and what stores say of their arrays.
#include <fmt/format.h>

#include "faro/error.hpp"
#include "faro/store.hpp"
#include "size_text.hpp"
#include "store/relayout_run.hpp"
#include "store/relayout_work.hpp"
#include "store/store_formats.hpp"
#include "store/whole_store.hpp"

namespace faro::store {

namespace fs = std::filesystem;

std::string Facts::text() const {
  if (arrays != 1) {
    return fmt::format("{} arrays, {}, {} of memory", arrays,
                       uses_scratch ? "some by way of scratch space" : "each in one sweep",
                       size_text(memory_bytes));
  }
  std::string text = sweeps == 1 ? "one sweep" : fmt::format("{} sweeps through scratch space", sweeps);
  text += fmt::format(" in regions of {}",
                      region.empty() ? "one element" : fmt::format("{}", fmt::join(region, " x ")));
  if (!in.chunks.empty())
    text +=
        decoded < 1.005 ? ", each chunk decoded once" : fmt::format(", chunks decoded {:.3g} times", decoded);
  return text + ", " + size_text(memory_bytes) + " of memory";
}

std::vector<ArrayFacts> arrays(const std::string& path) {
  const Place place = place_of(path);
  std::vector<ArrayFacts> found;
  if (!place.array.empty()) return {facts_of(open_array(place))};
  for (const StoredArray& array : format_of(place.path).arrays(place.path)) found.push_back(facts_of(array));
  return found;
}

Facts explain(const std::string& in, const std::string& out, const Options& options) {
  if (const auto whole = whole_store(in, out, options)) return explain_whole(*whole);
  return explain_work(work_of(in, out, options));
}

Report relayout(const std::string& in, const std::string& out, const Options& options) {
  if (const auto whole = whole_store(in, out, options)) return relayout_whole(*whole, options);
  return run_relayout(work_of(in, out, options), options);
}

bool is_store(const std::string& path) {
  const Place place = place_of(path);
  std::error_code ignored;
  const Format* format = nullptr;
  if (fs::exists(place.path, ignored)) {
    try {
      format = &format_of(place.path);
    } catch (const Error&) {
      return false;
    }
  } else {
    format = format_meant(place.path);
  }
  return format != nullptr && format != &npy_format() && format != &raw_format();
}

}  // namespace faro::store
