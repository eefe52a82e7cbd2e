// SPDX-License-Identifier: Apache-2.0
#include "os/record/recorded.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "doc/limits_of.h"
#include "os/netlink/devlink.h"
#include "os/record/netlink_json.h"
#include "os/record/tar.h"

namespace railbed::os {
namespace {

namespace fs = std::filesystem;

class RecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "railbed-recording-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }
  void put(const std::string& path, const std::string& content) {
    fs::create_directories(fs::path(base_ + path).parent_path());
    std::ofstream(base_ + path) << content;
  }
  std::string base_;
};

RecordedLinks sample_links() {
  Link link{.index = IfIndex{3}, .name = IfName{"ens1f0np0"}, .alt_names = {"rail0", "enp1s0f0np0"}, .alias = "a"};
  link.kind = "bond";
  link.hw_address = {2, 0, 0, 0, 0, 0xff};
  link.permanent_address = {1, 2};
  link.arp_type = 32;
  link.mtu = 9000;
  link.up = link.lower_up = link.parent_elsewhere = true;
  link.oper_state = "up";
  link.parent = IfIndex{5};
  link.master = IfIndex{6};
  link.parent_bus = "pci";
  link.parent_device = "0000:01:00.0";
  link.group = 7;
  link.num_vfs = 1;
  VfInfo vf{.index = VfIndex{0}, .mac = MacAddress::parse("02:00:00:00:00:01").value(), .vlan = 5, .qos = 2};
  vf.proto = VlanProto::k8021ad;
  vf.spoof_check = false;
  vf.trust = true;
  vf.query_rss = false;
  vf.link_state = VfLinkState::kDisable;
  vf.min_tx_rate_mbps = 1;
  vf.max_tx_rate_mbps = 2;
  vf.node_guid = Guid{0xffeeddccbbaa9988};
  vf.port_guid = Guid{1};
  link.vfs = {vf, VfInfo{.index = VfIndex{1}}};
  Route route{.destination = IpPrefix::parse("10.0.0.0/8").value(), .link = IfIndex{3}};
  route.gateway = IpAddress::parse("10.0.0.1").value();
  route.metric = 0;
  route.table = 254;
  route.mtu = 1500;
  route.advmss = 1400;
  route.scope = 0;
  Route fallback{.destination = Route::everywhere(IpFamily::kV6), .link = IfIndex{3}};
  return {{link, Link{.index = IfIndex{1}, .name = IfName{"lo"}}},
          {{IfIndex{3}, IpPrefix::parse("fd00::1/64").value()}},
          {route, fallback},
          std::vector<Rule>{{IpPrefix::parse("10.0.0.7/32").value(), 101, 32765}}};
}

RecordedRdma sample_rdma() {
  RdmaLinkPort port{.number = 1, .netdev = IfIndex{4}, .netdev_name = "ib0", .state = "ACTIVE"};
  port.physical_state = "LinkUp";
  port.lid = 0;
  port.sm_lid = 1;
  port.subnet_prefix = 0xfe80000000000000;
  RdmaLink link{.index = 2, .name = "mlx5_0", .firmware = "28.1", .node_guid = Guid{5}};
  link.system_image_guid = Guid{6};
  link.protocol = "ib";
  link.ports = {port};
  return {{link}, RdmaNetnsMode::kExclusive};
}

RecordedHost sample_host() {
  return {"node1",
          "6.12.0",
          "id",
          {{PciAddress{0, 1, 0, 0}, {EswitchMode::kSwitchdev, "28.1"}}, {PciAddress{0, 2, 0, 0}, {std::nullopt, "1"}}}};
}

NetlinkAnswers sample_answers() {
  NetlinkAnswers answers;
  put_eswitch_mode(answers, PciAddress{0, 1, 0, 0}, EswitchMode::kSwitchdev);
  put_firmware_version(answers, PciAddress{0, 2, 0, 0}, "28.1");
  answers.put(NetlinkQuestion({NetlinkFamily::kRdma, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET)}, "none"),
              {});
  answers.unreachable[NetlinkFamily::kDevlink] = system_error(EPERM, "CTRL_CMD_GETFAMILY devlink");
  return answers;
}

