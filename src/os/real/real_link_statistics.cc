// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <vector>

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "os/ports/link_statistics.h"
#include "os/real/descriptor.h"
#include "os/real/ethtool_codec.h"

namespace railbed::os {
namespace {

// Drivers count some hundreds, and some dozens more per queue. The kernel writes as many values as the driver has at
// that moment, whatever was asked for: so there is always room for many more than it has just reported.
constexpr size_t kRoom = 65536;
constexpr size_t kMost = kRoom / 4;
constexpr int kTries = 3;  // while queues come and go

// A request of the kernel's with what follows its header.
template <typename Header>
class Request {
 public:
  Request(uint32_t command, size_t room_bytes) : bytes_((sizeof(Header) + room_bytes + 7) / 8) {
    header().cmd = command;
  }
  Header& header() { return *reinterpret_cast<Header*>(bytes_.data()); }
  const char* rest() const { return reinterpret_cast<const char*>(bytes_.data()) + sizeof(Header); }
  void* data() { return bytes_.data(); }

 private:
  std::vector<uint64_t> bytes_;
};

class RealLinkStatistics : public LinkStatistics {
 public:
  Result<std::map<std::string, uint64_t>> read(const std::string& interface) override {
    if (interface.empty() || interface.size() >= IFNAMSIZ)
      return fail(Code::kInvalid, "\"{}\" is not an interface name", interface);
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail(system_error(errno, "a socket for ETHTOOL_GSTATS"));
    for (int tried = 0; tried < kTries; ++tried) {
      const uint32_t count = TRY(counted(socket.get(), interface));
      Request<ethtool_gstrings> names(ETHTOOL_GSTRINGS, size_t{kRoom} * ETH_GSTRING_LEN);
      names.header().string_set = ETH_SS_STATS;
      names.header().len = count;
      TRY(ask(socket.get(), interface, names.data(), "ETHTOOL_GSTRINGS"));
      Request<ethtool_stats> values(ETHTOOL_GSTATS, kRoom * sizeof(uint64_t));
      values.header().n_stats = count;
      TRY(ask(socket.get(), interface, values.data(), "ETHTOOL_GSTATS"));
      if (names.header().len != count || values.header().n_stats != count) continue;
      std::vector<uint64_t> numbers(count);
      std::memcpy(numbers.data(), values.rest(), count * sizeof(uint64_t));
      return named_statistics({names.rest(), size_t{count} * ETH_GSTRING_LEN}, numbers);
    }
    return fail(Code::kBusy, "ETHTOOL_GSTATS {}: its statistics change their number", interface);
  }

 private:
  static Result<uint32_t> counted(int socket, const std::string& interface) {
    Request<ethtool_sset_info> info(ETHTOOL_GSSET_INFO, sizeof(uint32_t));
    info.header().sset_mask = uint64_t{1} << ETH_SS_STATS;
    TRY(ask(socket, interface, info.data(), "ETHTOOL_GSSET_INFO"));
    uint32_t count = 0;
    // The bit goes where the driver has no such set.
    if (info.header().sset_mask != 0) std::memcpy(&count, info.rest(), sizeof count);
    if (count == 0) return fail(Code::kUnsupported, "ETHTOOL_GSSET_INFO {}: its driver counts nothing", interface);
    if (count > kMost)
      return fail(Code::kUnsupported, "ETHTOOL_GSSET_INFO {}: {} statistics, more than {}", interface, count, kMost);
    return count;
  }

  static Result<void> ask(int socket, const std::string& interface, void* request, const char* what) {
    ifreq asked{};
    std::memcpy(asked.ifr_name, interface.data(), interface.size());
    asked.ifr_data = static_cast<char*>(request);
    if (::ioctl(socket, SIOCETHTOOL, &asked) == 0) return {};
    return fail(system_error(errno, fmt::format("{} {}", what, interface)));
  }
};

}  // namespace

std::unique_ptr<LinkStatistics> real_link_statistics() {
  return std::make_unique<RealLinkStatistics>();
}

}  // namespace railbed::os
