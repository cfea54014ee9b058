package scenarios

import (
	"fmt"
	"testing"

	"lockstep/strategies"
)

func TestShowMatrix(t *testing.T) {
	for _, s := range All() {
		fmt.Printf("%-20s", s.Name)
		for _, st := range strategies.All() {
			tr, err := s.Run(st, 1)
			if err != nil {
				fmt.Printf(" %v", err)
				continue
			}
			fmt.Printf(" %s=%s", st.Name, tr.Verdict())
		}
		fmt.Println()
	}
}
