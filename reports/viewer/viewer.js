'use strict';
// The page of one report. All text of scenarios, models and tools reaches the page through
// textContent and fillText, so that none of it is ever markup.

const ROW = 20, AXIS = 24, PAGE = 200, MAX_INDEX = 2000, MAX_BODY = 200000;
const byId = id => document.getElementById(id);
const scroll = byId('scroll'), canvas = byId('canvas'), pen = canvas.getContext('2d');
const state = { order: false, views: [], list: [], listed: [], at: 0, rows: [], chosen: -1, from: 0, to: 1, query: '', policy: 0, filter: 'all', page: 0, ink: {}, pending: false };

// plain shows characters that would turn or hide the text around them as their codes.
function plain(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
    c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

// make builds an element; children are elements or text.
function make(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (k === 'class') e.className = v;
    else if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined).map(c => c instanceof Node ? c : plain(c)));
  return e;
}

function time(us) {
  if (state.order) return '#' + Math.round(us);
  const a = Math.abs(us);
  if (a === 0) return '0';
  if (a >= 3.6e9) return (us / 3.6e9).toFixed(2) + 'h';
  if (a >= 6e7) { const tenths = Math.round(us / 1e5); return Math.floor(tenths / 600) + 'm' + (tenths % 600) / 10 + 's'; }
  if (a >= 1e6) return +(us / 1e6).toFixed(3) + 's';
  if (a >= 1e3) return +(us / 1e3).toFixed(3) + 'ms';
  return +us.toFixed(3) + 'µs';
}

const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
const bad = c => c.status !== '' && c.status !== 'ok';
const end = r => Math.max(1, r.makespan, r.last || 0);

// prepare computes what drawing needs of a run, once.
function prepare(run) {
  if (run.byCall) return;
  run.byCall = new Map();
  run.events = run.events || [];
  run.calls = run.calls || [];
  run.streams = (run.streams || []).sort((a, b) => a.sent - b.sent);
  run.last = 0;
  for (const c of run.calls) run.last = Math.max(run.last, c.ended, c.emitted);
  for (const s of run.streams) run.last = Math.max(run.last, s.end);
  for (const e of run.events) {
    if (e.c < 0) continue;
    if (!run.byCall.has(e.c)) run.byCall.set(e.c, []);
    run.byCall.get(e.c).push(e);
  }
  run.calls.forEach((c, i) => {
    c.number = i + 1;
    c.text = [c.tool, c.id, c.agent, c.status, c.input, c.result].join('\n').toLowerCase();
  });
}

// ordered is a run with the numbers of its events in place of their times: most scenarios
// take no time at all.
function ordered(run) {
  if (run.ordered) return run.ordered;
  const calls = run.calls.map(c => ({ ...c, ready: 0, started: 0, ended: 0, emitted: 0 })), streams = run.streams.map(s => ({ ...s, sent: 0, first: 0, end: 0 }));
  const open = new Map();
  let next = 0;
  const events = run.events.map((e, i) => {
    const c = calls[e.c];
    if (c && e.k === 'call.ready') c.ready = c.started = i;
    if (c && e.k === 'call.start') c.started = i;
    if (c && (e.k === 'call.end' || e.k === 'call.emitted')) { if (e.k === 'call.end') c.ended = i; c.emitted = i; }
    if (e.k === 'request' && next < streams.length) { open.set(e.a || '', streams[next]); streams[next].sent = streams[next].first = streams[next++].end = i; }
    const s = open.get(e.a || '');
    if (s && e.k === 'stream.open') s.first = i;
    if (s && e.k.startsWith('stream.')) s.end = i;
    return { ...e, t: i, d: 0 };
  });
  for (const c of calls) c.ended = Math.max(c.ended, c.started);
  run.ordered = { ...run, calls, streams, events, makespan: events.length, byCall: null };
  prepare(run.ordered);
  return run.ordered;
}

