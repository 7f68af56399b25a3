package fee

// Fee is one percent, at least ten cents.
func Fee(cents int) int {
	return cents / 100
}
