package diagnose

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"kdebug/tools/internal/target"
)

const (
	// maxCompared is how much of the variables is read for a comparison, maxVariables how many of them are told.
	maxCompared  = 1 << 20
	maxVariables = 80
	maxHosts     = 64 << 10
	// leastOwn: a name or an address that is shorter stands in values by chance.
	leastOwn = 4
)

func isCompared(name string) bool {
	return len(name) <= 80 && consistsOf(name, nameLetters+".-") && strings.Contains(letters, name[:1])
}

// compareEnvironment tells the variables of the first process by their digests, and that of its command line.
func (l *Look) compareEnvironment(fs target.FS, pid int) {
	text, err := beginningOf(fs, pid, "environ", maxCompared)
	if err != nil {
		return
	}
	own := strings.TrimSpace(readFile(string(fs) + "/sys/kernel/hostname"))
	variables := comparedVariables(text, own, l.ownAddress(own))
	if len(text) == maxCompared || len(variables) > maxVariables {
		l.cut("env")
	}
	for _, each := range variables[:min(len(variables), maxVariables)] {
		name, _, _ := strings.Cut(each, "=")
		l.fact("env", l.digestOf(each), name)
	}
	if command, err := beginningOf(fs, pid, "cmdline", maxCompared); err == nil {
		l.fact("command", l.digestOf("command\n"+string(command)), "")
	}
}

// comparedVariables are those that pods of one kind have in common, as NAME=VALUE and by name. What each pod has of its own, its name and its address,
// is taken out of the values; those of services are left out, because they depend on when the pod was made.
func comparedVariables(environ []byte, name, address string) []string {
	var variables []string
	for _, pair := range bytes.Split(environ, []byte{0}) {
		variable, value, found := strings.Cut(string(pair), "=")
		if !found || !isCompared(variable) || isOfService(variable) {
			continue
		}
		value = strings.ReplaceAll(value, "\n", "\x01")
		variables = append(variables, variable+"="+without(without(value, name, "{pod}"), address, "{address}"))
	}
	slices.Sort(variables)
	return variables
}

func without(text, word, mark string) string {
	if len(word) < leastOwn {
		return text
	}
	return strings.ReplaceAll(text, word, mark)
}

// ownAddress is the pod's, from the hosts file that the kubelet wrote; the target may have put a pipe or a file of any length there.
func (l *Look) ownAddress(name string) string {
	file, err := l.Target.Open("etc/hosts")
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, maxHosts))
	return addressIn(text, name)
}

func addressIn(hosts []byte, name string) string {
	for line := range strings.Lines(string(hosts)) {
		if words := strings.Fields(strings.ReplaceAll(line, "\x00", "")); len(words) > 1 && words[1] == name {
			return words[0]
		}
	}
	return ""
}
