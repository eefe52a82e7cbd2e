// SPDX-License-Identifier: Apache-2.0
// Names of PCI devices, from the list that pciutils and hwdata ship (pci.ids).
//
// Why an own reader: the file is 1.4 MB and a node has devices of a few vendors; their blocks are found by searching
// for "\n15b3  " and only these are read.
// Threading: plain value.
// Failure: none; what is not listed has no name.
// Source of the format: the comment at the top of pci.ids.
#pragma once

#include <string>
#include <string_view>

namespace railbed::facts {

class PciIds {
 public:
  PciIds() = default;  // knows no names
  explicit PciIds(std::string text) : text_(std::move(text)) {}

  // Ids have four lower-case hexadecimal digits. Empty when the list lacks the id.
  std::string vendor(std::string_view vendor_id) const;
  std::string device(std::string_view vendor_id, std::string_view device_id) const;

 private:
  // The lines of a vendor, from its name to the next vendor.
  std::string_view block(std::string_view vendor_id) const;

  std::string text_;
};

// The name that people use: "ConnectX-7" for "MT2910 Family [ConnectX-7]", "BlueField-3" for the longer names of its
// functions. Names without brackets lose only "Ethernet Controller", "Network Connection" and the like.
std::string short_model(std::string_view model);

}  // namespace railbed::facts
