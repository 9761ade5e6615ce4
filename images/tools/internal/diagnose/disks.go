package diagnose

import (
	"fmt"
	"strings"
)

const maxAlso = 3

// disk is what a file system says of itself: its blocks and inodes, and how many of them are free; of the blocks, for those who are not root.
type disk struct {
	path                            string
	blocks, available, nodes, spare uint64
	// memory is whether it is a tmpfs: two of them are never one, however alike.
	memory bool
}

// space and inodes are the percentage in use; 0 where the file system does not count.
func (d disk) space() int64  { return shareUsed(d.blocks, d.available) }
func (d disk) inodes() int64 { return shareUsed(d.nodes, d.spare) }

func shareUsed(all, free uint64) int64 {
	if all == 0 {
		return 0
	}
	return 100 - int64(float64(free)*100/float64(all))
}

// likeness is what mounts of one disk have in common, though others write to it between two answers.
type likeness struct {
	blocks, nodes uint64
	space, inodes int64
}

// together has one disk for all that look alike and are not empty: a disk is often mounted several times, as the root (overlay) and as volumes.
func together(all []disk) []disk {
	var order []disk
	first, others := map[likeness]int{}, map[int][]string{}
	for _, each := range all {
		key := likeness{each.blocks, each.nodes, each.space(), each.inodes()}
		at, known := first[key]
		if known && !each.memory && each.blocks != each.available {
			others[at] = append(others[at], each.path)
			continue
		}
		first[key] = len(order)
		order = append(order, each)
	}
	for at, paths := range others {
		also := strings.Join(paths[:min(len(paths), maxAlso)], ", ")
		if rest := len(paths) - maxAlso; rest > 0 {
			also += fmt.Sprintf(" and %d more", rest)
		}
		order[at].path += " (also " + also + ")"
	}
	return order
}
