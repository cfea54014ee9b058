package module

import "testing"

func TestModuleNames(t *testing.T) {
	for dir, want := range map[string]string{"/a/My Lock!": "example.com/my-lock", "/": "example.com/mylock", "/日本": "example.com/mylock", "/a/b_c-2": "example.com/b_c-2"} {
		if got, err := moduleName(dir); got != want || err != nil {
			t.Errorf("%s is %s, %v", dir, got, err)
		}
	}
	for path, want := range map[string]string{"/a/b": "/a/b", "/a b": `"/a b"`} {
		if got := modulePath(path); got != want {
			t.Errorf("%s is %s", path, got)
		}
	}
}
