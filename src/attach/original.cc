// SPDX-License-Identifier: Apache-2.0
#include "attach/original.h"

#include <algorithm>

#include "attach/give_back.h"
#include "attach/json_fields.h"
#include "attach/types.h"
#include "base/pci_driver.h"

namespace railbed::attach {

Before now_of(const os::Link& link) {
  Before before{.way = Way::kMove, .name = link.name.value, .index = link.index.value, .kind = link.kind};
  before.hw_address = link.hw_address;
  return before;
}

void take_name(const std::string& name, Before& before) {
  if (IfName::parse(name).has_value()) before.name = name;
}

void take_rdma(const doc::Value& state, Before& before) {
  std::string name = text_in(state, "containerRdmaDevName");
  if (name.empty()) name = text_in(state, "ContainerRdmaDevName");
  if (name.empty()) return;
  before.rdma = {name};
  before.rdma_undo = RdmaUndo::kMoveBack;
}

Result<void> Original::look_inside() {
  if (interface_.netns_path.empty()) return {};
  auto opened = kernel_.netns().open(interface_.netns_path);
  if (!opened.has_value() && opened.error().code == Code::kNotFound) return {};
  netns_ = TRY(std::move(opened));
  links_ = TRY(kernel_.netns().links(*netns_));
  inside_ = TRY(links_->list(os::WithVfs::kNo));
  return {};
}

const os::Link* Original::in_pod() const {
  auto found = std::ranges::find(inside_, interface_.name, &os::Link::name);
  return found == inside_.end() ? nullptr : &*found;
}
const os::Link* Original::in_pod(PciAddress device) const {
  auto found = std::ranges::find_if(inside_, [&](const os::Link& link) {
    return link.parent_bus == "pci" && link.parent_device == device.to_string();
  });
  return found == inside_.end() ? nullptr : &*found;
}

Result<std::optional<doc::Value>> Original::left_file(const std::string& directory, const std::string& name) {
  if (name.find('/') != std::string::npos || name.find("..") != std::string::npos)
    return fail(Code::kInvalid, "\"{}\" cannot be part of a file's name", name);
  std::string path = directory + "/" + name;
  Result<std::string> text = kernel_.files().read(path);
  if (!text.has_value() && text.error().code == Code::kNotFound) return std::optional<doc::Value>{};
  std::string content = TRY(std::move(text));
  return std::optional(TRY(parse_object(content).context("{}", path)));
}

Result<bool> Original::is_ours(const std::string& device) {
  if (ours_ == nullptr) return false;
  return !TRY(ours_->attachments_with(device)).empty();
}

Result<std::optional<Before>> Original::vf_before(const doc::Value& file) {
  Before before{.way = Way::kMove};
  before.device = TRY(parsed_in<PciAddress>(file, "deviceID"));
  if (!before.device.has_value() || !device_exists(kernel_.files(), *before.device) ||
      TRY(is_ours(before.device->to_string())))
    return std::optional<Before>{};
  if (auto place = TRY(vf_place(kernel_.files(), *before.device))) {
    before.pf = place->pf;
    before.vf = place->index;
  }
  const os::Link* link = in_pod(*before.device);
  if (link == nullptr) link = TRY(host_.by_pci(*before.device));
  if (link == nullptr) {
    std::string driver = driver_of(kernel_.files(), *before.device);
    if (!is_user_space_driver(driver)) return std::optional<Before>{};
    before.way = Way::kVfio;
    return std::optional(before);
  }
  Before at = now_of(*link);
  before.name = at.name;
  before.index = at.index;
  before.hw_address = at.hw_address;
  return std::optional(before);
}

Before Original::change_of(const os::Link* link) const {
  Before before{.way = Way::kExisting, .name = interface_.name.value};
  if (link == nullptr) return before;
  before = now_of(*link);
  before.way = Way::kExisting;
  return before;
}

Result<DetachReport> Original::restore_all(const Before& before, const std::string& device) {
  auto store = state::memory_store();
  state::Attachment record{.pod = "@" + interface_.container_id,
                           .interface = interface_.name.value,
                           .netns = interface_.netns_path,
                           .type = interface_.type,
                           .status = state::AttachmentStatus::kDetaching,
                           .device = device,
                           .undo = undo_text(InterfaceSpec{}, before)};
  TRY(store->put_attachment(record));
  // What the original left says nothing of which namespace it was: without one, it counts as ended.
  const NetnsPlace place{
      .state = netns_ == nullptr ? NetnsState::kEnded : NetnsState::kThere, .netns = netns_, .error = std::nullopt};
  GivenBack given = TRY(give_back(host_, *store, {record}, place, deadline_));
  if (!given.failures.empty()) return fail(std::move(given.failures.front().error));
  return DetachReport{.detached = 1, .notes = std::move(given.notes)};
}

Result<DetachReport> Original::remove_made(std::string_view kind) {
  const os::Link* link = in_pod();
  if (link == nullptr || link->kind != kind) return DetachReport{};
  Result<void> removed = links_->remove(link->index);
  if (!removed.has_value() && removed.error().code != Code::kNotFound) return fail(removed.error());
  return DetachReport{.detached = 1};
}

Result<DetachReport> detach_foreign(os::Kernel& kernel, const ForeignInterface& interface, const WaitPolicy& wait,
                                    state::Store* ours) {
  const PluginType* type = find_plugin_type(interface.type);
  if (type == nullptr) return DetachReport{};
  Original original(kernel, ours, interface, wait);
  const auto detach = [&]() -> Result<DetachReport> {
    TRY(original.look_inside());
    return type->detach_original(original);
  };
  return detach().context("interface {} of container {}, attached by the original {}", interface.name,
                          interface.container_id, interface.type);
}

}  // namespace railbed::attach
