#include "capi/author_requests.hpp"

#include <algorithm>
#include <vector>

#include "faro/suggest.hpp"

namespace faro::capi {

Request::Request(const char* text, const char* operation, std::initializer_list<std::string_view> keys)
    : operation_(operation), json_(text == nullptr ? Json::object() : Json::parse(text, nullptr, false)) {
  if (json_.is_discarded() || !json_.is_object())
    fail(ErrorCode::spec, operation_, "a request that is no JSON object", "an object of options");
  const std::vector<std::string_view> known(keys);
  for (const auto& item : json_.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    fail(ErrorCode::spec, operation_, "the option `" + item.key() + "`", "a known option",
         did_you_mean(item.key(), known));
  }
}

std::string Request::text(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_.at(key).is_string()) fail(ErrorCode::value, operation_, given(key), "a text");
  return json_.at(key).get<std::string>();
}

std::uint64_t Request::number(const char* key, std::uint64_t otherwise, std::uint64_t least,
                              std::uint64_t most) const {
  if (!has(key)) return otherwise;
  const Json& value = json_.at(key);
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  if (!value.is_number_unsigned() && !(value.is_number_integer() && value.get<std::int64_t>() >= 0))
    fail(ErrorCode::value, operation_, given(key), "a whole number, " + range);
  if (value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most)
    fail(ErrorCode::value, operation_, given(key), range);
  return value.get<std::uint64_t>();
}

bool Request::flag(const char* key) const {
  if (!has(key)) return false;
  if (!json_.at(key).is_boolean()) fail(ErrorCode::value, operation_, given(key), "true or false");
  return json_.at(key).get<bool>();
}

layout::AdviceRequest advice_request(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes,
                                     const std::string& accesses, std::uint64_t seed) {
  layout::AdviceRequest request;
  request.array = layout::make_shared_array(rows, columns, element_bytes);
  request.seed = seed;
  for (const std::string& access : layout::split_accesses(accesses))
    request.accesses.push_back(layout::parse_access(request.array, access));
  return request;
}

}  // namespace faro::capi
