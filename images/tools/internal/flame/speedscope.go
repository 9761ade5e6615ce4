package flame

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Unit is what a value counts.
type Unit string

// The units of https://www.speedscope.app/file-format-schema.json that profiles here have.
const (
	Samples      Unit = "none"
	Microseconds Unit = "microseconds"
	Nanoseconds  Unit = "nanoseconds"
)

// Speedscope gives the profile in speedscope's own format. Each frame, sample and weight is a line.
func Speedscope(title string, stacks []Stack, unit Unit) []byte {
	indices, names := map[string]int{}, []string{}
	var samples, weights []string
	for _, stack := range Clean(stacks) {
		numbers := make([]string, len(stack.Frames))
		for at, name := range stack.Frames {
			index, known := indices[name]
			if !known {
				index = len(names)
				indices[name] = index
				names = append(names, name)
			}
			numbers[at] = fmt.Sprint(index)
		}
		samples = append(samples, "["+strings.Join(numbers, ",")+"]")
		weights = append(weights, fmt.Sprint(stack.Value))
	}
	frames := make([]string, len(names))
	for at, name := range names {
		frames[at] = `{"name":` + quoted(name) + `}`
	}
	lines := func(list []string) string { return "[\n" + strings.Join(list, ",\n") + "\n]" }
	var text strings.Builder
	text.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"kdebug","activeProfileIndex":0,` + "\n")
	fmt.Fprintf(&text, "%q:%s,\n", "name", quoted(cleanName(title)))
	fmt.Fprintf(&text, "%q:{%q:%s},\n", "shared", "frames", lines(frames))
	fmt.Fprintf(&text, "%q:[{%q:%q,%q:%s,\n", "profiles", "type", "sampled", "name", quoted(cleanName(title)))
	fmt.Fprintf(&text, "%q:%q,%q:0,%q:%d,\n", "unit", unit, "startValue", "endValue", Total(stacks))
	fmt.Fprintf(&text, "%q:%s,\n%q:%s}]}\n", "samples", lines(samples), "weights", lines(weights))
	return []byte(text.String())
}

// quoted ends the text with a space: a value that kdebug takes out ends there, before the quotation mark.
func quoted(text string) string {
	encoded, _ := json.Marshal(text + " ")
	return string(encoded)
}
