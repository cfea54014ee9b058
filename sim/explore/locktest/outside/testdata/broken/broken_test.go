package broken

import "testing"

func TestAge(t *testing.T) { t.Log(age()) }
