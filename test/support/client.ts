import { createHmac, randomUUID } from "node:crypto";

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into answers of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the route says; a wrong guess fails the test
  readonly body: any;
};

export const reply = async (response: Response): Promise<Reply> => {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
};

/** One account, signed up, with an admin key; and its webhooks. */
export type Client = {
  /** The program that it calls. */
  readonly base: string;
  readonly account: string;
  readonly cookie: string;
  readonly key: string;
  /** With the account's key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** With the session. */
  session(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Made with the session, as a key may not weaken controls; or the test fails. */
  make(path: string, body: unknown): Promise<Reply["body"]>;
  /** The same account at a program that was started again. */
  at(base: string): Client;
};

const send = async (url: string, method: string, body: unknown, headers: Record<string, string>): Promise<Reply> =>
  reply(
    await fetch(url, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );

let people = 0;

/** A session by signing up or logging in, and a key that is made with it. */
const enter = async (base: string, path: string, who: object): Promise<Client> => {
  const signed = await send(`${base}/v1/auth/${path}`, "POST", who, {});
  if (signed.status >= 300) throw new Error(`${path}: ${signed.status} ${JSON.stringify(signed.body)}`);
  const cookie = signed.headers.get("set-cookie")?.split(";")[0] ?? "";
  const origin = { cookie, "sec-fetch-site": "same-origin" };
  const made = await send(`${base}/v1/api-keys`, "POST", { name: "test", role: "admin" }, origin);
  if (made.status !== 201) throw new Error(`api key: ${made.status} ${JSON.stringify(made.body)}`);
  return clientAt(base, { account: signed.body.account.id, cookie, key: made.body.key });
};

type Person = { readonly email: string; readonly password: string };

const nextPerson = (): Person => {
  people += 1;
  return {
    email: `person-${process.pid}-${Date.now()}-${people}@example.com`,
    password: "correct horse battery",
  };
};

/** A new account, of somebody whom no other test knows unless it is said who. */
export const signUp = (base: string, who: Person = nextPerson()): Promise<Client> => enter(base, "signup", who);

/** Somebody who has signed up elsewhere. */
export const logIn = (base: string, who: Person): Promise<Client> => enter(base, "login", who);

/** With credentials that an earlier run was given. */
export const clientAt = (
  base: string,
  who: { readonly account: string; readonly cookie: string; readonly key: string },
): Client => {
  const { cookie, key } = who;
  const origin = { cookie, "sec-fetch-site": "same-origin" };
  const call: Client["call"] = (method, path, body, headers = {}) =>
    send(`${base}${path}`, method, body, { authorization: `Bearer ${key}`, ...headers });
  const session: Client["session"] = (method, path, body, headers = {}) =>
    send(`${base}${path}`, method, body, { ...origin, ...headers });
  return {
    ...who,
    base,
    at: (other) => clientAt(other, who),
    call,
    session,
    async make(path, body) {
      // A caller repeats what a slow server could not answer; the key makes it done once.
      const once = { "idempotency-key": randomUUID() };
      const answer = await persistently(() => session("POST", path, body, once));
      if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
  };
};

export const HOOK_SECRET = "a secret of the sender";

export type HookSource = {
  readonly id: string;
  readonly url: string;
  send(id: string, payload?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** The same source at another program. */
  at(base: string): HookSource;
};

const SENDS_MAX = 20;
/** Where the answer does not say how long. */
const WAIT_S = 0.5;

/** As senders do: who does not get a turn on a busy machine comes again when told to. What was decided behind a 503 is a first answer. */
export const persistently = async (send: () => Promise<Reply>): Promise<Reply> => {
  for (let tries = 1; ; tries += 1) {
    const reply = await send();
    if (reply.status !== 503 || tries === SENDS_MAX)
      return tries > 1 && reply.status === 200 ? { ...reply, status: 202 } : reply;
    const waitS = Number(reply.headers.get("retry-after") ?? WAIT_S);
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
  }
};

/** A source of type hmac whose delivery ids are in X-Delivery-Id, and how to send to it. */
export const hookSource = async (client: Client, settings: Record<string, unknown> = {}): Promise<HookSource> => {
  const made = await client.make("/v1/sources", {
    name: "hooks",
    type: "hmac",
    secret: HOOK_SECRET,
    dedupe: { header: "X-Delivery-Id" },
    ...settings,
  });
  // The address that the program names says localhost, and that name would be looked up for every connection.
  return hookAt(made.id, made.ingest_url).at(client.base);
};

const hookAt = (id: string, url: string): HookSource => ({
  id,
  url,
  at: (base) => hookAt(id, `${base}${new URL(url).pathname}`),
  async send(id, payload = { id }, headers = {}) {
    const body = typeof payload === "string" ? payload : JSON.stringify(payload);
    const signature = createHmac("sha256", HOOK_SECRET).update(body).digest("hex");
    return reply(
      await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "x-signature": signature, "x-delivery-id": id, ...headers },
        body,
      }),
    );
  },
});
