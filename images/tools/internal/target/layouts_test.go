package target

import "testing"

// layouts are the cgroups of two containers of one pod, and one of another pod, as /proc/PID/cgroup says them on a node (from the node's own namespace, as with
// hostPID on version 1, or privileged). Made after public documentation and reports of each distribution, not recorded on one of ours.
var layouts = map[string][3]string{
	"EKS, Amazon Linux 2, version 1, cgroupfs":   {"/kubepods/burstable/pod1a/c1", "/kubepods/burstable/pod1a/c2", "/kubepods/burstable/pod2b/c3"},
	"EKS, Amazon Linux 2023, version 2, systemd": systemd("/kubepods.slice/kubepods-burstable.slice/", "kubepods-burstable-pod", "cri-containerd-"),
	"GKE, version 2, cgroupfs":                   {"/kubepods/burstable/pod1a/c1", "/kubepods/burstable/pod1a/c2", "/kubepods/burstable/pod2b/c3"},
	"AKS, version 2, systemd":                    systemd("/kubepods.slice/kubepods-besteffort.slice/", "kubepods-besteffort-pod", "cri-containerd-"),
	"guaranteed, systemd":                        systemd("/kubepods.slice/", "kubepods-pod", "cri-containerd-"),
	"k3s, version 2, cgroupfs":                   {"/kubepods/besteffort/pod1a/c1", "/kubepods/besteffort/pod1a/c2", "/kubepods/besteffort/pod2b/c3"},
	"kind, version 2, systemd":                   systemd("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/", "kubelet-kubepods-burstable-pod", "cri-containerd-"),
	"OpenShift, CRI-O with runc, systemd":        systemd("/kubepods.slice/kubepods-burstable.slice/", "kubepods-burstable-pod", "crio-"),
	"OpenShift, CRI-O with crun's own group": {
		"/kubepods.slice/kubepods-pod1a.slice/crio-c1.scope/container", "/kubepods.slice/kubepods-pod1a.slice/crio-c2.scope/container", "/kubepods.slice/kubepods-pod2b.slice/crio-c3.scope/container",
	},
	"containerd that takes systemd's words for a path": {"/system.slice/containerd.service/kubepods-pod1a.slice:cri-containerd:c1", "/system.slice/containerd.service/kubepods-pod1a.slice:cri-containerd:c2", "/system.slice/containerd.service/kubepods-pod2b.slice:cri-containerd:c3"},
}

func systemd(slices, pod, container string) [3]string {
	return [3]string{slices + pod + "1a.slice/" + container + "c1.scope", slices + pod + "1a.slice/" + container + "c2.scope", slices + pod + "2b.slice/" + container + "c3.scope"}
}

func TestTheTargetIsFoundInTheLayoutOfEachDistribution(t *testing.T) {
	for name, each := range layouts {
		for version, prefix := range map[string]string{"1": "4:memory:", "2": "0::"} {
			own := us
			own.cgroup = prefix + each[0] + "\n"
			fs := proc(t, own,
				one{pid: 1, name: "systemd", cgroup: prefix + "/init.scope\n"},
				one{pid: 2, name: "kthreadd", cgroup: prefix + "/\n"},
				one{pid: 5, parent: 1, name: "java", cgroup: prefix + each[2] + "\n", start: 1, command: []string{"java"}},
				one{pid: 6, parent: 1, name: "node", cgroup: prefix + each[1] + "\n", start: 2, command: []string{"node"}},
				one{pid: 7, parent: 6, name: "node", cgroup: prefix + each[1] + "\n", start: 3, command: []string{"node"}})
			target, err := fs.find(40, "")
			if err != nil || target.PID != 6 || len(target.Processes) != 2 {
				t.Errorf("%s, version %s: %+v %v", name, version, target, err)
			}
		}
	}
}

// With a cgroup namespace of our own, as on version 2, all paths begin at our own group.
func TestWhoIsInOurPodIsSeenFromACgroupNamespaceToo(t *testing.T) {
	for place, isOurs := range map[string]bool{
		"/../c2":                            true,
		"/../cri-containerd-c2.scope":       true,
		"/../cri-containerd-c2.scope/child": true,
		"/../../crio-c2.scope/container":    true,
		"/../../pod2b/c3":                   false,
		"/../../kubepods-burstable-pod2b.slice/cri-containerd-c3.scope": false,
		"/../../../kubepods-pod2b.slice/crio-c3.scope/container":        false,
		"/../../../../system.slice/containerd.service":                  false,
		"/":                     false,
		"/kubepods/pod1a/other": false,
	} {
		if got := inOurPod(place, "/"); got != isOurs {
			t.Errorf("%s: %v", place, got)
		}
	}
}