// lanes gives the rows of one run, in the order in which requests left.
function lanes(run, heading) {
  const rows = [], turns = new Map(), placed = new Set();
  const keyOf = x => x.agent + '\u0000' + x.turn;
  for (const c of run.calls) {
    const k = keyOf(c);
    if (!turns.has(k)) turns.set(k, []);
    turns.get(k).push(c);
  }
  if (heading) rows.push({ kind: 'head', run, label: `${run.policy || 'run'}: ${state.order ? count(run.events.length, 'event') : time(run.makespan)}, hidden ${+(+run.hidden).toFixed(1)}%` });
  const pick = (label, kinds) => {
    const events = run.events.filter(e => kinds.includes(e.k));
    if (events.length) rows.push({ kind: 'events', run, label, events });
  };
  pick('hooks', ['call.hook']);
  pick('permissions', ['call.decision', 'call.ask']);
  pick('interrupts', ['interrupt', 'call.cancel', 'world.kill', 'fallback']);
  pick('tasks, mail', ['task.start', 'task.end', 'mail.sent', 'mail.taken']);
  const groups = new Map();
  const group = (name, c) => { if (!groups.has(name)) groups.set(name, []); groups.get(name).push(c); };
  for (const c of run.calls) {
    const server = /^mcp__(.+?)__/.exec(c.tool);
    if (server) group('server ' + server[1], c);
    if (c.agent) group('agent ' + c.agent, c);
  }
  for (const [label, calls] of groups) rows.push({ kind: 'group', run, label, calls });
  const add = (c, stream) => { placed.add(c); rows.push({ kind: 'call', run, call: c, stream, label: `  #${c.number} ${c.tool}` }); };
  for (const s of run.streams) {
    rows.push({ kind: 'stream', run, stream: s, label: (s.agent ? s.agent + ' ' : '') + 'turn ' + s.turn });
    for (const c of turns.get(keyOf(s)) || []) if (!placed.has(c)) add(c, s);
  }
  for (const c of run.calls) if (!placed.has(c)) add(c, null);
  return rows;
}

const view = () => state.views[state.at];
function runs() {
  const chosen = state.policy === 'all' ? view().runs : [view().runs[state.policy] || view().runs[0]];
  chosen.forEach(prepare);
  return state.order ? chosen.map(ordered) : chosen;
}
const hit = c => state.query !== '' && c.text.includes(state.query);

function kept(row) {
  if (row.kind !== 'call') return state.filter === 'all' || row.kind === 'head';
  switch (state.filter) {
    case 'trouble': return bad(row.call);
    case 'waited': return row.call.started > row.call.ready;
    case 'hits': return hit(row.call);
  }
  return true;
}

const identity = row => row && row.call ? [row.call.agent, row.call.turn, row.call.id].join('\u0000') : '';

function rebuild() {
  const rows = [], before = identity(state.rows[state.chosen]);
  for (const run of runs()) rows.push(...lanes(run, view().runs.length > 1 && state.policy === 'all'));
  state.rows = rows.filter(kept);
  state.chosen = before ? state.rows.findIndex(r => identity(r) === before) : -1;
  byId('spacer').style.height = Math.max(0, state.rows.length * ROW + AXIS - canvas.clientHeight) + 'px';
  const n = state.query === '' ? 0 : state.rows.filter(r => r.kind === 'call' && hit(r.call)).length;
  byId('hits').textContent = state.query === '' ? '' : n + (n === 1 ? ' hit' : ' hits');
  if (!byId('table').hidden) table();
  draw();
}

function fit() {
  state.from = 0;
  state.to = Math.max(10, ...runs().map(end)) * 1.02;
  draw();
}

// ---- drawing

function inks() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['back', 'panel', 'text', 'faint', 'line', 'chosen', 'mark', 'sent', 'stream', 'queued', 'running', 'hidden', 'held', 'bad', 'hook', 'decision'])
    state.ink[name] = style.getPropertyValue('--' + name).trim();
}

function draw() {
  if (state.pending) return;
  state.pending = true;
  requestAnimationFrame(() => { state.pending = false; paint(); });
}

const labels = () => Math.min(220, Math.max(90, canvas.clientWidth * 0.28));
const x = t => labels() + (t - state.from) / (state.to - state.from) * (canvas.clientWidth - labels() - 8);

function bar(from, to, y, ink, height) {
  const left = Math.max(x(from), labels()), right = Math.min(x(to), canvas.clientWidth);
  if (to < from || right < labels() || left > canvas.clientWidth) return;
  pen.fillStyle = state.ink[ink];
  pen.fillRect(left, y + (ROW - height) / 2, Math.max(right - left, 1), height);
}

