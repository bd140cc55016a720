import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { startEventStoreDouble } from "../support/eventstore-double/server.ts";
import { addMember } from "../support/members.ts";
import { freshDatabase, mongodbServer } from "../support/mongodb.ts";
import { type Program, removeFolder, startProgram, until } from "../support/program.ts";

const test = suite("erasures of personal data in the running program");

const PIN = 4711;
const payloadOf = (pin: number): string => `{"amount":900,"pin":${pin}}`;
const COMMENT = "far too much";
const REASON = "it asks for too much";
const VERSION_REASON = "Bo wants to see large ones";

type Told = { readonly client: Client; readonly email: string; readonly texts: readonly string[] };

const well = async (answer: ReturnType<Client["session"]>) => {
  const { status, body } = await answer;
  assert.ok(status < 300, JSON.stringify(body));
  return body;
};

/** A member publishes a policy, rejects a request and suspends an agent, and says why. */
const tell = async (client: Client): Promise<Told & { readonly member: string; readonly event: string }> => {
  const email = `bo-${Date.now()}@shop.example`;
  const { id: member, cookie } = await addMember(client, email, "admin");
  const definition = { name: "large ones", approval: { when: "payload.amount > 500", expires_after_s: 3_600 } };
  const version = { ...definition, reason: VERSION_REASON };
  const policy = await well(client.session("POST", "/v1/policies", version, { cookie }));
  assert.is(policy.reason, VERSION_REASON);
  const source = await hookSource(client, { policy_id: policy.id });
  const { event_id: event, approval_id } = (await source.send("one", payloadOf(PIN))).body;
  const { digest, shown_digest } = await until(`approval ${approval_id} is shown`, async () => {
    const shown = await client.session("GET", `/v1/approvals/${approval_id}`, undefined, { cookie });
    return shown.status === 200 ? shown.body : null;
  });
  const said = { digest, shown_digest, comment: COMMENT };
  const rejected = await well(client.session("POST", `/v1/approvals/${approval_id}/reject`, said, { cookie }));
  assert.equal(
    [rejected.votes[0].email, rejected.votes[0].comment, rejected.reason, rejected.outcome.reason],
    [email, COMMENT, COMMENT, COMMENT],
  );
  const agent = await client.make("/v1/agents", { name: "refunds", scope: { actions: ["*"] } });
  const suspended = await well(
    client.session("POST", `/v1/agents/${agent.id}/suspend`, { reason: REASON }, { cookie }),
  );
  assert.is(suspended.suspended_reason, REASON);
  const asked = await client.call(
    "POST",
    "/v1/execute",
    { action: "refund", payload: {} },
    { authorization: `Bearer ${agent.key}`, "idempotency-key": "1" },
  );
  assert.equal([asked.body.code, asked.body.reason], ["agent-suspended", REASON]);
  const { data } = await until("the members are listed", async () => {
    const listed = await client.session("GET", "/v1/members");
    return listed.body.data?.length === 2 ? listed.body : null;
  });
  assert.ok(data.some((it: { email: string }) => it.email === email));
  return { client, email, member, event, texts: [email, COMMENT, REASON, VERSION_REASON, payloadOf(PIN)] };
};

/** Erases all of it, and finds it shown nowhere. */
const erase = async ({ client, member, event }: Awaited<ReturnType<typeof tell>>): Promise<void> => {
  await well(client.session("DELETE", `/v1/events/${event}/payload`, { reason: "a customer asked" }));
  const erased = await well(client.session("DELETE", `/v1/members/${member}?erase=1`, { reason: "Bo asked" }));
  assert.is(erased.id, member);
  const { data } = await until("the erasures are shown", async () => {
    const found = await client.session("GET", "/v1/audit?type=PersonalDataErased&limit=100");
    return found.body.data?.length > 0 ? found.body : null;
  });
  assert.ok(data.some(({ personal }: { personal: object }) => Object.values(personal).includes("Bo asked")));
  const [approval] = (await well(client.session("GET", "/v1/approvals"))).data;
  const [policy] = (await well(client.session("GET", "/v1/policies"))).data;
  assert.is(policy.reason, "[erased]");
  assert.equal([approval.votes[0].email, approval.votes[0].comment, approval.reason], Array(3).fill("[erased]"));
};

const sealedAll = (client: Client): Promise<boolean> =>
  until("a checkpoint covers the newest record", async () => {
    const newest = await client.call("GET", "/v1/audit?order=desc&limit=1");
    const { status, body } = await client.call("GET", "/v1/audit/checkpoint");
    const size = status === 200 ? parseCheckpoint(parseNote(body)?.text ?? "")?.size : undefined;
    return size !== undefined && size > newest.body.data[0].index;
  });

const exported = async (client: Client): Promise<string> => {
  await sealedAll(client);
  const headers = { authorization: `Bearer ${client.key}` };
  const response = await fetch(`${client.base}/v1/audit/export?payloads=1`, { headers });
  assert.is(response.status, 200);
  return response.text();
};

