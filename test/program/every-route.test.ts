import { suite } from "uvu";
import * as assert from "uvu/assert";
import { registerAgent } from "../support/agent.ts";
import { type Client, signUp } from "../support/client.ts";
import { killPrograms, type Program, removeFolder, startProgram } from "../support/program.ts";

const test = suite("every route");
let program: Program;

test.before(async () => {
  program = await startProgram();
});
test.after(async () => {
  await program.stop();
  killPrograms();
  removeFolder(program.dir);
});

type Operation = { readonly method: string; readonly path: string };

/** Every operation of the description. Those that end a session or remove something come last. */
const operations = async (base: string): Promise<readonly Operation[]> => {
  // An OpenAPI document, which has its methods below its paths.
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: Record<string, object> };
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{[^}]+\}/g, "nonsense") })),
  );
  const endsSomething = ({ method, path }: Operation): boolean => method === "DELETE" || path.includes("/auth/");
  return [...all.filter((it) => !endsSomething(it)), ...all.filter(endsSomething)];
};

const callers = async (client: Client): Promise<readonly Readonly<Record<string, string>>[]> => {
  const agent = await registerAgent(program.url, client);
  return [
    { authorization: `Bearer ${client.key}` },
    { authorization: `Bearer ${agent.key}` },
    { cookie: client.cookie, "sec-fetch-site": "same-origin" },
  ];
};

test("nonsense is no internal error: the schemas of each route can be compiled", async () => {
  const client = await signUp(program.url);
  const all = await operations(program.url);
  assert.ok(all.length > 50, `${all.length} operations`);
  const who = await callers(client);
  const statuses = new Map<number, number>();
  for (const { method, path } of all) {
    for (const headers of who) {
      const hasBody = method !== "GET" && method !== "DELETE";
      const given = hasBody
        ? { body: '{"nonsense":1}', headers: { ...headers, "content-type": "application/json" } }
        : { headers };
      const response = await fetch(`${program.url}${path}?nonsense=1`, { method, ...given });
      // A stream would not end by itself.
      await response.body?.cancel();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      assert.is.not(response.status, 500, `${method} ${path}: ${program.output()}`);
    }
  }
  // Most of them came as far as the schemas.
  assert.ok((statuses.get(400) ?? 0) > all.length / 2, JSON.stringify([...statuses]));
});

test.run();
