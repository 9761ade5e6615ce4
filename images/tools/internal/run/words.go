package run

import (
	"fmt"
	"io"
	"os"
)

// RefuseWords ends a program that takes no words if it was given any: who asks for something that it does not know, as `stop RUN-ID`, must
// not get its usual work instead.
func RefuseWords(program string) {
	if code := refuse(os.Stdout, program, os.Args[1:]); code != 0 {
		os.Exit(code)
	}
}

// refuse returns the exit code: 2 if there are words.
func refuse(out io.Writer, program string, words []string) int {
	if len(words) == 0 {
		return 0
	}
	fmt.Fprintf(out, "%s does nothing: it takes no words, and does not know %q.\n", program, words[0])
	return 2
}
