import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Client, Reply } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import {
  type Caller,
  callersAt,
  type Found,
  type Read,
  STORIES,
  type Story,
  signsUp,
  WITHOUT_A_STORY,
} from "../support/position-stories.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

/** CI wants a thousand: `POSITION_ROUNDS=1000 npm test -- positions`. */
const ROUNDS = Number(process.env.POSITION_ROUNDS ?? 2);
/** For each set of engines. A slow machine makes fewer rounds in this time, the first always. */
const BUDGET_MS = 120_000;
/** So many requests at once that the views are behind most of the answers. */
const CALLERS = 8;
/** A view that is behind for longer than a read waits is asked again, as its 503 says. */
const BEHIND_MAX = 15;
const SIGN_UPS = 3;

/** Lists that no key may read. */
const OF_SESSIONS = /^\/v1\/(api-keys|members)\b/;

const UNSAFE = ["post", "put", "patch", "delete"];

/** Every call that changes something, as `/openapi.json` names it. */
const changesAt = async (base: string): Promise<readonly string[]> => {
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => UNSAFE.includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
};

/** What was asked for at its answer's position, route by route, and what of it was not there. */
const tally = () => {
  const asked = new Map<string, number>();
  const missed = new Map<string, number>();
  const examples: string[] = [];
  const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

  const read = async (reader: Client, path: string): Promise<Reply> => {
    for (let tries = 1; ; tries += 1) {
      const isPerson = reader.key === "" || OF_SESSIONS.test(path);
      const answer = await (isPerson ? reader.session : reader.call)("GET", path);
      if (answer.body.code !== "view-behind" || tries === BEHIND_MAX) return answer;
    }
  };

  const foundBy =
    (reader: Client): Found =>
    async (route, { headers, body }, ...reads) => {
      count(asked, route);
      const position = headers.get("countersign-position");
      const at = `after=${position}`;
      const look = async ([path, shows]: Read): Promise<void> => {
        const seen = await read(reader, `${path}${path.includes("?") ? "&" : "?"}${at}`);
        if (seen.status === 200 && shows(seen.body)) return;
        count(missed, `${route}, by ${path.replace(/\w{3}_[a-z2-7]{32}/, "{id}")}`);
        examples.push(`${JSON.stringify(body)} at ${position}, read: ${seen.status} ${JSON.stringify(seen.body)}`);
      };
      if (position === null) count(missed, `${route}, without a position`);
      else await Promise.all(reads.map(look));
    };

  return { asked, missed, examples, foundBy };
};

/** A position that no append has been given yet. */
const isAfterTheEnd = async (client: Client): Promise<void> => {
  const { headers } = await client.call("POST", "/v1/policies", { name: "last" });
  const [log, position = ""] = headers.get("countersign-position")?.split("-") ?? [];
  const { status, body } = await client.call("GET", `/v1/policies?after=${log}-${position.replace(/\d/g, "9")}`);
  assert.equal([status, body.code, body.errors[0].path], [400, "invalid-request", "/after"]);
  assert.match(body.detail, "The log ends before the position");
};

type Task = { readonly story: Story; readonly round: number };

/** Round by round, so that at each moment all kinds of requests are under way. */
const tasks = (): Task[] => {
  const all: Task[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const story of STORIES) if (round < (story.roundsMax ?? ROUNDS)) all.push({ story, round });
  }
  return all;
};

const answersAt = ({ name, open }: EngineSet): void => {
  const test = suite(`positions: ${name}`);
  let engines: Engines;
  let target: Receiver;
  let dirs: readonly string[];

  test.before(async () => {
    dirs = [temporaryFolder(), temporaryFolder()];
    [engines, target] = await Promise.all([open(), receiver()]);
  });
  test.after(async () => {
    killPrograms();
    await target.close();
    await engines.close();
    for (const dir of dirs) removeFolder(dir);
  });

  test("a read at an answer's position finds what the answer names, for every route and on every node", async () => {
    const isShared = engines.env.EVENTSTORE_URL !== undefined;
    const programs: Program[] = [];
    for (const dir of isShared ? dirs : dirs.slice(0, 1)) programs.push(await startProgram(engines.env, dir));
    const [first] = programs;
    if (first === undefined) throw new Error("no program");
    const callers = await callersAt(first.url, target, CALLERS);
    const { asked, missed, examples, foundBy } = tally();
    const queue = tasks();
    const until = performance.now() + BUDGET_MS;
    let rounds = 0;
    const work = async (caller: Caller): Promise<void> => {
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
        const { story, round } = task;
        if (round > 0 && performance.now() > until) return;
        rounds = Math.max(rounds, round + 1);
        const reader = caller.client.at(programs[round % programs.length]?.url ?? first.url);
        await story.run(caller, foundBy(reader)).catch((error: unknown) => {
          throw new Error(`${story.name}, round ${round}: ${String(error)}`, { cause: error });
        });
      }
    };
    await Promise.all([
      ...callers.map(work),
      ...Array.from({ length: SIGN_UPS }, () => signsUp(first.url, foundBy)),
      ...callers.slice(0, 1).map(({ client }) => isAfterTheEnd(client)),
    ]);

    if (rounds < ROUNDS) console.log(`${rounds} of ${ROUNDS} rounds in ${BUDGET_MS} ms`);
    const changes = (await changesAt(first.url)).filter((route) => !WITHOUT_A_STORY.has(route));
    assert.equal([...asked.keys()].sort(), [...changes].sort(), "each call that changes something is in a story");
    assert.equal(Object.fromEntries(missed), {}, examples[0]);
    for (const program of programs) assert.is(await program.stop(), 0, program.output());
  });

  test.run();
};

for (const set of engineSets()) answersAt(set);