function tick(t, y, ink, size) {
  const at = x(t);
  if (at < labels() || at > canvas.clientWidth) return;
  pen.fillStyle = state.ink[ink];
  pen.beginPath();
  pen.moveTo(at, y + ROW / 2 - size);
  pen.lineTo(at + size, y + ROW / 2);
  pen.lineTo(at, y + ROW / 2 + size);
  pen.lineTo(at - size, y + ROW / 2);
  pen.fill();
}

function paintCall(row, y) {
  const c = row.call, s = row.stream, split = s ? Math.min(Math.max(s.end, c.started), c.ended) : c.started;
  bar(c.ready, c.started, y, 'queued', 4);
  if (split > c.started) bar(c.started, split, y, 'hidden', 12);
  if (split < c.ended || c.ended === c.started) bar(split, c.ended, y, bad(c) ? 'bad' : 'running', 12);
  if (c.emitted > c.ended) bar(c.ended, c.emitted, y, 'held', 3);
  tick(Math.max(c.ended, c.emitted), y, 'text', 3);
  for (const e of row.run.byCall.get(c.number - 1) || []) {
    if (e.k === 'call.hook') tick(e.t, y - 7, 'hook', 3);
    if (e.k === 'call.decision') tick(e.t, y - 7, 'decision', 3);
  }
}

function paintRow(row, i, y) {
  if (i === state.chosen) { pen.fillStyle = state.ink.chosen; pen.fillRect(0, y, canvas.clientWidth, ROW); }
  switch (row.kind) {
    case 'head': pen.fillStyle = state.ink.panel; pen.fillRect(0, y, canvas.clientWidth, ROW); break;
    case 'stream':
      bar(row.stream.sent, row.stream.first, y, 'sent', 3);
      bar(row.stream.first, row.stream.end, y, row.stream.cut ? 'bad' : 'stream', 8);
      break;
    case 'call': paintCall(row, y); break;
    case 'group': for (const c of row.calls) bar(c.started, c.ended, y, bad(c) ? 'bad' : 'running', 8); break;
    case 'events':
      for (const e of row.events) {
        if (e.d) bar(e.t - e.d, e.t, y, 'hook', 6);
        tick(e.t, y, e.k === 'call.hook' ? 'hook' : e.k.startsWith('call.') ? 'decision' : 'bad', 4);
      }
  }
  const found = row.kind === 'call' && hit(row.call);
  pen.fillStyle = row.kind === 'call' && bad(row.call) ? state.ink.bad : found ? state.ink.mark : row.kind === 'call' ? state.ink.text : state.ink.faint;
  pen.font = (found || row.kind === 'head' ? 'bold ' : '') + '12px system-ui, sans-serif';
  pen.fillText(fitted(plain(row.label), (row.kind === 'head' ? canvas.clientWidth : labels()) - 12), 6, y + 14);
}

// fitted shortens a label in the middle: what tells two of them apart often stands at the end.
function fitted(text, width) {
  if (pen.measureText(text).width <= width) return text;
  const chars = [...text];
  let low = 0, high = chars.length;
  const cut = n => chars.slice(0, Math.ceil(n / 2)).join('') + '\u2026' + (n > 1 ? chars.slice(-Math.floor(n / 2)).join('') : '');
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (pen.measureText(cut(middle)).width <= width) low = middle; else high = middle - 1;
  }
  return cut(low);
}

function paintAxis(width, height) {
  const span = state.to - state.from, wanted = span / Math.max(1, (width - labels()) / 90);
  let step = Math.pow(10, Math.ceil(Math.log10(Math.max(wanted, 1))));
  for (const part of [5, 2]) if (step / part >= wanted) { step /= part; break; }
  pen.fillStyle = state.ink.panel;
  pen.fillRect(0, 0, width, AXIS);
  pen.font = '11px system-ui, sans-serif';
  for (let t = Math.ceil(state.from / step) * step; t <= state.to; t += step) {
    const at = x(t);
    pen.fillStyle = state.ink.line;
    pen.fillRect(at, AXIS - 6, 1, height);
    pen.fillStyle = state.ink.faint;
    if (at + 3 + pen.measureText(time(t)).width <= width) pen.fillText(time(t), at + 3, 14);
  }
}

