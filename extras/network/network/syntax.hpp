// A program's text as a tree of what is written, before any size is known.
//
//     text        =  { definition ";" } expression
//     definition  =  NAME size "=" expression      size: a number, or the variable's name; perhaps in ( )
//     expression  =  factor { "." factor }
//     factor      =  "id" | "bmmc(" map ")" | "pairs(" operator ")" | "each(" function ")"
//                 |  "two(" expression ")"
//                 |  "parm(" sum ";" expression ")" | "compose(" expression { "," expression } ")"
//                 |  NAME [ primary ] | "(" expression ")"
//     operator    =  NAME | NAME text-in-quotes
//     function    =  NAME [ number ] | NAME text-in-quotes
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "faro/network/program.hpp"
#include "network/tokens.hpp"

namespace faro::network {

enum class SyntaxKind { identity, map, pairs, each, two, parm, compose, call };

struct Expression {
  SyntaxKind kind = SyntaxKind::identity;
  std::size_t begin = 0;  // its tokens
  std::size_t end = 0;
  std::size_t argument = 0;            // parm: of the mask; map: of its text; call: of the size, 0 for none
  Operator op = {};                    // pairs, each
  std::vector<Expression> parts = {};  // two, parm, compose
};

struct Definition {
  std::string_view name;
  std::optional<std::uint64_t> size;  // a base case, or
  std::string_view variable;          // the name of any other size
  Expression body;
};

struct Syntax {
  std::vector<Definition> definitions;
  Expression program;
};

/// Reads the whole text. Errors: ErrorCode::spec with the place; ErrorCode::value for an unknown operator or
/// function.
Syntax read_syntax(const Tokens& tokens);

}  // namespace faro::network
