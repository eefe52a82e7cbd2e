# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests/cluster/lab: policies roll out and pods come and go while operator, agents and kubelets are killed, which and when
# a seed says. Afterwards: no VF in two pods, none made again that no order asked for, nothing left over, statuses are true.
#   FAULT_SECONDS (15)  how long; SEED (20779). Steps that began are in LOGS/random.
#
# guest-1 has one pod, anchor, with a VF of rail1 all the time: whatever is ordered, that PF may not change there.
fault_seconds=${FAULT_SECONDS:-15}
seed=${SEED:-20779}
steps=0 kills=0 next_pod=0
pods=()           # that are to be there
declare -A orders # NODE PF: how many orders there were that may make its VFs again

step() { steps=$((steps + 1)); printf '%d %s: %s\n' $(($(now_ms) - started)) $steps "$*" >>"$LOGS/random"; }
below() { echo $((RANDOM % $1)); }
guest() { echo "guest-$((1 + RANDOM % 2))"; }

# How often the driver has made VFs of a PF since the boot; it says so each time.
made() { on "$1" "grep -c 'igb 0000:0$2:00.0: [0-9]* VFs allocated' /run/vfs-made"; } # NODE PF
all_made() { local node pf; for node in "${nodes[@]}"; do for pf in 1 2; do echo "$node $pf $(made "$node" $pf)"; done; done; }
ordered() { # NODE PF
  orders[$1 $2]=$((${orders[$1 $2]:-0} + 1))
}

one_vf_pod() { # NAME NODE RESOURCE ADDRESS
  cat <<M
apiVersion: v1
kind: Pod
metadata: { name: $1, namespace: llm, labels: { random: "yes" }, annotations: { k8s.v1.cni.cncf.io/networks: '[{ "name": "$3", "interface": "$3", "ips": ["$4/16"] }]' } }
spec:
  nodeSelector: { kubernetes.io/hostname: $2 }
  terminationGracePeriodSeconds: 1
  dnsPolicy: Default
  containers:
    - name: worker
      image: localhost/guest:1
      imagePullPolicy: Never
      command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"]
      resources: { limits: { openshift.io/$3: 1 } }
      volumeMounts: [{ name: usr, mountPath: /usr, readOnly: true }]
  volumes: [{ name: usr, hostPath: { path: /usr } }]
M
}
# Takes the VFs of rail0's PF on guest-2 before that policy does.
extra_policy() {
  sed -e '/^---/,$d' -e 's/name: rail0/name: extra/; s/resourceName: rail0/resourceName: extra/; s/priority: 10/priority: 5/; s/numVfs: 4/numVfs: 3/' \
    -e 's|feature.node.kubernetes.io/network-sriov.capable: "true"|kubernetes.io/hostname: guest-2|' demo/manifests/1-policies.yaml
}

random_order() {
  local node
  case $(below 4) in
    0 | 1)
      local number=$((2 + RANDOM % 5))
      step "rail0: $number VFs"
      order_vfs rail0 $number || fail "random: an order is not taken"
      for node in "${nodes[@]}"; do ordered "$node" 1; done
      ;;
    2)
      local number=$((3 + RANDOM % 4))
      step "rail1: $number VFs"
      order_vfs rail1 $number || fail "random: an order is not taken"
      for node in "${nodes[@]}"; do ordered "$node" 2; done
      ;;
    3)
      ordered guest-2 1
      if kubectl get sriovnetworknodepolicy -n $namespace extra >/dev/null 2>&1; then
        step "policy extra goes"
        kubectl delete sriovnetworknodepolicy -n $namespace extra >/dev/null
      else
        step "policy extra comes"
        extra_policy | kubectl apply -f - >/dev/null
      fi
      ;;
  esac
}
random_pod() {
  if [ ${#pods[@]} -gt 0 ] && [ "$(below 3)" = 0 ]; then
    step "pod ${pods[0]} goes"
    kubectl delete pod -n llm --wait=false "${pods[0]}" >/dev/null
    pods=("${pods[@]:1}")
  else
    pod_comes "$(guest)"
  fi
}
pod_comes() { # NODE
  next_pod=$((next_pod + 1))
  step "pod r$next_pod comes to $1"
  one_vf_pod r$next_pod "$1" rail0 10.10.$((1 + next_pod / 250)).$((1 + next_pod % 250)) | kubectl apply -f - >/dev/null
  pods+=(r$next_pod)
}
random_kill() {
  local node
  node=$(guest)
  kills=$((kills + 1))
  case $(below 3) in
    0)
      step "operator killed"
      kill_operator KILL
      start_operator
      ;;
    1)
      step "agent of $node killed"
      kill_agent "$node" KILL
      start_cluster_agent "$node" || fail "random: the agent of $node starts again"
      ;;
    2)
      step "kubelet of $node killed"
      kill_kubelet "$node"
      start_kubelet "$node"
      ;;
  esac
}