/** All that an export says: its lines, and the leaves and payloads that they carry in base64. */
const contentOf = (text: string): string =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { leaf = "", bytes = "" } = JSON.parse(line) as { leaf?: unknown; bytes?: unknown };
      return [line, ...[leaf, bytes].map((it) => Buffer.from(String(it), "base64").toString())].join("\n");
    })
    .join("\n");

/** The values of all commitments that the export opens. */
const openedIn = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith('{"kind":"payload"'))
    .map((line) => Buffer.from(String(JSON.parse(line).bytes), "base64").toString());

const DIGEST = /(?<![\w+/-])(?:[0-9a-f]{64}|[\w+/-]{43}=?)(?![\w+/=-])/gi;

/** What an attacker would try: the values themselves, other spellings, and all others of the kind. */
const guessesOf = ({ email }: Told): readonly string[] => {
  const said = [email, COMMENT, REASON, VERSION_REASON, email.split("@")[0] ?? "", `mailto:${email}`];
  const pins = Array.from({ length: 10_000 }, (_, pin) => [payloadOf(pin), String(pin)]).flat();
  const common = ["yes", "no", "ok", "spam", "fraud", "too much", "asked for", "ana@shop.example", "bo@shop.example"];
  const spelled = [...said, ...common].flatMap((it) => [it, it.toLowerCase(), it.toUpperCase(), `${it}\n`, ` ${it}`]);
  return [...spelled, ...spelled.map((it) => JSON.stringify(it)), ...pins];
};

const digestsOf = (guess: string): readonly string[] => {
  const digest = createHash("sha256").update(guess).digest();
  return [digest.toString("hex"), digest.toString("base64"), digest.toString("base64").replace("=", "")].concat(
    digest.toString("base64url"),
  );
};

const filesOf = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

const holdersOf = (dir: string, text: string): readonly string[] =>
  filesOf(dir).filter((file) => readFileSync(file).includes(text));

test("P9: what a person wrote, their address and a short payload are erased from every file and view", async () => {
  const program = await startProgram();
  try {
    const it = await tell(await signUp(program.url));
    const { client, texts } = it;
    const whole = await exported(client);
    const before = contentOf(whole);
    for (const text of texts) assert.ok(before.includes(text), `the export opens ${text}`);
    assert.match(before, new RegExp(`"payload":${payloadOf(PIN)}`), "it opens the form that the voter saw");
    await erase(it);
    const text = await exported(client);
    const content = contentOf(text);
    for (const value of texts) assert.not(content.includes(value), value);
    const digests = new Set(content.match(DIGEST) ?? []);
    // Whoever kept what was erased has the best guesses of all.
    const guesses = [...guessesOf(it), ...openedIn(whole)];
    const known = guesses.filter((guess) => digestsOf(guess).some((digest) => digests.has(digest)));
    assert.equal(known, []);

    const file = join(program.dir, "export.ndjson");
    writeFileSync(file, text);
    const key = (await (await fetch(`${program.url}/v1/audit/key`)).text()).trim().split("\n")[0] ?? "";
    const verified = await countersign(["verify", file, "--key", key]);
    assert.is(verified.status, 0, "what was erased is not withheld, or it would be incomplete");
    assert.match(verified.stdout, /\d+ erased/);
    await until("no file has what was erased", () =>
      texts.every((value) => holdersOf(program.dir, value).length === 0),
    );
    await program.stop();
    for (const value of texts) assert.equal(holdersOf(program.dir, value), [], value);
  } finally {
    await program.stop();
    removeFolder(program.dir);
  }
});

const mongodbUrl = mongodbServer("erasures on EventStoreDB and MongoDB");

/** Everything that the views' database has, as text. */
const databaseOf = async (url: string): Promise<string> => {
  const client = new MongoClient(url);
  try {
    const collections = await client.db().collections();
    const all = await Promise.all(collections.map((collection) => collection.find().toArray()));
    return JSON.stringify(all);
  } finally {
    await client.close();
  }
};

if (mongodbUrl !== null)
  test("P9: on EventStoreDB and MongoDB the views never have it, and the log's bytes go with a scavenge", async () => {
    const [double, database] = [await startEventStoreDouble(), freshDatabase(mongodbUrl)];
    const env = {
      EVENTSTORE_URL: double.url,
      MONGODB_URL: database.url,
      COUNTERSIGN_KEY: Buffer.alloc(32, "countersign tests").toString("base64"),
    };
    let program: Program | null = null;
    try {
      program = await startProgram(env);
      const it = await tell(await signUp(program.url));
      const held = (text: string): boolean => double.state.log.some(({ data }) => Buffer.from(data).includes(text));
      const said = it.texts.filter((text) => text !== payloadOf(PIN));
      const shown = await databaseOf(database.url);
      for (const text of said) assert.equal([held(text), shown.includes(text)], [true, false], text);
      await erase(it);
      await until("everything is erased", () => {
        double.scavenge();
        return !it.texts.some(held);
      });
      const after = await databaseOf(database.url);
      for (const text of it.texts) assert.not(after.includes(text), text);
    } finally {
      await program?.stop();
      if (program !== null) removeFolder(program.dir);
      await database.drop();
      await double.stop();
    }
  });

test.run();
