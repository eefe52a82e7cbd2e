// SPDX-License-Identifier: Apache-2.0

// cnidrive drives CNI plugins with the reference library, as container runtimes do.
//
// It reads one request per line from standard input and answers each with one line, both JSON:
//
//	{"op": "add", "conf": {a list, or one plugin}, "netns": …, "containerID": …, "ifname": …,
//	 "args": [["K", "V"], …], "caps": {capability arguments}}       also check, del
//	{"op": "gc", "conf": …, "valid": [{"containerID": …, "ifname": …}]}
//	{"op": "status", "conf": …}        {"op": "version", "type": "macvlan"}
//	{"parallel": N, "jobs": [requests]}   N at a time; the answer has "answers", in the order of the jobs
//	{"series": {"pods": [{"netns", "containerID", "args", "caps"}], "confs": […], "parallel": N,
//	            "ops": ["add", "del"], "ifnames": […]}}
//	     the networks of a pod one after another, DEL in reverse and all of them, as Multus drives them; N
//	     pods at a time
//
// An answer has "ok", "ms", "result" (ADD, in the list's version), "versions" (that result converted by the
// library to every version, errors as texts) or "error" {code, msg, details}. Flags: the plugins' folders and
// where the library keeps its results.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

type attachment struct {
	ContainerID string `json:"containerID"`
	IfName      string `json:"ifname"`
}

type request struct {
	Op          string                 `json:"op"`
	Type        string                 `json:"type"`
	Conf        json.RawMessage        `json:"conf"`
	NetNS       string                 `json:"netns"`
	ContainerID string                 `json:"containerID"`
	IfName      string                 `json:"ifname"`
	Args        [][2]string            `json:"args"`
	Caps        map[string]interface{} `json:"caps"`
	Valid       []attachment           `json:"valid"`
	Seconds     float64                `json:"seconds"` // deadline; absent: 120

	Parallel int       `json:"parallel"`
	Jobs     []request `json:"jobs"`
	Series   *series   `json:"series"`
}

type pod struct {
	NetNS       string                 `json:"netns"`
	ContainerID string                 `json:"containerID"`
	Args        [][2]string            `json:"args"`
	Caps        map[string]interface{} `json:"caps"`
	Confs       []json.RawMessage      `json:"confs"` // absent: the series' own
}

type series struct {
	Pods     []pod             `json:"pods"`
	Confs    []json.RawMessage `json:"confs"`
	IfNames  []string          `json:"ifnames"` // absent: net1, net2, …
	Parallel int               `json:"parallel"`
	Ops      []string          `json:"ops"`
}

type failure struct {
	Code    uint   `json:"code"` // 0: not of the plugin's own
	Msg     string `json:"msg"`
	Details string `json:"details,omitempty"`
}

type answer struct {
	Op       string                     `json:"op,omitempty"`
	OK       bool                       `json:"ok"`
	Ms       float64                    `json:"ms"`
	Result   json.RawMessage            `json:"result,omitempty"`
	Versions map[string]json.RawMessage `json:"versions,omitempty"`
	Error    *failure                   `json:"error,omitempty"`
	Answers  []answer                   `json:"answers,omitempty"`
	Info     []string                   `json:"info,omitempty"`
}

type driver struct {
	cni *libcni.CNIConfig
}

func main() {
	path := flag.String("path", "/opt/cni/bin", "folders of the plugins, with colons between")
	cache := flag.String("cache", "/var/lib/cni", "where the library keeps results")
	flag.Parse()
	d := &driver{cni: libcni.NewCNIConfigWithCacheDir(strings.Split(*path, ":"), *cache, nil)}

	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 256<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for in.Scan() {
		if len(strings.TrimSpace(in.Text())) == 0 {
			continue
		}
		var r request
		var a answer
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			a = answer{Error: &failure{Msg: "the request is none: " + err.Error()}}
		} else {
			a = d.do(&r)
		}
		if encoder.Encode(a) != nil || out.Flush() != nil {
			os.Exit(1) // the caller is gone
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "cnidrive:", err)
		os.Exit(1)
	}
}

func (d *driver) do(r *request) answer {
	start := time.Now()
	var a answer
	switch {
	case r.Series != nil:
		a = d.series(r.Series)
	case len(r.Jobs) > 0:
		a = answer{OK: true, Answers: make([]answer, len(r.Jobs))}
		each(len(r.Jobs), r.Parallel, func(i int) { a.Answers[i] = d.do(&r.Jobs[i]) })
		for _, one := range a.Answers {
			a.OK = a.OK && one.OK
		}
	default:
		a = d.one(r)
	}
	a.Op = r.Op
	a.Ms = float64(time.Since(start).Microseconds()) / 1000
	return a
}

