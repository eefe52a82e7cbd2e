// SPDX-License-Identifier: Apache-2.0
// Any message that a socket can deliver; the first byte selects the parser.
#include "os/netlink/address_codec.h"
#include "os/netlink/devlink.h"
#include "os/netlink/generic_family.h"
#include "os/netlink/link_codec.h"
#include "os/netlink/nsid_codec.h"
#include "os/netlink/rdma_codec.h"
#include "os/netlink/uevent_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::os;
  if (size < 2) return 0;
  uint8_t choice = data[0];
  // A copy of exactly this size, so that the sanitizer sees a read past its end; it begins at offset 0, so it is
  // aligned.
  std::vector<uint8_t> bytes(data + 1, data + size);
  if (choice == 0) {
    NetlinkReply reply;
    read_datagram(bytes, 0, reply);
    BatchReply batch;
    read_batch_datagram(bytes, 0, 3, batch);
    for (const NetlinkMessage& message : read_announcements(bytes)) decode_gone(message);
    return 0;
  }
  if (choice == 1) {
    parse_uevent({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return 0;
  }
  for (uint16_t type : {16, 20, 24}) {  // RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE
    NetlinkMessage message{type, bytes};
    decode_link(message);
    decode_address(message);
    is_advertised_address(message);
    is_advertised_route(message);
    decode_routes(message);
    decode_rule(message);
    decode_nsid(message);
  }
  NetlinkMessage message{1, bytes};
  decode_rdma_device(message);
  decode_rdma_port(message);
  decode_rdma_netns_mode(message);
  decode_family(message);
  decode_eswitch(message);
  decode_firmware(message);
  return 0;
}