function paint() {
  const width = scroll.clientWidth, height = scroll.clientHeight, scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    byId('spacer').style.height = Math.max(0, state.rows.length * ROW + AXIS - height) + 'px';
  }
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.fillStyle = state.ink.back;
  pen.fillRect(0, 0, width, height);
  paintAxis(width, height);
  pen.save();
  pen.beginPath();
  pen.rect(0, AXIS, width, height);
  pen.clip();
  const first = Math.floor(scroll.scrollTop / ROW), last = Math.min(state.rows.length, first + Math.ceil(height / ROW) + 1);
  for (let i = first; i < last; i++) paintRow(state.rows[i], i, AXIS + i * ROW - scroll.scrollTop);
  pen.restore();
  const root = document.documentElement;
  if (!root.dataset.ready) root.dataset.ready = String(Math.round(performance.now()));
  root.dataset.frames = String(1 + Number(root.dataset.frames || 0));
}

// ---- details

function reason(c) {
  const on = (c.on || []).slice(0, 4).join(', ') + ((c.on || []).length > 4 ? ' and more' : '');
  const what = { stream: 'for the stream to end', exclusive: c.safe ? 'for an exclusive call' : 'to run alone', limit: 'for a free place', effects: 'for what it reads or writes', order: 'for its turn' }[c.waits];
  return (what || 'for ' + c.waits) + (on ? ': after ' + on : '');
}

function sentence(row) {
  if (!row) return '';
  if (row.kind === 'call') {
    const c = row.call, waited = c.started > c.ready ? `queued ${time(c.started - c.ready)} ${c.waits ? reason(c) : ''}, ` : '';
    return `#${c.number} ${c.tool} ${c.id}: ready at ${time(c.ready)}, ${waited}ran ${time(c.ended - c.started)}, ${c.status || 'done'}, result at ${time(c.emitted)}`;
  }
  if (row.kind === 'stream') return `${row.label}: sent at ${time(row.stream.sent)}, first byte after ${time(row.stream.first - row.stream.sent)}, ended at ${time(row.stream.end)}${row.stream.cut ? ', cut' : ''}`;
  if (row.kind === 'group') return `${row.label}: ${row.calls.length} calls`;
  if (row.kind === 'events') return `${row.label}: ${row.events.length} events`;
  return row.label;
}

const facts = pairs => make('dl', {}, ...pairs.filter(p => p[1] !== '' && p[1] !== undefined).flatMap(([k, v]) => [make('dt', {}, k), make('dd', {}, v)]));
const block = (title, text) => text ? [make('h3', {}, title), make('pre', { tabindex: '0' }, pretty(text))] : [];

// pretty breaks JSON into lines and leaves every value as it was written: a number beyond
// what this language counts exactly, and a member that is there twice.
function pretty(text) {
  try { JSON.parse(text); } catch { return text; }
  let depth = 0;
  const line = () => '\n' + '  '.repeat(depth);
  return text.replace(/"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|\s+|[{[]\s*[}\]]|[{}[\],:]/g, part => {
    if (/^\s/.test(part)) return '';
    if (part === '{' || part === '[') { depth++; return part + line(); }
    if (part === '}' || part === ']') { depth--; return line() + part; }
    if (part === ',') return part + line();
    return part === ':' ? ': ' : part;
  });
}

function eventList(events) {
  if (!events.length) return [];
  const lines = events.slice(0, 500).map(e => `${time(e.t).padStart(10)}  ${e.k}  ${e.x || ''}`);
  if (events.length > 500) lines.push(`${events.length - 500} more`);
  return [make('h3', {}, 'Trace'), make('pre', { tabindex: '0' }, lines.join('\n'))];
}

// body gives the lines of a request, which is kept as its difference to the one before.
function body(i) {
  const all = view().requests;
  const lines = [];
  for (let n = 0; n <= i; n++) { // in place: the next request of a long session repeats most of it
    const r = all[n], rest = lines.splice(r.head);
    for (const line of r.lines || []) lines.push(line);
    for (const line of rest.slice(rest.length - r.tail)) lines.push(line);
  }
  return lines;
}

