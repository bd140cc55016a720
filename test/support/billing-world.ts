import { account } from "../../domain/account/decider.ts";
import { planNamed } from "../../domain/account/overage.ts";
import { PLANS, type Plan } from "../../domain/account/plans.ts";
import { openedWith, planAt } from "../../domain/account/subscription.ts";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { manualBilling } from "../../infra/billing/manual/links.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { secretBox } from "../../infra/crypto/secret-box.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { billing } from "../../projections/billing.ts";
import { sources } from "../../projections/sources.ts";
import { usage } from "../../projections/usage.ts";
import { accountStream } from "../../src/accounts/accounts.ts";
import { manualPages } from "../../src/billing/manual-pages.ts";
import { providerWebhooks } from "../../src/billing/provider-webhooks.ts";
import { personalData } from "../../src/erasure/personal-data.ts";
import { capabilityRoutes } from "../../src/routes/accounts/capabilities.ts";
import { billingRoutes } from "../../src/routes/billing/billing.ts";
import { checkoutRoutes } from "../../src/routes/billing/checkout.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { foldInto } from "./fold-into.ts";
import { COOKIE, OWNER, PUBLIC_URL, SAME_ORIGIN, testApp, testClock } from "./http-app.ts";
import { CLIENT } from "./members.ts";
import { NO_CALLS } from "./no-calls.ts";
import { addressed, keepWords } from "./personal-words.ts";

const PROJECTIONS = [billing, usage, sources];
export const ACCOUNT = OWNER.account;

export type BillingWorldOptions = {
  readonly plan?: Plan["name"];
  readonly name?: string;
  readonly provider?: BillingProvider;
  readonly log?: EventLog;
  readonly from?: string;
};