doc::Value reread(const doc::Value& value) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<doc::Source>(doc::Source{"test.json", doc::to_json(value, 1)});
  auto again = doc::parse_json(source, diagnostics);
  EXPECT_TRUE(again.has_value()) << doc::render(diagnostics);
  return again.value_or(doc::Value());
}

TEST(NetlinkJson, GoesBothWays) {
  EXPECT_EQ(read_links(reread(to_value(sample_links()))), sample_links());
  EXPECT_EQ(read_rdma(reread(to_value(sample_rdma()))), sample_rdma());
  EXPECT_EQ(read_host(reread(to_value(sample_host()))), sample_host());
  EXPECT_EQ(read_links(reread(to_value(RecordedLinks{}))), RecordedLinks{});
  EXPECT_EQ(read_answers(reread(to_value(sample_answers()))), sample_answers());
  EXPECT_EQ(read_answers(reread(to_value(NetlinkAnswers{}))), NetlinkAnswers{});
}

TEST(NetlinkJson, AnswersAreByFamilyAndQuestion) {
  NetlinkAnswers answers;
  put_eswitch_mode(answers, PciAddress{0, 1, 0, 0}, EswitchMode::kSwitchdev);
  EXPECT_EQ(doc::to_json(to_value(answers)),
            R"({"version":1,"devlink":{"300000000000050000000000000000001d010000080001007063690011000200)"
            R"(303030303a30313a30302e3000000000":["380000000000000000000000000000001d010000080001007063690011000200)"
            R"(303030303a30313a30302e30000000000600190001000000"]}})");
}

TEST(NetlinkJson, FamiliesThatCouldNotBeReachedHaveTheirErrno) {
  NetlinkAnswers answers;
  answers.unreachable[NetlinkFamily::kRdma] = system_error(EMFILE, "socket NETLINK_RDMA");
  EXPECT_EQ(doc::to_json(to_value(answers)),
            "{\"version\":1,\"unreachable\":{\"rdma\":{\"errno\":24,"
            "\"message\":\"socket NETLINK_RDMA: EMFILE (Too many open files)\"}}}");
}

// What each field may be. RAILBED_UPDATE=1 rewrites it.
TEST(NetlinkJson, EveryFieldHasItsLimits) {
  const auto limits = [](const doc::Value& good, const auto& read) {
    return doc::LimitsOf(reread(good),
                         [&](const std::string& json) {
                           doc::Diagnostics none;
                           const auto value =
                               doc::parse_json(std::make_shared<doc::Source>(doc::Source{"x", json}), none);
                           return value && read(*value).has_value();
                         })
        .text();
  };
  expect_golden(testdata() / "os/links.limits",
                limits(to_value(sample_links()), [](const doc::Value& value) { return read_links(value); }));
  expect_golden(testdata() / "os/rdma.limits",
                limits(to_value(sample_rdma()), [](const doc::Value& value) { return read_rdma(value); }));
  expect_golden(testdata() / "os/host.limits",
                limits(to_value(sample_host()), [](const doc::Value& value) { return read_host(value); }));
  expect_golden(testdata() / "os/netlink.limits",
                limits(to_value(sample_answers()), [](const doc::Value& value) { return read_answers(value); }));
}

TEST(NetlinkJson, TextThatIsNoUtf8CanBeReadBack) {
  RecordedLinks links;
  links.links = {Link{.index = IfIndex{1}, .name = IfName{"caf\xc3\xa9"}, .alias = "a\xff\xc3z\xed\xa0\x80"}};
  auto again = read_links(reread(to_value(links)));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->links[0].name.value, "caf\xc3\xa9");
  EXPECT_EQ(again->links[0].alias, "a??z???");
}

