package export

import "lockstep/sim/timeline"

// The look of a picture: Okabe and Ito's palette, which people with any of the
// usual kinds of colour blindness can tell apart. Nothing is said by colour alone:
// each client's bars have a pattern of their own, marks differ in shape,
// believers are counted in digits, and violations carry "!!" and their code.

// patterns is the number of patterns of bars. Further clients repeat them, and the names
// beside the rows tell those apart.
const patterns = 5

// glyphs are the marks, as paths of about ten pixels around the origin, because
// no font is sure to have them all.
var glyphs = map[string]string{
	"send":    "M0-4 4 0 0 4-4 0Z",
	"granted": "M-5 0-1 4 6-5",
	"refused": "M0-5 5 0 0 5-5 0Z M-3 3 3-3",
	"release": "M-5-4H5L0 5Z",
	"extend":  "M-5-4-1 0-5 4 M1-4 5 0 1 4",
	"read":    "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z",
	"write":   "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z",
	"reject":  "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z M-3.5 3.5 3.5-3.5",
	"bad":     "M-5-5 5 5 M-5 5 5-5",
	"crash":   "M0-6V7 M-4-2H4",
	"resume":  "M-4-5 5 0-4 5Z",
	"lost":    "M-5-2H5 M-5 3H5 M3-6-3 7",
	"fault":   "M1-7-4 1H0L-1 7 4-1H0Z",
}

// shape is a mark's form in a picture: the name of a glyph, or the reason for having none.
type shape struct{ name, why string }

var shapes = [timeline.Marks]shape{
	timeline.NoMark:   {why: "there is nothing to show"},
	timeline.Bad:      {name: "bad"},
	timeline.Sends:    {name: "send"},
	timeline.Retries:  {why: "the command of the next attempt has a mark"},
	timeline.Granted:  {name: "granted"},
	timeline.Refused:  {name: "refused"},
	timeline.Enters:   {why: "the box of the critical section begins here"},
	timeline.Leaves:   {why: "the box of the critical section ends here"},
	timeline.Releases: {name: "release"},
	timeline.Extends:  {name: "extend"},
	timeline.Reads:    {name: "read"},
	timeline.Writes:   {name: "write"},
	timeline.Rejected: {name: "reject"},
	timeline.Crashes:  {name: "crash"},
	timeline.Resumes:  {name: "resume"},
	timeline.Fails:    {name: "lost"},
	timeline.GivesUp:  {name: "lost"},
	timeline.Loses:    {name: "lost"},
	timeline.Falls:    {name: "fault"},
	timeline.Jumps:    {name: "fault"},
}

// glyphWords explains the marks, in the order of the legend.
var glyphWords = []struct{ name, what string }{
	{"send", "sends a command"}, {"granted", "gets the lock"}, {"refused", "is refused"}, {"release", "releases"},
	{"extend", "extends"}, {"read", "reads"}, {"write", "writes"}, {"bad", "breaks a property"},
	{"reject", "refused by the resource"}, {"crash", "crash"}, {"resume", "is back"}, {"lost", "fails, or hears nothing"},
	{"fault", "clock jump, loss or change"},
}

// barWords explains the bars, in the order of the legend.
var barWords = []struct{ class, what string }{
	{"ls-inside ls-f0 ls-l0", "in the critical section"}, {"ls-paused ls-l0", "paused, hangs, or failed"}, {"ls-held ls-l0", "held up: the script has others act"}, {"ls-b0", "believes, or record stored"},
	{"ls-over ls-l0", "believes, though its lease is over"}, {"ls-split", "nobody has enough"}, {"ls-down", "down"}, {"ls-retired", "out of service"},
}

// hollow marks are drawn as outlines; solid ones are filled.
var hollow = map[string]bool{
	"granted": true, "refused": true, "extend": true, "read": true, "reject": true, "bad": true, "crash": true, "lost": true, "release": true,
}

// definitions are the patterns. A client's pattern is drawn in its colour over a
// light wash of it.
const definitions = `<defs>
<pattern id="ls-p0" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="ls-w0" width="6" height="6"/></pattern>
<pattern id="ls-p1" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ls-w1" width="7" height="7"/><rect class="ls-f1" width="4" height="7"/></pattern>
<pattern id="ls-p2" width="7" height="7" patternUnits="userSpaceOnUse"><rect class="ls-w2" width="7" height="7"/><circle class="ls-f2" cx="3" cy="3" r="2"/></pattern>
<pattern id="ls-p3" width="7" height="7" patternUnits="userSpaceOnUse"><rect class="ls-w3" width="7" height="7"/><path class="ls-l3" d="M0 0 7 7M7 0 0 7"/></pattern>
<pattern id="ls-p4" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="ls-w4" width="5" height="5"/><rect class="ls-f4" width="2" height="5"/></pattern>
<pattern id="ls-pause" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="ls-bg" width="6" height="6"/><rect class="ls-grey" width="2" height="6"/></pattern>
<pattern id="ls-down" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="ls-bg" width="8" height="8"/><path class="ls-cross" d="M1 1 7 7M7 1 1 7"/></pattern>
<pattern id="ls-retired" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="ls-bg" width="8" height="8"/><path class="ls-cross" d="M1 1 7 7"/></pattern>
</defs>
`

