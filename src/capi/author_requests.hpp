// What the authors of kernels ask for in JSON, read: requests of faro.h and of the site's planner.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "capi/author_json.hpp"
#include "faro/error.hpp"

namespace faro::capi {

/// An object of options, in which no unknown key is overlooked.
class Request {
 public:
  /// `text` null: no options. Errors: ErrorCode::spec for what is no object, and for a key that is none of
  /// `keys`, with the nearest that is.
  Request(const char* text, const char* operation, std::initializer_list<std::string_view> keys);

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  // The value of a key, or `otherwise`. Errors: ErrorCode::value for one of another kind or out of range.
  std::string text(const char* key, const std::string& otherwise) const;
  std::uint64_t number(const char* key, std::uint64_t otherwise, std::uint64_t least,
                       std::uint64_t most) const;
  bool flag(const char* key) const;

  const Json& json() const { return json_; }

 private:
  std::string given(const char* key) const { return std::string(key) + " = " + json_.at(key).dump(); }

  const char* operation_;
  Json json_;
};

/// `accesses` as in "row, column(8), stride(3)". Errors: those of layout::parse_access.
layout::AdviceRequest advice_request(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes,
                                     const std::string& accesses, std::uint64_t seed);

}  // namespace faro::capi
