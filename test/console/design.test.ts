import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { measured, overBudget } from "../../console/bundle/budgets.ts";
import { contrast, contrastFaults, rolesOf } from "../../console/bundle/contrast.ts";
import { expectedIn } from "../../console/design/field-faults.ts";
import { parseJsonSource, treeLines } from "../../console/design/json-source.ts";
import { digitGroups, sealDrawing } from "../../console/design/seal-drawing.ts";
import { allStates, proofStateOf, stateOf } from "../../console/design/states.ts";
import { drawnOf, placeOf, roomFor, scaleOf } from "../../console/design/waterfall-scale.ts";

const test = suite("the console's design");
/** Tests are run in the repository's folder. */
const TOKENS = readFileSync("console/design/tokens.css", "utf8");
const COMPONENTS = ["elements", "frame", "controls", "states", "data", "decision", "setup", "narrower"];
const SYMBOLS = readFileSync("console/design/symbols.svg", "utf8");

test("every colour stands out from what it stands on, and a paler one is found", () => {
  assert.is(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrastFaults(TOKENS), []);
  const paler = TOKENS.replace("--ink-3: light-dark(#56655E", "--ink-3: light-dark(#8A9A92");
  assert.ok(contrastFaults(paler).some((it) => it.startsWith("--ink-3 on --paper (light)")));
  assert.ok(contrastFaults(TOKENS.replace("--ok-wash:", "--gone:")).some((it) => it.includes("has no light value")));
  assert.ok(rolesOf(TOKENS).size > 20);
});

