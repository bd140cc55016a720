import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "vite";

/** The verifier as one file that works without a network, also from a disk. */
const FOLDER = "console/verify";
const STYLES = ["console/design/tokens.css", "console/design/elements.css", "console/design/controls.css"];

/** Everything that the script needs in one text. It is not minified, so that a reader can check what it does. */
const scriptOf = async (entry: string, target: readonly string[]): Promise<string> => {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      minify: false,
      target: [...target],
      lib: { entry: resolve(FOLDER, entry), formats: ["iife"], name: "verify" },
    },
  });
  const outputs = Array.isArray(built) ? built : [built];
  const chunks = outputs.flatMap((it) => ("output" in it ? it.output : [])).filter((it) => it.type === "chunk");
  const [chunk, ...more] = chunks;
  if (chunk === undefined || more.length > 0) throw new Error(`${entry} did not become one script`);
  // In an element, such a text would end the script or begin another one.
  if (/<\/script|<script|<!--/i.test(chunk.code)) throw new Error(`${entry} has a text that HTML would read`);
  return chunk.code;
};

const sourceOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export const writeVerifyPage = async (path: string, target: readonly string[]): Promise<void> => {
  const [worker, script] = [await scriptOf("worker.ts", target), await scriptOf("page.ts", target)];
  const style = [...STYLES, `${FOLDER}/page.css`].map((file) => readFileSync(file, "utf8")).join("");
  const policy = [
    ...["default-src 'none'", `script-src ${sourceOf(script)}`, `style-src ${sourceOf(style)}`, "worker-src blob:"],
    ...["base-uri 'none'", "form-action 'none'"],
    ...["require-trusted-types-for 'script'", "trusted-types countersign-verify"],
  ].join("; ");
  const parts = { policy, style, worker, script };
  const html = readFileSync(`${FOLDER}/page.html`, "utf8");
  writeFileSync(
    path,
    // As a function, because a replacement text has characters of its own meaning.
    html.replace(/\/\*(policy|style|worker|script)\*\//g, (_, name: keyof typeof parts) => parts[name]),
  );
};