// difference marks the lines of two lists by the longest common subsequence.
function difference(a, b) {
  if (a.length * b.length > 400000) return [...a.map(l => ['gone', l]), ...b.map(l => ['added', l])];
  const w = b.length + 1, best = new Uint32Array((a.length + 1) * w);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * w + j] = a[i] === b[j] ? 1 + best[(i + 1) * w + j + 1] : Math.max(best[(i + 1) * w + j], best[i * w + j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(['same', a[i]]); i++; j++; }
    else if (j < b.length && (i === a.length || best[i * w + j + 1] >= best[(i + 1) * w + j])) out.push(['added', b[j++]]);
    else out.push(['gone', a[i++]]);
  }
  return out;
}

function request(i) {
  const r = view().requests[i];
  if (!r) return [];
  const lines = body(i), pre = make('pre', { tabindex: '0', class: 'diff' });
  if (i === 0) pre.textContent = plain(lines.join('\n').slice(0, MAX_BODY));
  else {
    const before = body(i - 1), old = before.slice(r.head, before.length - r.tail), now = r.lines || [];
    const around = [...lines.slice(Math.max(0, r.head - 2), r.head).map(l => ['same', l]), ...difference(old, now), ...lines.slice(lines.length - r.tail).slice(0, 2).map(l => ['same', l])];
    const sign = { added: '+ ', gone: '- ', same: '  ' };
    pre.append(...around.slice(0, 3000).map(([kind, line]) => make('span', { class: kind }, sign[kind] + line)));
    if (!old.length && !now.length) pre.textContent = 'the same bytes as the request before';
  }
  const whole = make('button', { type: 'button', onclick: () => { pre.textContent = plain(body(i).join('\n').slice(0, MAX_BODY)); whole.remove(); } }, 'Whole request');
  return [make('h3', {}, i === 0 ? `Request 1, ${r.bytes} bytes` : `Request ${i + 1}, ${r.bytes} bytes: what differs from the one before`), pre, i === 0 ? null : whole];
}

function details(row) {
  const box = byId('details');
  box.replaceChildren();
  if (!row) return;
  if (row.kind === 'call') {
    const c = row.call;
    box.append(make('h2', { class: bad(c) ? 'bad' : '' }, `#${c.number} ${c.tool}`), facts([
      ['id', c.id], ['status', c.status], ['agent', c.agent], ['turn', c.turn], ['batch', c.batch], ['beside others', c.safe ? 'may run' : 'runs alone'],
      ['ready', time(c.ready)], ['queued', c.started > c.ready ? `${time(c.started - c.ready)} ${c.waits ? reason(c) : ''}` : ''],
      ['started', time(c.started)], ['running', time(c.ended - c.started)], ['held', c.emitted > c.ended ? time(c.emitted - c.ended) : ''], ['emitted', time(c.emitted)],
    ]), ...block('Input', c.input), ...block('Result', c.result), ...eventList(row.run.byCall.get(c.number - 1) || []));
    if (row.stream && row.stream.request >= 0) box.append(...request(row.stream.request).filter(Boolean));
  } else if (row.kind === 'stream') {
    const s = row.stream;
    box.append(make('h2', {}, row.label), facts([['sent', time(s.sent)], ['first byte', time(s.first)], ['ended', time(s.end)], ['cut', s.cut ? 'it broke off' : '']]));
    if (s.request >= 0) box.append(...request(s.request).filter(Boolean));
    box.append(...eventList(row.run.events.filter(e => e.c < 0 && (e.a || '') === s.agent && e.n === s.turn)));
  } else {
    box.append(make('h2', {}, row.label), make('p', {}, sentence(row)), ...eventList(row.events || []));
  }
}

function choose(i, quiet) {
  if (!state.rows.length) { state.chosen = -1; details(null); return draw(); }
  state.chosen = Math.max(0, Math.min(i, state.rows.length - 1));
  const row = state.rows[state.chosen], top = state.chosen * ROW;
  details(row); // before scrolling: what it takes from the timeline's place counts
  byId('status').textContent = plain(sentence(row));
  if (!quiet) {
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    const low = top + ROW + AXIS - scroll.clientHeight;
    if (low > scroll.scrollTop) scroll.scrollTop = low;
  }
  const c = row.call;
  if (c && (c.emitted < state.from || c.ready > state.to)) pan((c.ready + c.emitted) / 2 - (state.from + state.to) / 2);
  draw();
}

