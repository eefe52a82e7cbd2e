// SPDX-License-Identifier: Apache-2.0
// railbed cni: installs the shim in place of the CNI plugins, keeps the originals, and restores them.
#include "agent/door/node_config.h"
#include "agent/door/shims.h"
#include "agent/leftovers/hand_over.h"
#include "base/well_known.h"
#include "command/output.h"
#include "command/state_options.h"
#include "os/ports/disk.h"
#include "os/ports/kernel.h"
#include "os/real/host_mounts.h"
#include "os/real/program_files.h"
#include "program_folder.h"
#include "verb.h"

namespace railbed {

namespace {

constexpr size_t kMostShimBytes = 4 << 20;

struct CniOptions {
  std::string action;
  std::string folder = "/opt/cni/bin";
  std::vector<std::string> types{agent::shim_types().begin(), agent::shim_types().end()};
  std::string shim;
  std::string config_folder = "/etc/cni/net.d";
  bool in_host = false;
  std::string output = "text";
  StateOptions state;
};

// Reads the shim that is beside this program, unless another path is given.
Result<std::string> read_shim(const os::ProgramFiles& files, const CniOptions& options) {
  std::string path = options.shim;
  if (path.empty()) {
    path = TRY(program_folder().context("looking for the shim")) + "/railbed-cni";
  }
  return files.read(path, kMostShimBytes)
      .context("reading the shim")
      .hint("it is built alongside railbed; use --shim PATH for another location");
}

Result<int> print_states(const agent::Shims& shims, const CniOptions& options) {
  const auto states = TRY(shims.state(options.types));
  if (options.output != "text") {
    doc::Value out = doc::Value::object();
    out.set("apiVersion", kOwnApiVersion);
    out.set("kind", "CniPlugins");
    doc::Value& plugins = out.set("plugins", doc::Value::array());
    for (const agent::ShimState& one : states) {
      doc::Value& row = plugins.push(doc::Value::object());
      row.set("type", one.type);
      row.set("program", what_name(one.what));
      if (!one.version.empty()) row.set("version", one.version);
      row.set("originalKept", one.original_kept);
    }
    print_value(out, options.output);
    return kExitOk;
  }
  for (const agent::ShimState& one : states)
    print("{:<14}{:<9}{}{}\n", one.type, what_name(one.what), one.version, one.original_kept ? "  original kept" : "");
  return kExitOk;
}

// Pods that railbed attached stay; from now on the original plugins get their DEL.
Result<void> hand_over_to_originals(const CniOptions& options) {
  const auto kernel = os::real_kernel();
  const auto store = TRY(options.state.look(*kernel));
  if (store == nullptr) return {};
  const agent::HandedOver all = TRY(agent::hand_over(*kernel, *store));
  if (all.interfaces == 0) return {};
  print_error("{} interfaces attached by railbed are handed over to the original plugins\n",
              all.interfaces - static_cast<int>(all.problems.size()));
  for (const std::string& problem : all.problems) print_error("not handed over: {}\n", problem);
  if (!all.problems.empty())
    print_error("  `railbed cni install` and a running agent release these; railbed attachments lists them\n");
  return {};
}

Result<int> run_action(const CniOptions& options) {
  const auto files = os::real_program_files();
  agent::Shims shims(*files, options.folder);
  // The shim is one of the image.
  const std::string shim = options.action == "install" ? TRY(read_shim(*files, options)) : "";
  if (options.in_host) TRY(os::enter_host_mounts().context("--in-host"));
  if (options.action == "install") {
    TRY(shims.install(shim, options.types));
  } else if (options.action == "uninstall") {
    // First the runtime goes back to the next configuration, which is the default network's.
    TRY(agent::remove_node_config(*os::real_disk(), options.config_folder));
    TRY(hand_over_to_originals(options).context("handing over to the originals"));
    TRY(shims.uninstall(options.types));
  }
  return print_states(shims, options);
}

}  // namespace

int cni_verb(CommandLine& line) {
  CniOptions options;
  line.about(
      "Replaces CNI plugins with railbed-cni and keeps the originals, restores the originals, or shows what is "
      "installed.");
  line.option("ACTION", &options.action, "install, uninstall or status")
      .required()
      .one_of({"install", "uninstall", "status"});
  line.option("--bin-dir", &options.folder, "the runtime's plugin directory").show_default().directory();
  line.option("--types", &options.types, "comma-separated names of plugins (all)")
      .with_commas()
      .one_of(agent::shim_types());
  line.option("--shim", &options.shim, "the program to install (railbed-cni alongside railbed)").file();
  line.option("--config-dir", &options.config_folder,
              "the runtime's configuration directory; `uninstall` removes the agent's file")
      .show_default()
      .directory();
  line.option("--in-host", &options.in_host, "in a pod with hostPID: operate on the host's files");
  line.option("--state-dir", &options.state.directory, "the agent's state directory").show_default().directory();
  line.option("-o,--output", &options.output, "text, json or yaml").one_of({"text", "json", "yaml"});
  if (auto status = line.parse()) return *status;
  return status_of(run_action(options));
}

}  // namespace railbed
