// SPDX-License-Identifier: Apache-2.0
#include "os/record/recorded.h"

#include <algorithm>
#include <array>

#include "doc/json.h"
#include "os/record/netlink_json.h"
#include "os/record/recording_paths.h"
#include "os/record/tar.h"

namespace railbed::os {
namespace {

std::unexpected<Error> read_only(std::string_view what) {
  return fail(Code::kUnsupported, "{}: this is a recorded machine; nothing can be changed", what);
}

class RecordedLinkPort : public LinkPort {
 public:
  explicit RecordedLinkPort(const RecordedLinks& recorded) : recorded_(recorded) {}

  Result<std::vector<Link>> list(WithVfs vfs) override {
    std::vector<Link> links = recorded_.links;
    if (vfs == WithVfs::kNo)
      for (Link& link : links) link.vfs.clear();
    return links;
  }
  Result<Link> find(const IfName& name, WithVfs vfs) override {
    return find_if("RTM_GETLINK " + name.value, vfs, [&](const Link& link) {
      return link.name == name || std::ranges::count(link.alt_names, name.value) > 0;
    });
  }
  Result<Link> find(IfIndex index, WithVfs vfs) override {
    return find_if(fmt::format("RTM_GETLINK interface {}", index), vfs,
                   [&](const Link& link) { return link.index == index; });
  }
  Result<std::vector<LinkAddress>> addresses() override { return recorded_.addresses; }
  Result<std::vector<Route>> routes() override { return recorded_.routes; }

  Result<void> change(IfIndex, const LinkChange&) override { return read_only("RTM_NEWLINK"); }
  Result<void> change_vf(IfIndex, VfIndex, const VfChange&) override { return read_only("RTM_SETLINK"); }
  Result<void> create(const NewLink&) override { return read_only("RTM_NEWLINK"); }
  Result<void> remove(IfIndex) override { return read_only("RTM_DELLINK"); }
  Result<void> remove_group(uint32_t, std::span<const IfIndex>) override { return read_only("RTM_DELLINK"); }
  Result<void> add_address(const LinkAddress&) override { return read_only("RTM_NEWADDR"); }
  Result<void> remove_address(const LinkAddress&) override { return read_only("RTM_DELADDR"); }
  Result<void> add_route(const Route&) override { return read_only("RTM_NEWROUTE"); }
  Result<void> remove_route(const Route&) override { return read_only("RTM_DELROUTE"); }
  Result<std::vector<Route>> all_routes() override { return routes(); }
  Result<Advertised> advertised() override {
    return fail(Code::kUnsupported, "a recording does not say which addresses routers have advertised");
  }
  Result<std::vector<Rule>> rules() override {
    if (!recorded_.rules) return fail(Code::kUnsupported, "the recording does not contain rules");
    return *recorded_.rules;
  }
  Result<void> add_rule(const Rule&) override { return read_only("RTM_NEWRULE"); }
  Result<void> remove_rule(const Rule&) override { return read_only("RTM_DELRULE"); }
  Result<NamespaceNumber> namespace_number() override {
    return fail(Code::kUnsupported, "namespaces have no numbers in a recording");
  }

 private:
  template <typename Match>
  Result<Link> find_if(const std::string& what, WithVfs vfs, const Match& match) {
    auto found = std::ranges::find_if(recorded_.links, match);
    if (found == recorded_.links.end()) return fail(system_error(ENODEV, what));
    Link link = *found;
    if (vfs == WithVfs::kNo) link.vfs.clear();
    return link;
  }
  const RecordedLinks& recorded_;
};

class RecordedRdmaPort : public RdmaPort {
 public:
  explicit RecordedRdmaPort(const RecordedRdma& recorded) : recorded_(recorded) {}
  Result<std::vector<RdmaLink>> list() override { return recorded_.devices; }
  Result<RdmaNetnsMode> netns_mode() override {
    if (!recorded_.mode) return fail(Code::kUnsupported, "the recording does not contain the RDMA namespace mode");
    return *recorded_.mode;
  }
  Result<void> create_soft(const std::string&, const std::string&, const IfName&) override {
    return read_only("RDMA_NLDEV_CMD_NEWLINK");
  }
  Result<void> remove_soft(const std::string&) override { return read_only("RDMA_NLDEV_CMD_DELLINK"); }
  Result<void> move(const std::string&, const Netns&) override { return read_only("RDMA_NLDEV_CMD_SET"); }