TEST_F(RecordingTest, ErrorsShowThePlace) {
  struct {
    std::string text;
    std::string message;
  } cases[] = {
      {R"({"links": 5})", "railbed/links.json:1:11: links must be a list, found an integer 5"},
      {R"({"links": [{"mtu": "x"}]})",
       "railbed/links.json:1:20: links[0].mtu must be an integer, found a string \"x\""},
      {R"({"links": [{"mtu": 99999999999}]})",
       "railbed/links.json:1:20: links[0].mtu must be -2147483648 to 2147483647, found 99999999999"},
      {R"({"links": [{"address": "02:0g"}]})",
       "railbed/links.json:1:24: links[0].address: \"02:0g\" is not a hardware address (\"02:00:…\")"},
      {R"({"links": [{"address": "02:"}]})",
       "railbed/links.json:1:24: links[0].address: \"02:\" is not a hardware address (\"02:00:…\")"},
      {R"({"links": [{"vfs": [{"linkState": "on"}]}]})",
       "railbed/links.json:1:35: links[0].vfs[0].linkState must be \"auto\", \"enable\" or \"disable\", found \"on\""},
      {R"([])", "railbed/links.json:1:1: the document must be an object (keys with values), found a list"},
  };
  for (const auto& c : cases) {
    put("/railbed/links.json", c.text);
    auto kernel = recorded_kernel(base_);
    ASSERT_FALSE(kernel.has_value()) << c.text;
    EXPECT_EQ(kernel.error().message, c.message);
    EXPECT_EQ(kernel.error().code, Code::kInvalid);
    EXPECT_EQ(kernel.error().context, std::vector<std::string>{"reading /railbed/links.json of the recording"});
  }
  put("/railbed/links.json", "{");
  EXPECT_NE(recorded_kernel(base_).error().message.find("railbed/links.json:1:2"), std::string::npos)
      << recorded_kernel(base_).error().message;
  EXPECT_EQ(recorded_kernel(base_ + "/none").error().message,
            fmt::format("open {}/none: ENOENT (No such file or directory)", base_));
}

TEST_F(RecordingTest, AnswersMustBeMessages) {
  const std::string none(32, '0');
  const std::pair<std::string, std::string> cases[] = {
      {R"({"devlink": 5})",
       "railbed/netlink.json:1:13: devlink must be an object (keys with values), found an integer 5"},
      {R"({"devlink": {"00": []}})",
       "railbed/netlink.json:1:20: devlink.00: the key is not a netlink message (at least 16 bytes, as \"2c00…\")"},
      {R"({"devlink": {")" + none + R"(": 5}})",
       "railbed/netlink.json:1:50: devlink." + none + " must be a list, found an integer 5"},
      {R"({"devlink": {")" + none + R"(": ["00"]}})",
       "railbed/netlink.json:1:50: devlink." + none +
           ": \"00\" is not a netlink message (at least 16 bytes, as \"2c00…\")"},
      {R"({"rdma": {")" + none + R"(": ["000000000000000000000000000000xx"]}})",
       "railbed/netlink.json:1:47: rdma." + none +
           ": \"000000000000000000000000000000xx\" is not a netlink message (at least 16 bytes, as \"2c00…\")"},
  };
  for (const auto& [text, message] : cases) {
    put("/railbed/netlink.json", text);
    auto kernel = recorded_kernel(base_);
    ASSERT_FALSE(kernel.has_value()) << text;
    EXPECT_EQ(kernel.error().message, message);
    EXPECT_EQ(kernel.error().code, Code::kInvalid);
    EXPECT_EQ(kernel.error().context, std::vector<std::string>{"reading /railbed/netlink.json of the recording"});
  }
  // A family that only a later version asks is skipped; null is absent.
  put("/railbed/netlink.json", R"({"version": 2, "ethtool": 5, "rdma": {")" + none + R"(": null}})");
  EXPECT_TRUE(recorded_kernel(base_).has_value());
}

TEST_F(RecordingTest, APlainCopyOfFilesHasNoNetlink) {
  put("/sys/class/net/x", "");
  put("/proc/sys/kernel/hostname", "gpu7\n");
  auto kernel = recorded_kernel(base_).value();
  EXPECT_FALSE(kernel->live());
  EXPECT_EQ(kernel->host_name(), "gpu7");
  EXPECT_EQ(kernel->links().error().message, "the recording has no railbed/links.json");
  EXPECT_EQ(kernel->rdma().error().code, Code::kUnsupported);
  EXPECT_EQ(eswitch_mode(*kernel->questions(), PciAddress{0, 1, 0, 0}).error().message,
            "DEVLINK_CMD_ESWITCH_GET pci/0000:01:00.0: the recording contains no answer");
  EXPECT_EQ(kernel->eswitch().error().message,
            "DEVLINK_CMD_ESWITCH_SET: this is a recorded machine; nothing can be changed");
  EXPECT_EQ(kernel->files().write("/sys/class/net/x", "1").error().message,
            "write /sys/class/net/x: this is a recorded machine; nothing can be changed");
}

