#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "permutation/spec_file.hpp"
#include "text.hpp"

namespace faro {
namespace detail {
namespace {

constexpr std::array<std::string_view, 3> kKeys{"n", "columns", "complement"};
constexpr std::string_view kShape = R"({"n": 2, "columns": ["0x1", "0x2"], "complement": "0x0"})";

// Takes the JSON reader's events as they come: nothing is built for what is refused, however deep or long it
// is, and a key given twice is seen, which a finished document would hide.
class AffineHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  AffineHandler(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Affine map() const {
    if (!n_) fail(ErrorCode::spec, "no key `n`", "the number of index bits");
    const int n = *n_;
    if (!columns_seen_) fail(ErrorCode::spec, "no key `columns`", "the images of e_0, e_1, ...");
    if (columns_.size() != static_cast<std::size_t>(n)) {
      fail(ErrorCode::value, std::to_string(columns_.size()) + " `columns`", "n = " + std::to_string(n));
    }
    for (std::size_t j = 0; j < columns_.size(); ++j)
      require_below(columns_[j], "column " + std::to_string(j));
    const f2::Word complement = complement_.value_or(0);
    require_below(complement, "`complement`");
    try {
      return Affine(f2::Matrix::from_columns(n, columns_), complement);
    } catch (const Error& error) {
      fail(error.code(), error.report().got, error.report().wanted);
    }
  }

  bool start_object(std::size_t) override {
    if (depth_ != 0) wrong_type("an object");
    depth_ = 1;
    return true;
  }

  bool key(string_t& name) override {
    key_ = name;
    if (std::find(kKeys.begin(), kKeys.end(), name) == kKeys.end()) {
      fail(ErrorCode::spec, "the key " + in_quotes(name, 40), "`n`, `columns` and `complement`",
           did_you_mean(name, kKeys));
    }
    const bool again = name == "n"         ? n_.has_value()
                       : name == "columns" ? columns_seen_
                                           : complement_.has_value();
    if (again) fail(ErrorCode::spec, "the key " + in_quotes(name) + " twice", "every key once");
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 1 || key_ != "columns") wrong_type("an array");
    depth_ = 2;
    columns_seen_ = true;
    return true;
  }

  bool end_array() override {
    depth_ = 1;
    return true;
  }
  bool end_object() override { return true; }

  bool number_unsigned(number_unsigned_t value) override { return number(value); }
  bool string(string_t& text) override {
    const ScannedNumber scanned = scan_number(text);
    if (scanned.fault == NumberFault::too_large) {
      fail(ErrorCode::value, in_quotes(text, 40) + in_key(), "a number below 2^64");
    }
    if (scanned.fault != NumberFault::none || scanned.length != text.size()) wrong_type(in_quotes(text, 40));
    return number(scanned.value);
  }
  bool null() override { wrong_type("null"); }
  bool boolean(bool value) override { wrong_type(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { wrong_type(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { wrong_type(in_quotes(text, 40)); }
  bool binary(binary_t&) override { wrong_type("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    fail(ErrorCode::spec, "malformed JSON at " + line_of(file_name_, line), std::string(kShape));
  }

 private:
  bool number(std::uint64_t value) {
    if (depth_ == 2) {
      if (columns_.size() == static_cast<std::size_t>(f2::kMaxDimension)) {
        fail(ErrorCode::value, "more than 64 `columns`", "at most 64");
      }
      columns_.push_back(value);
    } else if (depth_ == 1 && key_ == "n") {
      if (value > static_cast<std::uint64_t>(f2::kMaxDimension)) {
        fail(ErrorCode::value, "`n` = " + std::to_string(value), "n in 0..64");
      }
      n_ = static_cast<int>(value);
    } else if (depth_ == 1 && key_ == "complement") {
      complement_ = value;
    } else {
      wrong_type("a number");
    }
    return true;
  }

  void require_below(f2::Word value, const std::string& what) const {
    if ((value & ~f2::low_mask(*n_)) == 0) return;
    fail(ErrorCode::value, what + " with bit " + std::to_string(f2::leading_bit(value)) + " set",
         "bits below n = " + std::to_string(*n_));
  }

  std::string in_key() const { return key_.empty() ? std::string() : " in " + in_quotes(key_, 40); }

  [[noreturn]] void wrong_type(const std::string& got) const {
    const std::string_view wanted = depth_ == 0 ? kShape
                                    : key_ == "columns" && depth_ == 1
                                        ? "an array of integers"
                                        : "an integer, or a string such as \"0x1\"";
    fail(ErrorCode::spec, got + in_key(), std::string(wanted));
  }

  [[noreturn]] void fail(ErrorCode code, std::string got, std::string wanted, std::string remedy = {}) const {
    faro::fail(code, reading(file_name_), std::move(got), std::move(wanted), std::move(remedy));
  }

  std::string_view text_;
  std::string file_name_;
  int depth_ = 0;  // 0 outside, 1 in the object, 2 in the array of columns
  std::string key_;
  std::optional<int> n_;
  std::vector<f2::Word> columns_;
  bool columns_seen_ = false;
  std::optional<f2::Word> complement_;
};

}  // namespace
}  // namespace detail

Affine parse_affine_json(std::string_view text, std::string_view file_name) {
  detail::AffineHandler handler(text, file_name);
  nlohmann::json::sax_parse(text, &handler);
  return handler.map();
}

}  // namespace faro
