// SPDX-License-Identifier: Apache-2.0
// Questions to the kernel over netlink, as bytes.
//
// Why: one more value that only netlink has should not need a port, a file of a recording and a fake of its own. A
// question is a request that changes nothing; it is asked, recorded, replayed and faked by its bytes. So a new one is a
// codec and its test: netlink/devlink.h has examples.
// In the bytes of questions and answers everything that differs from one asker to the next is zero: the sequence, the
// port ID, and the number that a generic family has on this kernel. A recording is searched by the bytes of the
// question, so a codec whose question changes cannot read older recordings any more.
// A kernel without a family and a process that may not reach it (a sandbox, no free descriptor) differ: the first has
// nothing to report, in the second case the user must learn why values are missing. reach() distinguishes them.
// Threading: one thread per port; questions are values.
// Failure: Unsupported where the kernel has no such family, or a recording no such answer. Otherwise the kernel's
// errno, with the name of the question, or of the call that could not reach the family.
// Source: linux/netlink.h, linux/genetlink.h.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "os/ports/netlink_families.h"
#include "os/ports/netlink_message.h"

namespace railbed::os {

void this_command_may_change_something();  // has no definition: it stops the compiler

// A command that only reads, by the table of families; the compiler refuses any other one.
struct NetlinkRead {
  consteval NetlinkRead(NetlinkFamily of, uint16_t read) : family(of), command(read) {
    if (!only_reads(of, read)) this_command_may_change_something();
  }
  NetlinkFamily family;
  uint16_t command;
};

// The request is a private base: its command stays that of the constructor.
class NetlinkQuestion : private NetlinkRequest {
 public:
  enum class Of : bool { kOne, kAll };  // kAll: a dump
  // `what` is for messages: "DEVLINK_CMD_INFO_GET pci/0000:3b:00.1".
  NetlinkQuestion(NetlinkRead read, std::string what, Of of = Of::kOne);

  // The family's header, if it has one (a generic family's is there already), then attributes.
  using NetlinkRequest::begin;
  using NetlinkRequest::end;
  using NetlinkRequest::put;
  using NetlinkRequest::put_header;
  using NetlinkRequest::put_text;
  using NetlinkRequest::put_u32;

  NetlinkFamily family() const { return family_; }
  const std::string& what() const { return what_; }
  using NetlinkRequest::bytes;
  // The request to send. `number` is that of a generic family on this kernel; others have none.
  NetlinkRequest request(uint16_t number) const;

 private:
  NetlinkFamily family_;
  std::string what_;
};

// Makes zero what an answer has of its asker and of this kernel.
void forget_asker(NetlinkFamily family, NetlinkMessage& message);

class NetlinkQuestions {
 public:
  virtual ~NetlinkQuestions() = default;
  // Whether the family can be asked. Unsupported: it does not exist here. Any other error names the call that failed
  // ("socket NETLINK_GENERIC: EMFILE …"), and all questions of the family fail with it.
  virtual Result<void> reach(NetlinkFamily family) = 0;
  // The data messages of the answer.
  virtual Result<std::vector<NetlinkMessage>> ask(const NetlinkQuestion& question) = 0;
};

}  // namespace railbed::os
