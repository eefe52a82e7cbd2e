// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// A kernel module for guests of the lab: soft-RoCE devices that behave as a NIC's own RDMA device does when things move
// between network namespaces. Three things make a NIC's (mlx5's, say) different from rdma_rxe's:
//
//   its driver can cut off its users: without disassociate_ucontext the kernel refuses to move the device at all
//   (EOPNOTSUPP). An empty one is enough, since rxe's queues are not the hardware's.
//
//   it lies below its PCI function in sysfs (/sys/bus/pci/devices/X/infiniband/Y), rxe's below virtual/. So a device is
//   moved to the function of its interface, or of the interface below that (a second device needs another interface:
//   a macvlan on the first one's).
//
//   it stays when its interface goes to another namespace. rxe ends with NETDEV_UNREGISTER, which the kernel also says
//   then; a probe takes that word away where the interface itself goes on.
//
// What it does not do: a device that was moved has no QP 1 any more (rxe remembers the old one's number), so no
// connection manager, and no UDP socket in the new namespace: verbs work in the pod, traffic to others does not.
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <rdma/ib_verbs.h>

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("soft-RoCE devices that move between namespaces, for tests");

static void no_users(struct ib_ucontext *context)
{
}

// The PCI function of an interface or of the one below it.
static struct device *function_of(struct net_device *netdev)
{
	struct net_device *lower;
	struct device *found = NULL;

	rcu_read_lock();
	if (netdev->dev.parent && dev_is_pci(netdev->dev.parent))
		found = get_device(netdev->dev.parent);
	lower = found ? NULL : dev_get_by_index_rcu(dev_net(netdev), dev_get_iflink(netdev));
	if (lower && lower->dev.parent && dev_is_pci(lower->dev.parent))
		found = get_device(lower->dev.parent);
	rcu_read_unlock();
	return found;
}

// Each new device, and each that comes to another namespace.
static int device_came(struct ib_device *device)
{
	struct net_device *netdev;
	struct device *function;
	int error = 0;

	if (device->ops.driver_id != RDMA_DRIVER_RXE)
		return -EOPNOTSUPP;
	device->ops.disassociate_ucontext = no_users;
	netdev = device->dev.parent ? NULL : ib_device_get_netdev(device, 1);
	if (!netdev)
		return 0;
	function = function_of(netdev);
	if (function)
		error = device_move(&device->dev, function, DPM_ORDER_NONE);
	if (error)
		dev_warn(&device->dev, "cannot lie below %s: %d\n", dev_name(function), error);
	put_device(function);
	dev_put(netdev);
	return 0;
}

static struct ib_client client = {.name = "movable_rxe", .add = device_came};

// rxe_notify(block, event, info)
static int before_rxe_notify(struct kprobe *probe, struct pt_regs *registers)
{
	struct net_device *netdev = netdev_notifier_info_to_dev((void *)registers->dx);

	if (registers->si == NETDEV_UNREGISTER && netdev->reg_state == NETREG_REGISTERED)
		registers->si = 0;	// no event
	return 0;
}

static struct kprobe probe = {.symbol_name = "rxe_notify", .pre_handler = before_rxe_notify};

static int __init movable_rxe_init(void)
{
	int error = register_kprobe(&probe);

	if (error) {
		pr_err("movable_rxe: no probe at %s (%d): is rdma_rxe loaded?\n", probe.symbol_name, error);
		return error;
	}
	error = ib_register_client(&client);
	if (error)
		unregister_kprobe(&probe);
	return error;
}
module_init(movable_rxe_init);