# What pods that run have, one line each: node, and the VF that the pod's interface is.
vfs_of_pods() {
  local pod node
  while read -r pod node; do
    echo "$node $(vf_of "$pod" rail0)"
  done < <(kubectl get pod -n llm -l random=yes --field-selector status.phase=Running -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}')
}
# Pods that were promised a verbs device which a soft RDMA device then did not get never start (docs/kubernetes.md).
without_their_verbs() {
  kubectl get pod -n llm -l random=yes -o 'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].state.waiting.message}{"\n"}{end}' |
    sed -n 's|^\([^ ]*\) .*/dev/infiniband/uverbs[0-9]*: no such file.*|\1|p'
}
# A pod that comes while the kubelet or the agent begins may be refused for good (docs/deploy.md), and so may all of them.
# A user who wants one creates another, and nothing is killed any more.
pods_run() {
  local pod
  vfs_of_pods | grep 0000:01: && return
  for pod in $(without_their_verbs); do kubectl delete pod -n llm --wait=false "$pod" >/dev/null; done
  [ -n "$(kubectl get pod -n llm -l random=yes --field-selector status.phase!=Failed -o name)" ] || pod_comes guest-1
  return 1
}
anchor() { in_pod anchor 'cat /sys/class/net/rail1/ifindex; basename $(readlink /sys/class/net/rail1/device); ip -o -4 addr show dev rail1' | tr -s ' ' | xargs; }
# What is left of pods on a node: what railbed knows, RDMA devices, namespaces, VFs without an interface.
left_over() { # NODE
  sandboxes "$1"
  on "$1" 'rdma link; ls /run/netns | grep cni-; for vf in /sys/bus/pci/devices/*/physfn; do [ -d "${vf%/physfn}/net" ] || echo "${vf%/physfn} has no interface"; done'
}
found() { # NODE: VFs of its PFs as sysfs has them, then as the status of its node state does
  echo "$(vfs "$1" 1) $(vfs "$1" 2), reported: $(state_of "$1" '.status.interfaces[*].numVfs')"
}

kubelet_dies_in_a_roll_out() {
  local before generation
  before=$(made guest-2 1)
  generation=$(state_of guest-2 .metadata.generation)
  order_vfs rail0 2
  ordered guest-1 1
  until_true 180 eval '[ "$(state_of guest-2 .metadata.generation)" != "'"$generation"'" ]'
  kill_kubelet guest-2
  start_kubelet guest-2
  within "random: kubelet killed during a roll-out: it ends all the same" 300 eval 'is_done guest-2 && offers guest-2 rail0 2'
  same "random: and made the VFs again once" "$(($(made guest-2 1) - before))" 1
}

part_random() {
  local node was_there made_before
  has_operator || { skip "random: this railbed has no operator"; return; }
  [ "$operator_works" = 1 ] || { skip "random: the operator's part did not come so far"; return; }
  kubectl delete pod -n llm --all --timeout=600s >/dev/null 2>&1
  kubectl apply -f demo/manifests/1-policies.yaml >/dev/null
  order_vfs rail0 4
  order_vfs rail1 4
  within "random: it begins with 4 VFs of each rail" 300 offers_all 4 || return
  for node in "${nodes[@]}"; do within "random: $node says so" 180 is_done "$node" || return; done
  for node in "${nodes[@]}"; do node_script "$node" count-vfs; done
  # The VFs that there are were made since the boot, too.
  for node in "${nodes[@]}"; do within "random: the driver of $node logs when it makes VFs" 60 eval "[ \"\$(made $node 1)\" -gt 0 ] && [ \"\$(made $node 2)\" -gt 0 ]" || return; done
  kubelet_dies_in_a_roll_out
  one_vf_pod anchor guest-1 rail1 10.11.1.1 | kubectl apply -f - >/dev/null
  kubectl label pod -n llm anchor random- >/dev/null
  holds "random: a pod that stays" kubectl wait -n llm --for=condition=Ready --timeout=300s pod/anchor || return
  was_there=$(anchor)
  made_before=$(all_made)
  orders=()
  RANDOM=$seed
  say "random faults begin, seed $seed"
  local end=$(($(now_ms) + fault_seconds * 1000))
  while [ "$(now_ms)" -lt $end ]; do
    random_order
    random_pod
    random_kill
  done
  say "$steps steps, $kills kills"
  random_ends "$was_there" "$made_before"
}

random_ends() { # ANCHOR MADE-BEFORE
  local node pf before now twice
  same_soon "random: the pod that stays has what it had" "$1" anchor
  same "random: and its PF was not touched" "$(made guest-1 2)" "$(sed -n 's/^guest-1 2 //p' <<<"$2")"
  kubectl delete sriovnetworknodepolicy -n $namespace extra --ignore-not-found >/dev/null
  within "random: pods run on VFs" 300 pods_run
  twice=$(vfs_of_pods | grep 0000: | sort | uniq -d)
  same "random: no VF is in two pods" "$twice" ""
  holds "random: the pods end" kubectl delete pod -n llm --all --timeout=600s
  ordered guest-2 1
  order_vfs rail0 5
  order_vfs rail1 4
  for node in "${nodes[@]}"; do ordered "$node" 1; ordered "$node" 2; done
  within "random: the last order is carried out, and offered" 300 offers_all 5
  for node in "${nodes[@]}"; do
    within "random: $node says so" 180 is_done "$node"
    same_soon "random: the status of $node is true" "5 4, reported: 5 4" found "$node"
    same_soon "random: nothing is orphaned on $node" '"sandboxes":[]}' left_over "$node"
  done
  for pf in rail0 rail1; do
    same_soon "random: policy $pf says so" "True" condition sriovnetworknodepolicy $pf Ready
  done
  while read -r node pf before; do
    now=$(made "$node" "$pf")
    if [ $((now - before)) -le "${orders[$node $pf]:-0}" ]; then
      pass "random: VFs of $node's PF $pf: made again at most once for an order"
    else
      fail "random: VFs of $node's PF $pf were made again $((now - before)) times for ${orders[$node $pf]:-0} orders"
    fi
  done <<<"$2"
  [ $failed = 0 ] || sed 's/^/    /' "$LOGS/random"
}
