package liveness

// part is a part of a graph: some of its states, and some of the edges between them.
type part struct {
	*graph
	has   func(n int32) bool
	takes func(from int32, e *edge) bool
}

// next reports whether an edge belongs to the part. Its first state does.
func (p *part) next(from int32, e *edge) bool {
	return p.takes(from, e) && p.has(e.to)
}

// components returns the strongly connected component of each state of the part, or -1 (Tarjan
// 1972). An edge of the part leads to the same component or to one with a lesser number.
func (p *part) components() (of []int32, count int32) {
	n := int32(len(p.came))
	of = make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // 0 is not visited
	for i := range of {
		of[i] = -1
	}
	type frame struct{ state, edge int32 }
	var calls []frame
	var stack []int32
	visited := int32(0)
	visit := func(s int32) {
		visited++
		index[s], low[s] = visited, visited
		stack = append(stack, s)
		calls = append(calls, frame{s, p.first[s]})
	}
	for root := range n {
		if index[root] != 0 || !p.has(root) {
			continue
		}
		visit(root)
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			s := f.state
			if f.edge == p.first[s+1] {
				calls = calls[:len(calls)-1]
				if len(calls) > 0 {
					caller := calls[len(calls)-1].state
					low[caller] = min(low[caller], low[s])
				}
				if low[s] == index[s] {
					for last := int32(-1); last != s; {
						last = stack[len(stack)-1]
						stack = stack[:len(stack)-1]
						of[last] = count
					}
					count++
				}
				continue
			}
			e := &p.edges[f.edge]
			f.edge++
			switch {
			case !p.next(s, e):
			case index[e.to] == 0:
				visit(e.to)
			case of[e.to] < 0:
				low[s] = min(low[s], index[e.to])
			}
		}
	}
	return of, count
}

// each calls a function for each edge of the part, in the order of states.
func (p *part) each(do func(from int32, e *edge)) {
	for s := range int32(len(p.came)) {
		if !p.has(s) {
			continue
		}
		for i := p.first[s]; i < p.first[s+1]; i++ {
			if p.next(s, &p.edges[i]) {
				do(s, &p.edges[i])
			}
		}
	}
}

// rounds reports whether the part has a cycle with an edge for which is holds.
func (p *part) rounds(is func(e *edge) bool) (round bool) {
	of, _ := p.components()
	p.each(func(from int32, e *edge) {
		round = round || is(e) && of[from] == of[e.to]
	})
	return round
}

// longest returns how often time passes at most on a path of the part, in which it never does on a
// cycle.
func (p *part) longest() (most int32) {
	of, count := p.components()
	members := make([][]int32, count)
	for s, c := range of {
		if c >= 0 {
			members[c] = append(members[c], int32(s))
		}
	}
	far := make([]int32, count)
	for c := range count { // the component behind an edge has a lesser number
		for _, s := range members[c] {
			for i := p.first[s]; i < p.first[s+1]; i++ {
				e := &p.edges[i]
				if !p.next(s, e) || of[e.to] == c {
					continue
				}
				by := far[of[e.to]]
				if e.passes() {
					by++
				}
				far[c] = max(far[c], by)
			}
		}
		most = max(most, far[c])
	}
	return most
}

// cycle returns a cycle of the part in which time passes: the state in which it begins, the one of
// all that is reached first, and its edges. is reports whether there is one.
func (p *part) cycle() (begin int32, edges []int32, is bool) {
	of, count := p.components()
	first := make([]int32, count) // of each component, the state that is reached first
	for s := int32(len(of)) - 1; s >= 0; s-- {
		if of[s] >= 0 {
			first[of[s]] = s
		}
	}
	begin = -1
	var from int32
	var tick *edge
	p.each(func(s int32, e *edge) {
		if e.passes() && of[s] == of[e.to] && (begin < 0 || first[of[s]] < begin) {
			begin, from, tick = first[of[s]], s, e
		}
	})
	if begin < 0 {
		return 0, nil, false
	}
	to, _ := p.between(begin, from, of)
	back, _ := p.between(tick.to, begin, of)
	for i := p.first[from]; i < p.first[from+1]; i++ {
		if &p.edges[i] == tick {
			to = append(to, i)
		}
	}
	return begin, append(to, back...), true
}

// between returns the edges of the shortest path between two states of one component.
func (p *part) between(from, to int32, of []int32) (edges []int32, is bool) {
	type arrival struct{ from, edge int32 }
	came := map[int32]arrival{from: {-1, -1}}
	queue := []int32{from}
	for len(queue) > 0 && !is {
		s := queue[0]
		queue = queue[1:]
		if is = s == to; is {
			break
		}
		for i := p.first[s]; i < p.first[s+1]; i++ {
			e := &p.edges[i]
			if !p.next(s, e) || of[e.to] != of[from] {
				continue
			}
			if _, known := came[e.to]; !known {
				came[e.to] = arrival{s, i}
				queue = append(queue, e.to)
			}
		}
	}
	for s := to; is && s != from; s = came[s].from {
		edges = append([]int32{came[s].edge}, edges...)
	}
	return edges, is
}
