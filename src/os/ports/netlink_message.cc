// SPDX-License-Identifier: Apache-2.0
#include "os/ports/netlink_message.h"

#include <algorithm>
#include <cerrno>

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

namespace railbed::os {

NetlinkRequest::NetlinkRequest(uint16_t type, uint16_t flags) {
  nlmsghdr* message = mnl_nlmsg_put_header(buffer_.data());
  message->nlmsg_type = type;
  message->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
}

nlmsghdr* NetlinkRequest::header() {
  return reinterpret_cast<nlmsghdr*>(buffer_.data());
}

void NetlinkRequest::append_header(const void* data, size_t size) {
  std::memcpy(mnl_nlmsg_put_extra_header(header(), size), data, size);
}

void NetlinkRequest::clear_padding(size_t payload_size) {
  size_t end = bytes().size() + MNL_ATTR_HDRLEN + MNL_ALIGN(payload_size);
  if (end <= buffer_.size()) std::memset(buffer_.data() + end - MNL_ALIGNTO, 0, MNL_ALIGNTO);
}

void NetlinkRequest::put(uint16_t type, Bytes payload) {
  clear_padding(payload.size());
  if (!mnl_attr_put_check(header(), buffer_.size(), type, payload.size(), payload.data())) overflowed_ = true;
}

void NetlinkRequest::put_text(uint16_t type, std::string_view text) {
  std::string ended(text.substr(0, text.find('\0')));
  clear_padding(ended.size() + 1);
  if (!mnl_attr_put_strz_check(header(), buffer_.size(), type, ended.c_str())) overflowed_ = true;
}

size_t NetlinkRequest::begin(uint16_t type) {
  nlattr* nest = mnl_attr_nest_start_check(header(), buffer_.size(), type);
  if (nest == nullptr) overflowed_ = true;
  return nest == nullptr ? 0 : static_cast<size_t>(reinterpret_cast<uint8_t*>(nest) - buffer_.data());
}

void NetlinkRequest::end(size_t nest) {
  if (nest != 0) mnl_attr_nest_end(header(), reinterpret_cast<nlattr*>(buffer_.data() + nest));
}

void NetlinkRequest::set_type(uint16_t type) {
  header()->nlmsg_type = type;
}

void NetlinkRequest::set_sequence(uint32_t sequence) {
  header()->nlmsg_seq = sequence;
}

uint16_t NetlinkRequest::flags() const {
  return reinterpret_cast<const nlmsghdr*>(buffer_.data())->nlmsg_flags;
}

Bytes NetlinkRequest::bytes() const {
  return {buffer_.data(), reinterpret_cast<const nlmsghdr*>(buffer_.data())->nlmsg_len};
}

void NetlinkBatch::add(const NetlinkRequest& request) {
  overflowed_ = overflowed_ || request.overflowed();
  const Bytes bytes = request.bytes();
  starts_.push_back(bytes_.size());
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize(NLMSG_ALIGN(bytes_.size()));
}

void NetlinkBatch::number(uint32_t first) {
  for (size_t i = 0; i < starts_.size(); ++i) {
    nlmsghdr header{};
    std::memcpy(&header, bytes_.data() + starts_[i], sizeof header);
    header.nlmsg_seq = first + static_cast<uint32_t>(i);
    if (i + 1 < starts_.size()) header.nlmsg_flags &= static_cast<uint16_t>(~NLM_F_ACK);
    std::memcpy(bytes_.data() + starts_[i], &header, sizeof header);
  }
}

std::string Attribute::text() const {
  auto end = std::ranges::find(payload, uint8_t{0});
  return {payload.begin(), end};
}

std::vector<Attribute> attributes(Bytes bytes) {
  std::vector<Attribute> all;
  all.reserve(bytes.size() / 16);
  size_t at = 0;
  while (at + sizeof(nlattr) <= bytes.size()) {
    const auto* attribute = reinterpret_cast<const nlattr*>(bytes.data() + at);
    if (!mnl_attr_ok(attribute, static_cast<int>(bytes.size() - at))) break;
    all.push_back(
        {mnl_attr_get_type(attribute),
         {static_cast<const uint8_t*>(mnl_attr_get_payload(attribute)), mnl_attr_get_payload_len(attribute)}});
    at += MNL_ALIGN(mnl_attr_get_len(attribute));
  }
  return all;
}

std::vector<Attribute> NetlinkMessage::attributes_after(size_t header_size) const {
  size_t start = kNetlinkHeader + MNL_ALIGN(header_size);
  return start < bytes.size() ? attributes(Bytes(bytes).subspan(start)) : std::vector<Attribute>{};
}

Error netlink_error(const NetlinkFailure& failure, const std::string& what) {
  Error error = system_error(failure.sys_errno, what);
  if (!failure.text.empty()) error.message += ": " + failure.text;
  return error;
}

namespace {

// The message text among the attributes of an acknowledgement.
std::string extended_text(Bytes bytes) {
  for (const Attribute& attribute : attributes(bytes))
    if (attribute.type == NLMSGERR_ATTR_MSG) return attribute.text();
  return {};
}

constexpr const char* kWrongLength = "a netlink message with a wrong length";

// Takes the next message off `datagram`, which has at least a header; empty when its length is wrong.
Bytes next_message(Bytes& datagram, nlmsghdr& header) {
  std::memcpy(&header, datagram.data(), sizeof header);
  if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) return {};
  const Bytes message = datagram.first(header.nlmsg_len);
  datagram = datagram.subspan(std::min<size_t>(MNL_ALIGN(static_cast<size_t>(header.nlmsg_len)), datagram.size()));
  return message;
}

void finish(int negative_errno, std::string text, NetlinkReply& reply) {
  reply.complete = true;
  // A text that comes with success is a warning, which no caller needs.
  if (negative_errno != 0)
    reply.failure = {negative_errno == INT32_MIN ? EBADMSG : std::abs(negative_errno), std::move(text)};
}

void read_acknowledgement(const nlmsghdr& header, Bytes payload, NetlinkReply& reply) {
  nlmsgerr error{};
  if (payload.size() < sizeof error) return finish(-EBADMSG, "short acknowledgement", reply);
  std::memcpy(&error, payload.data(), sizeof error);
  std::string text;
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) != 0) {
    size_t start = sizeof error;
    // Without NLM_F_CAPPED the refused request precedes the attributes.
    if ((header.nlmsg_flags & NLM_F_CAPPED) == 0 && error.msg.nlmsg_len >= sizeof(nlmsghdr))
      start += MNL_ALIGN(static_cast<size_t>(error.msg.nlmsg_len) - sizeof(nlmsghdr));
    if (start < payload.size()) text = extended_text(payload.subspan(start));
  }
  finish(error.error, std::move(text), reply);
}