// Reads a machine through a Recorder; the tar file then gives the same answers.
TEST_F(RecordingTest, RecordsWhatIsLookedAtAndNothingElse) {
  put("/sys/devices/pci/nic/vendor", "0x15b3\n");
  put("/sys/devices/pci/nic/secret", "do not record");
  put("/sys/devices/pci/nic/net/eth0/mtu", "9000\n");
  fs::create_directories(base_ + "/sys/class/net");
  fs::create_directories(base_ + "/sys/bus/pci/devices");
  fs::create_symlink("../../devices/pci/nic/net/eth0", base_ + "/sys/class/net/eth0");
  fs::create_symlink("../../../devices/pci/nic", base_ + "/sys/devices/pci/nic/net/eth0/device");
  fs::create_symlink("../../../devices/pci/nic", base_ + "/sys/bus/pci/devices/0000:01:00.0");
  put("/railbed/links.json", doc::to_json(to_value(sample_links())));
  put("/railbed/rdma.json", doc::to_json(to_value(sample_rdma())));
  put("/railbed/host.json", doc::to_json(to_value(sample_host())));

  auto machine = recorded_kernel(base_).value();
  Recorder recorder(*machine);
  auto look = [](FileTree& files) {
    std::string text;
    text += fmt::format("{}\n", fmt::join(files.list("/sys/class/net").value(), " "));
    text += files.read_link("/sys/class/net/eth0").value() + "\n";
    text += files.read("/sys/class/net/eth0/mtu").value();
    text += files.read("/sys/bus/pci/devices/0000:01:00.0/vendor").value();
    text += files.real_path("/sys/bus/pci/devices/0000:01:00.0").value() + "\n";
    text += fmt::format("{}\n", files.exists("/sys/bus/pci/devices/0000:01:00.0/net"));
    text += fmt::format("{}\n", files.exists("/sys/none"));
    return text;
  };
  std::string seen = look(recorder.kernel().files());
  std::string tar = base_ + "/machine.tar";
  auto written = recorder.write(tar);
  ASSERT_TRUE(written.has_value()) << written.error().to_string();

  auto again = recorded_kernel_from_tar(tar);
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(look((*again)->files()), seen);
  EXPECT_FALSE((*again)->files().exists("/sys/devices/pci/nic/secret"));
  EXPECT_EQ((*again)->links().value()->list(WithVfs::kYes), sample_links().links);
  EXPECT_EQ((*again)->links().value()->routes(), sample_links().routes);
  EXPECT_EQ((*again)->rdma().value()->list(), sample_rdma().devices);
  EXPECT_EQ((*again)->rdma().value()->netns_mode(), RdmaNetnsMode::kExclusive);
  EXPECT_EQ((*again)->host_name(), "node1");

  ASSERT_TRUE(recorder.write(base_ + "/machine.tar.gz").has_value());
  EXPECT_LT(fs::file_size(base_ + "/machine.tar.gz"), fs::file_size(tar) / 4);
  EXPECT_EQ(look(recorded_kernel_from_tar(base_ + "/machine.tar.gz").value()->files()), seen);

  Recorder second(**again);
  look(second.kernel().files());
  ASSERT_TRUE(second.write(base_ + "/again.tar").has_value());
  std::ifstream first_bytes(tar, std::ios::binary);
  std::ifstream second_bytes(base_ + "/again.tar", std::ios::binary);
  EXPECT_TRUE(
      std::equal(std::istreambuf_iterator<char>(first_bytes), {}, std::istreambuf_iterator<char>(second_bytes)));
}

TEST_F(RecordingTest, ARecordingThatCannotBeWrittenLeavesNothing) {
  auto machine = recorded_kernel(base_).value();
  Recorder recorder(*machine);
  auto written = recorder.write(base_ + "/none/x.tar");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message,
            fmt::format("create {0}/none/x.tar.part: Failed to open '{0}/none/x.tar.part': ENOENT (No such file or "
                        "directory)",
                        base_));
  // A folder has the name: the recording was made beside it, and goes.
  fs::create_directories(base_ + "/taken.tar/full");
  auto refused = recorder.write(base_ + "/taken.tar");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("rename " + base_ + "/taken.tar.part: EISDIR"));
  EXPECT_FALSE(fs::exists(base_ + "/taken.tar.part"));
}

