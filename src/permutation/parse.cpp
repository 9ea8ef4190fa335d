#include <algorithm>
#include <bit>
#include <utility>

#include "faro/permutation/strided.hpp"
#include "index_file.hpp"
#include "parser.hpp"
#include "permutation/catalogue.hpp"
#include "permutation/parser.hpp"
#include "permutation/pattern.hpp"
#include "permutation/text.hpp"
#include "spec_file.hpp"
#include "text.hpp"

namespace faro {
namespace detail {
namespace {

// compose(compose(... : far past what anyone writes, far below what the stack holds.
constexpr int kDeepestNesting = 100;

constexpr std::uint64_t kSmallNumber = 1'000'000'000;

constexpr std::string_view kAnyMap = "a map such as `bit_reversal(20)`";

}  // namespace

ParsedPermutation SpecReader::whole() {
  Permutation result = map();
  if (!cursor_.at_end()) cursor_.fail_here("the end of the text after the map");
  return {.permutation = std::move(result), .axes = effect_.axes};
}

Permutation SpecReader::map() {
  if (++depth_ > kDeepestNesting) {
    cursor_.fail(ErrorCode::spec, "maps nested more than " + std::to_string(kDeepestNesting) + " deep",
                 "fewer levels", "write the inner map to a file as a matrix and name it with @file.json");
  }
  const MapEntry* const outer = std::exchange(entry_, nullptr);
  const std::size_t start = cursor_.position();
  effect_ = {};
  auto result = [&]() -> Permutation {
    if (cursor_.take('@')) return file();
    const std::string_view name = cursor_.word();
    if (name.empty()) cursor_.fail_here(std::string(kAnyMap), "`faro maps` lists every map");
    const MapEntry* const entry = find_map(name);
    if (entry == nullptr && name == "strided") return view(start);
    if (entry == nullptr) unknown_name(start);
    return cursor_.take('(') ? arguments_of(*entry) : bare(*entry);
  }();
  entry_ = outer;
  --depth_;
  return result;
}

Permutation SpecReader::arguments_of(const MapEntry& entry) {
  entry_ = &entry;
  Permutation result = entry.read != nullptr ? entry.read(*this) : entry.of_bits(bits());
  entry_ = &entry;
  sign(')');
  return result;
}

Permutation SpecReader::bare(const MapEntry& entry) {
  const std::string name(entry.name);
  if (entry.of_shape != nullptr) {
    if (const auto* const shape = shape_at_hand()) {
      entry_ = &entry;
      return entry.of_shape(*this, *shape);
    }
    cursor_.fail(ErrorCode::spec, "`" + name + "` without arguments", in_quotes(entry.syntax),
                 "for example " + in_quotes(entry.example) +
                     "; the bare name serves only where an array fixes the rest");
  }
  if (entry.of_bits == nullptr) {
    cursor_.fail(ErrorCode::spec, "`" + name + "` without arguments", in_quotes(entry.syntax),
                 "for example " + in_quotes(entry.example));
  }
  const std::optional<int> n = bits_at_hand();
  if (!n) {
    cursor_.fail(ErrorCode::spec, "`" + name + "` without its number of index bits", in_quotes(entry.syntax),
                 "the bare name serves only where an array fixes n");
  }
  return entry.of_bits(*n);
}

void SpecReader::name_axes(NamedAxes axes) {
  effect_.shapes = RegroupedShape{.before = axes.shape, .after = axes.target_shape()};
  effect_.axes = std::move(axes);
}

std::vector<std::uint64_t> SpecReader::take_shape(const std::vector<int>& order) {
  took_shape_ = true;
  const std::vector<std::uint64_t>& at_hand = *options_.shape;
  const bool is_order =
      order.size() == at_hand.size() && std::all_of(order.begin(), order.end(), [&](int axis) {
        return axis >= 0 && static_cast<std::size_t>(axis) < at_hand.size();
      });
  if (!shape_is_result() || !is_order) return at_hand;
  std::vector<std::uint64_t> shape(at_hand.size(), 1);
  for (std::size_t axis = 0; axis < order.size(); ++axis)
    shape[static_cast<std::size_t>(order[axis])] = at_hand[axis];
  return shape;
}

std::optional<std::uint64_t> SpecReader::count_at_hand() const {
  if (options_.shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : *options_.shape) count *= extent;
    return count;
  }
  const bool is_count = options_.bare_bits && *options_.bare_bits >= 0 && *options_.bare_bits < 64;
  return is_count ? std::optional(std::uint64_t{1} << *options_.bare_bits) : std::nullopt;
}

std::optional<int> SpecReader::bits_at_hand() const {
  if (options_.bare_bits && (*options_.bare_bits < 0 || *options_.bare_bits > f2::kMaxDimension)) {
    cursor_.fail(ErrorCode::value, "an array of 2^" + std::to_string(*options_.bare_bits) + " elements",
                 "2^0 to 2^64");
  }
  if (options_.bare_bits || !options_.shape) return options_.bare_bits;
  const std::uint64_t count = count_at_hand().value_or(0);
  return f2::is_power_of_two(count) ? std::optional(f2::trailing_bit(count)) : std::nullopt;
}

int SpecReader::bits_of(std::size_t arguments) {
  const std::optional<int> n = bits_at_hand();
  if (n && cursor_.peek() != ')' && cursor_.count_ahead(',') + 2 == arguments) return *n;
  const int given = bits();
  comma();
  return given;
}

std::uint64_t SpecReader::count_of(std::size_t arguments, std::string_view what) {
  const std::optional<std::uint64_t> count = count_at_hand();
  if (count && cursor_.peek() != ')' && cursor_.count_ahead(',') + 2 == arguments) return *count;
  const std::uint64_t given = number(what);
  comma();
  return given;
}

void SpecReader::unknown_name(std::size_t start) const {
  // Dashes belong to no name, but whoever wrote bit-reversal meant one.
  const std::string_view left = cursor_.text().substr(start);
  const auto end = std::find_if_not(left.begin(), left.end(), [](char c) { return is_word(c) || c == '-'; });
  const std::string_view name = left.substr(0, static_cast<std::size_t>(end - left.begin()));
  cursor_.fail(ErrorCode::spec,
               "unknown map " + in_quotes(name, 40) + " at character " + std::to_string(start + 1),
               std::string(kAnyMap), suggest_map(name));
}

Permutation SpecReader::view(std::size_t start) {
  const std::string_view left = cursor_.text().substr(start);
  const std::size_t length = std::min(left.find(')'), left.size() - 1) + 1;
  std::optional<Permutation> permutation = as_permutation(parse_strided(left.substr(0, length)));
  if (!permutation) {
    cursor_.fail(ErrorCode::unsupported, "a strided view at character " + std::to_string(start + 1),
                 "one that is a permutation of axes, flipped or not, or an affine map",
                 "`faro permute` and `faro explain` take a view, by itself");
  }
  cursor_.go_to(start + length);
  return *std::move(permutation);
}

Permutation SpecReader::file() {
  const std::string path(cursor_.path());
  if (path.ends_with(".npy")) return allowed(read_index_file(path, options_.direction));
  return read_spec_file(path, notes_);
}

Permutation SpecReader::index_file(Direction direction) {
  const std::string place = cursor_.here();
  if (!cursor_.take('@')) cursor_.fail_here(in_syntax("a file of indices"));
  const std::string path(cursor_.path());
  if (!path.ends_with(".npy")) {
    cursor_.fail(ErrorCode::spec, place, in_syntax("a file whose name ends in .npy"));
  }
  return allowed(read_index_file(path, direction));
}

void SpecReader::allow_index_array(std::uint64_t count) {
  const std::uint64_t most = options_.most_index_elements;
  if (count <= most - index_elements_) {
    index_elements_ += count;
    return;
  }
  const auto shown = [](std::uint64_t of) {
    const auto bits = static_cast<int>(std::bit_width(of)) - 1;
    return std::has_single_bit(of) && bits > 20 ? "2^" + std::to_string(bits) : std::to_string(of);
  };
  std::string got = "an index array of " + shown(count) + " elements";
  if (index_elements_ > 0) got += ", after others of " + shown(index_elements_);
  cursor_.fail(ErrorCode::value, std::move(got),
               "at most " + shown(most) + (index_elements_ > 0 ? " in all" : ""));
}

// A file's array is as long as the file; many of them are not.
Permutation SpecReader::allowed(Permutation from_file) {
  allow_index_array(element_count(from_file));
  return from_file;
}

int SpecReader::bits() {
  const std::string place = cursor_.here();
  const std::uint64_t n = number("n (the number of index bits)");
  if (n > static_cast<std::uint64_t>(f2::kMaxDimension)) {
    cursor_.fail(ErrorCode::value, "n = " + place, "n in 0..64");
  }
  return static_cast<int>(n);
}

std::uint64_t SpecReader::number(std::string_view what) { return cursor_.number(in_syntax(what)); }

int SpecReader::small_number(std::string_view what) {
  const std::string place = cursor_.here();
  const std::uint64_t value = number(what);
  if (value > kSmallNumber) cursor_.fail(ErrorCode::value, place, std::string(what) + " below 10^9");
  return static_cast<int>(value);
}

std::int64_t SpecReader::integer(std::string_view what) {
  const bool negative = cursor_.take('-');
  const std::string place = cursor_.here();
  const std::uint64_t magnitude = number(what);
  const std::uint64_t largest = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  if (magnitude > largest) cursor_.fail(ErrorCode::value, place, std::string(what) + " in -2^63..2^63 - 1");
  // Negated in unsigned arithmetic, where -2^63 has a magnitude too.
  return static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
}

std::vector<std::uint64_t> SpecReader::numbers() {
  std::vector<std::uint64_t> result;
  while (is_digit(cursor_.peek())) {
    // More than any map takes; the reader that counts them says how many it wanted.
    if (result.size() > static_cast<std::size_t>(f2::kMaxDimension)) break;
    result.push_back(number("a number"));
  }
  if (at(',')) cursor_.fail_here(in_syntax("numbers separated by spaces"));
  return result;
}

std::string_view SpecReader::word(std::string_view what) {
  const std::string_view found = cursor_.word();
  if (found.empty()) cursor_.fail_here(in_syntax(what));
  return found;
}

bool SpecReader::at_digit() { return is_digit(cursor_.peek()); }

void SpecReader::sign(char c) {
  if (!cursor_.take(c)) cursor_.fail_here(in_syntax(in_quotes(std::string_view(&c, 1))));
}

std::string SpecReader::in_syntax(std::string_view what) const {
  std::string text(what);
  if (entry_ != nullptr) text += " as in " + in_quotes(entry_->syntax);
  return text;
}

}  // namespace detail

