// SPDX-License-Identifier: Apache-2.0
#include "kubelet/grpc/pod_resources_client.h"

#include <podresources/v1/api.grpc.pb.h>
#include <unistd.h>

#include "kubelet/grpc/status.h"

namespace railbed::kubelet {
namespace {

GivenDevices devices_of(const v1::PodResources& pod) {
  GivenDevices all;
  for (const v1::ContainerResources& container : pod.containers())
    for (const v1::ContainerDevices& devices : container.devices())
      all[devices.resource_name()].insert(devices.device_ids().begin(), devices.device_ids().end());
  return all;
}

}  // namespace

PodResourcesClient::PodResourcesClient(std::string socket) : socket_(std::move(socket)) {
  silence_grpc();
}

Result<GivenDevices> PodResourcesClient::get(const PodRef& pod, os::Deadline deadline) {
  if (::access(socket_.c_str(), F_OK) != 0) return fail(system_error(errno, socket_));
  grpc::ClientContext context;
  set_deadline(context, deadline);
  v1::GetPodResourcesRequest request;
  request.set_pod_name(pod.name);
  request.set_pod_namespace(pod.ns);
  v1::GetPodResourcesResponse answer;
  const grpc::Status status = v1::PodResourcesLister::NewStub(channel_to(socket_))->Get(&context, request, &answer);
  if (!status.ok()) return fail(error_of(status, "the kubelet's PodResources Get"));
  return devices_of(answer.pod_resources());
}

Result<std::map<std::string, GivenDevices>> PodResourcesClient::list(os::Deadline deadline) {
  if (::access(socket_.c_str(), F_OK) != 0) return fail(system_error(errno, socket_));
  grpc::ClientContext context;
  set_deadline(context, deadline);
  v1::ListPodResourcesResponse answer;
  const grpc::Status status = v1::PodResourcesLister::NewStub(channel_to(socket_))->List(&context, {}, &answer);
  if (!status.ok()) return fail(error_of(status, "the kubelet's PodResources List"));
  std::map<std::string, GivenDevices> all;
  for (const v1::PodResources& pod : answer.pod_resources()) {
    GivenDevices& devices = all[pod.namespace_() + "/" + pod.name()];
    for (const auto& [resource, ids] : devices_of(pod)) devices[resource].insert(ids.begin(), ids.end());
  }
  return all;
}

}  // namespace railbed::kubelet