test("no rule is for any sibling, which makes a browser compute the style of a whole page whenever one row comes", () => {
  for (const name of [...COMPONENTS, "layers"])
    assert.not.match(readFileSync(`console/design/${name}.css`, "utf8"), /[+~] *(\*|:(?!is\())/, name);
});

test("no component names a colour: only tokens do", () => {
  for (const name of COMPONENTS) {
    const css = readFileSync(`console/design/${name}.css`, "utf8");
    assert.not.match(css.replace(/@media print \{.*\}/, ""), /#[0-9a-fA-F]{3,8}\b/, name);
  }
});

test("every class in the symbols has a rule, because what has none is drawn in black", () => {
  const css = [...COMPONENTS, "layers"].map((name) => readFileSync(`console/design/${name}.css`, "utf8")).join("\n");
  const without = (symbols: string): readonly string[] => {
    const named = [...symbols.matchAll(/class="([^"]*)"/g)].flatMap(([, names = ""]) => names.split(" "));
    return [...new Set(named)].filter((name) => !new RegExp(`\\.${name}(?![\\w-])`).test(css));
  };
  assert.equal(without(SYMBOLS), []);
  assert.equal(without(SYMBOLS.replace('class="c-blue"', 'class="c-blu"')), ["c-blu"]);
});

test("every state has a mark that is drawn, and only a good end is green", () => {
  for (const { mark } of allStates()) assert.ok(SYMBOLS.includes(`id="m-${mark}"`), mark);
  const green = allStates().filter(({ role }) => role === "ok");
  const ends = ["Delivered", "Committed", "Approved", "Applied", "Allowed", "Succeeded", "Active", "Healthy"];
  for (const { word } of green) assert.ok(ends.includes(word), word);
  assert.is(stateOf("recorded").word, "Recorded only");
  assert.is(proofStateOf("recorded").word, "Recorded");
  assert.equal(stateOf("constructor"), { word: "constructor", mark: "unknown", role: "wait" });
});

test("in grey every state can be told apart: no two marks have one drawing, and no mark has two meanings", () => {
  const drawings = new Map<string, string>();
  for (const { mark } of allStates()) {
    const drawing = new RegExp(`<symbol[^>]* id="m-${mark}"[^>]*>(.*?)</symbol>`, "s").exec(SYMBOLS)?.[1] ?? "";
    assert.ok(drawing.length > 10, mark);
    const same = drawings.get(drawing);
    assert.ok(same === undefined || same === mark, `${mark} is drawn as ${same}`);
    drawings.set(drawing, mark);
  }
  for (const one of allStates())
    for (const other of allStates())
      if (one.mark === other.mark) assert.is(one.role, other.role, `${one.word}, ${other.word}`);
});

test("the same digest has the same drawing, and another bit has another", () => {
  const digest = "63e725625912511d70cbb00953a341819704e1901354fd7f844f08b057809347";
  assert.equal(sealDrawing(digest), sealDrawing(digest));
  assert.is.not(sealDrawing(digest).curves.join(), sealDrawing(`73${digest.slice(2)}`).curves.join());
  assert.equal(digitGroups("63e72562"), ["63e7", "2562"]);
});

test("JSON keeps the text of its numbers, and what is no JSON is none", () => {
  const root = parseJsonSource(`{"a": 1240.00, "b/c": [12345678901234567890, true], "d": "\\u00e9\\n", "a": {}}`);
  assert.ok(root?.kind === "object");
  const shown = treeLines(root, new Set()).map(({ pointer, node }) => [
    pointer,
    "text" in node ? node.text : node.kind,
  ]);
  assert.equal(shown.slice(1, 5), [
    ["/a", "1240.00"],
    ["/b~1c", "array"],
    ["/b~1c/0", "12345678901234567890"],
    ["/b~1c/1", "true"],
  ]);
  assert.equal(treeLines(root, new Set(["/b~1c"])).find(({ pointer }) => pointer === "/b~1c")?.folded, 2);
  for (const text of ["", "{", "[1,]", "{'a':1}", "1 2", '"\\x"', "[".repeat(100) + "]".repeat(100), "NaN"])
    assert.is(parseJsonSource(text), null, text);
});

test("waiting that is much longer than the work is a band, and both scales agree on every duration", () => {
  const stage = (start: number, end: number, isWait = false) => ({ name: "", start, end, isWait });
  const stages = [stage(0, 12), stage(12, 372_012, true), stage(372_012, 372_824), stage(372_824, 378_000, true)];
  const scale = scaleOf(stages, false);
  assert.equal(
    scale.map(({ isBand }) => isBand),
    [false, true, false, true],
  );
  assert.is(scaleOf(stages, true).length, 1);
  assert.is(scaleOf([stage(0, 10), stage(10, 40, true), stage(40, 50)], false).length, 1, "a short wait is not cut");
  for (const isFull of [false, true]) {
    const drawn = scaleOf(stages, isFull);
    assert.ok(Math.abs((drawn.at(-1)?.to ?? 0) - 1) < 1e-9);
    const places = [0, 12, 100_000, 372_012, 372_500, 378_000].map((at) => placeOf(drawn, at));
    assert.equal(
      places,
      [...places].sort((a, b) => a - b),
      "time runs to the right",
    );
  }
});

test("of ten thousand bands those are drawn that can be seen, and every moment still has its place", () => {
  const nths = Array.from({ length: 10_000 }, (_, nth) => nth);
  const stages = nths.flatMap((nth) => [
    { name: "", start: nth * 60_000, end: nth * 60_000 + 1, isWait: false },
    { name: "", start: nth * 60_000 + 1, end: (nth + 1) * 60_000, isWait: true },
  ]);
  const scale = scaleOf(stages, false);
  assert.is(scale.length, 20_000);
  assert.equal(drawnOf(scale), []);
  for (const nth of [0, 1, 4_999, 9_999])
    assert.ok(Math.abs(placeOf(scale, nth * 60_000) - nth / 10_000) < 0.001, `attempt ${nth}`);
  const one = scaleOf(stages.slice(0, 1), false);
  assert.is(drawnOf(one).length, 1);
});

test("a page over its budget is named, with what it loads first counted once", () => {
  const manifest = {
    "index.html": { file: "main.js", imports: ["_shared.js"], css: ["style.css"], isEntry: true },
    "_shared.js": { file: "shared.js" },
    "src/pages/sign-in.tsx": { file: "sign-in.js", imports: ["_shared.js"] },
    "src/pages/overview.tsx": { file: "overview.js", imports: ["index.html"] },
  };
  const sizes: Readonly<Record<string, number>> = { "main.js": 10_000, "shared.js": 11_000, "overview.js": 31_000 };
  const all = measured({ manifest, sizeOf: (file) => sizes[file] ?? 0, always: ["index.html"] });
  assert.equal(
    all.find(({ name }) => name === "overview"),
    { name: "overview", bytes: 52_000, most: 150_000 },
  );
  assert.equal(overBudget(all), ["src/pages/overview.tsx: 31000 of at most 30000"]);
});

test("labels of an axis never lie over each other, and the first of them stay", () => {
  const labels = [
    { text: "14:02:11", at: 0, anchor: "start" },
    { text: "5.2 s", at: 1, anchor: "end" },
    { text: "12 ms", at: 0.1, anchor: "end" },
    { text: "6 min", at: 0.5, anchor: "middle" },
  ] as const;
  const shown = (widthPx: number) => roomFor(labels, widthPx).map(({ text }) => text);
  assert.equal(shown(1_200), ["14:02:11", "5.2 s", "12 ms", "6 min"]);
  assert.equal(shown(400), ["14:02:11", "5.2 s", "6 min"]);
  assert.equal(shown(120), ["14:02:11", "5.2 s"]);
  assert.equal(shown(60), ["14:02:11"]);
});

test("a field says what is expected in the console's words, not in the browser's", () => {
  const fine = { valueMissing: false, tooShort: false, tooLong: false };
  assert.is(expectedIn({ ...fine, valueMissing: true }, { type: "text" }), "This field is empty, and it is needed.");
  const short = { ...fine, tooShort: true };
  assert.is(expectedIn(short, { type: "password", minLength: 12 }), "Write at least 12 characters.");
  assert.is(expectedIn({ ...fine, tooLong: true }, { type: "text", maxLength: 9 }), "Write at most 9 characters.");
  for (const type of ["email", "url", "number", "text"]) assert.match(expectedIn(fine, { type }), /^Write /);
});

test.run();