Permutation parse_permutation(std::string_view text, const ParseOptions& options) {
  return parse_with_axes(text, options).permutation;
}

ParsedPermutation parse_with_axes(std::string_view text, const ParseOptions& options) {
  return detail::parse_with_notes(text, options).parsed;
}

namespace detail {
namespace {

// The elements of an array whose number fixes no n.
std::optional<std::uint64_t> count_without_bits(const ParseOptions& options) {
  if (!options.shape || options.bare_bits) return std::nullopt;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : *options.shape) count *= extent;
  return f2::is_power_of_two(count) ? std::nullopt : std::optional(count);
}

}  // namespace

bool lacks_only_bits(std::string_view text, ParseOptions options) {
  const auto is_read = [&] {
    try {
      parse_permutation(text, options);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  constexpr int kMostBits = 40;
  options.bare_bits = kMostBits;
  if (is_read()) return true;
  if (!options.shape || detail::is_pattern(text)) return false;
  // Maps beside it, such as flip, take the number of elements, and others the axes: as many of them, of
  // unequal powers of two, and few enough elements for an index array.
  constexpr std::size_t kMostAxes = 5;
  constexpr std::size_t kBitsOfAll = 20;
  std::vector<std::uint64_t>& shape = *options.shape;
  if (shape.empty() || shape.size() > kMostAxes) return false;
  std::size_t left = kBitsOfAll;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    shape[axis] = std::uint64_t{2} << axis;
    left -= axis + 1;
  }
  shape.back() = std::uint64_t{1} << left;
  options.bare_bits.reset();
  return is_read();
}

}  // namespace detail

detail::NotedPermutation detail::parse_with_notes(std::string_view text, const ParseOptions& options,
                                                  AtHand at_hand) {
  try {
    if (is_pattern(text)) return {.parsed = parse_pattern(text, options.shape)};
    SpecReader reader(text, options, at_hand);
    ParsedPermutation parsed = reader.whole();
    const bool has_axes = parsed.axes.has_value();
    return {.parsed = std::move(parsed),
            .shapes = has_axes ? std::nullopt : reader.effect().shapes,
            .notes = reader.notes(),
            .index_elements = reader.index_elements()};
  } catch (const Error& error) {
    // Errors of the grammar and of files say where they are; those of a map's values do not know their text.
    ErrorReport report = error.report();
    const auto count = report.code == ErrorCode::spec ? count_without_bits(options) : std::nullopt;
    if (count && lacks_only_bits(text, options)) {
      fail(ErrorCode::value, "parse " + in_quotes(text), std::to_string(*count) + " elements",
           "a power of two of them");
    }
    if (report.operation.starts_with("parse ") || report.operation.starts_with("read ")) throw;
    report.operation = "parse " + in_quotes(text) + ": " + report.operation;
    throw Error(report);
  }
}

}  // namespace faro