function seek(step, wanted) {
  const n = state.rows.length;
  for (let k = 1; k <= n; k++) {
    const i = ((state.chosen + step * k) % n + n) % n;
    if (state.rows[i].kind === 'call' && wanted(state.rows[i].call)) return choose(i);
  }
  byId('status').textContent = 'no such call';
}

// ---- the table, for those who read it: the same calls, in pages

function table() {
  const box = byId('table'), rows = state.rows.filter(r => r.kind === 'call'), pages = Math.max(1, Math.ceil(rows.length / PAGE));
  state.page = Math.max(0, Math.min(state.page, pages - 1));
  const number = t => make('td', { class: 'number' }, time(t));
  const body = rows.slice(state.page * PAGE, (state.page + 1) * PAGE).map(row => {
    const c = row.call;
    return make('tr', {}, make('td', {}, make('button', { type: 'button', onclick: () => choose(state.rows.indexOf(row)) }, `#${c.number} ${c.tool}`)),
      make('td', {}, c.id), make('td', {}, (c.agent ? c.agent + ' ' : '') + c.turn), number(c.ready), number(c.started), number(c.ended), number(c.emitted),
      make('td', { class: bad(c) ? 'bad' : '' }, c.status), make('td', {}, c.waits ? reason(c) : ''));
  });
  const turn = (label, step) => make('button', { type: 'button', onclick: () => { state.page += step; table(); } }, label);
  box.replaceChildren(make('table', {}, make('caption', {}, `${rows.length} calls, page ${state.page + 1} of ${pages}`),
    make('thead', {}, make('tr', {}, ...['Call', 'Id', 'Turn', 'Ready', 'Started', 'Ended', 'Emitted', 'Status', 'Waited'].map(h => make('th', { scope: 'col' }, h)))),
    make('tbody', {}, ...body)), pages > 1 ? turn('Previous', -1) : '', pages > 1 ? turn('Next', 1) : '');
}

// ---- choosing what is shown

function failures(v) {
  const box = byId('failures');
  box.replaceChildren();
  if (v.error) box.append(make('h3', { class: 'bad' }, 'No verdict'), make('pre', { tabindex: '0' }, v.error));
  for (const f of v.failures || []) box.append(make('h3', { class: 'bad' }, `${f.expectation}  ${f.at || ''}`), make('pre', { tabindex: '0' }, `expected: ${f.expected}\nfound:    ${f.found}`));
}

function show(at) {
  state.at = at;
  const v = view();
  v.requests = v.requests || [];
  state.policy = 0;
  state.chosen = -1;
  const run = v.runs[0];
  state.order = false;
  document.title = plain(v.name) + ' - toolbench timeline';
  byId('title').textContent = plain(`${v.status === 'passed' ? '' : v.status.toUpperCase() + ' '}${v.name}`);
  byId('title').className = v.status === 'passed' ? '' : 'bad';
  byId('facts').textContent = [v.about, `${run.policy}: makespan ${time(run.makespan)}, serial ${time(run.serial)}, hidden ${+(+run.hidden).toFixed(1)}%${run.bound ? ', bound ' + time(run.bound) : ''}`, v.again].filter(Boolean).map(plain).join('  ·  ');
  const menu = byId('policy');
  menu.replaceChildren(...v.runs.map((r, i) => make('option', { value: i }, `${r.policy || 'own'} ${time(r.makespan)}`)));
  if (v.runs.length > 1) menu.append(make('option', { value: 'all' }, 'side by side'));
  failures(v);
  current();
  details(null);
  byId('status').textContent = count((run.calls || []).length, 'call') + ', ' + count((run.streams || []).length, 'request');
  scroll.scrollTop = 0;
  state.order = !run.makespan && (run.events || []).length > 0;
  byId('time').setAttribute('aria-pressed', String(state.order));
  rebuild();
  fit();
}

