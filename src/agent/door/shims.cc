// SPDX-License-Identifier: Apache-2.0
#include "agent/door/shims.h"

#include "schema/cni_types.h"

namespace railbed::agent {

namespace {
constexpr std::string_view kMarker = "railbed-cni-shim/";
constexpr size_t kMostShimBytes = 4 << 20;  // larger files cannot be shims and are not read
}  // namespace

std::span<const std::string_view> shim_types() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const schema::CniType& type : schema::cni_types()) {
      if (!type.ours) continue;
      names.push_back(type.name);
      if (!type.also_called.empty()) names.push_back(type.also_called);
    }
    return names;
  }();
  return kNames;
}

std::string_view what_name(ShimState::What what) {
  constexpr std::string_view names[] = {"absent", "original", "shim"};
  return names[static_cast<size_t>(what)];
}

std::string shim_version(std::string_view content) {
  if (!content.starts_with("\x7f"
                           "ELF"))
    return {};
  const size_t at = content.find(kMarker);
  if (at == std::string_view::npos) return {};
  const std::string_view version = content.substr(at + kMarker.size(), 40);
  const size_t end = version.find('\n');
  return end == std::string_view::npos ? std::string() : std::string(version.substr(0, end));
}

std::string Shims::original(const std::string& type) const {
  return fmt::format("{}/{}/{}", folder_, kOriginalsFolder, type);
}

Result<std::string> Shims::version_at(const std::string& path) const {
  auto content = files_.read(path, kMostShimBytes);
  if (content) return shim_version(*content);
  if (content.error().code == Code::kNotFound) return std::string();
  return fail(std::move(content.error()));
}

Result<void> Shims::keep_original(const std::string& type) {
  if (!files_.exists(program(type))) return {};
  const std::string version = TRY(version_at(program(type)));
  if (!version.empty() || files_.same(program(type), original(type))) return {};
  TRY(files_.make_folder(fmt::format("{}/{}", folder_, kOriginalsFolder)));
  // A newer original that replaced our shim also replaces the original that was kept before.
  TRY(files_.remove(fresh(type)));
  TRY(files_.link(program(type), fresh(type)));
  return files_.rename(fresh(type), original(type));
}

Result<void> Shims::install(const std::string& shim, const std::vector<std::string>& types) {
  if (shim_version(shim).empty())
    return fail(Error{.code = Code::kInvalid,
                      .message = "the program to install is not railbed-cni",
                      .hint = "it is built alongside railbed; use --shim PATH for another location"});
  TRY(files_.make_folder(folder_));
  const std::string one = folder_ + "/.railbed-cni.new";
  TRY(files_.write(one, shim));
  for (const std::string& type : types) {
    TRY(keep_original(type).context("keeping the original {}", type));
    TRY(files_.remove(fresh(type)));
    TRY(files_.link(one, fresh(type)));
    TRY(files_.rename(fresh(type), program(type)).context("installing {}", type));
  }
  return files_.remove(one);
}

Result<void> Shims::put_back(const std::string& type) {
  TRY(files_.remove(fresh(type)));
  const std::string version = TRY(version_at(program(type)));
  if (!version.empty() && !files_.exists(original(type))) return files_.remove(program(type));
  if (!version.empty() || (files_.exists(original(type)) && !files_.exists(program(type))))
    return files_.rename(original(type), program(type));
  // Killed between keeping the original and installing the shim: the original has both names.
  if (files_.same(program(type), original(type))) return files_.remove(original(type));
  return {};
}

Result<void> Shims::uninstall(const std::vector<std::string>& types) {
  for (const std::string& type : types) TRY(put_back(type).context("putting {} back", type));
  TRY(files_.remove(folder_ + "/.railbed-cni.new"));
  return files_.remove_folder(fmt::format("{}/{}", folder_, kOriginalsFolder));
}

Result<std::vector<ShimState>> Shims::state(const std::vector<std::string>& types) const {
  std::vector<ShimState> out;
  for (const std::string& type : types) {
    ShimState one{.type = type};
    one.version = TRY(version_at(program(type)));
    if (!one.version.empty())
      one.what = ShimState::What::kShim;
    else if (files_.exists(program(type)))
      one.what = ShimState::What::kOriginal;
    one.original_kept = files_.exists(original(type));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace railbed::agent