 private:
  const RecordedRdma& recorded_;
};

class RecordedNetns : public NetnsPort {
 public:
  Result<void> create(const std::string&) override { return read_only("create network namespace"); }
  Result<void> remove(const std::string&) override { return read_only("remove network namespace"); }
  Result<std::vector<std::string>> names() override { return std::vector<std::string>{}; }
  std::string path_of(const std::string& name) const override { return "/run/netns/" + name; }
  Result<std::unique_ptr<Netns>> open_at(const std::string&) override { return read_only("open network namespace"); }
  Result<std::unique_ptr<Netns>> again(const Netns&) override { return read_only("open network namespace"); }
  Result<std::unique_ptr<Netns>> take(int, const std::string&) override { return read_only("open network namespace"); }
  Result<std::unique_ptr<Netns>> open_own() override { return read_only("open network namespace"); }
  Result<bool> leads_to(const std::string&, const Netns&) override { return read_only("open network namespace"); }
  Result<NetnsIdentity> identity(const Netns&) override { return read_only("network namespace"); }
  Result<uint64_t> file_number(const Netns&) override { return read_only("network namespace"); }
  Result<Nsid> number(const Netns&) override { return read_only("network namespace"); }
  Result<std::optional<Nsid>> number_if_any(const Netns&) override { return read_only("network namespace"); }
  Result<std::set<Nsid>> numbers() override { return read_only("network namespaces"); }
  Result<bool> knows_others(const Netns&) override { return read_only("network namespace"); }
  Result<bool> is_of_initial_user(const Netns&) override { return read_only("network namespace"); }
  Result<void> visit(const std::vector<std::string>&, const Visit&) override { return read_only("network namespaces"); }
  Result<bool> is_own(const std::string&) override { return read_only("open network namespace"); }
  Result<std::unique_ptr<LinkPort>> links(const Netns&) override { return read_only("network namespace"); }
  Result<std::unique_ptr<RdmaPort>> rdma(const Netns&) override { return read_only("network namespace"); }
  Result<std::string> sysctl(const Netns&, const std::string&) override { return read_only("sysctl"); }
  Result<void> set_sysctls(const Netns&, const Sysctls&, const Sysctls&, size_t&) override {
    return read_only("sysctl");
  }
};

class RecordedUevents : public UeventPort {
 public:
  Result<std::unique_ptr<UeventStream>> open() override {
    return fail(Code::kUnsupported, "nothing is announced in a recording");
  }
};

class RecordedProcesses : public ProcessPort {
 public:
  Result<void> exec_in(const ExecRequest&) override { return read_only("exec"); }
  Result<RunResult> run(const RunRequest& request) override { return read_only("run " + request.program); }
  void end_all() override {}
  std::string identity() const override { return {}; }
  std::vector<std::string> missing_capabilities(const std::vector<std::string>& wanted) const override {
    return wanted;
  }
  Result<void> load_module(const std::string&) override { return read_only("modprobe"); }
};

// Refuses writes, whatever the permissions of the directory are.
class ReadOnlyFiles : public FileTree {
 public:
  explicit ReadOnlyFiles(std::unique_ptr<FileTree> files) : files_(std::move(files)) {}
  Result<std::string> read(const std::string& path) const override { return files_->read(path); }
  Result<void> write(const std::string& path, std::string_view) override { return read_only("write " + path); }
  Result<std::vector<std::string>> list(const std::string& path) const override { return files_->list(path); }
  Result<std::string> read_link(const std::string& path) const override { return files_->read_link(path); }
  Result<std::string> real_path(const std::string& path) const override { return files_->real_path(path); }
  bool exists(const std::string& path) const override { return files_->exists(path); }

 private:
  std::unique_ptr<FileTree> files_;
};

// The answers of a recording without netlink.json, from the values in its host.json.
NetlinkAnswers answers_from(const RecordedHost& host) {
  NetlinkAnswers answers;
  for (const auto& [pf, devlink] : host.devlink) {
    if (devlink.mode) put_eswitch_mode(answers, pf, *devlink.mode);
    if (!devlink.firmware.empty()) put_firmware_version(answers, pf, devlink.firmware);
  }
  return answers;
}

class RecordedKernel : public Kernel {
 public:
  explicit RecordedKernel(std::unique_ptr<FileTree> files) : files_(std::move(files)) {}

