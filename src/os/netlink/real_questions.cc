// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/real_questions.h"

#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "os/netlink/generic_family.h"
#include "os/netlink/netlink_socket.h"

namespace railbed::os {
namespace {

struct FamilySocket {
  NetlinkSocket socket;
  uint16_t number = 0;  // of a generic family
};

Result<FamilySocket> open_socket(const NetlinkFamilyRow& family) {
  NetlinkSocket socket = TRY(NetlinkSocket::open(family.protocol));
  uint16_t number = 0;
  if (family.is_generic()) number = TRY(find_family(socket, std::string(family.name)));
  return FamilySocket{std::move(socket), number};
}

class RealQuestions : public NetlinkQuestions {
 public:
  Result<void> reach(NetlinkFamily family) override {
    const Result<FamilySocket>& socket = socket_of(family);
    if (!socket) return fail(socket.error());
    return {};
  }

  Result<std::vector<NetlinkMessage>> ask(const NetlinkQuestion& question) override {
    Result<FamilySocket>& socket = socket_of(question.family());
    if (!socket) return fail(socket.error());
    FamilySocket& connected = *socket;
    NetlinkRequest request = question.request(connected.number);
    auto messages = connected.socket.ask(request);
    if (!messages) return fail(netlink_error(messages.error(), question.what()));
    for (NetlinkMessage& message : *messages) forget_asker(question.family(), message);
    return std::move(*messages);
  }

 private:
  Result<FamilySocket>& socket_of(NetlinkFamily family) {
    std::optional<Result<FamilySocket>>& socket = sockets_[static_cast<size_t>(family)];
    if (!socket) socket.emplace(open_socket(row_of(family)));
    return *socket;
  }

  // A family that is not there stays so for this port, which is short-lived.
  std::array<std::optional<Result<FamilySocket>>, std::size(kNetlinkFamilies)> sockets_;
};

}  // namespace

std::unique_ptr<NetlinkQuestions> real_questions() {
  return std::make_unique<RealQuestions>();
}

}  // namespace railbed::os
