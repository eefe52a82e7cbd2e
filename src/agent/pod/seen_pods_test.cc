// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/seen_pods.h"

#include <gtest/gtest.h>

#include "agent/pod/manifest_source.h"
#include "agent/test_requests.h"
#include "os/fake/disk.h"

namespace railbed::agent {
namespace {

constexpr const char* kPodFile = "/m/a.yaml";

SeenPods one_pod(int64_t missing_since_s = 0) {
  return {{"d/p", {.file = kPodFile, .networks = "mv", .missing_since_s = missing_since_s}}};
}

FolderReading reading(std::map<std::string, FolderReading::Pod> pods) {
  return {.pods = std::move(pods), .damaged = {}, .unread = ""};
}

TEST(SeenPods, APodThatIsThereIsRememberedWithItsNetworks) {
  EXPECT_EQ(see({}, reading({{"d/p", {kPodFile, "mv"}}, {"d/q", {kPodFile, std::nullopt}}}), 100), one_pod());
  EXPECT_EQ(see(one_pod(50), reading({{"d/p", {"/m/b.yaml", "other"}}}), 100),
            (SeenPods{{"d/p", {.file = "/m/b.yaml", .networks = "other"}}}));
}

TEST(SeenPods, AnEmptyAnnotationAsksForNone) {
  EXPECT_EQ(see(one_pod(), reading({{"d/p", {kPodFile, ""}}}), 100), SeenPods{});
}

TEST(SeenPods, APodThatIsMissingFromWholeFilesIsRemovedAfterAWhile) {
  const FolderReading without = reading({{"d/p", {kPodFile, std::nullopt}}});
  SeenPods seen = see(one_pod(), without, 1000);
  EXPECT_EQ(seen, one_pod(1000));
  EXPECT_EQ(
      lost_networks(seen, without, "d/p", 1100),
      "pod d/p had networks (mv) in /m/a.yaml, which no longer names any; the networks count as removed in 500 s");
  seen = see(seen, without, 1599);
  EXPECT_EQ(seen, one_pod(1000));
  EXPECT_EQ(lost_networks(seen, without, "d/p", 1600), std::nullopt);
  EXPECT_EQ(see(seen, without, 1600), SeenPods{});
  // It came back in between.
  EXPECT_EQ(see(seen, reading({{"d/p", {kPodFile, "mv"}}}), 1599), one_pod());
  // The clock was set back.
  EXPECT_EQ(see(one_pod(1000), without, 10), one_pod(10));
}

TEST(SeenPods, WhatIsDamagedRemovesNothing) {
  const FolderReading damaged{.pods = {}, .damaged = {{kPodFile, "it is empty"}}, .unread = ""};
  SeenPods seen = see(one_pod(1000), damaged, 5000);
  EXPECT_EQ(seen, one_pod());
  EXPECT_EQ(lost_networks(seen, damaged, "d/p", 1'000'000),
            "pod d/p had networks (mv) in /m/a.yaml, which cannot be read now: /m/a.yaml: it is empty");
  const FolderReading unread{.pods = {}, .damaged = {}, .unread = "there is no manifest in /m"};
  seen = see(one_pod(), unread, 1'000'000);
  EXPECT_EQ(lost_networks(seen, unread, "d/p", 2'000'000),
            "pod d/p had networks (mv) in /m/a.yaml, which cannot be read now: there is no manifest in /m");
  EXPECT_EQ(lost_networks(seen, unread, "d/unknown", 2'000'000), std::nullopt);
}

TEST(SeenPods, AreReadAsTheyWereWritten) {
  const SeenPods seen = {{"d/p", {.file = kPodFile, .networks = "[{\"name\":\"mv\"}]", .missing_since_s = 7}},
                         {"d/q", {.file = kPodFile, .networks = "mv"}}};
  EXPECT_EQ(*read_seen_pods(seen_pods_text(seen)), seen);
  for (const auto& [text, message] :
       {std::pair{"", "it has no list of pods"}, std::pair{"{\"pods\":3}", "it has no list of pods"},
        std::pair{"{\"pods\":[{}]}", "one of its pods has no name or no file"},
        std::pair{"{\"pods\":[{\"pod\":\"a\"}]}", "one of its pods has no name or no file"}})
    EXPECT_EQ(read_seen_pods(text).error().message, message);
}

// The source itself, with the same disk for one agent after the other.
class LostManifests : public testing::Test, protected RequestRig {
 protected:
  static std::string pod_text(const std::string& name, const std::string& annotations) {
    return fmt::format("apiVersion: v1\nkind: Pod\nmetadata: {{name: {}, namespace: d{}}}\nspec: {{}}\n", name,
                       annotations.empty() ? "" : ", annotations: {" + annotations + "}");
  }
  static std::string with_networks(const std::string& name) {
    return pod_text(name, "k8s.v1.cni.cncf.io/networks: mv");
  }
  std::unique_ptr<ManifestSource> source_of(os::FakeKernel& of) {
    auto source = std::make_unique<ManifestSource>(of, *store, "/m", node::Settings{.node = "n"});
    source->remember_in(disk, "/var/lib/railbed/manifest-pods.json", [this] { return now_s; });
    return source;
  }
  static std::string answer(ManifestSource& source, const std::string& name = "p") {
    const auto pod = source.pod("d", name, "");
    if (!pod) return fmt::format("{}: {}", code_name(pod.error().code), pod.error().message);
    return pod->annotations.contains(kNetworksKey) ? "networks" : "without";
  }
  os::FakeDisk disk;
  int64_t now_s = 1000;
};

TEST_F(LostManifests, FailThePodThatHadNetworks) {
  const std::string whole = with_networks("p");
  kernel.put_file("/m/a.yaml", whole);
  kernel.put_file("/m/other.yaml", with_networks("other"));
  auto source = source_of(kernel);
  ASSERT_EQ(answer(*source), "networks");
  EXPECT_TRUE(source->look()->empty());
  const std::string lost = "busy: pod d/p had networks (mv) in /m/a.yaml, which cannot be read now: /m/a.yaml: ";
  const std::string gone =
      "busy: pod d/p had networks (mv) in /m/a.yaml, which no longer names any; the networks count as removed in 600 s";
  const std::pair<std::string, std::string> cases[] = {
      {"", lost + "it is empty"},
      {" \n\n", lost + "it is empty"},
      {std::string(400, '\0'), lost + "it contains NUL bytes"},
      {"# nothing\n", lost + "it contains no manifest"},
      {"\xEF\xBB\xBF", lost + "it contains no manifest"},
      {"kind: List\nitems: []\n", gone},
      {"just a word\n", lost + "it contains no manifest"},
      {whole.substr(0, whole.find("kind")), lost + "it contains no manifest"},
      {with_networks("q"), gone},
      {whole + "---\n" + pod_text("p", ""), gone},
  };
  for (const auto& [text, message] : cases) {
    kernel.put_file("/m/a.yaml", text);
    EXPECT_EQ(answer(*source), message) << text;
    EXPECT_EQ(answer(*source, "p-n"), message) << "as the kubelet names its own pods";
    EXPECT_EQ(answer(*source_of(kernel)), message) << "the next agent";
    EXPECT_EQ(answer(*source, "other"), "networks");
    EXPECT_EQ(source->look()->count("pod d/p"), 1);
    kernel.put_file("/m/a.yaml", whole);
    EXPECT_EQ(answer(*source), "networks");
  }
  kernel.put_file("/m/a.yaml", whole.substr(0, whole.find("mv")) + "\"mv");
  EXPECT_EQ(answer(*source).find(lost + "line "), 0) << answer(*source);
}

TEST_F(LostManifests, EndWhenSomebodySaysSo) {
  kernel.put_file("/m/a.yaml", with_networks("p"));
  auto source = source_of(kernel);
  ASSERT_EQ(answer(*source), "networks");
  kernel.put_file("/m/a.yaml", pod_text("q", ""));
  EXPECT_NE(answer(*source).find("had networks"), std::string::npos);
  now_s += kRemovalSettles_s;
  EXPECT_EQ(answer(*source).find("not found: there is no pod d/p in /m"), 0) << answer(*source);
  EXPECT_TRUE(source->look()->empty());

  kernel.put_file("/m/a.yaml", with_networks("p"));
  ASSERT_EQ(answer(*source), "networks");
  kernel.put_file("/m/a.yaml", pod_text("p", "k8s.v1.cni.cncf.io/networks: \"\""));
  EXPECT_EQ(answer(*source), "networks") << "of an empty annotation nothing is made";
  kernel.put_file("/m/a.yaml", pod_text("p", ""));
  EXPECT_EQ(answer(*source), "without");
}

TEST_F(LostManifests, CountWithoutTheFolderToo) {
  kernel.put_file("/m/a.yaml", with_networks("p"));
  ASSERT_EQ(answer(*source_of(kernel)), "networks");
  os::FakeKernel bare;
  auto source = source_of(bare);
  EXPECT_EQ(answer(*source).find("busy: pod d/p had networks (mv) in /m/a.yaml, which cannot be read now: "), 0);
  EXPECT_EQ(answer(*source, "unknown").find("not found: "), 0);
  EXPECT_EQ(source->not_ready().size(), 1);
  EXPECT_EQ(source->look()->count("/m"), 1);
  now_s += 100 * kRemovalSettles_s;
  EXPECT_EQ(answer(*source).find("busy: "), 0) << "what is not read removes nothing";
}

TEST_F(LostManifests, SayThatTheirFileCannotBeWritten) {
  disk.refuse(EROFS);
  kernel.put_file("/m/a.yaml", with_networks("p"));
  auto source = source_of(kernel);
  EXPECT_EQ(answer(*source), "networks");
  EXPECT_EQ(source->look()->count("/var/lib/railbed/manifest-pods.json"), 1);
  kernel.put_file("/m/a.yaml", "");
  EXPECT_NE(answer(*source).find("had networks"), std::string::npos) << "this agent knows it";
  disk.refuse(0);
  kernel.put_file("/m/a.yaml", with_networks("p"));
  EXPECT_TRUE(source->look()->empty()) << "written once there is room";
  kernel.put_file("/m/a.yaml", "");
  EXPECT_NE(answer(*source_of(kernel)).find("had networks"), std::string::npos) << "the next agent knows it";
}

TEST_F(LostManifests, SayThatTheirFileCouldNotBeRead) {
  disk.put("/var/lib/railbed/manifest-pods.json", "{\"pods\":");
  kernel.put_file("/m/a.yaml", with_networks("p"));
  auto source = source_of(kernel);
  EXPECT_EQ(answer(*source), "networks");
  EXPECT_EQ(source->look()->at("/var/lib/railbed/manifest-pods.json"),
            "reading /var/lib/railbed/manifest-pods.json: it has no list of pods");
  EXPECT_TRUE(source_of(kernel)->look()->empty()) << "it was written again";
}

TEST(SeenPods, AMessageHasTheBeginningOfALongAnnotation) {
  const SeenPods seen = {{"d/p", {.file = kPodFile, .networks = "a\nb" + std::string(1000, 'x')}}};
  const auto why = lost_networks(seen, reading({}), "d/p", 100);
  ASSERT_TRUE(why.has_value());
  EXPECT_LT(why->size(), 300u);
  EXPECT_EQ(why->find('\n'), std::string::npos);
}

}  // namespace
}  // namespace railbed::agent