  Result<void> load() {
    TRY(load_file(kLinksFile, read_links, links_));
    TRY(load_file(kRdmaFile, read_rdma, rdma_));
    TRY(load_file(kHostFile, read_host, host_));
    TRY(load_file(kAnswersFile, read_answers, answers_));
    if (!answers_) answers_ = host_ ? answers_from(*host_) : NetlinkAnswers{};
    return {};
  }

  FileTree& files() override { return files_; }
  NetnsPort& netns() override { return netns_; }
  UeventPort& uevents() override { return uevents_; }
  ProcessPort& processes() override { return processes_; }
  Clock& clock() override { return *clock_; }
  Result<std::unique_ptr<LinkPort>> links() override {
    if (!links_) return not_recorded(kLinksFile);
    return std::make_unique<RecordedLinkPort>(*links_);
  }
  Result<std::unique_ptr<RdmaPort>> rdma() override {
    if (!rdma_) TRY(answers_->reach(NetlinkFamily::kRdma));
    if (!rdma_) return not_recorded(kRdmaFile);
    return std::make_unique<RecordedRdmaPort>(*rdma_);
  }
  Result<std::unique_ptr<EswitchPort>> eswitch() override { return read_only("DEVLINK_CMD_ESWITCH_SET"); }
  std::unique_ptr<NetlinkQuestions> questions() override { return recorded_questions(*answers_); }
  bool live() const override { return false; }
  std::string host_name() const override { return host_ ? host_->name : from("/proc/sys/kernel/hostname"); }
  std::string kernel_release() const override {
    return host_ ? host_->kernel_release : from("/proc/sys/kernel/osrelease");
  }
  std::string boot_id() const override { return host_ ? host_->boot_id : from("/proc/sys/kernel/random/boot_id"); }

 private:
  template <typename T>
  Result<void> load_file(const std::string& path, Result<T> (*parse)(const doc::Value&), std::optional<T>& into) {
    if (!files_.exists(path)) return {};
    doc::Diagnostics diagnostics;
    auto source = std::make_shared<doc::Source>(doc::Source{path.substr(1), TRY(files_.read(path))});
    auto value = doc::parse_json(source, diagnostics);
    if (!value) return fail(Code::kInvalid, "the recording cannot be read: {}", doc::render(diagnostics));
    into = TRY(parse(*value).context("reading {} of the recording", path));
    return {};
  }
  std::string from(const std::string& path) const { return read_line(files_, path).value_or(""); }
  static std::unexpected<Error> not_recorded(const std::string& path) {
    return fail(Code::kUnsupported, "the recording has no {}", path.substr(1));
  }

  ReadOnlyFiles files_;
  std::optional<RecordedLinks> links_;
  std::optional<RecordedRdma> rdma_;
  std::optional<RecordedHost> host_;
  std::optional<NetlinkAnswers> answers_;  // present once loaded
  RecordedNetns netns_;
  RecordedUevents uevents_;
  RecordedProcesses processes_;
  std::unique_ptr<Clock> clock_ = real_clock();
};

}  // namespace

Result<std::unique_ptr<Kernel>> recorded_kernel_over(std::unique_ptr<FileTree> files) {
  auto kernel = std::make_unique<RecordedKernel>(std::move(files));
  TRY(kernel->load());
  return kernel;
}

Result<std::unique_ptr<Kernel>> recorded_kernel(const std::string& root_dir) {
  auto files = real_files(root_dir);
  TRY(files->list("/"));  // fails at once when the directory is missing
  return recorded_kernel_over(std::move(files));
}

bool is_tar_name(std::string_view path) {
  constexpr std::array<std::string_view, 11> kEndings = {
      ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.zstd"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

Result<std::unique_ptr<Kernel>> recorded_kernel_from_tar(const std::string& tar_file) {
  auto files = std::make_unique<MemoryFiles>();
  TRY(read_tar(tar_file, *files));
  return recorded_kernel_over(std::move(files));
}

}  // namespace railbed::os
