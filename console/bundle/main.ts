/**
 * Makes `build/page/`, which the program serves: the shell, below `assets/` the scripts, styles and fonts under names that
 * hold their content's hash, and the verifier as one file, `verify.html`. Does nothing if the inputs are those of the last
 * run. Fails if colours are too alike or a page is over its byte budget; with BUNDLE_SIZES=1 it prints the size of each.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type Plugin } from "vite";
import { type Manifest, measured, overBudget } from "./budgets.ts";
import { compressFolder } from "./compress.ts";
import { contrastFaults } from "./contrast.ts";
import { inputsDigest } from "./inputs.ts";
import { writeVerifyPage } from "./verify-page.ts";

const OUT = resolve("build/page");
/** The part that the program itself runs. */
const SERVER_OUT = resolve("build/page-server");
const DIGEST = join(OUT, "inputs.sha256");
const LICENCES = [
  ["Instrument Sans", "@fontsource-variable/instrument-sans"],
  ["Source Serif 4", "@fontsource/source-serif-4"],
  ["Spline Sans Mono", "@fontsource/spline-sans-mono"],
  ["Preact", "preact"],
  ["@preact/signals", "@preact/signals"],
  ["uPlot", "uplot"],
  ["CodeMirror", "@codemirror/view"],
  ["Lezer", "@lezer/common"],
  ["@lezer/json", "@lezer/json"],
  ["style-mod", "style-mod"],
  ["crelt", "crelt"],
  ["w3c-keyname", "w3c-keyname"],
  ["@marijn/find-cluster-break", "@marijn/find-cluster-break"],
] as const;

/** The oldest browsers that know `light-dark()`, which would otherwise be rewritten into two style sheets. */
const BROWSERS = ["chrome123", "edge123", "firefox120", "safari17.5"];

const fail = (what: string, faults: readonly string[]): void => {
  if (faults.length === 0) return;
  console.error([`console: ${what}`, ...faults].join("\n  "));
  process.exit(1);
};

/** Puts the icons into each page, so that no request is made for them. */
const symbols = (): Plugin => ({
  name: "symbols",
  transformIndexHtml: (html) =>
    html.replace("<!--symbols-->", readFileSync("console/design/symbols.svg", "utf8").trim()),
});

/** What is served has these licences; they are served, too. */
const licences = (): Plugin => ({
  name: "licences",
  generateBundle() {
    const texts = LICENCES.map(([name, folder]) => {
      return `${name}\n\n${readFileSync(`node_modules/${folder}/LICENSE`, "utf8").trim()}\n`;
    });
    this.emitFile({ type: "asset", fileName: "assets/licences.txt", source: texts.join(`\n${"-".repeat(78)}\n\n`) });
  },
});

/** What begins a page's reads. It needs nothing of the others, so that it runs as soon as its own file is there. */
const EARLY =
  /console[\\/]src[\\/](early|api[\\/](early-reads|page-reads|read-positions|call-address|listed-kinds|roles)|shell[\\/](addresses|pages|first-reads)|pages[\\/](ranges|event-origins|[a-z]+-query))\.ts$|preload-helper/;
/** What so many pages use comes with the first visit: each further file of a page is a request, one after another. */
const PAGES_MIN = 3;
/** The parts of an export are left out, as few visits ask for one. */
const SHARED = /node_modules[\\/]@?preact|console[\\/](design[\\/]|src[\\/](?!pages[\\/](export|export-text)\.))/;

/**
 * Small parts of the pages of events and bundles, the waterfall among them, come in one file: on a phone a request takes longer
 * than to read some kilobytes. No other first visit needs them.
 */
const STAGES =
  /pages[\\/](ask-why|bundle-verdict|bundle-words|event-replay|event-selection|gate-filter|refusal|stopped-endpoints|use-approval)\.tsx?$|shell[\\/]use-coverage\.ts$|design[\\/]waterfall[a-z-]*\.tsx?$/;

/** The three pages of policies use it, and no other. */
const USED_BY = /pages[\\/](used-by|policy-uses)\.tsx?$/;

/** The pages of settings and the few others that name roles use it; a first visit does not. */
const SETTINGS = /pages[\\/]settings-(frame|text)\.tsx?$/;

