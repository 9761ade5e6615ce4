package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"kdebug/tools/internal/rules"
)

// filesSection says how near the target's processes are to the most files that they may have open.
type filesSection struct{}

func (s *filesSection) begin(look *Look) {
	if !look.Target.Readable {
		return
	}
	look.open = surveyOpenFiles(look.Target.FS(), look.tree.pids)
	// What the others hold is not known.
	look.open.complete = look.open.complete && len(look.tree.pids) == len(look.tree.living)
}

func (s *filesSection) end(look *Look) *rules.Part {
	part := rules.NewPart("files")
	if len(look.open.holders) == 0 {
		return look.blind(part, "the target's open files are not readable")
	}
	partly := ""
	if looked, living := len(look.tree.pids), len(look.tree.living); looked < living {
		partly = fmt.Sprintf("; %d of %d processes looked at", looked, living)
	}
	tellFiles(part, look.open.holders, partly)
	look.amount("files", int64(fullest(look.open.holders).open), "open files")
	return part
}

func tellFiles(part *rules.Part, holders []holder, partly string) {
	it := fullest(holders)
	opened := fmt.Sprint(it.open)
	if it.more {
		opened = "more than " + opened
	}
	if it.limit == 0 {
		part.Section.Text = fmt.Sprintf("%s open in process %d (%d sockets), no limit known%s", opened, it.pid, it.sockets, partly)
		return
	}
	part.Find("files_near_limit", float64(it.share()), "open files of process %d at %d%% of the limit (%s of %d)", it.pid, it.share(), opened, it.limit)
	part.Section.Text = fmt.Sprintf("the fullest process is %d: %s open of %d, %d%% (%d sockets)%s", it.pid, opened, it.limit, it.share(), it.sockets, partly)
}

// fullest is the one nearest to its limit; of equals, the one with most files.
func fullest(holders []holder) holder {
	return slices.MaxFunc(holders, func(a, b holder) int {
		return cmp.Or(cmp.Compare(a.share(), b.share()), cmp.Compare(a.open, b.open))
	})
}
