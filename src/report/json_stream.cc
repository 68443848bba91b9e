// SPDX-License-Identifier: Apache-2.0
#include "report/json_stream.h"

#include <nlohmann/json.hpp>
#include <string>

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

// Invalid UTF-8 becomes U+FFFD.
std::string Dump(const Json& value) {
  return value.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

JsonStream::JsonStream(const TextSink& sink) : out_(sink) { out_.Append("{"); }

JsonStream::~JsonStream() {
  Close('}');
  out_.Append("\n");
}

void JsonStream::Member(std::string_view key, const Json& value) {
  BeginItem();
  Key(key);
  Value(value);
}

void JsonStream::Members(const Json& object) {
  for (const auto& [key, value] : object.items()) Member(key, value);
}

void JsonStream::Element(const Json& value) {
  BeginItem();
  Value(value);
}

void JsonStream::Open(std::string_view key, char bracket) {
  BeginItem();
  Key(key);
  out_.Add("{}", bracket);
  ++depth_;
  empty_ = true;
}

void JsonStream::Close(char bracket) {
  --depth_;
  if (!empty_) out_.Add("\n{:{}}", "", depth_);
  out_.Add("{}", bracket);
  empty_ = false;
}

void JsonStream::BeginItem() {
  out_.Add("{}\n{:{}}", empty_ ? "" : ",", "", depth_);
  empty_ = false;
}

void JsonStream::Key(std::string_view key) {
  out_.Append(Dump(key));
  out_.Append(": ");
}

// A string holds no line break of its own, so each one is between tokens.
void JsonStream::Value(const Json& value) {
  const std::string text = Dump(value);
  size_t begin = 0;
  for (size_t end = 0; (end = text.find('\n', begin)) != text.npos;
       begin = end + 1) {
    out_.Append(std::string_view(text).substr(begin, end + 1 - begin));
    out_.Add("{:{}}", "", depth_);
  }
  out_.Append(std::string_view(text).substr(begin));
}

}  // namespace inferdiff
