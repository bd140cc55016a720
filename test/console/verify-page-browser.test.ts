import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { verifyFiles } from "../../src/verifier/files.ts";
import { inWords } from "../../src/verifier/words.ts";
import { overflow, violations, WIDTHS } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { evidenceVectors, type Vector } from "../support/evidence-vectors.ts";
import { removeFolder, temporaryFolder, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the verifier's page in a browser");

const PAGE = pathToFileURL(resolve("build/page/verify.html")).href;

const vectorOf = (name: string): Vector => {
  const vector = evidenceVectors().find((it) => it.name === name);
  if (vector === undefined) throw new Error(`there is no vector ${name}`);
  return vector;
};

/** What the command prints. */
const wordsOf = async ({ files, keys, witnesses, previous }: Vector): Promise<readonly string[]> => {
  const input = Object.entries(files).map(([name, text]) => ({
    name,
    size: Buffer.byteLength(text),
    async *bytes() {
      yield Buffer.from(text);
    },
  }));
  return inWords(await verifyFiles(input, { keys, witnesses, previous }));
};

const inBrowser = (binary: string): void => {
  const folder = temporaryFolder();
  let page: BrowserPage;

  const saved = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const setText = (id: string, lines: readonly string[]) =>
    page.evaluate(`void (document.getElementById("${id}").value = ${JSON.stringify(lines.join("\n"))})`);
  /** Gives the vector to the page, and answers what it says. */
  const checked = async ({ name, files, keys, witnesses, previous }: Vector): Promise<string> => {
    await page.open(PAGE);
    await page.choose(
      "#files",
      Object.entries(files).map(([file, text]) => saved(`${name}-${file}`, text)),
    );
    await page.choose(
      "#previous",
      previous.map((text, n) => saved(`${name}-previous-${n}.txt`, text)),
    );
    await setText("keys", keys);
    await setText("witnesses", witnesses);
    await page.click("Check");
    const said = () => page.evaluate<string>("document.getElementById('result').innerText.trim()");
    return until("the page says something", said);
  };
  const agrees = async (name: string): Promise<string> => {
    const vector = vectorOf(name);
    const said = await checked(vector);
    const [first = "", ...others] = await wordsOf(vector);
    const [word = "", ...rest] = first.split(": ");
    for (const line of [word, rest.join(": "), ...others]) assert.ok(said.includes(line), `${name}: ${line}\n${said}`);
    return said;
  };

  test.before(async () => {
    page = await openBrowser(binary);
  });
  test.after(async () => {
    await page.close();
    removeFolder(folder);
  });
  test.after.each(() => {
    assert.equal(page.faults(), []);
    // From a disk the origin is null; nothing else was asked for.
    assert.equal([...page.origins()], ["null"]);
  });

  test("it says of a good, a changed and an unsigned export what the command says", async () => {
    assert.match(await agrees("full"), /^AUTHENTIC/);
    assert.match(await agrees("changed-with-hashes"), /^BROKEN[\s\S]*Record \d+:/);
    assert.match(await agrees("no-key"), /^CONSISTENT/);
  });

  test("it takes witnesses, kept checkpoints, filtered exports, payloads and proofs of one record", async () => {
    for (const name of ["witnessed", "previous", "agent", "payloads", "proof", "rolled-back", "rotated"])
      await agrees(name);
  });

  test("without a file it says what to do, and a key that is none is refused", async () => {
    await page.open(PAGE);
    await page.click("Check");
    await page.shows("choose the file to check first");
    assert.match(
      await checked({ ...vectorOf("full"), keys: ["nonsense"] }),
      /^NOT CHECKED[\s\S]*No verifier key of a log: nonsense\./,
    );
  });

  test("at six widths and in two schemes, axe finds nothing and nothing scrolls sideways", async () => {
    for (const name of ["full", "changed-with-hashes", "no-key"]) {
      await checked(vectorOf(name));
      for (const width of WIDTHS)
        for (const dark of [false, true]) {
          await page.shaped({ width, dark });
          assert.equal(await violations(page), [], `${name} ${width} ${dark ? "dark" : "light"}`);
          assert.ok((await overflow(page)) <= 0, `${width} px`);
        }
      await page.shaped({});
    }
  });
};

const binary = browserHere();
if (binary === null) skipped("the verifier's page in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
