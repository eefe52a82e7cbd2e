// SPDX-License-Identifier: Apache-2.0
#include "facts/platform.h"

#include "base/format.h"

namespace railbed::facts {
namespace {

// A file of DMI begins with this text on machines of the cloud. Virtual servers of IBM say it in the chassis' vendor
// alone (the system's is QEMU). Oracle's has no row: its machines with RDMA have ports of their own on a cluster
// network, which does not drop addresses.
struct DmiRow {
  std::string_view platform;
  std::string_view file;
  std::string_view begin;
};

constexpr DmiRow kDmiRows[] = {
    {"AWS", "sys_vendor", "Amazon EC2"},
    {"Azure", "chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77"},
    {"Google Cloud", "product_name", "Google Compute Engine"},
    {"IBM Cloud", "sys_vendor", "IBM:Cloud Compute Server"},
    {"IBM Cloud", "chassis_vendor", "IBM:Cloud Compute Server"},
};

struct ProviderRow {
  std::string_view platform;
  std::string_view scheme;
};

constexpr ProviderRow kProviderRows[] = {
    {"AWS", "aws://"},       {"Azure", "azure://"},      {"Google Cloud", "gce://"},
    {"IBM Cloud", "ibm://"}, {"IBM Cloud", "ibmvpc://"}, {"IBM Cloud", "ibmcloud://"},
};

}  // namespace

std::string read_platform(Attributes& attributes) {
  if (!attributes.exists("/sys/class/dmi/id")) return "";
  for (const DmiRow& row : kDmiRows)
    if (attributes.text(fmt::format("/sys/class/dmi/id/{}", row.file)).value_or("").starts_with(row.begin))
      return std::string(row.platform);
  return "";
}

std::string platform_of(std::string_view provider_id) {
  for (const ProviderRow& row : kProviderRows)
    if (provider_id.starts_with(row.scheme)) return std::string(row.platform);
  return "";
}

}  // namespace railbed::facts
