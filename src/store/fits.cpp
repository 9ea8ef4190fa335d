// FITS: images of telescopes.
//
//     cards of 80 letters in blocks of 2880 bytes | elements, big endian; NAXIS1 is the fastest axis | next unit …
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "faro/error.hpp"
#include "rounding.hpp"
#include "store/file_numbers.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFitsTypes{TypeNumber{8, "uint8"},     TypeNumber{16, "int16"},
                                TypeNumber{32, "int32"},    TypeNumber{64, "int64"},
                                TypeNumber{-32, "float32"}, TypeNumber{-64, "float64"}};
constexpr std::uint64_t kFitsBlock = 2880;
constexpr std::uint64_t kCardBytes = 80;
// Cards that say nothing of an axis, and are kept.
constexpr std::string_view kUndefined = "BLANK";  // the integer of an undefined pixel; floats have NaN
constexpr std::array<std::string_view, 5> kKept{"BSCALE", "BZERO", kUndefined, "BUNIT", "OBJECT"};

struct FitsCard {
  std::string keyword;
  std::string value;  // without its comment; texts with their quotes
};

FitsCard card_of(std::string_view text) {
  FitsCard card;
  card.keyword = text.substr(0, 8);
  card.keyword.erase(card.keyword.find_last_not_of(' ') + 1);
  if (text.substr(8, 2) != "= ") return card;
  std::string_view rest = text.substr(10);
  const std::size_t first = rest.find_first_not_of(' ');
  if (first == std::string_view::npos) return card;
  rest.remove_prefix(first);
  std::size_t end = 0;
  if (rest.front() == '\'') {
    end = rest.find('\'', 1);
    while (end != std::string_view::npos && rest.substr(end).starts_with("''"))
      end = rest.find('\'', end + 2);
    end = end == std::string_view::npos ? rest.size() : end + 1;
  } else {
    end = std::min(rest.find('/'), rest.size());
  }
  card.value = rest.substr(0, end);
  card.value.erase(card.value.find_last_not_of(' ') + 1);
  return card;
}

// A header and its data.
struct FitsUnit {
  std::vector<FitsCard> cards;
  std::uint64_t data = 0;

  const FitsCard* find(std::string_view keyword) const {
    const auto found = std::find_if(cards.begin(), cards.end(),
                                    [&](const FitsCard& card) { return card.keyword == keyword; });
    return found == cards.end() ? nullptr : &*found;
  }
  std::int64_t number(const std::string& keyword, std::optional<std::int64_t> otherwise,
                      const std::string& operation) const {
    const FitsCard* const card = find(keyword);
    std::int64_t value = 0;
    if (card == nullptr && otherwise) return *otherwise;
    if (card != nullptr) {
      const char* const end = card->value.data() + card->value.size();
      const auto read = std::from_chars(card->value.data(), end, value);
      if (read.ptr == end && read.ec == std::errc()) return value;
    }
    fail(ErrorCode::file, operation, card == nullptr ? "no card " + keyword : keyword + " = " + card->value,
         "a whole number for it");
  }
};

class Fits final : public Format {
 public:
  const char* name() const override { return "FITS"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    return begins_with(first, "SIMPLE  =");
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".fits", ".fit", ".fts"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const std::string operation = "read `" + path.string() + "`";
    const FileReader file(path);
    std::vector<StoredArray> found;
    std::uint64_t at = 0;
    for (std::uint64_t number = 0; at + kFitsBlock <= file.size(); ++number) {
      const FitsUnit unit = unit_at(file, at, operation);
      at = add_unit(path, unit, number, found, operation);
    }
    return found;
  }

  std::vector<std::string> attributes_kept() const override { return {kKept.begin(), kKept.end()}; }