void read_done(const nlmsghdr& header, Bytes payload, NetlinkReply& reply) {
  int32_t status = 0;
  if (payload.size() >= sizeof status) std::memcpy(&status, payload.data(), sizeof status);
  std::string text;
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) != 0 && payload.size() > sizeof status)
    text = extended_text(payload.subspan(sizeof status));
  finish(status < 0 ? status : 0, std::move(text), reply);
}

}  // namespace

void read_datagram(Bytes datagram, uint32_t sequence, NetlinkReply& reply) {
  while (datagram.size() >= sizeof(nlmsghdr) && !reply.complete) {
    nlmsghdr header{};
    const Bytes message = next_message(datagram, header);
    if (message.empty()) return finish(-EBADMSG, kWrongLength, reply);
    Bytes payload = message.subspan(sizeof header);
    if (header.nlmsg_seq != sequence) continue;
    if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) reply.interrupted = true;
    switch (header.nlmsg_type) {
      case NLMSG_NOOP:
        break;
      case NLMSG_ERROR:
        read_acknowledgement(header, payload, reply);
        break;
      case NLMSG_DONE:
        read_done(header, payload, reply);
        break;
      case NLMSG_OVERRUN:
        finish(-ENOBUFS, "netlink overrun", reply);
        break;
      default:
        reply.messages.push_back({header.nlmsg_type, {message.begin(), message.end()}});
    }
  }
}

std::vector<NetlinkMessage> read_announcements(Bytes datagram) {
  std::vector<NetlinkMessage> all;
  while (datagram.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    const Bytes message = next_message(datagram, header);
    if (message.empty()) break;
    if (header.nlmsg_type >= NLMSG_MIN_TYPE) all.push_back({header.nlmsg_type, {message.begin(), message.end()}});
  }
  return all;
}

void read_batch_datagram(Bytes datagram, uint32_t first, size_t size, BatchReply& reply) {
  const auto refuse = [&](size_t at, NetlinkFailure failure) {
    if (reply.failure.sys_errno != 0) return;
    reply.at = at;
    reply.failure = std::move(failure);
  };
  while (datagram.size() >= sizeof(nlmsghdr) && !reply.complete) {
    nlmsghdr header{};
    const Bytes message = next_message(datagram, header);
    // The request that it belongs to is unknown by now.
    if (message.empty()) {
      refuse(0, {EBADMSG, kWrongLength});
      reply.complete = true;
      return;
    }
    const uint32_t at = header.nlmsg_seq - first;
    if (at >= size || header.nlmsg_type != NLMSG_ERROR) continue;
    NetlinkReply one;
    read_acknowledgement(header, message.subspan(sizeof header), one);
    if (one.failure.sys_errno != 0) refuse(at, std::move(one.failure));
    reply.complete = at + 1 == size;
  }
}

}  // namespace railbed::os
