-- SPDX-License-Identifier: Apache-2.0
BEGIN TRANSACTION;
CREATE TABLE attachment (number INTEGER PRIMARY KEY, pod TEXT NOT NULL, interface TEXT NOT NULL,
  netns TEXT NOT NULL, network TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'attached' OR status = 'detaching'), device TEXT NOT NULL,
  resource TEXT NOT NULL, undo TEXT NOT NULL, result TEXT NOT NULL, UNIQUE (pod, interface)) STRICT;
INSERT INTO "attachment" VALUES(1,'default/rec-meta@rec-meta','exec:eth0#0','/run/netns/rec-meta','rec-cluster','exec:cluster','attached','','','{"container":"rec-meta","ifname":"eth0","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=rec-meta","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\":\"1.0.0\",\"name\":\"rec-cluster\",\"type\":\"cluster\",\"token\":\"S\"}"}','{
    "cniVersion": "1.1.0",
    "interfaces": [
        {
            "name": "eth0",
            "sandbox": "x"
        }
    ],
    "ips": [
        {
            "address": "10.160.0.9/24",
            "interface": 0
        }
    ]
}');
INSERT INTO "attachment" VALUES(2,'default/rec-meta@rec-meta','exec:net1#0','/run/netns/rec-meta','rec-bridge','exec:bridge','attached','','','{"container":"rec-meta","ifname":"net1","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=rec-meta","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\":\"1.0.0\",\"name\":\"rec-bridge\",\"type\":\"bridge\",\"bridge\":\"rec0\",\"ipam\":{\"type\":\"host-local\",\"ranges\":[[{\"subnet\":\"10.161.0.0/24\"}]]}}"}','{
    "cniVersion": "1.1.0",
    "interfaces": [
        {
            "mac": "5e:3c:c5:5a:e2:61",
            "name": "rec0"
        },
        {
            "mac": "5e:3c:c5:5a:e2:61",
            "name": "veth0c95899b"
        },
        {
            "mac": "56:11:12:c5:75:30",
            "name": "net1",
            "sandbox": "/run/netns/rec-meta"
        }
    ],
    "ips": [
        {
            "address": "10.161.0.2/24",
            "gateway": "10.161.0.1",
            "interface": 2
        }
    ]
}');
INSERT INTO "attachment" VALUES(3,'default/rec-meta@rec-meta','net2','/run/netns/rec-meta','rec-lan','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":3,"parent":3,"parentNetnsId":0},"group":1583319769,"netns":"1fa2e"}
{"interface":"net2","network":"rec-lan","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.162.0.2/24","gateway":"10.162.0.1","pool":"host-local:rec-lan"}]}','{"interface":"net2","network":"rec-lan","type":"macvlan","mac":"96:79:64:22:f4:be","mtu":1500,"addresses":["10.162.0.2/24"],"gateway":"10.162.0.1","hostName":"p0"}');
INSERT INTO "attachment" VALUES(4,'default/rec-meta@rec-meta','net3','/run/netns/rec-meta','default/rec-rail','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":4,"parent":3,"parentNetnsId":0},"group":1583319769,"netns":"1fa2e"}
{"interface":"net3","network":"default/rec-rail","type":"macvlan","way":1,"hostLink":"p0","mtu":1400,"sysctls":["net/core/somaxconn=512"],"addresses":[{"address":"10.170.0.2/24","pool":"whereabouts"}]}','{"interface":"net3","network":"default/rec-rail","type":"macvlan","mac":"c2:c4:96:d3:98:5d","mtu":1400,"addresses":["10.170.0.2/24"],"hostName":"p0"}');
INSERT INTO "attachment" VALUES(5,'default/rec-direct@rec-direct','net1','/run/netns/rec-direct','rec-direct','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":2,"parent":3,"parentNetnsId":0},"group":1118932193,"netns":"1fa2f"}
{"interface":"net1","network":"rec-direct","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.163.0.2/24","gateway":"10.163.0.1","pool":"host-local:rec-direct"}]}','{"interface":"net1","network":"rec-direct","type":"macvlan","mac":"4e:b8:a0:c5:6d:24","mtu":1500,"addresses":["10.163.0.2/24"],"gateway":"10.163.0.1","hostName":"p0"}');
INSERT INTO "attachment" VALUES(6,'default/rec-device@rec-device','net1','/run/netns/rec-device','rec-device','host-device','attached','d0','','{"name":"d0","index":5,"kind":"veth","hwAddress":"020000006401","parentIndex":4,"inPod":{"index":5,"parent":4,"parentNetnsId":0},"mtu":1500,"netns":"20312"}
{"interface":"net1","network":"rec-device","type":"host-device","hostLink":"d0","addresses":[{"address":"10.164.0.2/24","gateway":"10.164.0.1","pool":"host-local:rec-device"}]}','{"interface":"net1","network":"rec-device","type":"host-device","mac":"02:00:00:00:64:01","mtu":1500,"addresses":["10.164.0.2/24"],"gateway":"10.164.0.1","hostName":"d0"}');
INSERT INTO "attachment" VALUES(7,'default/rec-chain@rec-chain','net1','/run/netns/rec-chain','rec-chain','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":2,"parent":3,"parentNetnsId":0},"group":1691313981,"netns":"1fa33"}
{"interface":"net1","network":"rec-chain","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.170.0.3/24","pool":"whereabouts"}]}','{"interface":"net1","network":"rec-chain","type":"macvlan","mac":"06:40:02:0d:fb:1f","mtu":1500,"addresses":["10.170.0.3/24"],"hostName":"p0"}');
INSERT INTO "attachment" VALUES(8,'default/rec-chain@rec-chain','net1/tuning','/run/netns/rec-chain','rec-chain','tuning','attached','','','{"way":3,"name":"net1","index":2,"kind":"macvlan","hwAddress":"0640020dfb1f","inPod":{"index":2,"parent":3,"parentNetnsId":0},"mtu":1500,"up":true,"netns":"1fa33"}
{"interface":"net1","network":"rec-chain","type":"tuning","way":3,"mtu":1400}','{"interface":"net1","network":"rec-chain","type":"tuning","mac":"06:40:02:0d:fb:1f","mtu":1400}');
INSERT INTO "attachment" VALUES(9,'default/rec-chain@rec-chain','net1/sbr','/run/netns/rec-chain','rec-chain','sbr','attached','','','{"way":3,"name":"net1","index":2,"kind":"macvlan","hwAddress":"0640020dfb1f","inPod":{"index":2,"parent":3,"parentNetnsId":0},"mtu":1400,"up":true,"routes":[{"dst":"10.170.0.0/24","link":2,"scope":253,"src":"10.170.0.3"}],"netns":"1fa33","rules":[{"from":"10.170.0.3/32","table":100}],"tableRoutes":[{"dst":"10.170.0.0/24","link":2,"table":100,"scope":253,"src":"10.170.0.3"}]}
{"interface":"net1","network":"rec-chain","type":"sbr","way":3,"sourceRouting":{},"addresses":[{"address":"10.170.0.3/24"}]}','{"interface":"net1","network":"rec-chain","type":"sbr","mac":"06:40:02:0d:fb:1f","mtu":1400,"addresses":["10.170.0.3/24"]}');
INSERT INTO "attachment" VALUES(10,'default/rec-outside@rec-outside','exec:net1#ipam','/run/netns/rec-outside','rec-outside','exec:outside-ipam','attached','','','{"container":"rec-outside","ifname":"net1","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=rec-outside","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\": \"1.0.0\", \"name\": \"rec-outside\", \"type\": \"macvlan\", \"master\": \"p0\", \"ipam\": {\"type\": \"outside-ipam\"}}"}','{
    "cniVersion": "1.1.0",
    "ips": [
        {
            "address": "10.165.0.9/24"
        }
    ]
}');
INSERT INTO "attachment" VALUES(11,'default/rec-outside@rec-outside','net1','/run/netns/rec-outside','rec-outside','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":2,"parent":3,"parentNetnsId":0},"group":1199664977,"netns":"1fa34"}
{"interface":"net1","network":"rec-outside","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.165.0.9/24"}]}','{"interface":"net1","network":"rec-outside","type":"macvlan","mac":"5e:c8:f4:0c:e9:c3","mtu":1500,"addresses":["10.165.0.9/24"],"hostName":"p0"}');
INSERT INTO "attachment" VALUES(12,'default/rec-static@rec-static','net1','/run/netns/rec-static','rec-static','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":2,"parent":3,"parentNetnsId":0},"group":1458508299,"netns":"1fa35"}
{"interface":"net1","network":"rec-static","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.166.0.9/24"}]}','{"interface":"net1","network":"rec-static","type":"macvlan","mac":"5e:7b:86:33:6c:ef","mtu":1500,"addresses":["10.166.0.9/24"],"hostName":"p0"}');
INSERT INTO "attachment" VALUES(13,'default/rec-begun@rec-begun','exec:eth0#0','/run/netns/rec-begun','rec-cluster','exec:cluster','begun','','','{"container":"rec-begun","ifname":"eth0","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=rec-begun","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\":\"1.0.0\",\"name\":\"rec-cluster\",\"type\":\"cluster\",\"token\":\"S\"}"}','');
CREATE TABLE baseline (pf TEXT PRIMARY KEY, pf_name TEXT NOT NULL, num_vfs INTEGER NOT NULL,
  autoprobe INTEGER NOT NULL, mtu INTEGER NOT NULL, up INTEGER NOT NULL, eswitch_mode TEXT NOT NULL,
  vfs TEXT NOT NULL) STRICT;
