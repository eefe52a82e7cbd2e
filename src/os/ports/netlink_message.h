// SPDX-License-Identifier: Apache-2.0
// Netlink messages as bytes: building requests, reading attributes and replies.
//
// Why: the codecs of rtnetlink, RDMA and devlink are pure functions between values and bytes, tested without a kernel;
// only NetlinkSocket sends. They are also what NetlinkQuestions takes and returns, so they belong to the ports.
// Attributes are walked with libmnl, every length is checked.
// Threading: plain values.
// Failure: overflowed() reports a request that exceeds its buffer; broken replies become a NetlinkFailure with EBADMSG.
// Source: linux/netlink.h.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

struct nlmsghdr;

namespace railbed::os {

using Bytes = std::span<const uint8_t>;

class NetlinkRequest {
 public:
  // `flags` are added to NLM_F_REQUEST and NLM_F_ACK, which are always set.
  NetlinkRequest(uint16_t type, uint16_t flags);

  template <typename Header>
  void put_header(const Header& header) {
    static_assert(std::is_trivially_copyable_v<Header>);
    append_header(&header, sizeof header);
  }
  void put(uint16_t type, Bytes payload);
  void put_u8(uint16_t type, uint8_t value) { put_value(type, value); }
  void put_u16(uint16_t type, uint16_t value) { put_value(type, value); }
  void put_u32(uint16_t type, uint32_t value) { put_value(type, value); }
  void put_u64(uint16_t type, uint64_t value) { put_value(type, value); }
  void put_text(uint16_t type, std::string_view text);  // with a zero byte at the end
  template <typename Value>
  void put_value(uint16_t type, const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put(type, {reinterpret_cast<const uint8_t*>(&value), sizeof value});
  }
  // Attributes put before end() are nested inside `type`.
  size_t begin(uint16_t type);
  void end(size_t nest);

  void set_type(uint16_t type);
  void set_sequence(uint32_t sequence);
  uint16_t flags() const;
  bool overflowed() const { return overflowed_; }
  Bytes bytes() const;

 private:
  nlmsghdr* header();
  void append_header(const void* data, size_t size);
  void clear_padding(size_t payload_size);  // of the attribute that comes next; libmnl 1.0.4 does not clear it

  // Not initialized: libmnl clears headers, and only bytes that were put are sent. Clearing the whole buffer took as
  // many instructions as all decoding.
  alignas(8) std::array<uint8_t, 8192> buffer_;
  bool overflowed_ = false;
};

// Requests that are sent together. The kernel takes one after another, also behind one that it refused, and says
// something of those that it refused and of the last one only: without a word, the others are done.
class NetlinkBatch {
 public:
  void add(const NetlinkRequest& request);
  size_t size() const { return starts_.size(); }
  bool overflowed() const { return overflowed_; }
  Bytes bytes() const { return bytes_; }
  // The requests get the numbers from `first` on.
  void number(uint32_t first);

 private:
  std::vector<uint8_t> bytes_;
  std::vector<size_t> starts_;  // of the requests
  bool overflowed_ = false;
};

struct Attribute {
  uint16_t type = 0;  // without the nested and byte order flags
  Bytes payload;

  // Absent when the payload is too short.
  std::optional<uint8_t> u8() const { return as<uint8_t>(); }
  std::optional<uint16_t> u16() const { return as<uint16_t>(); }
  std::optional<uint32_t> u32() const { return as<uint32_t>(); }
  std::optional<uint64_t> u64() const { return as<uint64_t>(); }
  template <typename Value>
  std::optional<Value> as() const {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (payload.size() < sizeof(Value)) return std::nullopt;
    Value value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
  }
  std::string text() const;  // up to the first zero byte
};

// The attributes in `bytes`; ends at the first one that does not fit.
std::vector<Attribute> attributes(Bytes bytes);

// One received message, its own header included.
struct NetlinkMessage {
  uint16_t type = 0;
  std::vector<uint8_t> bytes;

  // The family's header behind the netlink header; absent when the message is too short.
  template <typename Header>
  std::optional<Header> header() const {
    if (bytes.size() < kNetlinkHeader + sizeof(Header)) return std::nullopt;
    Header value;
    std::memcpy(&value, bytes.data() + kNetlinkHeader, sizeof value);
    return value;
  }
  // The attributes behind a family header of `header_size` bytes.
  std::vector<Attribute> attributes_after(size_t header_size) const;
  friend bool operator==(const NetlinkMessage&, const NetlinkMessage&) = default;

 private:
  static constexpr size_t kNetlinkHeader = 16;
};

// Why the kernel refused, with the text of its extended acknowledgement.
struct NetlinkFailure {
  int sys_errno = 0;
  std::string text;
};
// "<what>: EBUSY (Device or resource busy): <text>"
Error netlink_error(const NetlinkFailure& failure, const std::string& what);

// What has been received so far for one request.
struct NetlinkReply {
  std::vector<NetlinkMessage> messages;
  bool complete = false;     // the acknowledgement or the end of the dump was seen
  bool interrupted = false;  // the table changed during the dump: the request must be repeated
  NetlinkFailure failure;    // valid when complete; errno 0: no failure
};

// Reads one datagram into `reply`; messages with another sequence number are skipped.
void read_datagram(Bytes datagram, uint32_t sequence, NetlinkReply& reply);

// The messages of a datagram that answer no request: what a multicast group receives.
std::vector<NetlinkMessage> read_announcements(Bytes datagram);

// What has been received so far for a batch.
struct BatchReply {
  bool complete = false;   // the word about the last request was seen
  size_t at = 0;           // the first request that was refused
  NetlinkFailure failure;  // why; errno 0: none was
};
// Reads one datagram of answers to the `size` requests of a batch with the numbers from `first` on.
void read_batch_datagram(Bytes datagram, uint32_t first, size_t size, BatchReply& reply);

}  // namespace railbed::os
