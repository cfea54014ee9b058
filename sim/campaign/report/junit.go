package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of JUnit's XML.
type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Time     string   `xml:"time,attr,omitempty"`
		Suites   []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Time     string     `xml:"time,attr,omitempty"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr,omitempty"`
		Failure *problem `xml:"failure,omitempty"`
		Error   *problem `xml:"error,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the report as JUnit's XML: a suite for each lock, a case for each search. A case
// fails if something is violated that isn't known; an undecided one is an error.
func (r *Report) JUnit(out io.Writer) error {
	all := suites{Name: "campaign " + r.Campaign, Time: seconds(r.Seconds)}
	for _, l := range r.Locks {
		s := suite{Name: l.Name}
		total := 0.0
		for _, e := range l.Entries {
			c := testCase{Class: l.Name, Name: e.About, Time: seconds(e.Seconds)}
			total += e.Seconds
			switch e.Status {
			case Violated:
				c.Failure = &problem{e.Answer, e.details()}
				s.Failures++
			case Undecided:
				c.Error = &problem{e.Answer, e.details()}
				s.Errors++
			default:
				c.Out = e.Answer
			}
			s.Cases = append(s.Cases, c)
		}
		s.Tests, s.Time = len(s.Cases), seconds(total)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, xml.Header+string(text)+"\n")
	return err
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", s)
}

// details are the findings of an entry other than those that hold, with their schedules.
func (e *Entry) details() string {
	var b strings.Builder
	for _, f := range e.Findings {
		if f.Holds {
			continue
		}
		fmt.Fprintf(&b, "%s %s\n", f.Code, f.Text)
		if f.Least != nil {
			fmt.Fprintf(&b, "  %s\n  lockstep replay '%s'\n", f.Least.Headline, f.Least.Schedule)
		}
	}
	return b.String()
}
