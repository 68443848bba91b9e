// SPDX-License-Identifier: Apache-2.0
// A JSON document written member by member. Small values are made and escaped
// by the JSON library; lists as long as the trace has kernels or steps are
// written row by row, since a tree of their values takes 5 kB a row.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/text_pieces.h"

namespace inferdiff {

/// One object, indented by a space a level. Members stand in the order in
/// which they are added.
class JsonStream {
 public:
  /// Begins the document; the destructor ends it, with a newline.
  explicit JsonStream(const TextSink& sink);
  ~JsonStream();
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  void Member(std::string_view key, const nlohmann::ordered_json& value);
  /// All members of an object.
  void Members(const nlohmann::ordered_json& object);

  /// "key": { what `write` adds }
  template <typename Write>
  void Object(std::string_view key, const Write& write) {
    Open(key, '{');
    write();
    Close('}');
  }
  /// "key": [ to_json(row), ... ]
  template <typename Rows, typename ToJson>
  void Array(std::string_view key, const Rows& rows, const ToJson& to_json) {
    Open(key, '[');
    for (const auto& row : rows) Element(to_json(row));
    Close(']');
  }

 private:
  void Open(std::string_view key, char bracket);
  void Close(char bracket);
  void Element(const nlohmann::ordered_json& value);
  void BeginItem();
  void Key(std::string_view key);
  void Value(const nlohmann::ordered_json& value);

  TextPieces out_;
  size_t depth_ = 1;
  bool empty_ = true;  // nothing stands behind the last bracket yet
};

}  // namespace inferdiff
