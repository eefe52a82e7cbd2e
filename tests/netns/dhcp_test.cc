// SPDX-License-Identifier: Apache-2.0
// The DHCP client against dnsmasq, over a veth pair into a pod's namespace.
#include "agent/addresses/dhcp.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "agent/addresses/dhcp_lease.h"
#include "os/ports/disk.h"
#include "scratch.h"

namespace railbed {
namespace {

using std::chrono::seconds;

// Runs a server on `interface` of this process's namespace; the destructor ends it.
class Dnsmasq {
 public:
  Dnsmasq(const std::string& interface, const std::string& directory) : leases_(directory + "/leases") {
    log_ = directory + "/log";
    std::vector<std::string> words = {
        "dnsmasq",
        "--keep-in-foreground",
        "--conf-file=/dev/null",
        "--port=0",
        "--interface=" + interface,
        "--bind-interfaces",
        "--user=root",
        "--log-dhcp",
        "--dhcp-authoritative",  // leases of vanished namespaces are no obstacle
        "--no-ping",             // without the ping, which delays an answer by three seconds
        "--dhcp-range=10.77.0.50,10.77.0.250,255.255.255.0,120",
        "--dhcp-option=option:router,10.77.0.1",
        "--dhcp-option=option:dns-server,10.77.0.3",
        "--dhcp-option=option:domain-search,eng.example.org,example.org",
        "--dhcp-option=option:classless-static-route,10.88.0.0/16,10.77.0.2,0.0.0.0/0,10.77.0.1",
        "--dhcp-option=option:T1,3",
        "--dhcp-leasefile=" + leases_,
        "--pid-file=" + directory + "/pid",
        "--log-facility=" + log_};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    child_ = fork();
    if (child_ != 0) return;
    execvp("dnsmasq", arguments.data());
    _exit(127);
  }
  ~Dnsmasq() {
    if (child_ <= 0) return;
    kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
  }
  std::string leases() const { return text_of(leases_); }
  std::string log() const { return text_of(log_); }
  int times(const std::string& what) const {
    std::string text = log();
    int count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  }

