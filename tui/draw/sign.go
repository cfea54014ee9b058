package draw

// SignRows explains signs in rows of at most a width.
func SignRows(signs []Sign, width int) (lines []Line) {
	for len(signs) > 0 {
		l, others := SignRow(signs, width)
		if len(others) == len(signs) { // no row has room for any of them
			break
		}
		lines, signs = append(lines, l), others
	}
	return lines
}

// SignRow explains in a row as many of the signs as there is room for, and returns the others.
func SignRow(signs []Sign, width int) (l Line, others []Sign) {
	for _, s := range signs {
		next := Line{Text(" "+s[0], Strong), Text(" "+s[1]+" ", Dim)}
		if l.Width()+next.Width() > width {
			others = append(others, s)
			continue
		}
		l = append(l, next...)
	}
	return l, others
}
