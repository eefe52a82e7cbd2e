// SPDX-License-Identifier: Apache-2.0
// `railbed addresses` from the command line to an API server and back.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/address_cell.h"
#include "base/testdata.h"
#include "doc/json.h"
#include "fake_cluster.h"
#include "json_schema.h"
#include "kube/object.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Addresses : public testing::Test {
 protected:
  Addresses() {
    const api::CellLease first{.holder = {"gpu1", "uuid-1", "boot-1"}, .claim = "a", .offsets = 0x00ff};
    const api::CellLease gone{
        .holder = {"gpu7", "uuid-7", "boot-7"}, .claim = "b", .offsets = 0x0f00, .gone_seconds = 7201};
    put({.network_name = "rail0", .base = IpAddress::parse("10.0.0.16").value(), .leases = {first, gone}});
    put({.network_name = "", .base = IpAddress::parse("fd00::").value(), .leases = {gone}});
    cluster_.server.put("/api/v1/nodes/gpu1",
                        parsed(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu1"},
      "status": {"nodeInfo": {"systemUUID": "uuid-1", "bootID": "boot-1"},
                 "conditions": [{"type": "Ready", "status": "True"}]}})"));
  }
  ~Addresses() override { std::filesystem::remove_all(folder_); }

  static doc::Value parsed(const std::string& text) { return kube::parse_object(text).value(); }
  void put(const api::AddressCell& cell) {
    doc::Value object = api::to_value(cell);
    object.find("metadata")->set("creationTimestamp", "2026-11-01T00:00:00Z");
    cluster_.server.put("/apis/railbed.dev/v1/addresscells/" + api::cell_name(cell.network_name, cell.base), object);
  }
  os::RunResult addresses(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "addresses");
    return run_verb(arguments, {"KUBECONFIG=" + (folder_ / "config").string(), "PATH=/usr/bin:/bin"});
  }
  static std::filesystem::path new_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-addresses-XXXXXX").string();
    return mkdtemp(name.data());
  }

  std::filesystem::path folder_ = new_folder();
  FakeCluster cluster_{folder_ / "config"};
};

TEST_F(Addresses, ListsWhoHasWhat) {
  const os::RunResult ran = addresses({"list"});
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_EQ(ran.output,
            "NETWORK  CELL          NODE  MACHINE  BOOT    HELD  FREE  SINCE                 GONE FOR\n"
            "-        fd00::/124    gpu7  uuid-7   boot-7     4    12  2026-11-01T00:00:00Z  7201 s\n"
            "rail0    10.0.0.16/28  gpu1  uuid-1   boot-1     8     4  2026-11-01T00:00:00Z  -\n"
            "rail0    10.0.0.16/28  gpu7  uuid-7   boot-7     4     4  2026-11-01T00:00:00Z  7201 s\n");
}

TEST_F(Addresses, AreForProgramsAsTheirSchemaSays) {
  JsonSchema schema(parsed(content(std::filesystem::path(source_dir()) / "docs/schemas/Addresses.json")));
  const os::RunResult ran = addresses({"list", "-o", "json"});
  EXPECT_THAT(ran.errors, IsEmpty());
  const doc::Value document = parsed(ran.output);
  EXPECT_THAT(schema.problems(document), IsEmpty()) << ran.output;
  EXPECT_EQ(document.find("cells")->as_array()->size(), 2U);
  EXPECT_THAT(addresses({"list", "-o", "yaml"}).output, HasSubstr("networkName: rail0\n"));
}

TEST_F(Addresses, AreReleasedByAnAdministratorsWord) {
  os::RunResult ran = addresses({"release", "gpu7"});
  EXPECT_EQ(ran.exit_status, 0) << ran.errors;
  EXPECT_EQ(ran.output,
            "NODE  MACHINE  BOOT    CELLS  ADDRESSES  NODE IS\n"
            "gpu7  uuid-7   boot-7      2          8  gone\n"
            "\n"
            "The machine must be off: pods that still run on it would share these addresses with new pods.\n"
            "To release them: railbed addresses release --yes gpu7\n");
  EXPECT_THAT(addresses({"list"}).output, HasSubstr("gpu7")) << "nothing was done yet";
  ran = addresses({"release", "gpu7", "--yes"});
  EXPECT_EQ(ran.exit_status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\n8 addresses released\n"));
  EXPECT_THAT(addresses({"list"}).output, AllOf(HasSubstr("gpu1"), Not(HasSubstr("gpu7"))));
}

TEST_F(Addresses, OfAMachineThatRunsAreNotReleased) {
  const os::RunResult ran = addresses({"release", "gpu1", "--yes"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(ran.errors,
            "railbed: Node gpu1 is Ready: its machine, uuid-1, is running and may have allocated its addresses to "
            "pods\n"
            "  a running machine releases its addresses itself when its pods are deleted\n");
}

TEST_F(Addresses, NeedAnActionAndACluster) {
  EXPECT_THAT(addresses({}).errors, HasSubstr("subcommand"));
  EXPECT_THAT(addresses({"relase", "x"}).errors, HasSubstr("did you mean release?"));
  const os::RunResult ran = run_verb({"addresses", "list"}, {"HOME=" + folder_.string()});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.errors, HasSubstr(folder_.string() + "/.kube/config"));
  EXPECT_EQ(addresses({"list", "--kubeconfig", "/nowhere"}).errors,
            "railbed: connecting to the API server: read /nowhere: ENOENT (No such file or directory)\n");
}

}  // namespace
}  // namespace railbed