/** The billing part of the program behind real HTTP, over a log in memory; the clock is moved by hand. */
export const billingWorld = async (options: BillingWorldOptions = {}) => {
  const { plan = "free", name = "shop", log = memoryEventLog(), from = "2026-03-10T12:00:00.000Z" } = options;
  const clock = testClock(Date.parse(from));
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  const box = secretBox(Buffer.alloc(32, 7), randomness);
  const publicUrl = (): string => PUBLIC_URL;
  const provider = options.provider ?? manualBilling({ box, clock, randomness, publicUrl });
  const streams = aggregates(log, clock);
  let commands = 0;

  const command = async (it: Parameters<typeof account.decide>[0]) => {
    commands += 1;
    const about = { commandId: `world-${commands}`, account: ACCOUNT, actor: { kind: "system", id: "test" } } as const;
    const trace = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
    return streams.handle(account, accountStream(ACCOUNT), it, { ...about, trace, at: it.at });
  };
  const now = (): string => new Date(clock.now()).toISOString();
  const member = {
    member: OWNER.id,
    ...addressed("ana@a.example"),
    password: "",
    grant: "",
    client: CLIENT,
    at: now(),
  } as const;
  await keepWords(log, ACCOUNT, "ana@a.example");
  await command({ type: "OpenAccount", account: ACCOUNT, name, plan, time_zone: "UTC", ...member });

  const subscriptionOf = async () => {
    const { state } = await streams.load(account, accountStream(ACCOUNT), 0);
    return state.phase === "open" ? state.subscription : openedWith("free");
  };
  const planOf = async (): Promise<Plan> => planNamed(planAt(await subscriptionOf(), now()));
  const app = await testApp(
    [
      ...billingRoutes({ views, clock, subscriptionOf, provider: provider.name }),
      ...checkoutRoutes({
        aggregates: streams,
        views,
        provider,
        subscriptionOf,
        clock,
        recordCall: async () => undefined,
        personal: personalData(log, randomness),
      }),
      ...capabilityRoutes({ planOf: async () => ({ plan: await planOf() }), providers: [], maxPayloadBytes: 1 }),
    ],
    {
      clock,
      box,
      log,
      planOf,
      register: async (scope) => {
        await scope.register(manualPages({ aggregates: streams, views, box, clock, publicUrl, calls: NO_CALLS }));
        await scope.register(providerWebhooks(provider, { aggregates: streams, clock, calls: NO_CALLS }));
      },
    },
  );

  const project = () => foldInto(log, views, PROJECTIONS);
  const session = async (method: "GET" | "POST", url: string, body?: object, headers = {}) => {
    await project();
    const answer = await app.inject({
      method,
      url,
      headers: { ...COOKIE, ...SAME_ORIGIN, ...headers },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };

  return {
    app,
    log,
    clock,
    views,
    streams,
    provider,
    box,
    command,
    now,
    project,
    session,
    subscriptionOf,
    plan: async () => (await planOf()).name,
    summary: async () => (await session("GET", "/v1/billing/summary")).body,
    start: (wanted: string, more: object = {}) =>
      session("POST", "/v1/billing/checkout/start", { plan: wanted, ...more }),
    portal: (body: object = {}) => session("POST", "/v1/billing/portal", body),
    /** So many sources in use, as the view shows them. */
    async haveSources(count: number): Promise<void> {
      for (let n = 0; n < count; n += 1) {
        const settings = { name: "s", policy_id: null, endpoint_id: null, status: "active", dedupe: null, auth: null };
        const about = {
          source_id: `src_${n}`,
          account: ACCOUNT,
          type: "stripe",
          secret: "sealed",
          made_by: "mem_1",
          at: now(),
        };
        const meta = { account: ACCOUNT, actor: { kind: "system", id: "test" }, command_id: `s${n}` } as const;
        const traced = { trace_id: "", span_id: "", causation_id: null, recorded_at: now(), schema: 1 };
        await log.append(`source-src_${n}`, "any", [
          {
            id: `00000000-0000-8000-a000-${String(n).padStart(12, "0")}`,
            type: "SourceRegistered",
            data: { ...about, ...settings },
            meta: { ...meta, ...traced },
          },
        ]);
      }
    },
    typesOf: async (): Promise<readonly string[]> =>
      (await log.read(accountStream(ACCOUNT), null, 200)).map(({ type }) => type),
    limits: PLANS,
  };
};

export type BillingWorld = Awaited<ReturnType<typeof billingWorld>>;

export type Shown = {
  readonly status: number;
  readonly html: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly url: string;
};

const UNESCAPED = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" } as const;
const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => UNESCAPED[entity as keyof typeof UNESCAPED]);

/** What a browser makes of a page: its forms by the words on their buttons, and its links. */
export const formsOf = ({ html, url }: Shown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...html.matchAll(/<form method="post" action="([^"]*)"><button type="submit">([^<]*)<\/button>/g)].map(
      ([, action = "", text = ""]) => [unescaped(text), new URL(unescaped(action), url).href],
    ),
  );
export const linksOf = ({ html, url }: Shown): readonly string[] =>
  [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href = ""]) => new URL(unescaped(href), url).href);

/** A browser without cookies: it follows redirects, and sends forms as one does from the page it is on. */
export const browser = ({ app }: Pick<BillingWorld, "app">) => {
  const get = async (url: string): Promise<Shown> => {
    const { pathname, search } = new URL(url);
    const { statusCode: status, body: html, headers } = await app.inject({ method: "GET", url: pathname + search });
    return { status, html, headers, url };
  };
  const send = async (url: string, headers: Record<string, string> = SAME_ORIGIN): Promise<Shown> => {
    const {
      statusCode,
      headers: answered,
      body,
    } = await app.inject({
      method: "POST",
      url: new URL(url).pathname,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      payload: "",
    });
    if (statusCode !== 303) return { status: statusCode, html: body, headers: answered, url };
    return get(new URL(String(answered.location), url).href);
  };
  return {
    get,
    send,
    async press(page: Shown, text: string): Promise<Shown> {
      const action = formsOf(page)[text];
      if (action === undefined) throw new Error(`no button "${text}" on ${page.html}`);
      return send(action);
    },
  };
};
