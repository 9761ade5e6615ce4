package diagnose

import (
	"bytes"
	"path"
	"strconv"
	"strings"
)

// sizes are what the target's runtimes were told to use; 0 where nothing was said.
type sizes struct {
	// jvmBytes is the most of a JVM's heap; jvmPercent the same as a share of the memory limit, where no size was given.
	jvmBytes, jvmPercent int64
	nodeBytes            int64
	// goBytes is GOMEMLIMIT, goProcs is GOMAXPROCS.
	goBytes, goProcs int64
	// dotnetBytes is the most of .NET's heap, dotnetPercent the same as a share of the memory limit.
	dotnetBytes, dotnetPercent int64
}

// environment is what may be told of the variables of the target's processes: names, and numbers that size a runtime. A value goes nowhere else.
type environment struct {
	sizes sizes
	// named are the names of variables that are no service's, at most maxNames of them, in the order in which they were seen.
	named []string
	// count is how many such names there are, services how many of services.
	count, services int

	seen map[string]bool
	java bool
}

const (
	maxNames     = 60
	maxNameShown = 64
	// maxSeen bounds the names that are remembered; the target chooses how many it has.
	maxSeen = 4096
	// maxSize: a hundred times as much still fits into 64 bits.
	maxSize = 1e16
)

const (
	digits      = "0123456789"
	letters     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	nameLetters = letters + digits
)

// consistsOf is whether a text is not empty and has these letters alone.
func consistsOf(text, letters string) bool { return text != "" && strings.Trim(text, letters) == "" }

func isVariable(name string) bool {
	return consistsOf(name, nameLetters) && !strings.Contains(digits, name[:1])
}

// isOfService is whether it is one of the variables that the kubelet makes of each service of the namespace, as SHOP_SERVICE_HOST, SHOP_PORT and
// SHOP_PORT_80_TCP_ADDR.
func isOfService(name string) bool {
	if strings.Contains(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT") || strings.HasSuffix(name, "_PORT") {
		return true
	}
	for rest, found := name, true; found; {
		if _, rest, found = strings.Cut(rest, "_PORT_"); found {
			number, kind, _ := strings.Cut(rest, "_")
			if consistsOf(number, digits) && (strings.HasPrefix(kind, "TCP") || strings.HasPrefix(kind, "UDP") || strings.HasPrefix(kind, "SCTP")) {
				return true
			}
		}
	}
	return false
}

// A JVM reads its flags in this order, and the last one wins.
const (
	fromJavaToolOptions = iota
	fromJDKOptions
	fromCommand
	fromJavaOptions
	jvmSources
)

var sourceOf = map[string]int{"JAVA_TOOL_OPTIONS": fromJavaToolOptions, "JDK_JAVA_OPTIONS": fromJDKOptions, "_JAVA_OPTIONS": fromJavaOptions}

// heap is what one source of a JVM's flags says; negative where it says nothing.
type heap struct{ bytes, percent int64 }

// add takes one process: its arguments and its environment, each with a NUL behind every word.
func (e *environment) add(arguments, variables []byte) {
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	heaps := [jvmSources]heap{}
	for index := range heaps {
		heaps[index] = heap{-1, -1}
	}
	isJava := false
	for index, word := range split(arguments) {
		if index == 0 {
			isJava = path.Base(word) == "java"
		}
		e.flag(word, &heaps[fromCommand])
	}
	for _, pair := range split(variables) {
		name, value, found := strings.Cut(pair, "=")
		if !found || !isVariable(name) {
			continue
		}
		if source, is := sourceOf[name]; is {
			for _, word := range strings.Fields(value) {
				e.flag(word, &heaps[source])
			}
		}
		e.sized(name, value)
		e.remember(name)
	}
	e.endOfProcess(isJava, heaps)
}

func split(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte{0})), "\x00")
}

// endOfProcess: a percentage means nothing beside a size; and what starts a JVM has the variables, but not the flags, of that one.
func (e *environment) endOfProcess(isJava bool, heaps [jvmSources]heap) {
	of := heap{}
	for _, each := range heaps {
		if each.bytes >= 0 {
			of.bytes = each.bytes
		}
		if each.percent >= 0 {
			of.percent = each.percent
		}
	}
	if isJava && !e.java {
		e.java = true
		e.sizes.jvmBytes, e.sizes.jvmPercent = 0, 0
	}
	if e.java && !isJava {
		return
	}
	if of.bytes > 0 {
		e.sizes.jvmBytes = max(e.sizes.jvmBytes, of.bytes)
	} else {
		e.sizes.jvmPercent = max(e.sizes.jvmPercent, of.percent)
	}
}

// flag takes one flag of a JVM or of Node.js.
func (e *environment) flag(word string, of *heap) {
	if value, is := strings.CutPrefix(word, "-Xmx"); is && isDigit(value) {
		of.bytes = sizeOf(value, 1)
	}
	if value, is := strings.CutPrefix(word, "-XX:MaxHeapSize="); is && isDigit(value) {
		of.bytes = sizeOf(value, 1)
	}
	if value, is := strings.CutPrefix(word, "-XX:MaxRAMPercentage="); is && isDigit(value) {
		of.percent = sizeOf(value, 1)
	}
	if value, is := strings.CutPrefix(strings.ReplaceAll(word, "_", "-"), "--max-old-space-size="); is && isDigit(value) {
		e.sizes.nodeBytes = max(e.sizes.nodeBytes, sizeOf(value, mib))
	}
}

// sized takes a variable that is one number.
func (e *environment) sized(name, value string) {
	most := func(size *int64, found int64) { *size = max(*size, found) }
	switch name {
	case "NODE_OPTIONS":
		for _, word := range strings.Fields(value) {
			e.flag(word, &heap{})
		}
	case "GOMAXPROCS":
		if strings.Trim(value, "0123456789") == "" {
			most(&e.sizes.goProcs, sizeOf(value, 1))
		}
	case "GOMEMLIMIT":
		most(&e.sizes.goBytes, sizeOf(value, 1))
	case "DOTNET_GCHeapHardLimit", "COMPlus_GCHeapHardLimit":
		most(&e.sizes.dotnetBytes, hexOf(value))
	case "DOTNET_GCHeapHardLimitPercent", "COMPlus_GCHeapHardLimitPercent":
		most(&e.sizes.dotnetPercent, hexOf(value))
	}
}

func (e *environment) remember(name string) {
	if e.seen[name] || len(e.seen) >= maxSeen {
		return
	}
	e.seen[name] = true
	if isOfService(name) {
		e.services++
		return
	}
	if e.count++; e.count <= maxNames {
		e.named = append(e.named, name[:min(len(name), maxNameShown)])
	}
}

func isDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }

// sizeOf is the number at the beginning of a text, with one of the letters k, m, g and t behind it, times a unit; 0 where there is none.
func sizeOf(text string, unit float64) int64 {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	number, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0
	}
	if end < len(text) {
		switch text[end] | 0x20 {
		case 'k':
			number *= 1 << 10
		case 'm':
			number *= 1 << 20
		case 'g':
			number *= 1 << 30
		case 't':
			number *= 1 << 40
		}
	}
	return int64(min(number*unit, maxSize))
}

// hexOf is a number as .NET writes it: of base 16, with or without 0x.
func hexOf(text string) int64 {
	number, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 63)
	if err != nil {
		return 0
	}
	return int64(min(number, uint64(maxSize)))
}
