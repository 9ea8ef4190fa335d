// The page of the planner: reads the fields, asks the core (faro_planner.js, page/planner.cpp), shows its reply.
//
// State is the fields alone; it is kept in the address behind `#`, so that a plan can be sent as a link. A drawing lives in a
// shadow root, where its style sheet touches nothing else. Everything works by keys: tabs and drawings take the arrow keys.
(() => {
  "use strict";
  const page = document.getElementById("faro-planner");
  const by = (id) => document.getElementById(id);
  const panels = { plan: by("panel-plan"), layout: by("panel-layout"), machine: by("panel-machine") };
  const tabs = Object.keys(panels).map((name) => by(`tab-${name}`));
  const picture = by("faro-picture");
  const shadow = picture.attachShadow({ mode: "open" });
  let ask = null; // once the core is there
  let maps = [];
  let shown = "plan";
  let cells = []; // of the drawing: {rect, hint, x, y}
  let here = -1;

  // --- the drawing

  const dark = () => {
    const theme = document.body.dataset.theme;
    return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  };
  let drawn = "";

  function draw(svg) {
    drawn = svg || "";
    cells = [];
    here = -1;
    by("faro-cell").textContent = "";
    shadow.innerHTML = drawn.replace(/^<\?xml[^>]*>\s*/, "").replace("@media (prefers-color-scheme: dark)", dark() ? "@media all" : "@media not all");
    picture.classList.toggle("drawn", drawn !== "");
    const root = shadow.querySelector("svg");
    if (!root) return;
    const style = document.createElement("style");
    style.textContent = "svg { display: block; height: auto; max-width: none; } text, .read, .write { pointer-events: none; } .here { stroke: #cf222e !important; stroke-width: 3 !important; opacity: 1 !important; }";
    shadow.append(style);
    // No smaller than can be read; the frame scrolls.
    root.style.width = `clamp(${Math.min(720, root.viewBox.baseVal.width)}px, 100%, ${root.viewBox.baseVal.width}px)`;
    for (const rect of shadow.querySelectorAll("rect")) {
      const title = rect.querySelector("title");
      if (!title) continue;
      const box = { x: +rect.getAttribute("x"), y: +rect.getAttribute("y"), w: +rect.getAttribute("width"), h: +rect.getAttribute("height") };
      const cell = { rect, hint: title.textContent, x: box.x + box.w / 2, y: box.y + box.h / 2 };
      rect.addEventListener("pointerenter", () => go(cells.indexOf(cell)));
      cells.push(cell);
    }
  }

  // The element's row and column: what two pictures of one tile have in common.
  const place = (hint) => hint.split(":")[0];

  function go(index) {
    if (index < 0 || index >= cells.length) return;
    here = index;
    const at = place(cells[here].hint);
    const same = cells.filter((cell) => place(cell.hint) === at && at.startsWith("row"));
    for (const cell of cells) cell.rect.classList.toggle("here", cell === cells[here] || same.includes(cell));
    const others = same.filter((cell) => cell !== cells[here]);
    const side = others.length === 1 ? (others[0].x > cells[here].x ? ["before", "after"] : ["after", "before"]) : null;
    const bank = (cell) => (/bank (\d+)/.exec(cell.hint) || [])[1];
    by("faro-cell").textContent = cells[here].hint + (side ? `. ${side[0] === "before" ? "After" : "Before"}: bank ${bank(others[0])}` : "");
  }

  // The nearest cell that way, rather straight ahead.
  function neighbour(dx, dy) {
    if (here < 0) return 0;
    let best = -1;
    let least = Infinity;
    cells.forEach((cell, k) => {
      const ahead = (cell.x - cells[here].x) * dx + (cell.y - cells[here].y) * dy;
      const aside = Math.abs((cell.x - cells[here].x) * dy) + Math.abs((cell.y - cells[here].y) * dx);
      if (ahead <= 0.5 || ahead + 3 * aside >= least) return;
      least = ahead + 3 * aside;
      best = k;
    });
    return best;
  }

  picture.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey || cells.length === 0) return;
    event.preventDefault();
    go(neighbour(...way));
    if (here >= 0) cells[here].rect.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  picture.addEventListener("focus", () => { if (here < 0 && picture.matches(":focus-visible")) go(0); });
  new MutationObserver(() => draw(drawn)).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(drawn));

  // --- what is asked

  const fields = (panel) => Object.fromEntries([...new FormData(panels[panel]).entries()].map(([name, value]) => [name, String(value)]));
  const whole = (text, name) => {
    if (!/^\d{1,15}$/.test(text.trim())) throw { operation: "read the fields", got: `${name} \`${text}\``, wanted: "a whole number", remedy: "" };
    return Number(text.trim());
  };
  const quoted = (word) => (/^[\w.,=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const number = (value) => new Intl.NumberFormat("en").format(value);

  function spec_of(given) {
    if (given.kind === "axes") return `axes(${given.shape.replaceAll(/[,x×]/g, " ").trim()}; ${given.order.replaceAll(",", " ").trim()})`;
    return given.kind === "circuit" ? "@circuit.qasm" : given.spec.trim();
  }

  function time_of(plan) {
    const times = plan.passes.map((pass) => pass.predicted_time && pass.predicted_time.ms);
    if (times.length === 0 || times.some((ms) => typeof ms !== "number")) return "";
    const ms = times.reduce((sum, part) => sum + part, 0);
    return ms < 0.1 ? `${(ms * 1000).toPrecision(3)} µs predicted` : `${ms.toPrecision(3)} ms predicted`;
  }

  function show_plan() {
    const given = fields("plan");
    const spec = spec_of(given);
    const named = /^\s*(\w+)/.exec(given.spec || "");
    const found = named && maps.find((map) => map.name === named[1]);
    by("faro-meaning").textContent = found ? `${found.syntax}: ${found.meaning}` : "";
    const about = { spec, files: given.kind === "circuit" ? { "circuit.qasm": given.qasm } : undefined };
    const reply = ask({ verb: "explain", ...about, element_bytes: whole(given.element_bytes, "bytes"), batch: whole(given.batch, "arrays"), capability: given.capability, in_place: given.in_place === "on" });
    const plan = JSON.parse(reply.json);
    const sweeps = plan.sweeps !== undefined ? plan.sweeps : plan.passes.length;
    by("faro-summary").textContent = [`${number(BigInt(reply.elements))} elements`, `${sweeps} ${sweeps === 1 ? "sweep" : "sweeps"} over memory`, time_of(plan)].filter(Boolean).join(", ");
    draw(reply.svg);
    if (!reply.svg) by("faro-cell").textContent = "Permutations of this kind are not drawn.";
    by("faro-text").textContent = [...(reply.notes || []), reply.text].join("\n");
    by("faro-command").textContent = ["faro explain", quoted(spec), "--engine cuda --capability", given.capability, "--element-bytes", given.element_bytes, given.batch.trim() !== "1" ? `--batch ${given.batch.trim()}` : "", given.in_place === "on" ? "--in-place" : ""].filter(Boolean).join(" ");
    const where = panels.plan.elements.where;
    where.textContent = "";
    try {
      const gone = ask({ verb: "where", ...about, element: given.element.trim() });
      where.textContent = `to ${gone.to}; element ${gone.from} comes to its place`;
    } catch (error) {
      where.textContent = `wanted: ${error.wanted}`;
    }
  }

  function row(words, tag, chosen) {
    const line = document.createElement("tr");
    if (chosen) line.className = "chosen";
    for (const word of words) {
      const cell = document.createElement(tag);
      cell.textContent = word;
      line.append(cell);
    }
    return line;
  }

  function table(head, lines) {
    const made = document.createElement("table");
    made.append(row(head, "th"), ...lines);
    return made;
  }

  function show_layout() {
    const given = fields("layout");
    const asked = { rows: whole(given.rows, "rows"), columns: whole(given.columns, "columns"), element_bytes: whole(given.element_bytes, "bytes") };
    const reply = ask({ verb: "layout", ...asked, accesses: given.accesses });
    const advice = JSON.parse(reply.json);
    by("faro-summary").textContent = `${advice.choice}: ${advice.reason}`;
    draw(reply.svg);
    const code = document.createElement("pre");
    code.tabIndex = 0;
    code.setAttribute("aria-label", "The code to paste");
    code.textContent = advice.code;
    const cost = (c) => (c.holds_always && c.mean === c.worst ? `${c.worst}` : `${c.mean.toFixed(2)} to ${c.worst}`);
    by("faro-table").append(
      table(["turns of a phase", ...advice.accesses, "memory"], advice.candidates.map((c) => row([c.layout, ...c.costs.map(cost), c.extra_bytes ? `+${c.extra_bytes} bytes` : ""], "td", c.layout === advice.choice))),
      code);
    by("faro-command").textContent = `faro layout --rows ${asked.rows} --columns ${asked.columns} --element-bytes ${asked.element_bytes} --access ${quoted(given.accesses)} --emit`;
  }

  function show_machine() {
    const given = fields("machine");
    const request = { program: given.program, machine: given.machine, width: whole(given.width, "width"), latency: whole(given.latency, "latency"), n: whole(given.n, "words"), timeline: true };
    if (given.threads.trim() !== "") request.threads = whole(given.threads, "threads");
    const reply = ask({ verb: "simulate", request });
    const run = JSON.parse(reply.json);
    by("faro-summary").textContent = `${number(run.time)} time units; the formula gives ${number(run.formula)}, and no program takes fewer than ${number(run.lower_bound)}`;
    draw(reply.svg);
    by("faro-table").append(table(["", "", ], [
      row(["formula", `${run.formula_text}, ${run.formula_source}`], "td"),
      row(["accesses", `${number(run.accesses)}: ${number(run.requests)} of warps in ${number(run.rounds)} rounds, ${number(run.stages)} stages`], "td"),
      row(["congestion", Object.entries(run.congestion).map(([turns, times]) => `${times} of ${turns}`).join("; ")], "td"),
      row(["threads", number(run.threads)], "td"),
    ]));
    by("faro-command").textContent = ["faro simulate", given.program, "--machine", given.machine, "--width", request.width, "--latency", request.latency, "--n", request.n, request.threads ? `--threads ${request.threads}` : "", "--timeline"].filter(Boolean).join(" ");
  }

  const show = { plan: show_plan, layout: show_layout, machine: show_machine };

  function update() {
    if (!ask) return;
    for (const id of ["faro-alert", "faro-summary", "faro-text", "faro-cell"]) by(id).textContent = "";
    by("faro-table").replaceChildren();
    for (const part of page.querySelectorAll("[data-kind]")) part.hidden = part.dataset.kind !== fields("plan").kind;
    try {
      show[shown]();
      by("faro-command-line").hidden = false;
    } catch (error) {
      draw("");
      by("faro-command-line").hidden = true;
      if (error instanceof Error) throw error;
      by("faro-alert").textContent = `${error.operation}: got ${error.got}, wanted ${error.wanted}${error.remedy ? `; ${error.remedy}` : ""}`;
    }
    history.replaceState(null, "", `#${new URLSearchParams({ tab: shown, ...fields(shown) })}`);
    page.dataset.updates = String(Number(page.dataset.updates || 0) + 1); // tests wait for it
  }

  // --- fields and tabs

  function choose(name, focus) {
    shown = name;
    for (const [other, panel] of Object.entries(panels)) panel.hidden = other !== name;
    for (const tab of tabs) {
      const is = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(is));
      tab.tabIndex = is ? 0 : -1;
      if (is && focus) tab.focus();
    }
  }

  let waiting = 0;
  for (const panel of Object.values(panels)) {
    panel.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(update, 200);
    });
    panel.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      update();
    });
  }
  // A form of several fields is only sent by Enter where it has a button.
  page.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) event.target.form.requestSubmit();
  });
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => { choose(tab.id.slice(4)); update(); });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      choose(tabs[(k + step) % tabs.length].id.slice(4), true);
      update();
    });
  });

  function read_address() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const name = asked.get("tab");
    if (!(name in panels)) return;
    choose(name);
    for (const field of panels[name].elements) {
      if (!field.name || field.name === "where" || !(asked.has(field.name) || field.type === "checkbox")) continue;
      if (field.type === "radio") field.checked = field.value === asked.get(field.name);
      else if (field.type === "checkbox") field.checked = asked.get(field.name) === "on";
      else field.value = asked.get(field.name);
    }
  }
  addEventListener("hashchange", () => { read_address(); update(); });

  read_address();
  faroPlanner().then((core) => {
    ask = (request) => {
      const reply = JSON.parse(core.ccall("faro_page", "string", ["string"], [JSON.stringify(request)]));
      if (reply.error) throw reply.error;
      return reply;
    };
    maps = ask({ verb: "maps" }).maps;
    by("faro-maps").append(...maps.filter((map) => !map.syntax.includes("@")).map((map) => new Option(map.meaning, map.example)));
    update();
  }, () => { by("faro-summary").textContent = "The planner could not be started: this browser lacks WebAssembly with exceptions."; });
})();
