// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "probes/clocks.h"
#include "probes/host.h"

namespace inferdiff {
namespace {

TEST(ProbeHost, ListsOfProcessors) {
  EXPECT_EQ(ParseCpuList("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(ParseCpuList("7"), std::vector<int>{7});
  for (const char* text : {"", "x", "1-", "-1", "0-99999999", "1,,2"})
    EXPECT_TRUE(ParseCpuList(text).empty()) << text;
}

TEST(ProbeHost, AmdsClocks) {
  const auto clocks = ParseDpm("0: 132Mhz\n1: 2100Mhz *\n2: 2400Mhz\n");
  ASSERT_TRUE(clocks);
  EXPECT_EQ(clocks->now_mhz, 2100);
  EXPECT_EQ(clocks->most_mhz, 2400);
  EXPECT_FALSE(ParseDpm(""));
  EXPECT_FALSE(ParseDpm("S: none *\n"));
}

TEST(ProbeHost, TracersAreKnownByTheirLibraries) {
  EXPECT_EQ(TracerIn("7f00 r-xp /usr/lib/libcupti.so.13\n"), "cupti");
  EXPECT_EQ(TracerIn("/opt/nsys/libToolsInjection64.so\n/x/libcupti.so\n"),
            "nsys");
  EXPECT_EQ(TracerIn("/opt/rocm/lib/librocprofiler-sdk.so.1"),
            "rocprofiler-sdk");
  EXPECT_EQ(TracerIn("/usr/lib/libc.so.6"), "off");
}

TEST(ProbeHost, ALibraryThatIsNotThereSaysWhatWasLookedFor) {
  const Library none({"libnone-of-this.so.1", "libnone-of-this.so"});
  EXPECT_FALSE(none.found());
  EXPECT_EQ(none.why(), "libnone-of-this.so.1, libnone-of-this.so: not found");
  EXPECT_EQ(none.Find<int()>("anything"), nullptr);
}

TEST(ProbeHost, EveryNodeHasProcessorsAndBandwidth) {
  const std::vector<Node> nodes = Nodes();
  ASSERT_FALSE(nodes.empty());
  for (const Node& node : nodes) EXPECT_FALSE(node.cpus.empty());
  EXPECT_GT(NodeTriad(nodes[0]).Round(), 0.01);
}

TEST(ProbeHost, OnlyWhatHoldsClocksBackIsNamed) {
  EXPECT_EQ(ReasonText(0), "");
  EXPECT_EQ(ReasonText(1 | 2), "");  // idle; set by an application
  EXPECT_EQ(ReasonText(4 | 0x20), "power limit, temperature");
}

TEST(ProbeHost, ADeviceThatIsNotThereHasNoClocks) {
  Clocks clocks("0000:ff:1f.7");
  clocks.Sample();
  EXPECT_FALSE(clocks.found());
  EXPECT_FALSE(clocks.why().empty());
  EXPECT_TRUE(clocks.Sampled().empty());
  EXPECT_TRUE(clocks.Doubts().empty());
}

}  // namespace
}  // namespace inferdiff
