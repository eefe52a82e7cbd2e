// SPDX-License-Identifier: Apache-2.0
// Chosen one by one: always from a PF of which the fewest are chosen so far, so that no PF gives two while another
// could give one. Among those PFs, first those on a NUMA node that is in use already, then those on the node that could
// serve the rest of the request from the most different PFs; then the PF with the most free VFs, so that load spreads
// over pods, too.
#include "kubelet/preferred.h"

#include <algorithm>
#include <tuple>

namespace railbed::kubelet {
namespace {

struct Candidate {
  std::string id;
  PciAddress pf;
  int index = 0;
  int numa_node = -1;  // unknown counts as a node of its own
};

class Chooser {
 public:
  Chooser(const Resource& resource, const PreferenceRequest& request) : size_(request.size) {
    for (const Device& device : resource.devices)
      known_[device.id()] = {device.id(), device.vf.pf, device.vf.index.value, device.vf.numa_node.value_or(-1)};
    for (const std::string& id : request.must_include) choose(candidate(id));
    for (const std::string& id : request.available)
      if (!is_chosen(id) && std::ranges::find(free_, id, &Candidate::id) == free_.end()) free_.push_back(candidate(id));
  }

  std::vector<std::string> run() {
    while (chosen_.size() < size_ && !free_.empty()) {
      const size_t best = best_of_free();
      const Candidate taken = free_[best];
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
      choose(taken);
    }
    return std::move(chosen_);
  }

 private:
  Candidate candidate(const std::string& id) const {
    auto found = known_.find(id);
    return found == known_.end() ? Candidate{.id = id, .pf = {}} : found->second;
  }
  bool is_chosen(const std::string& id) const { return std::ranges::find(chosen_, id) != chosen_.end(); }
  void choose(const Candidate& one) {
    if (is_chosen(one.id)) return;
    chosen_.push_back(one.id);
    ++of_pf_[one.pf];
    ++of_node_[one.numa_node];
  }
  size_t count_of(PciAddress pf) const {
    auto found = of_pf_.find(pf);
    return found == of_pf_.end() ? 0 : found->second;
  }

  size_t best_of_free() const {
    size_t level = SIZE_MAX;  // how often the PFs that are used the least are used
    for (const Candidate& one : free_) level = std::min(level, count_of(one.pf));
    std::map<int, std::set<PciAddress>> pfs_of_node;
    std::map<PciAddress, int64_t> free_of_pf;
    for (const Candidate& one : free_) {
      ++free_of_pf[one.pf];
      if (count_of(one.pf) == level) pfs_of_node[one.numa_node].insert(one.pf);
    }
    const size_t left = size_ - chosen_.size();
    const auto rank = [&](const Candidate& one) {  // the least is the best
      auto used = of_node_.find(one.numa_node);
      return std::tuple(count_of(one.pf), used == of_node_.end() ? 0 : -static_cast<int64_t>(used->second),
                        -static_cast<int64_t>(std::min(pfs_of_node[one.numa_node].size(), left)), one.numa_node,
                        -free_of_pf[one.pf], one.pf, one.index, std::string_view(one.id));
    };
    return static_cast<size_t>(std::ranges::min_element(free_, {}, rank) - free_.begin());
  }

  std::map<std::string, Candidate> known_;
  std::vector<Candidate> free_;
  std::vector<std::string> chosen_;
  std::map<PciAddress, size_t> of_pf_;
  std::map<int, size_t> of_node_;
  size_t size_;
};

}  // namespace

std::vector<std::string> preferred(const Resource& resource, const PreferenceRequest& request) {
  return Chooser(resource, request).run();
}

}  // namespace railbed::kubelet