  std::optional<RunOutput> run_output(const WantedArray& wanted) const override {
    const auto* const type = std::find_if(kFitsTypes.begin(), kFitsTypes.end(), [&](const TypeNumber& each) {
      return each.name == wanted.type.name;
    });
    if (type == kFitsTypes.end()) {
      fail(ErrorCode::unsupported, "write FITS", "elements of type " + wanted.type.name,
           "uint8, int16, int32, int64, float32 or float64", "--dtype converts");
    }
    if (wanted.shape.empty())
      fail(ErrorCode::unsupported, "write FITS", "an array without axes", "one with an axis");
    std::string text = card("SIMPLE", "T") + card("BITPIX", std::to_string(type->number)) +
                       card("NAXIS", std::to_string(wanted.shape.size()));
    const std::size_t rank = wanted.shape.size();
    for (std::size_t a = 0; a < rank; ++a)
      text += card(fmt::format("NAXIS{}", a + 1), std::to_string(wanted.shape[rank - 1 - a]));
    for (const std::string_view keyword : kKept) {
      const auto kept = wanted.notes.attributes.find(std::string(keyword));
      if (kept == wanted.notes.attributes.end() || (keyword == kUndefined && type->number < 0)) continue;
      if (const auto value = value_text(*kept)) text += card(std::string(keyword), *value);
    }
    text += fmt::format("{:<80}", "END");
    text.resize(detail::round_up(text.size(), kFitsBlock), ' ');
    RunOutput made{.header = std::vector<std::byte>(text.size()), .form = {}};
    std::memcpy(made.header.data(), text.data(), text.size());
    made.form = dense_run(wanted.shape, wanted.type, text.size(), ByteOrder::big);
    const std::uint64_t bytes = volume(wanted.shape) * wanted.type.bytes;
    made.tail.resize(detail::round_up(bytes, kFitsBlock) - bytes);
    return made;
  }

 private:
  static std::string card(const std::string& keyword, const std::string& value) {
    return fmt::format("{:<80}", fmt::format("{:<8}= {:>20}", keyword, value)).substr(0, kCardBytes);
  }
  // Nothing of what a card cannot hold. Quotes in texts are doubled.
  static std::optional<std::string> value_text(const Json& value) {
    if (value.is_number()) {
      std::string digits = value.dump();
      std::replace(digits.begin(), digits.end(), 'e', 'E');
      return digits;
    }
    if (!value.is_string() || !is_printed(value.get<std::string>())) return std::nullopt;
    std::string text;
    for (const char letter : value.get<std::string>()) text.append(letter == '\'' ? 2 : 1, letter);
    constexpr std::size_t kMostLetters = 68;
    if (text.size() > kMostLetters) return std::nullopt;
    return fmt::format("{:<20}", fmt::format("'{:<8}'", text));
  }

