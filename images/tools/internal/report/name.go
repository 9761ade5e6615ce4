package report

import (
	"strings"
	"unicode"
)

// marks are those that could end a quotation.
var marks = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", "«", "'", "»", "'", `"`, "'")

// Quoted is one line of foreign words in quotation marks, which nothing in them ends.
func Quoted(text string, most int) string { return "“" + marks.Replace(Line(text, most)) + "”" }

// Name is a name that a target chose for its processes, threads or functions: as it is if it has nothing that a program's names do without, else quoted.
func Name(text string, most int) string {
	line := Line(text, most)
	// A function stands with its place behind it: "parse (feed.py:3)".
	if strings.IndexFunc(strings.Replace(line, " (", "(", 1), isForeign) < 0 {
		return line
	}
	return Quoted(text, most)
}

// isForeign is whether a character is neither in an identifier nor in the signs of a language, as in "std::vector<int>::at", "main.(*Server).serve" and "GC#0".
func isForeign(char rune) bool {
	return !unicode.IsLetter(char) && !unicode.IsDigit(char) && !strings.ContainsRune("_.:$~+-/()*&<>[]{},=;#…", char)
}
