import { existsSync } from "node:fs";
import { join } from "node:path";

type Found = { readonly ok: boolean; readonly why: string };

/**
 * Tools of `test/clients/python/requirements.txt`, in the virtual environment that CLIENT_TOOLS names: `.ci/run` makes one,
 * and so does `python3 -m venv "$CLIENT_TOOLS" && "$CLIENT_TOOLS/bin/pip" install -r test/clients/python/requirements.txt`.
 */
export const pythonTools = (): Found & {
  command(name: string): string;
  file(name: string): string;
} => {
  const folder = process.env.CLIENT_TOOLS ?? "";
  const command = (name: string): string => join(folder, "bin", name);
  return {
    ok: folder !== "" && existsSync(command("openapi-python-client")),
    why: "CLIENT_TOOLS names no environment with test/clients/python/requirements.txt",
    command,
    file: (name) => join(process.cwd(), "test/clients/python", name),
  };
};

/** Tools of `test/clients/typescript/package.json`, after `npm ci` in that folder. */
export const typescriptTools = (): Found & { readonly modules: string; command(name: string): string } => {
  const modules = join(process.cwd(), "test/clients/typescript/node_modules");
  return {
    ok: existsSync(modules),
    why: "npm ci was not run in test/clients/typescript",
    modules,
    command: (name) => join(modules, ".bin", name),
  };
};
