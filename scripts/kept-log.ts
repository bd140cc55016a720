/**
 * Keeps a log of this version as a test fixture that later versions have to read (`test/program/kept-log.test.ts`): what the
 * program itself has written, and records of every type that a view is folded from. It is made once, when a version is
 * released: `npm run build && node build/scripts/kept-log.js`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { backUpLog } from "../infra/sqlite/log-backup.ts";
import { chainLine } from "../src/cli/log-verify.ts";
import { build } from "../src/config.ts";
import { openLog, sqliteLogIn } from "../src/engine/open-engines.ts";
import { chainOf } from "../src/log-copy/records.ts";
import { broadHistory } from "../test/support/broad-history.ts";
import type { Client } from "../test/support/client.ts";
import { appendTo } from "../test/support/history.ts";
import { KEPT_LOGS, type KeptLog, keptEnvironment } from "../test/support/kept-log.ts";
import { readWholeLog } from "../test/support/log-facts.ts";
import { orders } from "../test/support/orders.ts";
import { removeFolder, startProgram, temporaryFolder, until } from "../test/support/program.ts";
import { receiver } from "../test/support/receiver.ts";
import { agents, failure, webhooks } from "./kept-log/scenes.ts";

type Written = Pick<KeptLog, "email" | "events">;

const factsOf = async (client: Client): Promise<Written> => {
  const [owner] = (await client.session("GET", "/v1/members")).body.data;
  const { data } = (await client.call("GET", "/v1/events?limit=100")).body;
  const events = data.map(({ id, status }: { readonly id: string; readonly status: string }) => [id, status] as const);
  return { email: owner.email, events: events.reverse() };
};

/** What people, senders and agents of one account do at a running program. */
const write = async (dir: string): Promise<Written> => {
  const [program, application, shop] = await Promise.all([
    startProgram(keptEnvironment(dir), dir),
    receiver(),
    orders(),
  ]);
  try {
    const client = await webhooks(program.url, application);
    await agents(client, shop);
    await failure(client);
    return await factsOf(client);
  } finally {
    await program.stop();
    await Promise.all([application.close(), shop.target.close()]);
  }
};

const addBroadHistory = async (dir: string): Promise<void> => {
  const log = await openLog(sqliteLogIn(dir));
  await appendTo(log, broadHistory().events);
  await log.close();
};

/** Has everything sealed by a program that acts on nothing: what the broad history tells of was never done. */
const seal = async (dir: string): Promise<void> => {
  const program = await startProgram({ ...keptEnvironment(dir), ROLES: "api,projector" }, dir);
  const { length } = await readWholeLog(dir);
  await until("the log is sealed", async () => {
    const sealed = (await readWholeLog(dir)).findLastIndex(({ type }) => type === "Sealed");
    return sealed >= length;
  });
  await program.stop();
};

const keep = async (dir: string, written: Written): Promise<KeptLog & { readonly name: string }> => {
  const { version } = build(process.env);
  const copy = join(dir, "copy.db");
  backUpLog(sqliteLogIn(dir).path, copy);
  const log = await openLog(sqliteLogIn(dir), { readOnly: true });
  const chain = chainLine(await chainOf(log));
  await log.close();
  const types = [...new Set((await readWholeLog(dir)).map(({ type }) => type))].sort();
  const kept = { version, chain, ...written, types };
  const name = `log-${version}`;
  mkdirSync(KEPT_LOGS, { recursive: true });
  writeFileSync(join(KEPT_LOGS, `${name}.db.gz`), gzipSync(readFileSync(copy), { level: 9 }));
  writeFileSync(join(KEPT_LOGS, `${name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
  return { name, ...kept };
};

const dir = temporaryFolder();
try {
  const written = await write(dir);
  await addBroadHistory(dir);
  await seal(dir);
  const { name, chain, types } = await keep(dir, written);
  console.log(`${join(KEPT_LOGS, name)}: ${chain}, ${types.length} types`);
} finally {
  removeFolder(dir);
}
