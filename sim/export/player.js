"use strict";
// The player. It computes nothing about locks: every word comes from the data,
// which the trace's own fold has made. Text goes into the page as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const last = data.frames.length - 1;
  let pos = -1;
  let timer = 0;

  const make = (tag, cls, text) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const ink = (k) => (k < 0 ? "" : "k" + k);
  const stamp = (ns) => (ns / 1e9).toFixed(6);

  // What is only reported is no failure, and looks like none.
  const look = (b) => (b.sign === "!!" ? "bad" : "mild");
  const lines = data.trace.events.map((e, i) => {
    const li = make("li", ink(data.frames[i + 1].ink), `${stamp(e.at_ns)} #${e.seq} ${e.actor}  ${e.text}`);
    li.id = "e" + (i + 1);
    li.setAttribute("role", "option");
    for (const b of data.breaks) if (b.pos === i + 1) li.append(make("span", look(b), `${b.sign} ${b.code}  ${b.text}`));
    $("events").append(li);
    return li;
  });

  for (const list of [data.chapters, data.breaks]) {
    for (const c of list) {
      const tick = make("span", c.code ? look(c) : "", c.sign || "|");
      tick.dataset.pos = c.pos;
      tick.style.left = (100 * c.pos) / Math.max(last, 1) + "%";
      $("ticks").append(tick);
    }
  }

  // A long run is wider than the window, rather than too small to read.
  const picture = $("cursor").ownerSVGElement;
  for (const svg of document.querySelectorAll("#timeline svg, #below svg")) svg.style.minWidth = svg.viewBox.baseVal.width * 0.75 + "px";
  const scale = () => picture.viewBox.baseVal.width / picture.getBoundingClientRect().width;
  // Two pictures are scrolled together, and the names beside the rows stay.
  const boxes = [["timeline", "names"], ["below", "names-2"]].filter(([box]) => $(box));
  for (const [box] of boxes) {
    $(box).addEventListener("scroll", () => {
      const left = $(box).scrollLeft;
      for (const [other, names] of boxes) {
        if ($(other).scrollLeft !== left) $(other).scrollLeft = left;
        $(names).setAttribute("transform", `translate(${left * scale()} 0)`);
      }
    });
  }

  const svg = "http://www.w3.org/2000/svg";
  const signs = data.legend.map((s) => {
    const li = make("li");
    const box = document.createElementNS(svg, "svg");
    box.setAttribute("viewBox", "-13 -9 26 18");
    const shape = document.createElementNS(svg, s.path ? "path" : "rect");
    shape.setAttribute("class", s.class);
    const form = s.path ? { d: s.path } : { x: -11, y: -6, width: 22, height: 12, rx: 2 };
    for (const [name, value] of Object.entries(form)) shape.setAttribute(name, value);
    box.append(shape);
    li.append(box, s.text);
    $("legend").append(li);
    return li;
  });

  let waits = false; // the page has just opened, at the violation
  const answers = new Map(); // by the question's position
  const questionAt = (p) => data.questions.find((q) => q.pos === p && !answers.has(p));

  function show(to, opening) {
    to = Math.max(0, Math.min(last, to));
    if (to === pos) return;
    pos = to;
    waits = Boolean(opening);
    $("poster").hidden = !waits;
    const f = data.frames[pos];
    showNow(f);
    showTimeline(f);
    showSecond();
    showQuestion();
    signs.forEach((li, i) => { li.hidden = data.legend[i].x > f.x && pos !== last; });
    showNotes(f);
    showBroken(f);
    showState(f);
    showEvents();
    showSource(f);
    $("scrub").value = pos;
    $("scrub").setAttribute("aria-valuetext", `event ${pos} of ${last}, ${f.time}`);
    for (const id of ["start", "prior", "back"]) $(id).disabled = pos === 0;
    for (const id of ["step", "next", "end"]) $(id).disabled = pos === last;
    $("bang").disabled = data.breaks.length === 0;
    if (!waits && location.hash !== "#" + pos) history.replaceState(null, "", "#" + pos);
  }

  function showNow(f) {
    const e = data.trace.events[pos - 1];
    $("event").textContent = e ? `${f.time}  #${e.seq} of ${last}  ${e.actor} ${e.text}` : `0s  nothing has happened yet, ${last} events are to come`;
    const names = [...new Set(data.breaks.filter((b) => b.pos === pos && b.sign === "!!").map((b) => b.name.toUpperCase()))];
    $("alarm").textContent = (names.length || f.clash ? `!! ${names.join(" + ") || f.clash} !!  ` : "") + f.holders;
    $("now").className = "level" + f.level;
    document.body.dataset.pos = pos;
  }

  // How long a span lasts is told once it has ended, or once the reader has asked for the future.
  function tellSpans(box, x) {
    const all = pos === last || $("clear").checked;
    for (const g of $(box).querySelectorAll("[data-until]")) g.style.display = !all && x < g.dataset.until ? "" : "none";
    for (const g of $(box).querySelectorAll("[data-from]")) g.style.display = all || x >= g.dataset.from ? "" : "none";
  }

  // A label in a box is as long as what is to be seen of the box: the longest of its texts that ends before the
  // cursor, or none.
  function shorten(box, x) {
    const hidden = pos !== last && !$("clear").checked;
    const left = $(box).querySelector("svg > g").transform.baseVal.getItem(0).matrix.e;
    for (const t of $(box).querySelectorAll("[data-texts]")) {
      const widths = t.dataset.widths.split(" ").map(Number);
      const at = left + Number(t.getAttribute("x"));
      const which = hidden ? widths.findIndex((w) => at + w <= x - 2) : 0;
      t.textContent = which < 0 ? "" : t.dataset.texts.split("\n")[which];
      const patch = t.previousElementSibling;
      if (patch && patch.classList.contains("ls-chip")) patch.setAttribute("width", which < 0 ? 0 : widths[which] + 8);
    }
  }

  // What is written at a place without a box is true of that place. If that is no longer hidden, the text is
  // whole, over the fog.
  function uncover(box, suffix, x) {
    const hidden = pos !== last && !$("clear").checked;
    const drawn = $(box).querySelector("svg > g");
    const left = drawn.transform.baseVal.getItem(0).matrix.e;
    const cut = [...drawn.querySelectorAll("text")].filter((t) => {
      const [at, middle] = [left + Number(t.getAttribute("x")), t.classList.contains("ls-mid")];
      const end = at + (middle ? 4 : 8) * t.textContent.length;
      return hidden && !t.dataset.texts && at <= x + (middle ? 0 : 8) && end > x + 8 && !t.closest('g[style*="none"]');
    });
    $("over" + suffix).replaceChildren(...cut.map((t) => t.cloneNode(true)));
    sayHidden($("later" + suffix), x + 18, hidden);
  }

  // The cursor's own instant stands above it; those beside it that it would run into are not shown meanwhile.
  function clearTimes(box, suffix, x) {
    const clock = $("clock" + suffix).textContent;
    const left = $(box).querySelector("svg > g").transform.baseVal.getItem(0).matrix.e;
    for (const t of $(box).querySelectorAll(".ls-time")) {
      const at = left + Number(t.getAttribute("x"));
      t.style.visibility = Math.abs(at - x) < 4 * (t.textContent.length + clock.length) + 4 ? "hidden" : "";
    }
  }

  // The hidden part says that it is hidden, in as many words as there is room for.
  function sayHidden(later, x, hidden) {
    const box = later.ownerSVGElement.parentElement;
    const room = Math.min(later.ownerSVGElement.viewBox.baseVal.width, (box.scrollLeft + box.clientWidth) * scale()) - x;
    const words = data.hidden.find((w) => 8 * w.length <= room);
    later.setAttribute("x", x);
    later.textContent = words || "";
    later.style.display = hidden ? "" : "none";
  }

  function showTimeline(f) {
    tellSpans("timeline", f.x);
    $("cursor").setAttribute("transform", `translate(${f.x} 0)`);
    $("clock").textContent = f.time;
    $("fog").setAttribute("x", pos === last ? 1e6 : f.x + 10);
    shorten("timeline", f.x);
    clearTimes("timeline", "", f.x);
    const box = $("timeline");
    const x = f.x / scale();
    if (x < box.scrollLeft + 120 || x > box.scrollLeft + box.clientWidth - 80) box.scrollLeft = x - box.clientWidth / 2;
    uncover("timeline", "", f.x);
  }

  function showSecond() {
    const o = data.other;
    if (!o) return;
    const at = o.at[pos];
    tellSpans("below", o.x[pos]);
    $("cursor-2").setAttribute("transform", `translate(${o.x[pos]} 0)`);
    $("clock-2").textContent = o.times[pos];
    $("fog-2").setAttribute("x", pos === last ? 1e6 : o.x[pos] + 10);
    shorten("below", o.x[pos]);
    clearTimes("below", "-2", o.x[pos]);
    $("below").scrollLeft = $("timeline").scrollLeft;
    uncover("below", "-2", o.x[pos]);
    $("held").textContent = `The same with ${o.name}:  ${o.broken[at]}${o.broken[at] && "  "}${o.holders[at]}${pos === last ? `  Verdict: ${o.verdict}.` : ""}`;
    $("second").className = o.broken[at].startsWith("!!") ? "level1" : "";
  }

  function showQuestion() {
    const open = questionAt(pos);
    const parts = [];
    if (open) {
      parts.push(make("p", "ask", `? ${open.text} ${open.lead ?? ""}`.trim()));
      open.choices.forEach((c, i) => {
        const choice = make("button", "choice", `${i + 1} ${c}`);
        choice.addEventListener("click", () => answer(i));
        parts.push(choice);
      });
      const reveal = make("button", "", "show it");
      reveal.addEventListener("click", () => answer(-1));
      parts.push(reveal);
    }
    for (const q of data.questions.filter((q) => answers.has(q.pos) ? q.until === pos : q.told === pos)) {
      const said = answers.get(q.pos);
      const right = q.choices[q.right];
      let text = `${q.then ?? q.text} It is: ${right}.`;
      if (said === q.right) text = `You said: ${right}. Right.`;
      else if (q.lesser?.includes(said)) text = `You said: ${q.choices[said]}. True, but not the worst: ${right}.`;
      else if (said >= 0) text = `You said: ${q.choices[said]}. It is: ${right}.`;
      parts.push(make("p", said === q.right ? "right" : "ask", text));
      if (q.until === pos) parts.push(make("p", "", q.why));
    }
    $("ask").replaceChildren(...parts);
    $("ask").hidden = parts.length === 0;
  }

  // An answer is followed by the event that decides it, or by another question before that; where that is the end of the run, by
  // what is told next.
  function answer(choice) {
    const q = questionAt(pos);
    if (!q || choice >= q.choices.length) return false;
    play(false);
    answers.set(q.pos, choice);
    const next = data.questions.find((o) => o.pos > q.pos && o.pos < q.until && !answers.has(o.pos));
    const told = q.lead ? [...data.chapters, ...data.breaks].map((c) => c.pos).filter((at) => at > q.pos) : [];
    show(Math.min(next ? next.pos : q.until, ...told));
    return true;
  }

  function showNotes(f) {
    const parts = data.breaks.filter((b) => b.pos === pos).map((b) => make("p", "fresh " + look(b), `${b.sign} ${b.code}: ${b.cause}`));
    for (const [i, n] of (f.chapter < 0 ? [] : data.chapters[f.chapter].notes).entries()) {
      parts.push(make("p", n.kind, ({ ask: "? ", missed: "~ " }[n.kind] || "") + (f.dated ? f.dated[i] : "") + n.text));
      if (n.answer && pos >= (n.until || 0)) { // the state beside it says so
        parts.push(make("p", "answer", "Answer: " + n.answer));
      } else if (n.answer) {
        const answer = make("details");
        answer.append(make("summary", "", "Answer"), make("p", "", n.answer));
        parts.push(answer);
      }
    }
    $("notes").replaceChildren(...parts);
  }

  function showBroken(f) {
    $("broken").replaceChildren(...data.breaks.slice(0, f.broken).map((b) => {
      const li = make("li", look(b));
      li.append(make("b", "", `${b.sign} ${b.code} ${b.name}: `), b.text);
      for (const p of b.events) {
        const to = make("button", "", "#" + data.trace.events[p - 1].seq);
        to.title = "Go to this event, which proves it";
        to.addEventListener("click", () => show(p));
        li.append(to);
      }
      return li;
    }));
    let text = "";
    if (pos === last) text = "Verdict of this schedule: " + (data.trace.verdict.join(" ") || "ok, no property broke.") + (data.expected ? ` ${data.expected}` : "");
    else if (f.broken === 0) text = "Nothing so far.";
    $("verdict").textContent = text;
  }

  function showState(f) {
    $("when").textContent = f.time;
    $("state").tBodies[0].replaceChildren(...f.rows.map((index, i) => {
      const row = data.rows[index];
      const tr = make("tr", f.fresh.includes(i) ? "fresh" : "");
      if (row.who === "believers" && f.clash) tr.classList.add("many");
      tr.append(make("td", ink(row.ink), row.who), make("td", "", row.text));
      return tr;
    }));
  }

  let listed = null; // what the list shows: touching every line at every step would be slow in a long run
  function showEvents() {
    const clear = $("clear").checked;
    const [from, to] = listed && listed.clear === clear ? [Math.min(pos, listed.pos), Math.max(pos, listed.pos)] : [0, last];
    for (let i = from; i < to; i++) lines[i].hidden = !clear && i >= pos;
    for (const [line, is] of [[lines[(listed ? listed.pos : 0) - 1], false], [lines[pos - 1], true]]) {
      if (!line) continue;
      line.classList.toggle("here", is);
      line.setAttribute("aria-selected", is);
    }
    listed = { pos, clear };
    const here = lines[pos - 1];
    $("events").setAttribute("aria-activedescendant", here ? here.id : "");
    $("events").scrollTop = here ? here.offsetTop - $("events").clientHeight / 2 : 0;
    for (const t of $("ticks").children) t.hidden = !clear && t.className !== "" && Number(t.dataset.pos) > pos;
    document.body.classList.toggle("clear", clear);
  }

  let file = -1;
  function showSource(f) {
    $("code").hidden = data.sources.length === 0;
    if (data.sources.length === 0) return;
    const at = f.source || f.stands[0] || { file: Math.max(file, 0), line: 0 };
    if (at.file !== file) {
      file = at.file;
      $("file").textContent = data.sources[file].file;
      $("source").replaceChildren(...data.sources[file].code.trimEnd().split("\n").map((code, i) => {
        const line = make("div");
        line.append(make("span", "who"), make("span", "n", i + 1), make("span", "", code));
        return line;
      }));
    }
    [...$("source").children].forEach((line, i) => {
      line.className = f.source && f.source.line === i + 1 ? "lit" : "";
      line.firstChild.replaceChildren(...f.stands.filter((s) => s.file === file && s.line === i + 1).map((s) => make("span", ink(s.ink), s.client)));
    });
    const focus = $("source").children[at.line - 1];
    if (focus) $("source").scrollTop = focus.offsetTop - $("source").clientHeight / 2;
  }

  const chapterAfter = () => data.chapters.map((c) => c.pos).find((p) => p > pos) ?? last;
  const chapterBefore = () => data.chapters.map((c) => c.pos).reverse().find((p) => p < pos) ?? 0;
  const violation = () => data.breaks.map((b) => b.pos).find((p) => p > pos) ?? data.breaks[0]?.pos ?? pos;

  function play(on) {
    clearTimeout(timer);
    timer = 0;
    $("play").textContent = on ? "stop" : "play";
    if (!on) return;
    if (pos === last || waits) show(0);
    const tick = () => {
      show(pos + 1);
      if (pos === last || questionAt(pos)) play(false);
      else timer = setTimeout(tick, Number($("speed").value));
    };
    timer = setTimeout(tick, Number($("speed").value));
  }

  const actions = {
    start: () => show(0), prior: () => show(chapterBefore()), back: () => show(pos - 1),
    step: () => show(pos + 1), next: () => show(chapterAfter()), end: () => show(last), bang: () => show(violation()),
  };
  const keys = {
    ArrowRight: "step", l: "step", ArrowLeft: "back", h: "back", "]": "next", "[": "prior", "!": "bang",
    g: "start", Home: "start", G: "end", End: "end",
  };
  for (const [id, act] of Object.entries(actions)) $(id).addEventListener("click", () => { play(false); act(); });
  $("watch").addEventListener("click", () => play(true));
  $("play").addEventListener("click", () => play(!timer));
  $("scrub").addEventListener("input", () => { play(false); show(Number($("scrub").value)); });
  $("clear").addEventListener("change", () => {
    showEvents();
    showTimeline(data.frames[pos]);
    showSecond();
  });
  $("events").addEventListener("click", (e) => {
    const li = e.target.closest("li");
    if (li) { play(false); show(lines.indexOf(li) + 1); }
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === "SELECT") return;
    const native = e.target.id === "scrub" && /^(Arrow|Home|End)/.test(e.key);
    const inList = e.target.id === "events" && { ArrowDown: "step", ArrowUp: "back" }[e.key];
    const act = inList || keys[e.key];
    const choice = /^[1-9]$/.test(e.key) ? Number(e.key) - 1 : e.key === "Enter" && e.target.tagName !== "BUTTON" && e.target.tagName !== "SUMMARY" ? -1 : null;
    if (choice !== null && answer(choice)) { e.preventDefault(); return; }
    if (e.key === " " && !["BUTTON", "SUMMARY"].includes(e.target.tagName) && e.target.type !== "checkbox") play(!timer);
    else if (act && !native) { play(false); actions[act](); }
    else return;
    e.preventDefault();
  });

  document.body.classList.toggle("framed", window.self !== window.top);
  const fromAddress = () => { const n = parseInt(location.hash.slice(1), 10); return Number.isNaN(n) ? 0 : n; };
  window.addEventListener("hashchange", () => show(fromAddress()));
  if (location.hash || !data.start) show(fromAddress());
  else show(data.start, true);
})();
