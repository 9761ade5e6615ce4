package diagnose

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Settings are what people and kdebug may set by the environment.
type Settings struct {
	// Run is KDEBUG_RUN, shown in the header.
	Run string
	// Target is KDEBUG_TARGET: the name of the container to look at, where several share their processes.
	Target string
	// NotAfter is KDEBUG_NOT_AFTER, as it was given.
	NotAfter string
	// Compare is KDEBUG_COMPARE, a key: set, the report has facts to be compared with those of other pods.
	Compare string
	// PID is AUTODIAGNOSE_PID: the process to look at; "": the target's first process.
	PID string
	// Cgroup is AUTODIAGNOSE_CGROUP: where the target's cgroup numbers are; "": below the target's root.
	Cgroup string
	// Sample is AUTODIAGNOSE_SAMPLE, whole seconds between the two readings of what grows: 3 unless set; 0: one reading.
	Sample time.Duration
	// Peers is AUTODIAGNOSE_PEERS: how many peers of the target are tried; 5 unless set; 0: none.
	Peers int
	// TLS is AUTODIAGNOSE_TLS: HOST:PORT within the cluster, whose certificates are looked at, as they were given.
	TLS []string
	// APIHost and APIPort are where the API server is, as the kubelet tells each container; "" outside a cluster.
	APIHost, APIPort string
	// TerminationLog is AUTODIAGNOSE_TERMINATION_LOG; /dev/termination-log unless set.
	TerminationLog string
	// Message is AUTODIAGNOSE_MESSAGE, the most bytes of the termination message: 1024 unless set, from there to 3072.
	Message int
	// Grace is AUTODIAGNOSE_GRACE: stop waits so long between TERM and KILL; 5 s unless set.
	Grace time.Duration
}

const defaultTerminationLog = "/dev/termination-log"

var errSetting = errors.New("a setting is not a small whole number")

// ReadSettings reads them. An error has the words for people; the settings that it gives with one have no sample and the least message.
func ReadSettings(variable func(string) string) (Settings, error) {
	read := Settings{
		Run: variable("KDEBUG_RUN"), Target: variable("KDEBUG_TARGET"), NotAfter: variable("KDEBUG_NOT_AFTER"), Compare: variable("KDEBUG_COMPARE"),
		PID: variable("AUTODIAGNOSE_PID"), Cgroup: variable("AUTODIAGNOSE_CGROUP"), TLS: strings.Fields(variable("AUTODIAGNOSE_TLS")),
		APIHost: variable("KUBERNETES_SERVICE_HOST"), APIPort: variable("KUBERNETES_SERVICE_PORT"),
		TerminationLog: variable("AUTODIAGNOSE_TERMINATION_LOG"), Message: minMessage,
	}
	if read.TerminationLog == "" {
		read.TerminationLog = defaultTerminationLog
	}
	var numbers [4]int
	for index, each := range []struct {
		name      string
		otherwise int
	}{{"AUTODIAGNOSE_SAMPLE", 3}, {"AUTODIAGNOSE_PEERS", 5}, {"AUTODIAGNOSE_GRACE", 5}, {"AUTODIAGNOSE_MESSAGE", minMessage}} {
		var err error
		if numbers[index], err = small(variable(each.name), each.otherwise); err != nil {
			return read, err
		}
	}
	read.Sample, read.Peers = time.Duration(numbers[0])*time.Second, numbers[1]
	read.Grace, read.Message = time.Duration(numbers[2])*time.Second, min(max(numbers[3], minMessage), maxMessage)
	return read, nil
}

// The kubelet cuts the messages of all containers of a pod, ended ones too, to 12 KiB in equal shares, and a cut report is none.
const (
	minMessage = 1024
	maxMessage = 3072
)

// small reads a whole number of at most four digits, without a zero before it.
func small(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	if len(text) > 4 || (len(text) > 1 && text[0] == '0') || strings.Trim(text, "0123456789") != "" {
		return 0, errSetting
	}
	return strconv.Atoi(text)
}
