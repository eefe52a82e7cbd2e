// SPDX-License-Identifier: Apache-2.0
// `railbed perf collective` as a person starts it, with ranks of this machine over loopback.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "json_schema.h"
#include "run_verb.h"
#include "started.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems_of_collective(const std::string& json) {
  const std::string schema = content(std::filesystem::path(source_dir()) / "docs/schemas/Collective.json");
  return JsonSchema(parsed(schema)).problems(parsed(json));
}

class CollectiveVerb : public testing::Test {
 protected:
  CollectiveVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "collective-verb.XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(path("token")) << "an open sesame that is long enough\n";
    std::filesystem::permissions(path("token"), std::filesystem::perms::owner_read);
  }
  ~CollectiveVerb() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::vector<std::string> serve() const {
    return {"perf", "serve", "--bind", "127.0.0.1", "--port", "0", "--token-file", path("token")};
  }
  std::vector<std::string> collective(const std::vector<std::string>& ports,
                                      const std::vector<std::string>& more) const {
    std::ofstream file(path("ranks.yaml"));
    file << "hosts:\n";
    for (size_t i = 0; i < ports.size(); ++i)
      file << "- {name: node-" << i << ", port: " << ports[i] << ", rails: [{address: 127.0.0.1}]}\n";
    std::vector<std::string> all = {"perf",  "collective",   "--endpoints", path("ranks.yaml"),
                                    "--tcp", "--token-file", path("token")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::filesystem::path folder_;
};

TEST_F(CollectiveVerb, MeasuresAndChecks) {
  const Started first(serve());
  const Started second(serve());
  const Started third(serve());
  const std::vector<std::string> ports = {first.port(), second.port(), third.port()};
  const auto ran = run_verb(
      collective(ports, {"-b", "8", "-e", "64KiB", "-f", "64", "-n", "3", "-o", "json", "--save", path("saved")}));
  EXPECT_EQ(ran.exit_status, 0) << ran.errors;
  EXPECT_EQ(ran.output, content(path("saved")));
  EXPECT_THAT(problems_of_collective(ran.output), IsEmpty());
  EXPECT_THAT(ran.output, HasSubstr("\"right\": true"));
  const auto text = run_verb(collective(ports, {"-e", "32", "-f", "4", "-n", "2", "--steps", "--algorithm", "ring"}));
  EXPECT_EQ(text.exit_status, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("all-reduce over TCP, 3 ranks, 1 rail, float32 sum; 2 iterations after 5\n"
                                     "      size B        count  algo      time us algbw GB/s busbw GB/s    wrong\n"
                                     "           8            2  ring "));
  EXPECT_THAT(text.output,
              HasSubstr("ring of 32 B on rail0; microseconds of an all-reduce, medians over iterations\n"));
  EXPECT_THAT(text.output, HasSubstr("      3 all-gather "));
}

TEST_F(CollectiveVerb, WhatIsDoneOutlivesAKill) {
  const Started first(serve());
  const Started second(serve());
  Started coordinator(collective({first.port(), second.port()}, {"-b", "8", "-e", "8MiB", "-f", "1024", "-n", "1000",
                                                                 "-w", "1000", "--save", path("saved")}));
  for (int i = 0; i < 600 && content(path("saved")).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  coordinator.end(SIGKILL);
  const std::string kept = content(path("saved"));
  EXPECT_THAT(problems_of_collective(kept), IsEmpty()) << kept;
  EXPECT_THAT(kept, HasSubstr("\"complete\": false,\n  \"ended_by\": \"in progress, or killed\""));
  EXPECT_THAT(kept, HasSubstr("\"size_bytes\": 8"));
  const auto report = run_verb({"perf", "report", path("saved"), "-o", path("page.html")});
  EXPECT_EQ(report.exit_status, 0) << report.errors;
  EXPECT_THAT(report.output, HasSubstr("2 ranks, 1 rail is incomplete: in progress, or killed\n"));
  EXPECT_THAT(content(path("page.html")), HasSubstr("<dt>Incomplete</dt><dd>in progress, or killed</dd>"));
}

// Of several kinds: two all-reduces and the jitter that the fuzzer begins with.
TEST_F(CollectiveVerb, WhatAPageSavesMakesTheSamePage) {
  const std::filesystem::path seeds = std::filesystem::path(source_dir()) / "testdata/fuzz/html_fuzz";
  const auto page_of = [&](const std::vector<std::string>& files, const std::string& page) {
    std::vector<std::string> all = {"perf", "report", "-o", path(page)};
    all.insert(all.end(), files.begin(), files.end());
    const auto ran = run_verb(all);
    EXPECT_EQ(ran.exit_status, 0) << ran.errors;
    return content(path(page));
  };
  const std::string first =
      page_of({seeds / "collective", seeds / "jitter", seeds / "bw", seeds / "collective"}, "a.html");
  const std::string begin = "id=\"results\">";
  const size_t at = first.find(begin) + begin.size();
  const std::string saved = first.substr(at, first.find("</script>", at) - at);
  std::ofstream(path("saved")) << saved;
  EXPECT_EQ(page_of({path("saved")}, "b.html"), first);
  const size_t size = saved.find("\"size_bytes\":262144");
  ASSERT_NE(size, std::string::npos);
  std::ofstream(path("bad")) << std::string(saved).replace(size, 19, "\"size_bytes\":2");
  const auto bad = run_verb({"perf", "report", path("bad"), "-o", path("c.html")});
  EXPECT_EQ(bad.exit_status, 1);
  EXPECT_EQ(bad.errors,
            "railbed: " + path("bad") + ": results[1]: results[0].size_bytes must be 4 to 1073741824, found 2\n");
}

TEST_F(CollectiveVerb, AFullDiskIsReported) {
  const Started first(serve());
  const Started second(serve());
  const auto ran = run_verb(collective({first.port(), second.port()}, {"-e", "8", "-n", "1", "--save", "/dev/full"}));
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.output, HasSubstr("all-reduce over TCP, 2 ranks"));  // what was measured is reported anyway
  EXPECT_THAT(ran.errors, HasSubstr("/dev/full: ENOSPC (No space left on device)"));
}

TEST_F(CollectiveVerb, CtrlCEndsItAndLeavesTheRanksFree) {
  const Started first(serve());
  const Started second(serve());
  const std::vector<std::string> ports = {first.port(), second.port()};
  Started coordinator(collective(ports, {"-b", "8", "-e", "8MiB", "-f", "1024", "-n", "1000", "-w", "1000"}));
  EXPECT_THAT(first.line(), HasSubstr("a collective over tcp, rank 0 of 2, 1 rail(s)"));
  EXPECT_EQ(coordinator.end(SIGINT), 1);
  // The ranks are free.
  const auto after = run_verb(collective(ports, {"-e", "8", "-n", "1"}));
  EXPECT_EQ(after.exit_status, 0) << after.errors;
}

TEST_F(CollectiveVerb, WhatIsTypedWrongIsReportedBeforeAnythingIsMeasured) {
  const auto said = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"perf", "collective"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto ran = run_verb(all);
    EXPECT_EQ(ran.exit_status, 1);
    return ran.errors;
  };
  EXPECT_EQ(said({}),
            "railbed: name the ranks or a file with --endpoints, not both\n"
            "  e.g. railbed perf collective node-1=10.0.0.1,10.1.0.1 node-2=10.0.0.2,10.1.0.2 --token-file t\n");
  EXPECT_EQ(said({"a=10.0.0.1", "b=10.0.0.2"}),
            "railbed: a collective requires --token-file: ranks send traffic only for clients with the token\n"
            "  e.g. `(umask 077; openssl rand -hex 16 > token)`, and `railbed perf serve --token-file token` on each "
            "rank\n");
  EXPECT_EQ(said({"a=10.0.0.1", "b=10.0.0.2", "--token-file", path("token"), "--save", "/nonexistent/x"}),
            "railbed: open /nonexistent/x: ENOENT (No such file or directory)\n"
            "  --save writes to this file; nothing was measured\n");
  EXPECT_EQ(said({"a=10.0.0.1", "b=10.0.0.2", "-e", "4"}), "railbed: --end: 4 bytes are less than the 8 of --begin\n");
}

}  // namespace
}  // namespace railbed
