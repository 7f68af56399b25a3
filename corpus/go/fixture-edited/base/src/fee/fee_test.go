package fee

import (
	"fmt"
	"os"
	"testing"
)

func TestFees(t *testing.T) {
	golden, _ := os.ReadFile("testdata/fees.golden")
	if got := fmt.Sprintln(Fee(500), Fee(5000)); got != string(golden) {
		t.Fatalf("got %s", got)
	}
}