// style has the colours twice: on a light ground, which programs take that
// know no media queries, and on a dark one.
const style = `<style>
.ls-bg,.ls-chip{fill:#fff}.ls-fg{fill:#1a1a1a}.ls-dim{fill:#5c5c5c}.ls-grey{fill:#9a9a9a}
.ls-rule{stroke:#d4d4d4;stroke-width:1}.ls-axis{stroke:#5c5c5c;stroke-width:1.5}.ls-gap{stroke:#5c5c5c;stroke-width:1.5;fill:none}
.ls-cross{stroke:#9a9a9a;stroke-width:1.2}
.ls-f0{fill:#0072B2}.ls-f1{fill:#E69F00}.ls-f2{fill:#009E73}.ls-f3{fill:#CC79A7}.ls-f4{fill:#C9B800}
.ls-f9{fill:#767676}.ls-l9{stroke:#767676}.ls-t9{fill:#5c5c5c}
.ls-w0{fill:#4DA3D4}.ls-w1{fill:#FBE3B0}.ls-w2{fill:#BFE9DC}.ls-w3{fill:#F5DCE9}.ls-w4{fill:#FAF6C8}
.ls-l0{stroke:#0072B2}.ls-l1{stroke:#C98A00}.ls-l2{stroke:#00805D}.ls-l3{stroke:#B0568A}.ls-l4{stroke:#8F8300}
.ls-t0{fill:#005C90}.ls-t1{fill:#7A5600}.ls-t2{fill:#00694D}.ls-t3{fill:#8F3E6E}.ls-t4{fill:#5F5800}
.ls-wash{fill:#D55E00;fill-opacity:.10}.ls-flag{fill:#D55E00}.ls-alarm{fill:#B03A00}
.ls-breach{stroke:#D55E00;stroke-width:2;stroke-dasharray:5 3}.ls-ring{fill:none;stroke:#D55E00;stroke-width:2}
.ls-x{stroke:#D03800;stroke-width:3.2;fill:none}.ls-onflag{fill:#000}
.ls-count{fill:#ececec}.ls-frame{fill:none;stroke:#c8c8c8}
.ls-b0,.ls-b1,.ls-b2,.ls-b3,.ls-b4{stroke-width:1.5}
.ls-b0{fill:url(#ls-p0);stroke:#0072B2}.ls-b1{fill:url(#ls-p1);stroke:#C98A00}.ls-b2{fill:url(#ls-p2);stroke:#00805D}
.ls-b3{fill:url(#ls-p3);stroke:#B0568A}.ls-b4{fill:url(#ls-p4);stroke:#8F8300}.ls-b9{fill:#ececec;stroke:#9a9a9a;stroke-dasharray:2 2}
.ls-over{fill:none;stroke-width:1.5;stroke-dasharray:4 3}.ls-wants{stroke-width:2;stroke-dasharray:1 5;stroke-linecap:round}
.ls-awake{stroke-width:2}.ls-paused{fill:url(#ls-pause);stroke-width:1.5}.ls-held{fill:none;stroke-width:1.5;stroke-dasharray:2 2}.ls-inside{stroke-width:1.5}.ls-split{fill:#c8c8c8}.ls-down{fill:url(#ls-down);stroke:#9a9a9a}.ls-retired{fill:url(#ls-retired);stroke:#9a9a9a}
.ls-mark{stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.ls-hollow{fill:none}.ls-halo{fill:#fff}
text{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}
.ls-haloed{paint-order:stroke;stroke:#fff;stroke-width:4px}
.ls-small{font-size:11px}.ls-normal{font-size:13px}.ls-large{font-size:18px}.ls-bold{font-weight:bold}.ls-end{text-anchor:end}.ls-mid{text-anchor:middle}
@media (prefers-color-scheme:dark){
.ls-haloed{stroke:#16181c}.ls-bg,.ls-chip,.ls-halo{fill:#16181c}.ls-fg{fill:#eee}.ls-dim{fill:#a6a6a6}.ls-grey{fill:#6d6d6d}
.ls-rule{stroke:#3a3d42}.ls-axis,.ls-gap{stroke:#a6a6a6}.ls-cross{stroke:#777}
.ls-f0{fill:#56B4E9}.ls-f2{fill:#00B884}.ls-f4{fill:#F0E442}
.ls-w0{fill:#2B7FB3}.ls-w1{fill:#553A00}.ls-w2{fill:#0B3D2F}.ls-w3{fill:#4A2940}.ls-w4{fill:#45410E}
.ls-l0,.ls-b0{stroke:#56B4E9}.ls-l1,.ls-b1{stroke:#E69F00}.ls-l2,.ls-b2{stroke:#00B884}.ls-l3,.ls-b3{stroke:#CC79A7}.ls-l4,.ls-b4{stroke:#F0E442}
.ls-t0{fill:#7CC6F0}.ls-t1{fill:#F0B640}.ls-t2{fill:#35D3A4}.ls-t3{fill:#E09CC2}.ls-t4{fill:#F0E442}
.ls-f9{fill:#a6a6a6}.ls-l9{stroke:#a6a6a6}.ls-t9{fill:#b5b5b5}
.ls-alarm{fill:#FF8A45}.ls-x{stroke:#FF6A1A}.ls-count{fill:#2b2e33}.ls-frame{stroke:#44474d}.ls-b9{fill:#2b2e33;stroke:#777}
.ls-split{fill:#55585e}.ls-wash{fill-opacity:.16}.ls-breach,.ls-ring{stroke:#FF6A1A}
}
</style>
`