 private:
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::string leases_, log_;
  pid_t child_ = -1;
};

bool wait_for(const std::function<bool()>& what) {
  for (int i = 0; i < 900; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

class DhcpTest : public ScratchTest {
 protected:
  void SetUp() override {
    if (std::system("command -v dnsmasq >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs dnsmasq (tools/setup test)";
    ScratchTest::SetUp();
    if (IsSkipped()) return;
    std::string name = std::filesystem::temp_directory_path() / "railbed-dhcp.XXXXXX";
    directory_ = mkdtemp(name.data());
    os::NewLink pair{.kind = "veth", .name = IfName{"srv"}};
    pair.peer_name = IfName{"net1"};
    pair.peer_netns = pod_.get();
    auto made = host_->create(pair);
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    IfIndex srv = link(*host_, "srv").index;
    ASSERT_TRUE(host_->add_address({srv, *IpPrefix::parse("10.77.0.1/24")}).has_value());
    ASSERT_TRUE(host_->change(srv, {.up = true}).has_value());
    server_ = std::make_unique<Dnsmasq>("srv", directory_);
    ASSERT_TRUE(wait_for([&] { return server_->log().find("started") != std::string::npos; })) << server_->log();
  }
  void TearDown() override {
    server_.reset();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
    ScratchTest::TearDown();
  }

  std::string directory_;
  std::unique_ptr<Dnsmasq> server_;
};

TEST_F(DhcpTest, LeasesAreTakenRenewedAndGivenBack) {
  auto store = state::memory_store();
  auto blocks = ipam::whole_ranges();
  auto packets = os::real_packets();
  auto disk = os::real_disk();
  agent::DurableRecords records(*disk, testing::TempDir() + "records", "boot");
  agent::Engine engine(*kernel_, *store, *blocks, records);
  auto dhcp = std::make_unique<agent::Dhcp>(engine, *packets);
  ASSERT_TRUE(dhcp->start().has_value());
  doc::Value ipam = doc::Value::object();
  doc::Value asked = doc::Value::array();
  for (const char* option : {"6", "119", "121"}) {
    doc::Value item = doc::Value::object();
    item.set("option", option);
    asked.push(std::move(item));
  }
  ipam.set("request", std::move(asked));
  doc::Value listed = doc::Value::array();
  for (const char* prefix : {"10.88.0.0/13", "0.0.0.0/0"}) {
    doc::Value item = doc::Value::object();
    item.set("dst", prefix);
    listed.push(std::move(item));
  }
  ipam.set("routes", std::move(listed));
  agent::Dhcp::Request request{.owner = {"default/a@c1", "net1"},
                               .container_id = "c1",
                               .network = "lan",
                               .netns_path = "/run/netns/pod",
                               .ipam = ipam};
  auto result = dhcp->acquire(request, kernel_->clock().now() + seconds(90));
  ASSERT_TRUE(result.has_value()) << result.error().to_string() << server_->log();
  ASSERT_EQ(result->addresses.size(), 1u);
  const std::string address = result->addresses[0].address.address.to_string();
  EXPECT_TRUE(address.starts_with("10.77.0.")) << address;
  EXPECT_EQ(result->addresses[0].address.length, 24);
  EXPECT_EQ(result->addresses[0].gateway->to_string(), "10.77.0.1");
  ASSERT_EQ(result->routes.size(), 2u);
  EXPECT_EQ(result->routes[0].destination.to_string(), "10.88.0.0/16");
  EXPECT_EQ(result->dns.nameservers, std::vector<std::string>{"10.77.0.3"});
  EXPECT_EQ(result->dns.search, (std::vector<std::string>{"eng.example.org", "example.org"}));
  EXPECT_TRUE(wait_for([&] {  // dnsmasq writes its file after it has answered
    return server_->leases().find("00:63:31:2f:6c:61:6e:2f:6e:65:74:31") != std::string::npos;
  })) << server_->leases();

  // The server sends the answer to a renewal to the address itself, so the interface must have it.
  IfIndex net1 = link(*inside_, "net1").index;
  ASSERT_TRUE(inside_->add_address({net1, result->addresses[0].address}).has_value());
  const int discovered = server_->times("DHCPDISCOVER");
  const int acknowledged = server_->times("DHCPACK");
  EXPECT_TRUE(wait_for([&] { return server_->times("DHCPACK") >= acknowledged + 2; })) << server_->log();
  EXPECT_EQ(server_->times("DHCPDISCOVER"), discovered) << server_->log();
  // A restarted agent goes on renewing.
  dhcp = std::make_unique<agent::Dhcp>(engine, *packets);
  ASSERT_TRUE(dhcp->start().has_value());
  int before = server_->times("DHCPACK");
  EXPECT_TRUE(wait_for([&] { return server_->times("DHCPACK") > before; })) << server_->log();
  ASSERT_TRUE(dhcp->release({"default/a@c1", "net1"}).has_value());
  EXPECT_TRUE(wait_for([&] { return server_->leases().find(address) == std::string::npos; })) << server_->log();
  EXPECT_TRUE(wait_for([&] { return server_->times("DHCPRELEASE") == 1; })) << server_->log();
}

TEST_F(DhcpTest, TenInterfacesAtOnceGetTenAddresses) {
  // One namespace with a veth pair each: the clients have different ids and share one server.
  auto store = state::memory_store();
  auto blocks = ipam::whole_ranges();
  auto packets = os::real_packets();
  auto disk = os::real_disk();
  agent::DurableRecords records(*disk, testing::TempDir() + "records", "boot");
  agent::Engine engine(*kernel_, *store, *blocks, records);
  agent::Dhcp dhcp(engine, *packets);
  std::vector<std::string> given(10);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < given.size(); ++i)
    threads.emplace_back([&, i] {
      auto result = dhcp.acquire({.owner = {fmt::format("default/p{}@c{}", i, i), "net1"},
                                  .container_id = fmt::format("c{}", i),
                                  .network = "lan",
                                  .netns_path = "/run/netns/pod",
                                  .ipam = doc::Value::object()},
                                 kernel_->clock().now() + seconds(90));
      given[i] = result.has_value() ? result->addresses[0].address.to_string() : result.error().to_string();
    });
  for (std::thread& thread : threads) thread.join();
  std::ranges::sort(given);
  EXPECT_EQ(std::ranges::unique(given).size(), 0u);
  for (const std::string& one : given) EXPECT_EQ(one.substr(0, 8), "10.77.0.") << one;
  for (size_t i = 0; i < given.size(); ++i)
    EXPECT_TRUE(dhcp.release({fmt::format("default/p{}@c{}", i, i), "net1"}).has_value());
}

}  // namespace
}  // namespace railbed
