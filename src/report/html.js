// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the report with uPlot, from the figures in #data. Text is only ever set as text, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const FONT = "12px system-ui, 'DejaVu Sans', sans-serif";

  const three = v => v >= 100 ? v.toFixed(0) : String(+v.toPrecision(3));
  const size = b => b >= 1048576 ? three(b / 1048576) + " MiB" : b >= 1024 ? three(b / 1024) + " KiB" : three(b) + " B";
  const micro = us => us >= 1e6 ? three(us / 1e6) + " s" : us >= 1000 ? three(us / 1000) + " ms" : three(us) + " µs";
  const volume = g => g === 0 ? "0" : g >= 1 ? three(g) + " GB/s" : g >= 1e-3 ? three(g * 1e3) + " MB/s" : three(g * 1e6) + " kB/s";
  const rate = g => g === 0 ? "0" : g >= 1 ? three(g) + " Gb/s" : g >= 1e-3 ? three(g * 1e3) + " Mb/s" : three(g * 1e6) + " kb/s";
  const share = n => n < 0.001 ? "0 %" : String(+(100 * (1 - 10 ** -n)).toFixed(6)) + " %";

  // Marks of axes are 1, 2 or 5 times a power of ten.
  const STEPS = [];
  for (let e = -9; e <= 9; e++) for (const m of [1, 2, 5]) STEPS.push(+(m + "e" + e));
  const at_least = v => STEPS.find(s => s >= v * (1 - 1e-9)) || v;
  const at_most = v => STEPS.filter(s => s <= v * (1 + 1e-9)).pop() || v;
  // Of less than two decades all of them, of more the powers of ten.
  const is_decade = v => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
  const log_marks = (u, i, low, high) => STEPS.filter(s => s >= low * 0.999 && s <= high * 1.001 && (high / low < 150 || is_decade(s)));
  // The smallest step that leaves room for `most` of them, and the marks up to the first one that is not below `high`.
  const up_to = (high, most) => { const step = at_least((high || 1) / most), marks = []; for (let k = 0; k === 0 || marks[k - 1] < high * (1 - 1e-9); k++) marks.push(+(k * step).toPrecision(12)); return marks; };

  const RUNS = [0, 1, 2, 3, 4, 5, 6, 7].map(i => "rail-" + i);  // the colours of collectives
  let colours = {};
  const read_colours = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["rdma", "tcp", "quiet", "line", "dot", "outage", "none"].concat(RUNS)) colours[name] = style.getPropertyValue("--" + name).trim();
  };

  const axis = (values, more) => Object.assign({ stroke: colours.quiet, font: FONT, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line }, values: (u, list) => list.map(v => v == null ? "" : values(v)) }, more);
  const seconds = () => axis(v => three(v) + " s", { incrs: STEPS });
  const log_axis = () => axis(micro, { size: 66, splits: log_marks, filter: (u, list) => list });

  function legend(box, entries) {
    const row = document.createElement("div");
    row.className = "legend";
    for (const [text, colour, kind] of entries) {
      const one = document.createElement("span");
      one.textContent = text;
      one.style.setProperty("--c", colour);
      if (kind === "dashed") one.style.setProperty("--dash", "dashed"); else if (kind) one.className = kind;
      row.append(one);
    }
    box.after(row);
  }

  // The values under the pointer, next to the title.
  function readout(box, format) {
    const out = document.createElement("span");
    out.className = "readout";
    box.previousElementSibling.append(out);
    return { setCursor: [u => { out.textContent = u.cursor.idx == null ? "" : format(u, u.cursor.idx); }] };
  }

  const plots = [];
  function plot(box, options, columns) {
    plots.push([box, new uPlot(Object.assign({ width: box.clientWidth, height: box.clientHeight, legend: { show: false }, cursor: { drag: { x: true, y: false } } }, options), columns, box)]);
  }

  // Series with different x values share one chart.
  const joined = tables => tables.length === 1 ? tables[0] : uPlot.join(tables);
  const line = (colour, dash, points) => ({ stroke: colour, width: 2.5, dash, points: points ? { show: true, size: 6, fill: colour } : { show: false }, spanGaps: true });
  const paths = rail => [["rdma", rail.soft ? "RDMA (soft)" : "RDMA", colours.rdma], ["tcp", "TCP", colours.tcp, [6, 4]]].map(([key, ...more]) => [rail[key], ...more]);
  const readings = (names, columns, i, text) => names.map((n, k) => columns[k + 1][i] == null ? "" : n + " " + text(columns[k + 1][i])).filter(Boolean).join(", ");
  const by_size = { range: (u, a, b) => a === b ? [a - 1, b + 1] : [a - 0.3, b + 0.3], time: false };
  const size_axis = () => axis(v => size(2 ** v), { splits: (u, i, a, b) => { const s = []; for (let v = Math.ceil(a); v <= b; v += b - a > 14 ? 4 : b - a > 7 ? 2 : 1) s.push(v); return s; } });

  // Bandwidth: all charts of a kind on one scale, which has the links' limits where they are known.
  const reach = fields => { let high = 0; for (const rail of data.rails) { high = Math.max(high, rail.link_gbps || 0); for (const path of [rail.rdma, rail.tcp]) for (const field of fields) for (const v of path[field] || []) high = Math.max(high, v); } return high; };
  const limit_hook = rail => rail.link_gbps ? { drawClear: [u => {
    const y = u.valToPos(rail.link_gbps, "y", true);
    u.ctx.save(); u.ctx.strokeStyle = colours.none; u.ctx.lineWidth = 2; u.ctx.setLineDash([3, 3]);
    u.ctx.beginPath(); u.ctx.moveTo(u.bbox.left, y); u.ctx.lineTo(u.bbox.left + u.bbox.width, y); u.ctx.stroke(); u.ctx.restore();
  }] } : {};
  const limit_entry = rail => rail.link_gbps ? [["the link: " + rate(rail.link_gbps), colours.none, "dashed"]] : [];
  function rate_chart(box, rail, x, x_axis, tables, series, entries, names, fields, at) {
    const columns = joined(tables), marks = up_to(reach(fields), 5);
    plot(box, {
      scales: { x, y: { range: () => [0, marks[marks.length - 1]] } },
      axes: [x_axis, axis(rate, { size: 76, splits: () => marks })],
      series,
      hooks: Object.assign(limit_hook(rail), readout(box, (u, i) => at(columns[0][i]) + ": " + readings(names, columns, i, rate))),
    }, columns);
    legend(box, entries.concat(limit_entry(rail)));
  }

  function bandwidth(box, rail) {
    const tables = [], series = [{}], entries = [], names = [];
    for (const [path, name, colour, dash] of paths(rail)) {
      if (!path.gbps) continue;
      tables.push([path.size_bytes.map(b => Math.log2(b)), path.gbps]);
      series.push(line(colour, dash, true));
      entries.push([name, colour, dash ? "dashed" : ""]);
      names.push(name);
    }
    rate_chart(box, rail, by_size, size_axis(), tables, series, entries, names, ["gbps"], v => size(2 ** v));
  }

  function flow(box, rail) {
    const tables = [], series = [{}], entries = [], names = [];
    const add = (gbps, slot_s, name, colour, dash) => {
      if (!gbps) return;
      tables.push([gbps.map((v, i) => (i + 0.5) * slot_s), gbps]);
      series.push(line(colour, dash, false));
      entries.push([name, colour, dash ? "dashed" : ""]);
      names.push(name);
    };
    for (const [path, name, colour, dash] of paths(rail)) {
      add(path.flow_gbps, path.flow_slot_s, name, colour, dash);
      add(path.back_gbps, path.back_slot_s, name + ", back", colour, [2, 3]);
    }
    rate_chart(box, rail, { time: false }, seconds(), tables, series, entries, names, ["flow_gbps", "back_gbps"], v => three(v) + " s");
  }

  // Latency: both transports of all rails on one scale, so that heights can be compared.
  let low = Infinity, high = 0, longest = 0;
  for (const rail of data.rails) for (const path of [rail.rdma, rail.tcp]) {
    for (const v of path.min_us || []) if (v > 0) low = Math.min(low, v);
    for (const field of ["max_us", "lat_p99_us", "lat_p50_us"]) for (const v of path[field] || []) high = Math.max(high, v);
    for (const v of path.nines || []) longest = Math.max(longest, v);
  }
  const span = () => [at_most(low), at_least(high)];

  function latency(box, path, colour) {
    const columns = [path.at_s, path.min_us, path.p50_us, path.p99_us, path.max_us];
    plot(box, {
      scales: { x: { time: false }, y: { distr: 3, range: span } },
      axes: [seconds(), log_axis()],
      bands: [{ series: [3, 1], fill: colour + "2e" }],
      series: [{}, { stroke: "transparent", points: { show: false } }, { stroke: colour, width: 2, points: { show: false } },
               { stroke: colour, width: 1, points: { show: false } },
               { stroke: "transparent", paths: () => null, points: { show: true, size: 4, fill: colours.dot, stroke: colours.dot } }],
      hooks: Object.assign({ drawClear: [u => {
        for (let i = 0; i < path.outage_from_s.length; i++) {
          const from = u.valToPos(path.outage_from_s[i], "x", true), to = u.valToPos(path.outage_to_s[i], "x", true);
          u.ctx.fillStyle = colours.outage;
          u.ctx.fillRect(from, u.bbox.top, Math.max(to - from, 2), u.bbox.height);
        }
      }] }, readout(box, (u, i) => path.p50_us[i] == null ? `${three(path.at_s[i])} s: no answer` : `${three(path.at_s[i])} s: p50 ${micro(path.p50_us[i])}, p99 ${micro(path.p99_us[i])}, slowest ${micro(path.max_us[i])}`)),
    }, columns);
    legend(box, [["median", colour], ["fastest to 99 %", colour + "55", "band"], ["slowest of the slot", colours.dot, "dot"]].concat(path.outage_from_s.length ? [["no answer", colours.outage, "band"]] : []));
  }

  function distribution(box, rail) {
    const tables = [], series = [{}], entries = [], names = [];
    for (const [path, name, colour, dash] of paths(rail)) {
      if (!path.nines) continue;
      tables.push([path.nines, path.quantile_us]);
      series.push(line(colour, dash, false));
      entries.push([name, colour, dash ? "dashed" : ""]);
      names.push(name);
    }
    const columns = joined(tables);
    const marks = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7];
    plot(box, {
      scales: { x: { time: false, range: () => [0, Math.max(longest, 1)] }, y: { distr: 3, range: span } },
      axes: [axis(share, { splits: (u, i, a, b) => marks.filter(v => v >= a && v <= b + 1e-9) }), log_axis()],
      series,
      hooks: readout(box, (u, i) => share(columns[0][i]) + " within " + readings(names, columns, i, micro)),
    }, columns);
    legend(box, entries);
  }

  function latency_by_size(box, rail) {
    const tables = [], series = [{}], entries = [], names = [];
    for (const [path, name, colour, dash] of paths(rail)) {
      if (!path.lat_p50_us) continue;
      tables.push([path.lat_size_bytes.map(b => Math.log2(b)), path.lat_p50_us, path.lat_p99_us]);
      series.push(line(colour, dash, true), Object.assign(line(colour, dash, false), { width: 1 }));
      entries.push([name, colour, dash ? "dashed" : ""]);
      names.push(name + " p50", name + " p99");
    }
    const columns = joined(tables);
    plot(box, {
      scales: { x: by_size, y: { distr: 3, range: span } },
      axes: [size_axis(), log_axis()],
      series,
      hooks: readout(box, (u, i) => size(2 ** columns[0][i]) + ": " + readings(names, columns, i, micro)),
    }, columns);
    legend(box, entries);
  }

  // A line for each run and algorithm: runs differ in colour, a tree is dashed.
  function collective(box, field) {
    const tables = [], series = [{}], entries = [], names = [];
    for (const one of data.collectives) {
      const colour = colours[RUNS[one.run % RUNS.length]], dash = one.tree ? [6, 4] : undefined;
      tables.push([one.size_bytes.map(b => Math.log2(b)), one[field]]);
      series.push(line(colour, dash, true));
      entries.push([one.name, colour, dash ? "dashed" : ""]);
      names.push(one.name);
    }
    const columns = joined(tables), text = field === "time_us" ? micro : volume;
    const marks = up_to(Math.max(...columns.slice(1).flat().filter(Boolean), 0), 5);
    plot(box, {
      scales: { x: by_size, y: field === "time_us" ? { distr: 3 } : { range: () => [0, marks[marks.length - 1]] } },
      axes: [size_axis(), field === "time_us" ? log_axis() : axis(volume, { size: 76, splits: () => marks })],
      series,
      hooks: readout(box, (u, i) => size(2 ** columns[0][i]) + ": " + readings(names, columns, i, text)),
    }, columns);
    legend(box, entries);
  }

  function draw() {
    for (const [, chart] of plots.splice(0)) chart.destroy();
    for (const old of document.querySelectorAll(".chart + .legend, figcaption > .readout:not(.heat .readout)")) old.remove();
    read_colours();
    for (const box of document.querySelectorAll(".chart")) {
      const rail = data.rails[+box.dataset.rail];
      if (box.dataset.kind === "bandwidth") bandwidth(box, rail);
      if (box.dataset.kind === "flow") flow(box, rail);
      if (box.dataset.kind === "latency-rdma") latency(box, rail.rdma, colours.rdma);
      if (box.dataset.kind === "latency-tcp") latency(box, rail.tcp, colours.tcp);
      if (box.dataset.kind === "distribution") distribution(box, rail);
      if (box.dataset.kind === "latency-size") latency_by_size(box, rail);
      if (box.dataset.kind === "collective-busbw") collective(box, "busbw");
      if (box.dataset.kind === "collective-algbw") collective(box, "algbw");
      if (box.dataset.kind === "collective-time") collective(box, "time_us");
    }
    document.body.dataset.drawn = document.querySelectorAll(".chart canvas").length;
  }

  // Paper gets light charts of its width, and what is folded on the screen.
  function printing(on) {
    const was = document.documentElement.classList.contains("printing");
    if (was === on) return;
    document.documentElement.classList.toggle("printing", on);
    for (const one of document.querySelectorAll(on ? "details:not([open])" : "details[data-folded]")) {
      one.open = on;
      if (on) one.dataset.folded = ""; else delete one.dataset.folded;
    }
    draw();
  }

  // Which hosts, and how much, under the pointer on a heat map.
  function heat_maps() {
    const meshes = JSON.parse(document.getElementById("meshes").textContent);
    const level_of = (r, g, b) => { let best = 1, least = Infinity; meshes.palette.forEach((c, i) => { const d = Math.abs((c >> 16) - r) + Math.abs((c >> 8 & 255) - g) + Math.abs((c & 255) - b); if (i > 0 && d < least) { least = d; best = i; } }); return best; };
    const percent = v => Math.round(100 * v) + " %";
    const words = level => level === 1 ? "failed, or with outages" : level === 2 ? "below " + percent(meshes.steps[0]) : (level - 3 === meshes.steps.length - 1 ? "at least " : "") + percent(meshes.steps[level - 3]) + (level - 2 < meshes.steps.length ? " to " + percent(meshes.steps[level - 2]) : "") + " of usual";
    document.querySelectorAll(".mesh").forEach((section, number) => {
      const mesh = meshes.meshes[number];
      const names = i => { const of = mesh.hosts.slice(i * mesh.hosts_per_cell, (i + 1) * mesh.hosts_per_cell); return of.length > 1 ? of[0] + " … " + of[of.length - 1] : of[0]; };
      for (const image of section.querySelectorAll(".heat img")) {
        const out = document.createElement("span");
        out.className = "readout";
        image.previousElementSibling.append(out);
        let cells = null;
        const look = event => {
          if (!cells) {
            const canvas = document.createElement("canvas");
            canvas.width = canvas.height = mesh.side;
            const context = canvas.getContext("2d", { willReadFrequently: true });
            context.drawImage(image, 0, 0);
            cells = context.getImageData(0, 0, mesh.side, mesh.side).data;
          }
          const box = image.getBoundingClientRect();
          const at = v => Math.min(mesh.side - 1, Math.max(0, Math.floor(v * mesh.side)));
          const x = at((event.clientX - box.left) / box.width), y = at((event.clientY - box.top) / box.height);
          const [r, g, b, a] = cells.slice(4 * (y * mesh.side + x), 4 * (y * mesh.side + x) + 4);
          out.textContent = names(y) + " → " + names(x) + ": " + (a === 0 ? "not measured" : words(level_of(r, g, b)));
        };
        image.addEventListener("pointermove", look);
        image.addEventListener("pointerdown", look);
        image.addEventListener("pointerleave", () => { out.textContent = ""; });
      }
    });
  }

  const save = document.getElementById("save"), results = document.getElementById("results").textContent;
  save.hidden = !results;
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([results], { type: "application/json" }));
    link.download = "railbed-results.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  draw();
  if (document.getElementById("meshes")) heat_maps();
  addEventListener("resize", () => { for (const [box, chart] of plots) chart.setSize({ width: box.clientWidth, height: box.clientHeight }); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
})();
