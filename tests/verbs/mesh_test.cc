// SPDX-License-Identifier: Apache-2.0
// `railbed perf mesh` as a person starts it, with endpoints of this machine over loopback.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "json_schema.h"
#include "perf/mesh/mesh_file.h"
#include "run_verb.h"
#include "started.h"

namespace railbed {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

class MeshVerb : public testing::Test {
 protected:
  MeshVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "mesh-verb.XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(path("token")) << "an open sesame that is long enough\n";
    std::filesystem::permissions(path("token"), std::filesystem::perms::owner_read);
  }
  ~MeshVerb() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::vector<std::string> serve() const {
    return {"perf", "serve", "--bind", "127.0.0.1", "--port", "0", "--token-file", path("token")};
  }
  // A mesh of endpoints on these ports.
  std::vector<std::string> mesh(const std::vector<std::string>& ports, const std::string& duration_s,
                                const std::vector<std::string>& more) const {
    std::ofstream file(path("mesh.yaml"));
    file << "hosts:\n";
    for (size_t i = 0; i < ports.size(); ++i)
      file << "- {name: node-" << i << ", port: " << ports[i] << ", rails: [{address: 127.0.0.1, leaf: a}]}\n";
    std::vector<std::string> all = {"perf",         "mesh",        "--endpoints", path("mesh.yaml"), "--tcp",
                                    "--token-file", path("token"), "-D",          duration_s};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::filesystem::path folder_;
};

std::vector<std::string> problems_of_mesh(const std::string& json) {
  const std::string schema = content(std::filesystem::path(source_dir()) / "docs/schemas/Mesh.json");
  return JsonSchema(parsed(schema)).problems(parsed(json));
}

// Whether anything is an outlier is up to the machine; that all is measured, reported and kept is not.
TEST_F(MeshVerb, MeasuresSavesAndCompares) {
  const Started first(serve());
  const Started second(serve());
  const std::vector<std::string> ports = {first.port(), second.port()};
  const auto ran = run_verb(mesh(ports, "0.05", {"--save", path("mesh"), "-o", "json"}));
  EXPECT_TRUE(ran.exit_status == 0 || ran.exit_status == 2) << ran.errors;
  EXPECT_THAT(problems_of_mesh(ran.output), IsEmpty());
  EXPECT_THAT(ran.output, HasSubstr("\"measured\": 1"));
  // The file says the same later, and against an unreachable peer.
  const auto shown =
      run_verb({"perf", "mesh", "--from", path("mesh"), "--compare", path("mesh"), "--expect", "bw>=9000"});
  EXPECT_EQ(shown.exit_status, 2);
  EXPECT_THAT(shown.output, HasSubstr("2 hosts, 1 rail, quick, same-rail: 1 of 1 pairs of NICs measured\n"));
  EXPECT_THAT(shown.output, AnyOf(HasSubstr("outside --expect:\nnode-0 rail0: sends "),
                                  HasSubstr("unknown, because their pairs failed")));
  EXPECT_THAT(shown.output, HasSubstr("no NIC is worse than in the baseline\n"));
  const auto as_json = run_verb({"perf", "mesh", "--from", path("mesh"), "--compare", path("mesh"), "--expect",
                                 "bw>=9000,p50<=0.001", "-o", "json"});
  EXPECT_THAT(problems_of_mesh(as_json.output), IsEmpty());
}

// Endpoints that come before their coordinator, which waits for one more than there are.
TEST_F(MeshVerb, EndpointsRegister) {
  std::string port;
  {
    const Started unused(serve());
    port = unused.port();  // in a moment nothing listens there
  }
  const auto registering = [&](const std::string& name) {
    std::vector<std::string> all = serve();
    all.insert(all.end(), {"--register", "127.0.0.1:" + port, "--rail", "lo", "--name", name});
    return all;
  };
  const Started first(registering("a"));
  const Started second(registering("b"));
  EXPECT_THAT(first.line(), HasSubstr("serving on 127.0.0.1"));
  EXPECT_THAT(first.line(), HasSubstr("127.0.0.1 port " + port + ": not registered, retrying: connecting"));
  const auto ran = run_verb({"perf", "mesh", "--listen", port, "--wait", "3", "--wait-time", "8", "--tcp",
                             "--token-file", path("token"), "-D", "0.05", "-o", "json"});
  EXPECT_EQ(ran.exit_status, 2) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\"measured\": 1"));
  EXPECT_THAT(problems_of_mesh(ran.output), IsEmpty());
  EXPECT_THAT(ran.errors, HasSubstr("endpoints can register at port " + port + "\n"));
  EXPECT_THAT(ran.errors, HasSubstr("2 of 3 endpoints registered within 8 s; starting with these\n"));
}

TEST_F(MeshVerb, CtrlCLeavesAPartialFile) {
  const Started first(serve());
  const Started second(serve());
  const Started third(serve());
  Started coordinator(mesh({first.port(), second.port(), third.port()}, "0.7",
                           {"--pattern", "full", "--rails-differ", "--save", path("mesh"), "-o", "json"}));
  // Until a round is in the file; the two others take four seconds and more.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto rounds = [&] {
    const auto file = perf::mesh::read_mesh_file(content(path("mesh")));
    return file ? file->results.rounds().size() : 0;
  };
  while (rounds() == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(coordinator.end(SIGINT), 1);
  const auto shown = run_verb({"perf", "mesh", "--from", path("mesh"), "-o", "json"});
  EXPECT_EQ(shown.exit_status, 1);
  EXPECT_THAT(problems_of_mesh(shown.output), IsEmpty());
  EXPECT_THAT(shown.output, HasSubstr("\"complete\": false"));
  EXPECT_THAT(shown.errors, HasSubstr("the mesh was stopped, or the file was cut"));
}

TEST_F(MeshVerb, WhatIsTypedWrongIsReportedBeforeAnythingIsMeasured) {
  const auto said = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"perf", "mesh"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto ran = run_verb(all);
    EXPECT_EQ(ran.exit_status, 1);
    return ran.errors;
  };
  EXPECT_EQ(said({}),
            "railbed: name endpoints or a file with --endpoints, not both\n"
            "  e.g. railbed perf mesh node-1=10.0.0.1,10.1.0.1 node-2=10.0.0.2,10.1.0.2 --token-file t\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1"}),
            "railbed: a mesh requires --token-file: endpoints send traffic only for clients with the token\n"
            "  e.g. `(umask 077; openssl rand -hex 16 > token)`, and `railbed perf serve --token-file token` on each "
            "endpoint\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1", "--listen", "1"}),
            "railbed: --listen waits for endpoints that register; do not name others\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1", "--wait", "2"}), "railbed: --wait requires --listen\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1", "--expect", "bw>360"}),
            "railbed: --expect: \"bw>360\" is not a band\n"
            "  use e.g. bw>=360,p50<=3.5,p99<=20: Gb/s and microseconds\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1", "--shifts", "1"}), "railbed: --shifts requires --pattern shift\n");
  EXPECT_EQ(said({"--from", path("token")}),
            "railbed: " + path("token") + ": mesh file, at byte 0: not a mesh file: it does not begin with RBMESH\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1", "--token-file", path("token"), "--save", "/nonexistent/x"}),
            "railbed: open /nonexistent/x: ENOENT (No such file or directory)\n"
            "  --save writes to this file; nothing was measured\n");
  EXPECT_EQ(said({"a=127.0.0.1", "b=127.0.0.1", "--compare", path("none")}),
            "railbed: read " + path("none") + ": ENOENT (No such file or directory)\n");
}

}  // namespace
}  // namespace railbed
