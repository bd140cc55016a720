import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Tests are run in the repository's folder. */
const TSC = join("node_modules", "typescript", "bin", "tsc");

/** What the compiler says, line by line; nothing when it is content. */
export const compile = async (args: readonly string[]): Promise<readonly string[]> => {
  try {
    await run(process.execPath, [TSC, "--pretty", "false", ...args]);
    return [];
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    return `${stdout}${stderr}`.trim().split("\n");
  }
};

export const STRICT = {
  target: "es2022",
  lib: ["ES2022", "DOM"],
  module: "nodenext",
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
} as const;

/** A project of these files, by their paths in it. */
export const writeProject = (
  folder: string,
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>> = STRICT,
): void => {
  const all = { ...files, "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["*.ts"] }) };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};
