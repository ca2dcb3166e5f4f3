package classify

// recentWords are short texts of late, so that names that come again and again
// need neither a copy nor a place of their own in a dictionary: one place for all
// texts whose ends and middle look alike.
type recentWords [256]string

// maxWord is the length of the longest text that is remembered, in bytes.
const maxWord = 64

// of is b as a string.
func (r *recentWords) of(b []byte) string {
	n := len(b)
	if n == 0 || n > maxWord {
		return string(b)
	}
	s := &r[(n*7+int(b[0])*31+int(b[n/2])*131+int(b[n-1])*17)%len(r)]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}