  // Cards hold ASCII alone.
  static bool is_printed(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char letter) { return letter >= ' ' && letter <= '~'; });
  }

  // The text of a card's value in quotes, without spaces at its end. Empty where it is no such text.
  static std::string text_of(const std::string& value) {
    if (value.size() < 2 || value.front() != '\'' || value.back() != '\'' || !is_printed(value)) return {};
    std::string text;
    for (std::size_t at = 1; at + 1 < value.size(); ++at) {
      text += value[at];
      if (value[at] == '\'') ++at;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  static FitsUnit unit_at(const FileReader& file, std::uint64_t at, const std::string& operation) {
    constexpr std::uint64_t kMostBlocks = 10'000;
    FitsUnit unit;
    for (std::uint64_t block = 0; block < kMostBlocks; ++block) {
      const Bytes bytes = file.read(at + block * kFitsBlock, kFitsBlock);
      for (std::uint64_t c = 0; c < kFitsBlock; c += kCardBytes) {
        const FitsCard card = card_of({reinterpret_cast<const char*>(bytes.data()) + c, kCardBytes});
        if (card.keyword != "END") {
          unit.cards.push_back(card);
          continue;
        }
        unit.data = at + (block + 1) * kFitsBlock;
        return unit;
      }
    }
    fail(ErrorCode::file, operation, "a header without end", "a card END");
  }

  // Returns where the next one begins.
  std::uint64_t add_unit(const fs::path& path, const FitsUnit& unit, std::uint64_t number,
                         std::vector<StoredArray>& found, const std::string& operation) const {
    constexpr std::int64_t kMostAxes = 64;
    const std::int64_t rank = unit.number("NAXIS", {}, operation);
    if (rank < 0 || rank > kMostAxes)
      fail(ErrorCode::file, operation, fmt::format("{} axes", rank), "0 to 64");
    Shape shape;
    for (std::int64_t a = rank; a > 0; --a) {
      const std::int64_t extent = unit.number(fmt::format("NAXIS{}", a), {}, operation);
      if (extent < 0) fail(ErrorCode::file, operation, "an axis below 0", "one from 0 on");
      shape.push_back(static_cast<std::uint64_t>(extent));
    }
    const std::int64_t bits = unit.number("BITPIX", {}, operation);
    const auto width = static_cast<std::uint64_t>(std::llabs(std::clamp<std::int64_t>(bits, -64, 64))) / 8;
    require_shape(shape, width, operation);
    // Groups and tables may have more behind the array.
    const std::int64_t more = unit.number("PCOUNT", 0, operation);
    const std::int64_t groups = unit.number("GCOUNT", 1, operation);
    const std::uint64_t array_bytes = rank == 0 ? 0 : volume(shape) * width;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 61;
    if (more < 0 || groups < 0 || groups > (1 << 30) ||
        array_bytes > kMost / std::max<std::int64_t>(groups, 1) || static_cast<std::uint64_t>(more) > kMost)
      fail(ErrorCode::file, operation, "data of 2^61 bytes or more", "what a file may hold");
    const std::uint64_t bytes =
        (array_bytes + static_cast<std::uint64_t>(more)) * static_cast<std::uint64_t>(groups);
    const FitsCard* const extension = unit.find("XTENSION");
    const bool is_image = extension == nullptr ? number == 0 : extension->value.starts_with("'IMAGE");
    if (is_image && rank > 0 && !is_empty(shape)) {
      const ElementType type = type_numbered(kFitsTypes, bits, operation);
      StoredArray array = run_array(*this, name_of(unit, number, found), path,
                                    dense_run(shape, type, unit.data, ByteOrder::big));
      keep_cards(unit, array.notes.attributes);
      found.push_back(std::move(array));
    }
    return unit.data + detail::round_up(bytes, kFitsBlock);
  }

  // Its own, or its number.
  static std::string name_of(const FitsUnit& unit, std::uint64_t number,
                             const std::vector<StoredArray>& others) {
    const FitsCard* const card = unit.find("EXTNAME");
    std::string name = card == nullptr ? "" : text_of(card->value);
    const bool is_taken = std::any_of(others.begin(), others.end(),
                                      [&](const StoredArray& array) { return array.name == name; });
    return name.empty() || is_taken ? std::to_string(number) : name;
  }

  static void keep_cards(const FitsUnit& unit, Json& attributes) {
    for (const std::string_view keyword : kKept) {
      const FitsCard* const card = unit.find(keyword);
      if (card == nullptr || card->value.empty()) continue;
      if (card->value.front() == '\'') {
        if (const std::string text = text_of(card->value); !text.empty())
          attributes[std::string(keyword)] = text;
        continue;
      }
      std::string digits = card->value;
      std::replace(digits.begin(), digits.end(), 'D', 'E');
      if (digits.front() == '+') digits.erase(0, 1);
      const Json value = Json::parse(digits, nullptr, false);
      double number = 0;
      const char* const end = digits.data() + digits.size();
      if (value.is_number()) {
        attributes[std::string(keyword)] = value;
      } else if (std::from_chars(digits.data(), end, number).ptr == end) {
        attributes[std::string(keyword)] = number;
      }
    }
  }
};

}  // namespace

const Format& fits_format() {
  static const Fits format;
  return format;
}

}  // namespace faro::store