struct HostileEntry {
  std::string name;
  unsigned type = AE_IFREG;
  std::string text;  // content or target
  bool hard_link = false;
};

std::string tar_of(const std::vector<HostileEntry>& entries) {
  std::string bytes(1 << 20, '\0');
  size_t used = 0;
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
  for (const HostileEntry& each : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, each.name.c_str());
    archive_entry_set_filetype(entry, each.type);
    archive_entry_set_perm(entry, 0644);
    if (each.hard_link)
      archive_entry_set_hardlink(entry, each.text.c_str());
    else if (each.type == AE_IFLNK)
      archive_entry_set_symlink(entry, each.text.c_str());
    else
      archive_entry_set_size(entry, static_cast<la_int64_t>(each.text.size()));
    archive_write_header(writer, entry);
    if (!each.hard_link && each.type == AE_IFREG) archive_write_data(writer, each.text.data(), each.text.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

TEST(Tar, HostileTarsAreRefused) {
  struct {
    std::vector<HostileEntry> entries;
    std::string message;
  } cases[] = {
      {{{"../etc/passwd", AE_IFREG, "x"}}, "t.tar: \"../etc/passwd\" leads out of the recording"},
      {{{"sys/../../x", AE_IFREG, "x"}}, "t.tar: \"sys/../../x\" leads out of the recording"},
      {{{"a", AE_IFLNK, "/etc"}, {"a/passwd", AE_IFREG, "x"}},
       "t.tar: \"a/passwd\" is below a path that is not a directory"},
      {{{"a", AE_IFREG, "x"}, {"a/b", AE_IFREG, "x"}}, "t.tar: \"a/b\" is below a path that is not a directory"},
      {{{"a", AE_IFREG, "/etc/passwd", true}}, "t.tar: \"a\" is a hard link to a missing entry"},
      {{{"a", AE_IFREG, "../../etc/passwd", true}}, "t.tar: \"a\" is a hard link to a missing entry"},
  };
  for (const auto& c : cases) {
    MemoryFiles files;
    auto read = read_tar_bytes(tar_of(c.entries), "t.tar", files);
    ASSERT_FALSE(read.has_value()) << c.message;
    EXPECT_EQ(read.error().message, c.message);
    EXPECT_EQ(read.error().code, Code::kInvalid);
  }
}

TEST(Tar, OddButHarmlessTarsAreRead) {
  MemoryFiles files;
  auto read = read_tar_bytes(tar_of({{"/sys/a", AE_IFREG, "1"},
                                     {"./sys//b", AE_IFREG, "/sys/a", true},
                                     {"sys/out", AE_IFLNK, "../../../etc/passwd"},
                                     {"sys/pipe", AE_IFIFO, ""},
                                     {"sys/null", AE_IFCHR, ""}}),
                             "t.tar", files);
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(files.read("/sys/b"), "1");
  EXPECT_EQ(files.list("/sys"), (std::vector<std::string>{"a", "b", "out"}));
  EXPECT_EQ(files.read("/sys/out").error().code, Code::kNotFound);
}

TEST(Tar, OneDirectoryAroundEverythingIsSkipped) {
  MemoryFiles files;
  auto read = read_tar_bytes(tar_of({{"gpu7/sys/a", AE_IFREG, "1"}, {"gpu7/sys/b", AE_IFLNK, "a"}}), "t.tar", files);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(files.read("/sys/b"), "1");
  EXPECT_FALSE(files.exists("/gpu7"));
}

TEST(Tar, CutAndOtherFilesAreRefused) {
  std::string whole = tar_of({{"sys/a", AE_IFREG, std::string(3000, 'x')}});
  for (size_t size : {1UL, 100UL, 700UL, 2000UL}) {
    MemoryFiles files;
    EXPECT_FALSE(read_tar_bytes(whole.substr(0, size), "t.tar", files).has_value()) << size;
  }
  MemoryFiles files;
  auto read = read_tar_bytes("this is no tar file at all, just a text", "t.tar", files);
  EXPECT_EQ(read.error().message, "t.tar is not a tar file: Unrecognized archive format");
  EXPECT_EQ(read_tar("/no/such.tar", files).error().message, "open /no/such.tar: ENOENT (No such file or directory)");
}

}  // namespace
}  // namespace railbed::os
