package fee

import "testing"

func TestLargeAmount(t *testing.T) {
	if got := Fee(5000); got != 50 {
		t.Fatalf("got %d", got)
	}
}

func TestSmallAmount(t *testing.T) {
	if got := Fee(500); got != 10 {
		t.Fatalf("got %d", got)
	}
}
