package target

// names are what people call each runtime.
var names = map[Runtime]string{JVM: "JVM", Python: "Python", Node: "Node.js", Go: "Go", Ruby: "Ruby", DotNet: ".NET"}

// Name is what people call the runtime, as "Node.js"; "" for a native or an unknown program.
func (r Runtime) Name() string { return names[r] }

// Language is the same for a program rather than for what runs it: of the JVM it is "Java".
func (r Runtime) Language() string {
	if r == JVM {
		return "Java"
	}
	return r.Name()
}
