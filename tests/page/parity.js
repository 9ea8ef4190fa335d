// node parity.js PLANNER FARO   holds what the page says against what the command prints, byte for byte.
//
// 200 maps of every kind (named, of random bits, axes, modular, index arrays, circuits), each for one of the GPUs, widths,
// batches and placements in turn: the explanation, its JSON and the drawing; refusals by their five parts. Then layouts and memory
// machines. Prints the command of the first difference and exits with 1.
"use strict";
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const [planner, faro] = process.argv.slice(2).map((word) => path.resolve(word));
if (!faro) {
  console.error("usage: node parity.js PLANNER FARO");
  process.exit(2);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "faro-parity-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

// Status and outputs of the command; never throws.
function run(words) {
  try {
    const out = execFileSync(faro, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
    return { status: 0, out };
  } catch (error) {
    return { status: error.status, out: error.stdout, err: error.stderr };
  }
}

let seed = 20261124;
const random = (below) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};
const pick = (list) => list[random(list.length)];
const circuit = `OPENQASM 2.0;
include "qelib1.inc";
qreg q[18];
creg c[1];
x q[3];
cx q[0], q[17];
swap q[2], q[11];
measure q[0] -> c[0];
`;

function specs() {
  const shape = (rank) => Array.from({ length: rank }, () => 1 + random(rank > 4 ? 12 : 40));
  const order = (rank) => {
    const axes = [...Array(rank).keys()];
    for (let k = rank - 1; k > 0; --k) {
      const j = random(k + 1);
      [axes[k], axes[j]] = [axes[j], axes[k]];
    }
    return axes;
  };
  const bits = () => 1 + random(34);
  const kinds = [
    () => `bit_reversal(${bits()})`, () => `reverse(${bits()})`, () => `shuffle(${bits()})`, () => `gray(${bits()})`, () => `identity(${bits()})`,
    () => { const n = bits(); return `rotate_bits(${n}, ${random(n)})`; }, () => `random_bmmc(${bits()}, ${random(1e6)})`, () => `random_bpc(${bits()}, ${random(1e6)})`,
    () => `random_bp(${bits()}, ${random(1e6)})`, () => `morton(${2 + random(2)}, ${1 + random(8)})`, () => `transpose(${2 ** random(14)}, ${2 ** random(14)})`,
    () => `transpose(${1 + random(3000)}, ${1 + random(3000)})`,
    ...Array(5).fill(() => { const rank = 2 + random(5); return `axes(${shape(rank).join(" ")}; ${order(rank).join(" ")})`; }),
    () => `aos_to_soa(${1 + random(100000)}, ${2 + random(14)})`, () => `roll(${1 + random(1e6)}, ${random(1e6)})`, () => `flip(${1 + random(1e6)})`,
    () => `multiply(${2 * (1 + random(1 << 20)) + 1}, 2)`, () => `random(${2 ** (1 + random(16))}, ${random(1e6)})`, () => "@circuit.qasm", () => "inverse(@circuit.qasm)",
    () => { const n = bits(); return `compose(gray(${n}), random_bmmc(${n}, ${random(1e6)}))`; },
    () => "indices(3 1 0 2)",
  ];
  return Array.from({ length: 200 }, (_, k) => kinds[k % kinds.length]());
}

// Three forms that a parser, a name or a size refuses; they are held against --json.
const refused = ["bit_reversl(20)", "transpose(3", "axes(2 3 4; 0 1)", "@index.npy", "random_bmmc(65, 1)", "", "swap_bits(4, 1, 9)", "xor(4, 0x1f)"];

async function main() {
  const core = await require(planner)();
  const ask = (request) => JSON.parse(core.ccall("faro_page", "string", ["string"], [JSON.stringify(request)]));
  fs.writeFileSync(path.join(folder, "circuit.qasm"), circuit);
  let compared = 0;
  let drawings = 0;
  const same = (what, ours, theirs, words) => {
    if (typeof ours !== "string" || typeof theirs !== "string") throw new Error(`${what} of faro ${words.join(" ")}: ${ours}, ${theirs}`);
    ++compared;
    if (ours === theirs) return;
    let at = 0;
    while (at < ours.length && ours[at] === theirs[at]) ++at;
    console.error(`${what} differs at character ${at} of: faro ${words.map((word) => (/^[\w./=-]+$/.test(word) ? word : `'${word}'`)).join(" ")}`);
    console.error(`page:    …${JSON.stringify(ours.slice(Math.max(0, at - 40), at + 80))}`);
    console.error(`command: …${JSON.stringify(theirs.slice(Math.max(0, at - 40), at + 80))}`);
    process.exit(1);
  };

  specs().forEach((spec, k) => {
    const element_bytes = pick([1, 2, 4, 8, 16, 32, 12, 100]);
    const capability = pick(["8.0", "8.6", "8.9", "9.0", "9.0", "10.0", "12.0"]);
    const in_place = k % 4 === 3;
    const batch = pick([1, 1, 1, 2, 3, 64, 1000]);
    const reply = ask({ verb: "explain", spec, element_bytes, capability, in_place, batch, files: { "circuit.qasm": circuit } });
    const words = ["explain", spec, "--engine", "cuda", "--capability", capability, "--element-bytes", `${element_bytes}`, ...(in_place ? ["--in-place"] : []), ...(batch === 1 ? [] : ["--batch", `${batch}`])];
    const json = run([...words, "--json"]);
    if (reply.error) {
      const { error } = JSON.parse(json.out);
      return same("the error", JSON.stringify(reply.error), JSON.stringify(error || null), words);
    }
    same("the JSON", `${reply.json}\n`, json.out, words);
    const svg = `drawn-${k}.svg`;
    const told = run([...words, ...(reply.svg ? ["--svg", svg, "--no-sync"] : [])]);
    same("the text", `${reply.text}\n`, told.out, words);
    if (!reply.svg) return;
    ++drawings;
    same("the drawing", reply.svg, fs.readFileSync(path.join(folder, svg), "utf8"), [...words, "--svg", svg]);
  });

  for (const spec of refused) {
    const words = ["explain", spec, "--engine", "cuda", "--capability", "9.0", "--json"];
    const theirs = run(words);
    const { error } = ask({ verb: "explain", spec, capability: "9.0" });
    if (theirs.status === 0 || !error) throw new Error(`\`${spec}\` is not refused by both`);
    if (spec !== "" && !spec.startsWith("@")) same("the refusal", JSON.stringify(error), JSON.stringify(JSON.parse(theirs.out).error), words);
  }

  const layouts = [[32, 32, 4, "row, column"], [64, 64, 2, "row(8), column(8)"], [30, 33, 4, "diagonal, stride(3)"], [16, 128, 1, "row(16), column(4)"], [8, 8, 16, "row, column"], [48, 64, 8, "column(2), row"]];
  for (const [rows, columns, element_bytes, accesses] of layouts) {
    const reply = ask({ verb: "layout", rows, columns, element_bytes, accesses, seed: 3 });
    const words = ["layout", "--rows", `${rows}`, "--columns", `${columns}`, "--element-bytes", `${element_bytes}`, "--access", accesses, "--seed", "3", "--json", "--svg", "layout.svg", "--no-sync"];
    same("the JSON", `${reply.json}\n`, run(words).out, words);
    same("the drawing", reply.svg, fs.readFileSync(path.join(folder, "layout.svg"), "utf8"), words);
  }

  const programs = ["contiguous", "stride", "copy", "transpose-straightforward", "transpose-diagonal", "transpose-rotating", "permute", "diagonal", "transpose-crsw", "transpose-srcw", "transpose-drdw"];
  for (const machine of ["dmm", "umm"]) {
    for (const program of programs) {
      const request = { program, machine, width: 8, latency: 5, n: 64, timeline: true };
      const words = ["simulate", program, "--machine", machine, "--width", "8", "--latency", "5", "--n", "64", "--timeline", "--json"];
      const reply = ask({ verb: "simulate", request });
      const theirs = run(words);
      if (reply.error) {
        same("the error", JSON.stringify(reply.error), JSON.stringify(JSON.parse(theirs.out).error), words);
        continue;
      }
      same("the JSON", `${reply.json}\n`, theirs.out, words);
      run([...words, "--svg", "timeline.svg", "--no-sync"]);
      same("the drawing", reply.svg, fs.readFileSync(path.join(folder, "timeline.svg"), "utf8"), words);
    }
  }
  if (drawings < 60) throw new Error(`only ${drawings} drawings of maps were compared`);
  console.log(`the page and the command agree: ${compared} texts, ${drawings} drawings of maps`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
