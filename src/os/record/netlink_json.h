// SPDX-License-Identifier: Apache-2.0
// A machine's netlink data as JSON and back: the railbed/*.json files of a recording.
//
// Fields that are empty or have their default value are omitted. In text that is not UTF-8 (interface names and aliases
// may be any bytes) the invalid bytes are written as '?'.
// Threading: pure functions.
// Failure: Invalid with the location; unknown fields are skipped, so that newer recordings can be read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/eswitch_mode.h"
#include "doc/value.h"
#include "os/ports/links.h"
#include "os/ports/rdma.h"
#include "os/record/netlink_answers.h"

namespace railbed::os {

struct RecordedLinks {
  std::vector<Link> links;  // with their VFs
  std::vector<LinkAddress> addresses;
  std::vector<Route> routes;
  std::optional<std::vector<Rule>> rules;  // with a source; absent: unknown, as in recordings of earlier versions
  friend bool operator==(const RecordedLinks&, const RecordedLinks&) = default;
};

struct RecordedRdma {
  std::vector<RdmaLink> devices;
  std::optional<RdmaNetnsMode> mode;
  friend bool operator==(const RecordedRdma&, const RecordedRdma&) = default;
};

struct RecordedHost {
  // What railbed asked of devlink before there was netlink.json; still written for those versions.
  struct Devlink {
    std::optional<EswitchMode> mode;
    std::string firmware;
    friend bool operator==(const Devlink&, const Devlink&) = default;
  };
  std::string name;
  std::string kernel_release;
  std::string boot_id;
  std::map<PciAddress, Devlink> devlink;
  friend bool operator==(const RecordedHost&, const RecordedHost&) = default;
};

doc::Value to_value(const RecordedLinks& links);
doc::Value to_value(const RecordedRdma& rdma);
doc::Value to_value(const RecordedHost& host);
doc::Value to_value(const NetlinkAnswers& answers);
Result<RecordedLinks> read_links(const doc::Value& value);
Result<RecordedRdma> read_rdma(const doc::Value& value);
Result<RecordedHost> read_host(const doc::Value& value);
Result<NetlinkAnswers> read_answers(const doc::Value& value);

}  // namespace railbed::os
