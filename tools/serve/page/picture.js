// Owns: what the page is drawn with: elements, numbers for people, charts, the levels.
// Must never: make markup of a text; every text becomes a text node, every number of a picture an attribute.

const kSvg = "http://www.w3.org/2000/svg";

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

export function drawn(name, attributes = {}, text = "") {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== "") made.textContent = text;
  return made;
}

/// A cell that shows its whole text when it is pointed at.
export function cell(text, className = "") {
  return element("td", { className, title: text }, text);
}

export function numberCell(text, className = "") {
  return element("td", { className: `number ${className}` }, text);
}

// -- Numbers for people ------------------------------------------------------------------------------------------

const kWhole = new Intl.NumberFormat("en-GB");

export function whole(value) {
  return kWhole.format(Math.round(value));
}

function threeDigits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function bytes(value) {
  if (value < 1000) return `${Math.round(value)} B`;
  const units = ["kB", "MB", "GB", "TB", "PB"];
  let unit = -1;
  do {
    value /= 1000;
    ++unit;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${threeDigits(value)} ${units[unit]}`;
}

export function short(value) {
  if (value < 10_000) return whole(value);
  return value < 999_500 ? `${threeDigits(value / 1000)} k` : `${threeDigits(value / 1_000_000)} M`;
}

export function rate(value) {
  if (value === 0) return "0";
  return value >= 100 ? whole(value) : value.toFixed(1);
}

export function duration(seconds) {
  if (seconds === null) return "–";
  if (seconds === 0) return "0";
  if (seconds < 0.001) return `${threeDigits(seconds * 1e6)} µs`;
  if (seconds < 1) return `${threeDigits(seconds * 1000)} ms`;
  return `${threeDigits(seconds)} s`;
}

export function age(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/// The latency that `part` of the requests stayed below, between the bounds of its bucket; null where there were none.
export function quantile(counts, bounds, part) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = part * total;
  for (let i = 0; i < bounds.length; ++i) {
    if (left <= counts[i]) {
      const below = i === 0 ? 0 : bounds[i - 1];
      return below + ((bounds[i] - below) * left) / counts[i];
    }
    left -= counts[i];
  }
  return bounds[bounds.length - 1];
}

// -- Charts ------------------------------------------------------------------------------------------------------

/// A round number that is not below.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((round) => round >= value * 0.999);
}

/// Parts of a line, split where a value is null.
function runs(values, x, y) {
  const all = [];
  let run = [];
  values.forEach((value, i) => {
    if (value === null) {
      if (run.length > 0) all.push(run);
      run = [];
    } else {
      run.push([x(i), y(value)]);
    }
  });
  if (run.length > 0) all.push(run);
  return all;
}

const kMargin = { left: 58, right: 6, top: 8, bottom: 18 };

/// `lines` are [{values, className, isFilled}] of one length; the newest value is at the right, and `span` is how many
/// fit. The scale reaches up to `least` at least, so that nothing looks large where nothing happens.
export function drawChart(svg, lines, span, least, label) {
  const width = svg.clientWidth || 500;
  const height = svg.clientHeight || 120;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const top = ceiling(Math.max(least, ...lines.flatMap((line) => line.values.map((value) => value ?? 0))));
  const count = lines[0].values.length;
  const x = (i) => kMargin.left + ((width - kMargin.left - kMargin.right) * (i + span - count)) / (span - 1);
  const y = (value) => height - kMargin.bottom - ((height - kMargin.top - kMargin.bottom) * value) / top;
  const parts = [0, 0.5, 1].flatMap((part) => [
    drawn("line", { class: "grid", x1: kMargin.left, x2: width - kMargin.right, y1: y(top * part), y2: y(top * part) }),
    drawn("text", { x: kMargin.left - 8, y: y(top * part) + 4, "text-anchor": "end" }, label(top * part)),
  ]);
  parts.push(drawn("text", { x: kMargin.left, y: height - 3 }, `${span} s ago`));
  parts.push(drawn("text", { x: width - kMargin.right, y: height - 3, "text-anchor": "end" }, "now"));
  for (const line of lines) {
    for (const run of runs(line.values, x, y)) {
      const points = run.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`);
      if (line.isFilled) {
        const [first, last] = [run[0][0].toFixed(1), run[run.length - 1][0].toFixed(1)];
        parts.push(drawn("polygon", { class: "area", points: `${first},${y(0)} ${points.join(" ")} ${last},${y(0)}` }));
      }
      if (run.length === 1) points.push(`${(run[0][0] + 2).toFixed(1)},${run[0][1].toFixed(1)}`);
      parts.push(drawn("polyline", { class: `line ${line.className}`, points: points.join(" ") }));
    }
  }
  svg.replaceChildren(...parts);
}

// -- Levels ------------------------------------------------------------------------------------------------------

const kRow = 30;
const kBar = 20;
const kNames = 74;
const kFilesDrawn = 60;

/// One box a file, as far as boxes can be told apart.
function drawFiles(level, index, x, y, width) {
  const boxes = Math.min(level.files, kFilesDrawn, Math.max(1, Math.floor(width / 4)));
  const made = [];
  for (let i = 0; i < boxes; ++i) {
    made.push(
      drawn("rect", {
        class: `file level-${Math.min(index, 6)}`,
        x: (x + (width * i) / boxes).toFixed(1),
        y,
        width: (width / boxes).toFixed(1),
        height: kBar,
        rx: 2,
      }),
    );
  }
  return made;
}

/// The memtable, then the levels down to the last one that holds anything. The widest one is the one with most bytes;
/// a level that holds anything can be seen.
export function drawLevels(svg, store) {
  const last = store.levels.reduce((found, level, i) => (level.files > 0 ? i : found), 0);
  const levels = store.levels.slice(0, last + 1);
  const width = svg.clientWidth || 560;
  const room = width - kNames - 4;
  const height = kRow * (levels.length + 1);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
  const most = Math.max(1, ...levels.map((level) => level.bytes));
  const parts = [];
  const row = (i, name) => {
    parts.push(drawn("text", { class: "name", x: 0, y: i * kRow + 15 }, name));
    parts.push(drawn("rect", { class: "track", x: kNames, y: i * kRow, width: room, height: kBar, rx: 4 }));
  };
  row(0, "Memory");
  const filled = store.memtable_bytes_max > 0 ? store.memtable_bytes / store.memtable_bytes_max : 0;
  const memory = Math.max(store.memtable_bytes > 0 ? 3 : 0, room * Math.min(1, filled));
  parts.push(drawn("rect", { class: "memory", x: kNames, y: 0, width: memory.toFixed(1), height: kBar, rx: 4 }));
  levels.forEach((level, i) => {
    row(i + 1, `Level ${i}`);
    if (level.files === 0) return;
    const share = Math.max(6, (room * level.bytes) / most);
    const box = drawn("g", {}, "");
    box.append(drawn("title", {}, `Level ${i}: ${whole(level.files)} files, ${bytes(level.bytes)}`));
    box.append(...drawFiles(level, i, kNames, (i + 1) * kRow, share));
    parts.push(box);
  });
  svg.replaceChildren(...parts);
}
