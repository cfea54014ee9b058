package trace

// TokenAt returns the length of the token with which a text begins, as clients draw them, or 0: the name of a client, which
// is a capital letter, a number, a dash and four hexadecimal digits, as in A12-9f31.
func TokenAt[T string | []byte](text T) int {
	n := 1
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	const tail = len("-9f31")
	if n == 1 || text[0] < 'A' || text[0] > 'Z' || len(text) < n+tail || text[n] != '-' {
		return 0
	}
	for i := n + 1; i < n+tail; i++ {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0
		}
	}
	return n + tail
}
