// SPDX-License-Identifier: Apache-2.0
#include "report/json_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<Json> kRows = {{{"name", "a\n\"b\"\xff"}, {"n", 1}},
                                 Json::array({1, 2}),
                                 Json::object(),
                                 "x"};

// Byte for byte what the library would print of the whole.
TEST(JsonStream, IsWhatTheLibraryWrites) {
  const Json whole = {{"schema", 1},
                      {"head", {{"deep", Json::array({1})}}},
                      {"rows", kRows},
                      {"none", Json::array()},
                      {"inner", {{"rows", kRows}, {"empty", Json::object()}}},
                      {"last", nullptr}};
  std::string text;
  {
    const TextSink sink = [&](std::string_view piece) { text += piece; };
    JsonStream out(sink);
    const auto same = [](const Json& row) { return row; };
    out.Members({{"schema", 1}, {"head", {{"deep", Json::array({1})}}}});
    out.Array("rows", kRows, same);
    out.Array("none", std::vector<Json>(), same);
    out.Object("inner", [&] {
      out.Array("rows", kRows, same);
      out.Object("empty", [] {});
    });
    out.Member("last", nullptr);
  }
  EXPECT_EQ(text,
            whole.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
}

TEST(JsonStream, EmptyDocument) {
  std::string text;
  const TextSink sink = [&](std::string_view piece) { text += piece; };
  { JsonStream out(sink); }
  EXPECT_EQ(text, "{}\n");
}

// A list of any length is never held as a whole.
TEST(JsonStream, HandsOnPieces) {
  size_t largest = 0, all = 0;
  const TextSink sink = [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    all += piece.size();
  };
  {
    JsonStream out(sink);
    out.Array("rows", std::vector<int>(100'000), [](int row) -> Json {
      return {{"row", row}};
    });
  }
  EXPECT_GT(all, size_t{1} << 20);
  EXPECT_LT(largest, size_t{1} << 17);
}

}  // namespace
}  // namespace inferdiff
