// SPDX-License-Identifier: Apache-2.0
// Any bytes as files of others that say which addresses are taken and which servers resolve names: host-local's, and
// resolv.conf. No crash; a holder's file that is written as the original does is read back; what resolv.conf gives to a
// pod has no blanks and no line ends, and is no more than the file.
#include <cstdlib>

#include "agent/addresses/host_local.h"
#include "agent/addresses/resolv_conf.h"

using namespace railbed;  // NOLINT

namespace {

void check_holder(std::string_view text) {
  const IpAddress address = IpAddress::parse("10.0.0.1").value();
  const auto holder = agent::HostLocal::holder_in(address, text);
  if (holder.container_id.size() + holder.ifname.size() > text.size()) std::abort();
  if (holder.ifname.empty()) return;
  const auto again = agent::HostLocal::holder_in(address, holder.container_id + "\r\n" + holder.ifname);
  if (!(again == holder)) std::abort();
}

void check_word(const std::string& word, size_t& bytes) {
  bytes += word.size();
  if (word.empty() || word.find_first_of(" \t\r\n\v\f") != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_holder(text);
  const cni::Dns dns = agent::read_resolv_conf(text);
  size_t bytes = 0;
  for (const auto* list : {&dns.nameservers, &dns.search, &dns.options})
    for (const std::string& word : *list) check_word(word, bytes);
  if (!dns.domain.empty()) check_word(dns.domain, bytes);
  if (bytes > size) std::abort();
  return 0;
}
