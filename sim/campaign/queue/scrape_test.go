package queue

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// scrape is what Prometheus reads.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	r := httptest.NewRecorder()
	m.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if r.Code != http.StatusOK {
		t.Fatal(r.Code)
	}
	return r.Body.String()
}
