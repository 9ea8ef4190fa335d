// Affine maps in JSON: what is read, and the error of every bad text.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <string>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "permutation/spec_file.hpp"
#include "refusal.hpp"

namespace faro {
namespace permutation_affine_json_test {

struct BadJson {
  const char* text;
  ErrorCode code;
  const char* got;     // a part of it
  const char* remedy;  // a part of it, or empty
};

TEST(Json, Accepted) {
  EXPECT_EQ(parse_affine_json(R"({"n":2,"columns":[1,3]})"), maps::gray(2));
  EXPECT_EQ(parse_affine_json(R"({"complement":3,"columns":["1","2"],"n":2})"), maps::reverse(2));
  EXPECT_EQ(parse_affine_json(R"({"n":0,"columns":[]})"), Affine(0));
  EXPECT_EQ(parse_affine_json(R"({"n":"0x1","columns":["0x1"],"complement":"0x1"})"), maps::reverse(1));
}

TEST(Json, Refused) {
  const BadJson kCases[] = {
      {"", ErrorCode::spec, "malformed JSON at m.json:1", ""},
      {"{\"n\":2,\n\"columns\":[1,", ErrorCode::spec, "malformed JSON at m.json:2", ""},
      {R"({"n":1,"columns":[1]} x)", ErrorCode::spec, "malformed JSON", ""},
      {"[1, 2]", ErrorCode::spec, "an array", ""},
      {"3", ErrorCode::spec, "a number", ""},
      {"null", ErrorCode::spec, "null", ""},
      {"{}", ErrorCode::spec, "no key `n`", ""},
      {R"({"n":2})", ErrorCode::spec, "no key `columns`", ""},
      {R"({"n":2,"colums":[1,2]})", ErrorCode::spec, "the key `colums`", "did you mean `columns`?"},
      {R"({"n":2,"rows":[1,2]})", ErrorCode::spec, "the key `rows`", ""},
      {R"({"n":2,"n":2,"columns":[1,2]})", ErrorCode::spec, "the key `n` twice", ""},
      {R"({"n":2,"columns":[],"columns":[1,2]})", ErrorCode::spec, "the key `columns` twice", ""},
      {R"({"n":2,"columns":3})", ErrorCode::spec, "a number in `columns`", ""},
      {R"({"n":2,"columns":[[1],2]})", ErrorCode::spec, "an array in `columns`", ""},
      {R"({"n":2,"columns":[1,{}]})", ErrorCode::spec, "an object in `columns`", ""},
      {R"({"n":[2],"columns":[1,2]})", ErrorCode::spec, "an array in `n`", ""},
      {R"({"n":true,"columns":[1,2]})", ErrorCode::spec, "true in `n`", ""},
      {R"({"n":2,"columns":[1,2.5]})", ErrorCode::spec, "`2.5` in `columns`", ""},
      {R"({"n":2,"columns":[1,-2]})", ErrorCode::spec, "-2 in `columns`", ""},
      {R"({"n":2,"columns":[1,"two"]})", ErrorCode::spec, "`two` in `columns`", ""},
      {R"({"n":2,"columns":[1,"2 "]})", ErrorCode::spec, "`2 ` in `columns`", ""},
      {R"({"n":2,"columns":[1,"2^64"]})", ErrorCode::value, "`2^64` in `columns`", ""},
      {R"({"n":2,"columns":[1,4]})", ErrorCode::value, "column 1 with bit 2 set", ""},
      {R"({"n":2,"columns":[1,2],"complement":4})", ErrorCode::value, "`complement` with bit 2 set", ""},
      {R"({"n":2,"columns":[1,2,3]})", ErrorCode::value, "3 `columns`", ""},
      {R"({"n":65,"columns":[]})", ErrorCode::value, "`n` = 65", ""},
      {R"({"n":2,"columns":[3,3]})", ErrorCode::value, "columns 0, 1 add up to zero", ""},
  };
  for (const BadJson& bad : kCases) {
    SCOPED_TRACE(bad.text);
    const Error error = test::refusal([&] { parse_affine_json(bad.text, "m.json"); });
    const ErrorReport& report = error.report();
    EXPECT_EQ(name(report.code), name(bad.code)) << error.what();
    EXPECT_EQ(report.operation, "read `m.json`");
    EXPECT_NE(report.got.find(bad.got), std::string::npos) << report.got;
    EXPECT_NE(report.remedy.find(bad.remedy), std::string::npos) << report.remedy;
    EXPECT_FALSE(report.wanted.empty());
  }
  EXPECT_THROW(parse_affine_json(std::string(1'000'000, '[')), Error);
}

}  // namespace permutation_affine_json_test
}  // namespace faro
