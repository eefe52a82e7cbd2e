// SPDX-License-Identifier: Apache-2.0
// The machine as railbed sees it: all ports together.
//
// Why: `facts`, `apply` and `attach` take a Kernel&; main() builds the real one, tests build fake_kernel.h's, and
// `--root DIR` or `--from FILE.tar` builds one over a recording (recorded.h).
// Threading: the ports' own rules; links(), rdma(), eswitch() and questions() open a port of the initial (own)
// namespace, one per thread.
#pragma once

#include <memory>

#include "os/ports/clock.h"
#include "os/ports/eswitch.h"
#include "os/ports/file_tree.h"
#include "os/ports/link_watch.h"
#include "os/ports/links.h"
#include "os/ports/netns.h"
#include "os/ports/processes.h"
#include "os/ports/rdma.h"
#include "os/ports/uevents.h"

namespace railbed::os {

class NetlinkQuestions;

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual FileTree& files() = 0;
  virtual NetnsPort& netns() = 0;
  virtual UeventPort& uevents() = 0;
  virtual ProcessPort& processes() = 0;
  virtual Clock& clock() = 0;
  virtual Result<std::unique_ptr<LinkPort>> links() = 0;
  virtual Result<std::unique_ptr<RdmaPort>> rdma() = 0;
  virtual Result<std::unique_ptr<EswitchPort>> eswitch() = 0;
  // What else netlink can be asked (netlink_questions.h); never null.
  virtual std::unique_ptr<NetlinkQuestions> questions() = 0;
  // Announcements of interfaces in this process's namespace; a recording has none.
  virtual Result<std::unique_ptr<LinkWatch>> link_watch() {
    return fail(Code::kUnsupported, "nothing is announced in a recording");
  }
  // False for a recording: nothing can be changed there.
  virtual bool live() const = 0;
  virtual std::string host_name() const = 0;
  virtual std::string kernel_release() const = 0;
  virtual std::string boot_id() const = 0;
};

std::unique_ptr<Kernel> real_kernel();

}  // namespace railbed::os
