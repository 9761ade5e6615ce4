package target

import (
	"path"
	"slices"
	"strings"
)

// languages are what runs a program without a runtime that we can ask, by the beginning of the name of its binary.
var languages = []struct{ name, language string }{
	{"php", "PHP"}, {"perl", "Perl"}, {"beam", "Erlang"}, {"erl", "Erlang"}, {"lua", "Lua"}, {"deno", "Deno"}, {"bun", "Bun"}, {"dart", "Dart"}, {"julia", "Julia"}, {"Rscript", "R"},
	{"jruby", "JRuby"}, {"guile", "Scheme"}, {"sbcl", "Lisp"}, {"swipl", "Prolog"}, {"tclsh", "Tcl"},
}

var shells = []string{"sh", "bash", "dash", "ash", "zsh", "busybox", "tini", "dumb-init", "catatonit", "runsv", "runsvdir", "supervise"}

// Kind says in words what runs a process: "Ruby 3.3", "PHP", "a shell or an init", "a native program", "an unknown program (erl)". Its name may be the target's
// choice.
func (p Process) Kind() string {
	if words := p.Runtime.Name(); words != "" {
		return strings.TrimSpace(words + " " + p.Version)
	}
	name := p.binary()
	for _, each := range languages {
		if rest, found := strings.CutPrefix(name, each.name); found && (rest == "" || !isLetter(rest[0])) {
			return each.language
		}
	}
	switch {
	case slices.Contains(shells, name), strings.HasPrefix(name, "s6-"):
		return "a shell or an init"
	case p.Runtime == Native:
		return "a native program"
	case name == "":
		return "an unknown program"
	}
	return "an unknown program (" + name + ")"
}

func isLetter(char byte) bool { return char|0x20 >= 'a' && char|0x20 <= 'z' }

// binary is the name of what was started, as far as that can be seen.
func (p Process) binary() string {
	if p.Title() == "" && len(p.Command) > 0 {
		if name := path.Base(p.Command[0]); name != "." && name != "/" {
			return strings.TrimPrefix(name, "-")
		}
	}
	return p.Name
}

// Title is what a program wrote over its arguments to say what it does, as "postgres: shop [local] UPDATE waiting"; "" for one that did not.
// Arguments are never told: they may hold a secret.
func (p Process) Title() string { return titleOf(p.Command) }

func titleOf(command []string) string {
	for len(command) > 1 && command[len(command)-1] == "" {
		command = command[:len(command)-1]
	}
	if len(command) != 1 {
		return ""
	}
	// A path that has a space is no title.
	title := strings.Join(strings.Fields(command[0]), " ")
	if !strings.Contains(title, " ") || strings.HasPrefix(title, "/") {
		return ""
	}
	return title
}
