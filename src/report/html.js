// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the report with uPlot, from the figures in #data. Text is only ever set as text, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const RDMA = "#0072b2", TCP = "#c45a00", INK = "#5b6774", GRID = "#e8edf1", OUTAGE = "#d5001c40";
  const FONT = "12px system-ui, 'DejaVu Sans', sans-serif";

  const three = v => v >= 100 ? v.toFixed(0) : String(+v.toPrecision(3));
  const size = b => b >= 1048576 ? b / 1048576 + " MiB" : b >= 1024 ? b / 1024 + " KiB" : b + " B";
  const micro = us => us >= 1e6 ? three(us / 1e6) + " s" : us >= 1000 ? three(us / 1000) + " ms" : three(us) + " µs";
  const rate = g => g === 0 ? "0" : g >= 1 ? three(g) + " Gb/s" : g >= 1e-3 ? three(g * 1e3) + " Mb/s" : three(g * 1e6) + " kb/s";
  const share = n => n < 0.001 ? "0 %" : three6(100 * (1 - 10 ** -n)) + " %";
  const three6 = v => String(+v.toFixed(6));

  const axis = (values, more) => Object.assign({ stroke: INK, font: FONT, grid: { stroke: GRID, width: 1 }, ticks: { stroke: GRID }, values: (u, list) => list.map(v => v == null ? "" : values(v)) }, more);
  // One label per decade is enough on a logarithmic axis; over less than two decades 2 and 5 help.
  const decades = (u, list) => {
    const wide = u.scales.y.max / u.scales.y.min >= 100;
    return list.map(v => { const m = v / 10 ** Math.floor(Math.log10(v) + 1e-9); const r = Math.round(m); return (r === 1 || (!wide && (r === 2 || r === 5))) ? v : null; });
  };

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

  function plot(box, options, columns) {
    const make = () => ({ width: box.clientWidth, height: box.clientHeight });
    const chart = new uPlot(Object.assign(make(), { legend: { show: false }, cursor: { drag: { x: true, y: false } } }, options), columns, box);
    addEventListener("resize", () => chart.setSize(make()));
    return chart;
  }

  // The values under the pointer, next to the title.
  function readout(box, format) {
    const out = document.createElement("span");
    out.className = "quiet";
    out.style.cssText = "float:right;font-weight:400;font-size:12.5px";
    box.previousElementSibling.append(out);
    return { setCursor: [u => { out.textContent = u.cursor.idx == null ? "" : format(u, u.cursor.idx); }] };
  }

  // Series with different x values share one chart.
  function joined(tables) {
    return tables.length === 1 ? tables[0] : uPlot.join(tables);
  }

  let fastest = 0;
  for (const rail of data.rails) for (const path of [rail.rdma, rail.tcp]) for (const v of path.gbps || []) fastest = Math.max(fastest, v);

  function bandwidth(box, rail) {
    const tables = [], series = [{}], entries = [], names = [];
    for (const [key, name, colour, dash] of [["rdma", rail.soft ? "RDMA (soft)" : "RDMA", RDMA], ["tcp", "TCP", TCP, [6, 4]]]) {
      const path = rail[key];
      if (!path.gbps) continue;
      tables.push([path.size_bytes.map(b => Math.log2(b)), path.gbps]);
      series.push({ stroke: colour, width: 2.5, dash, points: { show: true, size: 6, fill: colour }, spanGaps: true });
      entries.push([name, colour, dash ? "dashed" : ""]);
      names.push(name);
    }
    const columns = joined(tables);
    plot(box, {
      scales: { x: { time: false, range: (u, a, b) => a === b ? [a - 1, b + 1] : [a - 0.3, b + 0.3] }, y: { range: () => [0, fastest * 1.08 || 1] } },
      axes: [axis(v => size(2 ** v), { splits: (u, i, a, b) => { const s = []; for (let v = Math.ceil(a); v <= b; v += b - a > 14 ? 4 : b - a > 7 ? 2 : 1) s.push(v); return s; } }),
             axis(rate, { size: 76 })],
      series,
      hooks: readout(box, (u, i) => size(2 ** columns[0][i]) + ": " + names.map((n, k) => columns[k + 1][i] == null ? "" : n + " " + rate(columns[k + 1][i])).filter(Boolean).join(", ")),
    }, columns);
    legend(box, entries);
  }

  // Both transports of all rails on one scale, so that heights can be compared.
  let low = Infinity, high = 0, longest = 0;
  for (const rail of data.rails) for (const path of [rail.rdma, rail.tcp]) {
    for (const v of path.min_us || []) if (v > 0) low = Math.min(low, v);
    for (const v of path.max_us || []) high = Math.max(high, v);
    for (const v of path.nines || []) longest = Math.max(longest, v);
  }
  const span = () => [low * 0.8, high * 1.25];

  function latency(box, path, colour) {
    const band = colour + "2e";
    const columns = [path.at_s, path.min_us, path.p50_us, path.p99_us, path.max_us];
    plot(box, {
      scales: { x: { time: false }, y: { distr: 3, range: span } },
      axes: [axis(v => v + " s"), axis(micro, { size: 66, filter: decades, grid: { stroke: GRID, width: 1, filter: decades }, ticks: { stroke: GRID, filter: decades } })],
      bands: [{ series: [3, 1], fill: band }],
      series: [{}, { stroke: "transparent", points: { show: false } }, { stroke: colour, width: 2, points: { show: false } },
               { stroke: colour, width: 1, points: { show: false } },
               { stroke: "transparent", paths: () => null, points: { show: true, size: 4, fill: "#3b4754", stroke: "#3b4754" } }],
      hooks: Object.assign({ drawClear: [u => {
        for (let i = 0; i < path.outage_from_s.length; i++) {
          const from = u.valToPos(path.outage_from_s[i], "x", true), to = u.valToPos(path.outage_to_s[i], "x", true);
          u.ctx.fillStyle = OUTAGE;
          u.ctx.fillRect(from, u.bbox.top, Math.max(to - from, 2), u.bbox.height);
        }
      }] }, readout(box, (u, i) => path.p50_us[i] == null ? `${three(path.at_s[i])} s: no answer` : `${three(path.at_s[i])} s: p50 ${micro(path.p50_us[i])}, p99 ${micro(path.p99_us[i])}, slowest ${micro(path.max_us[i])}`)),
    }, columns);
    legend(box, [["median", colour], ["fastest to 99 %", colour + "55", "band"], ["slowest of the slot", "#3b4754", "dot"]].concat(path.outage_from_s.length ? [["no answer", OUTAGE, "band"]] : []));
  }

  function distribution(box, rail) {
    const tables = [], series = [{}], entries = [], names = [];
    for (const [key, name, colour, dash] of [["rdma", rail.soft ? "RDMA (soft)" : "RDMA", RDMA], ["tcp", "TCP", TCP, [6, 4]]]) {
      const path = rail[key];
      if (!path.nines) continue;
      tables.push([path.nines, path.quantile_us]);
      series.push({ stroke: colour, width: 2.5, dash, points: { show: false }, spanGaps: true });
      entries.push([name, colour, dash ? "dashed" : ""]);
      names.push(name);
    }
    const columns = joined(tables);
    const marks = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7];
    plot(box, {
      scales: { x: { time: false, range: () => [0, Math.max(longest, 1)] }, y: { distr: 3, range: span } },
      axes: [axis(share, { splits: (u, i, a, b) => marks.filter(v => v >= a && v <= b + 1e-9) }), axis(micro, { size: 66, filter: decades, grid: { stroke: GRID, width: 1, filter: decades }, ticks: { stroke: GRID, filter: decades } })],
      series,
      hooks: readout(box, (u, i) => share(columns[0][i]) + " within " + names.map((n, k) => columns[k + 1][i] == null ? "" : n + " " + micro(columns[k + 1][i])).filter(Boolean).join(", ")),
    }, columns);
    legend(box, entries);
  }

  for (const box of document.querySelectorAll(".chart")) {
    const rail = data.rails[+box.dataset.rail];
    if (box.dataset.kind === "bandwidth") bandwidth(box, rail);
    if (box.dataset.kind === "latency-rdma") latency(box, rail.rdma, RDMA);
    if (box.dataset.kind === "latency-tcp") latency(box, rail.tcp, TCP);
    if (box.dataset.kind === "distribution") distribution(box, rail);
  }
  document.body.dataset.drawn = document.querySelectorAll(".chart canvas").length;
})();