// each calls body for 0 to count-1, at most `width` at a time.
func each(count, width int, body func(int)) {
	if width < 1 {
		width = 1
	}
	var group sync.WaitGroup
	next := make(chan int)
	for i := 0; i < width; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				body(i)
			}
		}()
	}
	for i := 0; i < count; i++ {
		next <- i
	}
	close(next)
	group.Wait()
}

func (d *driver) series(s *series) answer {
	a := answer{OK: true}
	for _, op := range s.Ops {
		start := time.Now()
		step := answer{Op: op, OK: true, Answers: make([]answer, len(s.Pods))}
		each(len(s.Pods), s.Parallel, func(i int) { step.Answers[i] = d.podOp(s, op, &s.Pods[i]) })
		for _, one := range step.Answers {
			step.OK = step.OK && one.OK
		}
		step.Ms = float64(time.Since(start).Microseconds()) / 1000
		a.OK = a.OK && step.OK
		a.Answers = append(a.Answers, step)
	}
	return a
}

// podOp stops at the first ADD or CHECK that fails; DEL goes through all networks.
func (d *driver) podOp(s *series, op string, p *pod) answer {
	start := time.Now()
	a := answer{Op: op, OK: true}
	confs := p.Confs
	if confs == nil {
		confs = s.Confs
	}
	for n := range confs {
		i := n
		if op == "del" {
			i = len(confs) - 1 - n
		}
		r := request{Op: op, Conf: confs[i], NetNS: p.NetNS, ContainerID: p.ContainerID, Args: p.Args, Caps: p.Caps}
		r.IfName = fmt.Sprintf("net%d", i+1)
		if i < len(s.IfNames) {
			r.IfName = s.IfNames[i]
		}
		if one := d.one(&r); !one.OK {
			a.OK = false
			a.Error = one.Error
			if op != "del" {
				break
			}
		}
	}
	a.Ms = float64(time.Since(start).Microseconds()) / 1000
	return a
}

func list(raw json.RawMessage) (*libcni.NetworkConfigList, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, err
	}
	if _, is := keys["plugins"]; is {
		return libcni.NetworkConfFromBytes(raw)
	}
	one, err := libcni.ConfFromBytes(raw)
	if err != nil {
		return nil, err
	}
	return libcni.ConfListFromConf(one)
}

func (d *driver) one(r *request) answer {
	seconds := r.Seconds
	if seconds == 0 {
		seconds = 120
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	if r.Op == "version" {
		info, err := d.cni.GetVersionInfo(ctx, r.Type)
		if err != nil {
			return failed(err)
		}
		return answer{OK: true, Info: info.SupportedVersions()}
	}
	conf, err := list(r.Conf)
	if err != nil {
		return failed(err)
	}
	runtime := &libcni.RuntimeConf{ContainerID: r.ContainerID, NetNS: r.NetNS, IfName: r.IfName, Args: r.Args,
		CapabilityArgs: r.Caps}
	var result types.Result
	switch r.Op {
	case "add":
		result, err = d.cni.AddNetworkList(ctx, conf, runtime)
	case "check":
		err = d.cni.CheckNetworkList(ctx, conf, runtime)
	case "del":
		err = d.cni.DelNetworkList(ctx, conf, runtime)
	case "gc":
		args := &libcni.GCArgs{}
		for _, one := range r.Valid {
			args.ValidAttachments = append(args.ValidAttachments,
				types.GCAttachment{ContainerID: one.ContainerID, IfName: one.IfName})
		}
		err = d.cni.GCNetworkList(ctx, conf, args)
	case "status":
		err = d.cni.GetStatusNetworkList(ctx, conf)
	case "validate":
		_, err = d.cni.ValidateNetworkList(ctx, conf)
	default:
		err = fmt.Errorf("no op %q", r.Op)
	}
	if err != nil {
		return failed(err)
	}
	a := answer{OK: true}
	if result != nil {
		a.Result, err = json.Marshal(result)
		if err != nil {
			return failed(err)
		}
		a.Versions = convert(result)
	}
	return a
}

// convert is the library's own opinion on a result: what it becomes in every version.
func convert(result types.Result) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, one := range version.All.SupportedVersions() {
		converted, err := result.GetAsVersion(one)
		var text []byte
		if err == nil {
			text, err = json.Marshal(converted)
		}
		if err != nil {
			text, _ = json.Marshal(err.Error())
		}
		all[one] = text
	}
	return all
}

func failed(err error) answer {
	var own *types.Error
	if errors.As(err, &own) {
		return answer{Error: &failure{Code: own.Code, Msg: own.Msg, Details: own.Details}}
	}
	return answer{Error: &failure{Msg: err.Error()}}
}