/** The pages with a form use it, and no list or first visit. */
const FORMS = /pages[\\/](choices|form|fault-sentence)\.tsx?$/;

/** What is drawn first is drawn with these, and text that is drawn without them moves when they come. */
const FIRST_FONTS = /(instrument-sans|source-serif)[^/]*\.woff2$/;

/** The fonts come with the scripts, and not once the first text is drawn. They stand last, so that they wait for the scripts. */
const fonts = (): Plugin => ({
  name: "fonts",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle: files }) {
      const links = Object.keys(files ?? {})
        .filter((file) => FIRST_FONTS.test(file))
        .map((file) => `  <link rel="preload" as="font" type="font/woff2" crossorigin href="/${file}">\n`);
      return html.replace("</head>", `${links.join("")}</head>`);
    },
  },
});

/**
 * Runs the early script before the others: it is in a file of its own, which the page's main script would wait for. Nothing
 * is drawn before the main script has run: there is nothing to see, and drawing it would hold the script up.
 */
const earlyScript = (): Plugin => ({
  name: "early-script",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle: files }) {
      const file = Object.values(files ?? {}).find((it) => it.type === "chunk" && it.name === "early");
      if (file === undefined || !html.includes('<script type="module"')) return html;
      const tag = `<script type="module" async crossorigin src="/${file.fileName}"></script>`;
      return html.replace('<script type="module"', `${tag}\n  $& blocking="render"`);
    },
  },
});

const bundle = async (): Promise<void> => {
  await build({
    root: resolve("console"),
    configFile: false,
    base: "/",
    logLevel: "warn",
    plugins: [symbols(), licences(), earlyScript(), fonts()],
    build: {
      outDir: OUT,
      emptyOutDir: true,
      target: BROWSERS,
      cssTarget: BROWSERS,
      // The policy allows fonts and scripts from our own addresses only, so nothing may become a data: URL.
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      manifest: "manifest.json",
      rolldownOptions: {
        // A slow machine is no fault of the build.
        checks: { pluginTimings: false },
        input: [resolve("console/index.html"), resolve("console/components.html")],
        output: {
          codeSplitting: {
            groups: [
              { name: "early", test: EARLY, priority: 2 },
              { name: "base", test: SHARED, minShareCount: PAGES_MIN, priority: 1 },
              { name: "stages", test: STAGES, priority: 2, includeDependenciesRecursively: false },
              { name: "used-by", test: USED_BY, priority: 2, includeDependenciesRecursively: false },
              { name: "forms", test: FORMS, priority: 2, includeDependenciesRecursively: false },
              { name: "settings-parts", test: SETTINGS, priority: 2, includeDependenciesRecursively: false },
            ],
          },
        },
      },
    },
  });
};

/** What the service reads of a page's address, and what the page asks for first: the shell names it before a script has run. */
const serverPart = async (): Promise<void> => {
  await build({
    configFile: false,
    logLevel: "warn",
    build: { ssr: resolve("console/src/shell/for-service.ts"), outDir: SERVER_OUT, emptyOutDir: true },
  });
};

const bytesServed = (file: string): number => {
  const path = join(OUT, file);
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
};

const report = (): void => {
  // Vite wrote it a moment ago.
  const manifest = JSON.parse(readFileSync(join(OUT, "manifest.json"), "utf8")) as Manifest;
  const fonts = Object.values(manifest)
    .map(({ file }) => file)
    .filter((file) => file.endsWith(".woff2"));
  const all = measured({ manifest, sizeOf: bytesServed, always: ["index.html", ...fonts] });
  if (process.env.BUNDLE_SIZES === "1")
    for (const { name, bytes, most } of all) console.log(`${String(bytes).padStart(8)} of ${most}  ${name}`);
  fail("over the byte budget", overBudget(all));
};

const digest = inputsDigest();
if (!existsSync(DIGEST) || readFileSync(DIGEST, "utf8") !== digest) {
  fail("colours are too alike", contrastFaults(readFileSync("console/design/tokens.css", "utf8")));
  await bundle();
  await serverPart();
  await writeVerifyPage(join(OUT, "verify.html"), BROWSERS);
  compressFolder(OUT);
  report();
  // Last: what broke off before is made again.
  writeFileSync(DIGEST, digest);
}