CREATE TABLE block (number INTEGER PRIMARY KEY, pool TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL,
  UNIQUE (pool, first, last)) STRICT;
CREATE TABLE lease (pool TEXT NOT NULL, address TEXT NOT NULL, pod TEXT NOT NULL, interface TEXT NOT NULL,
  PRIMARY KEY (pool, address)) STRICT;
INSERT INTO "lease" VALUES('host-local:rec-bridge','10.161.0.2','default/rec-meta@rec-meta','net1');
INSERT INTO "lease" VALUES('whereabouts','10.170.0.1','default/rec-meta','net1');
INSERT INTO "lease" VALUES('host-local:rec-lan','10.162.0.2','default/rec-meta@rec-meta','net2');
INSERT INTO "lease" VALUES('whereabouts','10.170.0.2','default/rec-meta@rec-meta','net3');
INSERT INTO "lease" VALUES('host-local:rec-direct','10.163.0.2','default/rec-direct@rec-direct','net1');
INSERT INTO "lease" VALUES('host-local:rec-device','10.164.0.2','default/rec-device@rec-device','net1');
INSERT INTO "lease" VALUES('whereabouts','10.170.0.3','default/rec-chain@rec-chain','net1');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "meta" VALUES('schema','4');
INSERT INTO "meta" VALUES('boot_id','00000000-0000-4000-8000-000000000001');
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "note" VALUES('in use: namespaces','');
INSERT INTO "note" VALUES('in use: looked','1795701346');
INSERT INTO "note" VALUES('meta/default/rec-meta@rec-meta','{"network":"rec-meta","ifname":"eth0","netns":"/run/netns/rec-meta","uid":"","deviceInfo":[]}');
INSERT INTO "note" VALUES('ipam request rec-bridge
rec-meta
net1','default/rec-meta@rec-meta');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/rec-bridge','rec-bridge');
INSERT INTO "note" VALUES('host-local file default/rec-meta@rec-meta
net1
/var/lib/cni/networks/rec-bridge/10.161.0.2','rec-meta
net1');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/rec-lan','rec-lan');
INSERT INTO "note" VALUES('host-local file default/rec-meta@rec-meta
net2
/var/lib/cni/networks/rec-lan/10.162.0.2','rec-meta
net2');
INSERT INTO "note" VALUES('network-status/default/rec-meta@rec-meta','[{
    "name": "rec-cluster",
    "interface": "eth0",
    "ips": [
        "10.160.0.9"
    ],
    "default": true,
    "dns": {}
},{
    "name": "rec-bridge",
    "interface": "net1",
    "ips": [
        "10.161.0.2"
    ],
    "mac": "56:11:12:c5:75:30",
    "dns": {}
},{
    "name": "rec-lan",
    "interface": "net2",
    "ips": [
        "10.162.0.2"
    ],
    "mac": "96:79:64:22:f4:be",
    "mtu": 1500,
    "dns": {}
},{
    "name": "default/rec-rail",
    "interface": "net3",
    "ips": [
        "10.170.0.2"
    ],
    "mac": "c2:c4:96:d3:98:5d",
    "mtu": 1400,
    "dns": {}
}]');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/rec-direct','rec-direct');
INSERT INTO "note" VALUES('host-local file default/rec-direct@rec-direct
net1
/var/lib/cni/networks/rec-direct/10.163.0.2','rec-direct
net1');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/rec-device','rec-device');
INSERT INTO "note" VALUES('host-local file default/rec-device@rec-device
net1
/var/lib/cni/networks/rec-device/10.164.0.2','rec-device
net1');
INSERT INTO "note" VALUES('meta/default/rec-begun@rec-begun','{"network":"rec-meta","ifname":"eth0","netns":"/run/netns/rec-begun","uid":"","deviceInfo":[]}');
CREATE TABLE pod (pod TEXT PRIMARY KEY, netns TEXT NOT NULL, netns_name TEXT NOT NULL,
  netns_ours INTEGER NOT NULL) STRICT;
INSERT INTO "pod" VALUES('default/rec-meta@rec-meta','/run/netns/rec-meta','',0);
INSERT INTO "pod" VALUES('default/rec-direct@rec-direct','/run/netns/rec-direct','',0);
INSERT INTO "pod" VALUES('default/rec-device@rec-device','/run/netns/rec-device','',0);
INSERT INTO "pod" VALUES('default/rec-chain@rec-chain','/run/netns/rec-chain','',0);
INSERT INTO "pod" VALUES('default/rec-outside@rec-outside','/run/netns/rec-outside','',0);
INSERT INTO "pod" VALUES('default/rec-static@rec-static','/run/netns/rec-static','',0);
CREATE TABLE step (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pf TEXT NOT NULL,
  policy TEXT NOT NULL, description TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'done' OR status = 'failed'), error TEXT NOT NULL) STRICT;
PRAGMA user_version = 3;
COMMIT;
