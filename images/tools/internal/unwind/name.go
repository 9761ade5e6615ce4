package unwind

// Name puts names to the frames of all stacks at once, so that each table is read once.
func (w *Walker) Name(stacks ...[]Frame) {
	unnamed := map[*module][]uint64{}
	each := func(do func(frame *Frame, opened *module, inside uint64)) {
		for _, frames := range stacks {
			for index := range frames {
				if opened, _, inside := w.moduleAt(frames[index].lookup()); opened != nil && frames[index].Function == "" {
					do(&frames[index], opened, inside)
				}
			}
		}
	}
	each(func(frame *Frame, opened *module, inside uint64) {
		if function, found := opened.golang.find(inside); found {
			frame.Function, frame.Plus = function.name, inside-function.begin
			frame.File, frame.Line = function.source(inside)
			return
		}
		unnamed[opened] = append(unnamed[opened], inside)
	})
	names := map[*module]map[uint64]Frame{}
	for opened, addresses := range unnamed {
		names[opened] = opened.program.symbols(addresses, w.isLate)
	}
	each(func(frame *Frame, opened *module, inside uint64) {
		if found := names[opened][inside]; found.Function != "" {
			frame.Function, frame.Plus = found.Function, found.Plus
		}
	})
}