function index() {
  const rank = v => v.status === 'passed' ? 1 : 0;
  state.list = state.views.map((_, i) => i).sort((a, b) => rank(state.views[a]) - rank(state.views[b]));
  byId('finding').hidden = state.views.length < 2;
  if (state.views.length > 1) narrow('');
}

// narrow lists the scenarios that have some words in what they are or in their calls.
function narrow(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  state.list.forEach(i => {
    const v = state.views[i];
    v.text = v.text || [v.name, v.about, v.status, ...(v.runs[0].calls || []).flatMap(c => [c.tool, c.id, c.status, c.input, c.result])].join('\n').toLowerCase();
  });
  state.listed = state.list.filter(i => wanted.every(w => state.views[i].text.includes(w)));
  byId('index').replaceChildren(...state.listed.slice(0, MAX_INDEX).map(i => {
    const v = state.views[i];
    return make('button', { type: 'button', class: v.status, 'data-at': i, onclick: () => show(i) }, `${v.status === 'passed' ? '' : v.status.toUpperCase() + ' '}${v.name}${v.runs[0].makespan ? '  ' + time(v.runs[0].makespan) : ''}`);
  }));
  if (state.listed.length > MAX_INDEX) byId('index').append(make('p', {}, `${state.listed.length - MAX_INDEX} more: find them by words`));
  byId('found').textContent = wanted.length ? `${state.listed.length} of ${state.list.length}` : '';
  current();
}

// current marks the scenario that is shown in the list, and brings it into sight.
function current() {
  for (const b of byId('index').children) {
    const shown = Number(b.dataset.at) === state.at;
    b.setAttribute('aria-current', String(shown));
    if (shown) b.scrollIntoView({ block: 'nearest' });
  }
}

function policy(value) {
  state.policy = value === 'all' ? 'all' : Number(value);
  byId('policy').value = String(value);
  rebuild();
  fit();
}

function pan(by) { state.from += by; state.to += by; draw(); }

function zoom(factor, at) {
  const span = Math.min(Math.max((state.to - state.from) * factor, 10), Math.max(...runs().map(end)) * 4), share = (at - state.from) / (state.to - state.from);
  state.from = at - span * share;
  state.to = state.from + span;
  draw();
}

const middle = () => (state.from + state.to) / 2;

function toggleOrder() {
  state.order = !state.order;
  byId('time').setAttribute('aria-pressed', String(state.order));
  rebuild();
  fit();
}

function toggleTable() {
  const shown = byId('table').hidden;
  byId('table').hidden = !shown;
  scroll.hidden = shown;
  byId('tables').setAttribute('aria-pressed', String(shown));
  if (shown) table(); else draw();
}

function key(e) {
  if (e.target.closest('input, select') && e.key !== 'Escape') return;
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const span = state.to - state.from, page = Math.floor(scroll.clientHeight / ROW) - 2;
  const keys = {
    ArrowDown: () => choose(state.chosen + 1), ArrowUp: () => choose(state.chosen - 1),
    PageDown: () => choose(state.chosen + page), PageUp: () => choose(state.chosen - page), Home: () => choose(0), End: () => choose(state.rows.length - 1),
    ArrowLeft: () => pan(-span / 8), ArrowRight: () => pan(span / 8), '+': () => zoom(0.7, middle()), '=': () => zoom(0.7, middle()), '-': () => zoom(1 / 0.7, middle()), 0: fit,
    '/': () => byId('search').focus(), s: () => byId('finding').hidden || byId('find').focus(), n: () => seek(1, hit), N: () => seek(-1, hit), f: () => seek(1, bad), t: toggleTable, o: toggleOrder,
    p: () => { const values = [...byId('policy').options].map(o => o.value); policy(values[(values.indexOf(byId('policy').value) + 1) % values.length]); },
    '[': () => step(-1), ']': () => step(1), Enter: () => { if (e.target === scroll || e.target === document.body) byId('details').focus(); else return true; },
    Escape: () => scroll.focus(),
  };
  const act = keys[e.key];
  if (!act || e.target.closest('#details, #table, #index, #failures') && /^(Arrow|Page|Home|End|Enter)/.test(e.key)) return;
  if (act() !== true) e.preventDefault();
}

