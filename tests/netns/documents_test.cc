// SPDX-License-Identifier: Apache-2.0
// The eight networks of a published document (testdata/documents/b) in one pod, by the programs: host interfaces with
// isRdma, addresses of a DHCP server, and an MTU of 9000.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testdata.h"
#include "os/ports/processes.h"
#include "scratch.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The document names the first; the others are to be filled in.
constexpr const char* kCloudPorts[] = {"enp163s0", "enp173s0", "enp183s0", "enp193s0",
                                       "enp203s0", "enp213s0", "enp223s0", "enp233s0"};
constexpr int kUsualMtu = 1500;
constexpr int kDocumentMtu = 9000;

std::string with_all(std::string text, const std::string& part, const std::string& other) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + other.size()))
    text.replace(at, part.size(), other);
  return text;
}
std::string document_text(const std::string& file) {
  return with_all(content(testdata() / "documents/b" / file), "<your-namespace>", "llm");
}
// The definition of a port, "one NetworkAttachmentDefinition per secondary network interface".
std::string port_definition(size_t number) {
  return with_all(with_all(document_text("port.yaml"), "port-1", fmt::format("port-{}", number)), kCloudPorts[0],
                  kCloudPorts[number - 1]);
}

// A program in the background, in `folder`, with both streams in a file there. It ends with this.
class Background {
 public:
  Background(const std::string& folder, const std::string& log, std::vector<std::string> words)
      : log_(std::filesystem::path(folder) / log) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    child_ = ::fork();
    if (child_ != 0) return;
    const int out = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ~Background() {
    if (child_ <= 0) return;
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  std::string log() const { return content(log_); }

 private:
  std::filesystem::path log_;
  pid_t child_ = -1;
};

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 900; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

class DocumentTest : public ScratchTest {
 protected:
  void SetUp() override {
    if (std::system("command -v dnsmasq >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs dnsmasq (tools/setup test)";
    ScratchTest::SetUp();
    if (IsSkipped()) return;
    std::string name = (std::filesystem::temp_directory_path() / "railbed-document-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const char* one : {"manifests", "bin"}) std::filesystem::create_directory(path(one));
    std::filesystem::create_symlink(SHIM_PROGRAM, path("bin/railbed"));
    for (size_t number = 1; number <= std::size(kCloudPorts); ++number) {
      make_veth(kCloudPorts[number - 1], peer(number));
      const IfIndex other = link(*host_, peer(number)).index;
      ASSERT_TRUE(host_->add_address({other, *IpPrefix::parse(fmt::format("10.70.{}.1/24", number))}).has_value());
      ASSERT_TRUE(host_->change(other, {.up = true}).has_value());
      write(fmt::format("manifests/port-{}.yaml", number), port_definition(number));
    }
    write("manifests/pod.yaml", "apiVersion: v1\nkind: Pod\n" + document_text("annotations.yaml") +
                                    "  name: eight\n  namespace: llm\nspec: {nodeName: n1, containers: []}\n");
    serve();
  }
  void TearDown() override {
    agent_.reset();
    server_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
    ScratchTest::TearDown();
  }

  std::filesystem::path path(const std::string& name) const { return std::filesystem::path(folder_) / name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  static std::string peer(size_t number) { return fmt::format("peer{}", number); }

  // A DHCP server on all the networks, and an agent that reads the manifests.
  void serve() {
    std::vector<std::string> words{"dnsmasq",
                                   "--keep-in-foreground",
                                   "--conf-file=/dev/null",
                                   "--port=0",
                                   "--bind-interfaces",
                                   "--user=root",
                                   "--log-dhcp",
                                   "--log-facility=-",
                                   "--dhcp-authoritative",
                                   "--no-ping",
                                   "--dhcp-leasefile=" + path("leases").string(),
                                   "--pid-file=" + path("pid").string()};
    for (size_t number = 1; number <= std::size(kCloudPorts); ++number) {
      words.push_back("--interface=" + peer(number));
      words.push_back(fmt::format("--dhcp-range=10.70.{0}.50,10.70.{0}.250,255.255.255.0,120", number));
    }
    server_ = std::make_unique<Background>(folder_, "dnsmasq.log", std::move(words));
    ASSERT_TRUE(comes_true([&] { return server_->log().find("started") != std::string::npos; })) << server_->log();
    agent_ = std::make_unique<Background>(
        folder_, "agent.log",
        std::vector<std::string>{RAILBED_PROGRAM, "agent", "--socket", path("agent.sock").string(), "--state-dir",
                                 path("state").string(), "--pending", path("pending").string(), "--records",
                                 path("records").string(), "--manifests", path("manifests").string(), "--metrics",
                                 "off", "--node", "n1"});
    ASSERT_TRUE(comes_true([&] { return agent_->log().find("answers on") != std::string::npos; })) << agent_->log();
  }

  // What the shim prints as a runtime calls it for the pod, with its exit status at the end.
  std::string cni(const std::string& command) const {
    return shell(
        "echo '{\"cniVersion\": \"1.0.0\", \"name\": \"pods\", \"type\": \"railbed\"}' | env RAILBED_SOCKET=agent.sock "
        "RAILBED_PENDING=pending CNI_COMMAND=" +
        command +
        " CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod CNI_IFNAME=eth0 CNI_PATH=$PWD/bin "
        "'CNI_ARGS=K8S_POD_NAMESPACE=llm;K8S_POD_NAME=eight' bin/railbed; echo status $?");
  }
  std::string shell(const std::string& script) const {
    auto ran = os::real_processes()->run({.program = "/bin/bash",
                                          .arguments = {"-c", "cd " + folder_ + "; exec 2>&1; " + script},
                                          .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                          .input = "",
                                          .deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3)});
    EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
    return ran ? ran->output : "";
  }
  // "enp163s0 1500" of each port on the host.
  std::vector<std::string> ports_on_host() {
    std::vector<std::string> out;
    for (const char* name : kCloudPorts)
      if (has(*host_, name)) out.push_back(fmt::format("{} {}", name, link(*host_, name).mtu));
    return out;
  }
  int leased() const {
    std::ifstream lines(path("leases"));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(" 10.70.") != std::string::npos;
    return count;
  }

  std::string folder_;
  std::unique_ptr<Background> server_, agent_;
};

TEST_F(DocumentTest, EightHostInterfacesWithDhcpAndJumboFramesAreAttachedAndPutBack) {
  const std::vector<std::string> before = ports_on_host();
  ASSERT_EQ(before.size(), 8u);
  EXPECT_EQ(before.front(), fmt::format("enp163s0 {}", kUsualMtu));
  const std::string added = cni("ADD");
  ASSERT_THAT(added, HasSubstr("status 0")) << agent_->log() << server_->log();
  EXPECT_EQ(ports_on_host(), std::vector<std::string>{});
  auto addresses = inside_->addresses();
  ASSERT_TRUE(addresses.has_value());
  for (size_t number = 1; number <= 8; ++number) {
    const os::Link one = link(*inside_, fmt::format("net{}", number));
    EXPECT_EQ(one.mtu, kDocumentMtu) << one.name.value;
    EXPECT_TRUE(one.up) << one.name.value;
    const std::string network = fmt::format("10.70.{}.", number);
    EXPECT_TRUE(std::ranges::any_of(*addresses, [&](const os::LinkAddress& address) {
      return address.link == one.index && address.prefix.to_string().starts_with(network);
    })) << one.name.value;
  }
  EXPECT_TRUE(comes_true([&] { return leased() == 8; })) << server_->log();
  EXPECT_THAT(shell(RAILBED_PROGRAM " attachments --state-dir state"), HasSubstr("llm/eight"));

  EXPECT_THAT(cni("DEL"), HasSubstr("status 0")) << agent_->log();
  EXPECT_EQ(ports_on_host(), before) << "names and MTU are those from before";
  EXPECT_TRUE(comes_true([&] { return leased() == 0; })) << server_->log();
}

TEST_F(DocumentTest, NothingIsAttachedWhenOneOfTheEightIsMissing) {
  ASSERT_TRUE(host_->remove(link(*host_, kCloudPorts[4]).index).has_value());
  const std::vector<std::string> before = ports_on_host();
  ASSERT_EQ(before.size(), 7u);
  EXPECT_THAT(cni("ADD"), AllOf(HasSubstr("enp203s0"), HasSubstr("status 1"))) << agent_->log();
  EXPECT_EQ(ports_on_host(), before) << "the other seven stay on the host, as they were";
  for (int number = 1; number <= 8; ++number) EXPECT_FALSE(has(*inside_, fmt::format("net{}", number))) << number;
  EXPECT_TRUE(comes_true([&] { return leased() == 0; })) << server_->log();
  EXPECT_THAT(cni("DEL"), HasSubstr("status 0"));
  EXPECT_EQ(ports_on_host(), before);
}

}  // namespace
}  // namespace railbed