function step(by) {
  const i = state.listed.indexOf(state.at), next = i < 0 ? 0 : i + by;
  if (next >= 0 && next < state.listed.length) show(state.listed[next]);
}

function rowAt(e) {
  const y = e.clientY - scroll.getBoundingClientRect().top;
  return y < AXIS ? -1 : Math.floor((y - AXIS + scroll.scrollTop) / ROW);
}

function timeAt(e) {
  return state.from + (e.clientX - scroll.getBoundingClientRect().left - labels()) / Math.max(1, canvas.clientWidth - labels() - 8) * (state.to - state.from);
}

function listen() {
  document.addEventListener('keydown', key);
  scroll.addEventListener('scroll', draw);
  scroll.addEventListener('wheel', e => {
    if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.2 : 1 / 1.2, timeAt(e)); }
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan((e.deltaX || e.deltaY) / 600 * (state.to - state.from)); }
  }, { passive: false });
  let drag = null;
  scroll.addEventListener('pointerdown', e => { if (e.offsetX < scroll.clientWidth) drag = { x: e.clientX, from: state.from, to: state.to, moved: false }; });
  window.addEventListener('pointermove', e => {
    if (!drag) return;
    const by = (drag.x - e.clientX) / Math.max(1, canvas.clientWidth - labels()) * (drag.to - drag.from);
    if (Math.abs(drag.x - e.clientX) > 3) drag.moved = true;
    if (drag.moved) { state.from = drag.from + by; state.to = drag.to + by; draw(); }
  });
  window.addEventListener('pointerup', e => {
    const clicked = drag && !drag.moved;
    drag = null;
    if (clicked && rowAt(e) >= 0 && rowAt(e) < state.rows.length) choose(rowAt(e), true);
  });
  byId('search').addEventListener('input', e => { state.query = e.target.value.toLowerCase(); rebuild(); if (state.query) { const i = state.rows.findIndex(r => r.kind === 'call' && hit(r.call)); if (i >= 0) choose(i); } });
  byId('search').addEventListener('keydown', e => { if (e.key === 'Enter') seek(e.shiftKey ? -1 : 1, hit); });
  byId('find').addEventListener('input', e => narrow(e.target.value));
  byId('find').addEventListener('keydown', e => { if (e.key === 'Enter' && state.listed.length) { show(state.listed[0]); scroll.focus(); } });
  byId('filter').addEventListener('change', e => { state.filter = e.target.value; state.chosen = -1; scroll.scrollTop = 0; rebuild(); });
  byId('policy').addEventListener('change', e => policy(e.target.value));
  byId('fit').addEventListener('click', fit);
  byId('in').addEventListener('click', () => zoom(0.7, middle()));
  byId('out').addEventListener('click', () => zoom(1 / 0.7, middle()));
  byId('time').addEventListener('click', toggleOrder);
  byId('tables').addEventListener('click', toggleTable);
  byId('help').addEventListener('click', () => { byId('keys').hidden = !byId('keys').hidden; byId('help').setAttribute('aria-expanded', String(!byId('keys').hidden)); draw(); });
  new ResizeObserver(draw).observe(scroll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { inks(); legend(); draw(); });
}

function legend() {
  const words = { sent: 'request sent', stream: 'streaming', queued: 'queued', hidden: 'running, hidden by the stream', running: 'running', held: 'held', bad: 'failed or cut', hook: 'hook', decision: 'permission' };
  byId('legend').replaceChildren(...Object.entries(words).map(([ink, word]) => {
    const swatch = make('i');
    swatch.style.background = state.ink[ink];
    return make('li', {}, swatch, word);
  }));
}

async function unpacked() {
  const bytes = Uint8Array.from(atob(byId('data').textContent.trim()), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

async function main() {
  const doc = await unpacked();
  state.views = doc.views || [];
  inks();
  legend();
  listen();
  if (!state.views.length) { byId('facts').textContent = 'There is nothing to show.'; document.documentElement.dataset.ready = '0'; return; }
  index();
  show(state.list[0]);
  scroll.focus();
}

main().catch(err => { byId('facts').textContent = 'The page cannot be shown: ' + err.message; });
