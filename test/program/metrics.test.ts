import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { HOOK_SECRET, hookSource, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const TOKEN = "a-token-for-the-scraper";
/** In what a tenant sends and names, and nowhere in what is told of the service. */
const MARKS = ["tenant-mark", "payload-mark", "header-mark", "pw-mark", HOOK_SECRET];

const infra = (path: string): string => readFileSync(`infra/${path}`, "utf8");
const METRIC = /\b(countersign_[a-z_]+|nodejs_[a-z0-9_]+|process_[a-z_]+)\b/g;
const namesIn = (text: string): readonly string[] => [...new Set(text.match(METRIC) ?? [])];

const metrics = ({ name, open }: EngineSet): void => {
  const test = suite(`metrics and log lines: ${name}`);
  let engines: Engines;
  let program: Program;
  let app: Receiver;

  const scrape = (headers: Record<string, string> = {}) => fetch(`${program.url}/metrics`, { headers });
  /** The sum over all series of a figure that carry these labels. */
  const figure = async (metric: string, labels: Record<string, string> = {}): Promise<number> => {
    const lines = (await (await scrape()).text()).split("\n").filter((line) => line.startsWith(metric));
    const own = lines.filter((line) =>
      Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
    );
    return own.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };

  test.before(async () => {
    engines = await open();
    const env = { ...engines.env, METRICS_TOKEN: TOKEN, LOG_LEVEL: "info" };
    [program, app] = await Promise.all([startProgram(env), receiver()]);
  });
  test.after(async () => {
    await program.stop();
    await app.close();
    removeFolder(program.dir);
    await engines.close();
  });

  test("what is decided, delivered and answered is counted, and nothing of whose it was", async () => {
    const client = await signUp(program.url);
    const target = await client.make("/v1/endpoints", {
      name: "tenant-mark",
      url: `${app.url}?tenant-mark`,
      headers: { "x-own": "header-mark" },
      retry_schedule_s: [],
    });
    const policy = await client.make("/v1/policies", { name: "tenant-mark", require_fields: ["wanted"] });
    const source = await hookSource(client, { name: "tenant-mark", endpoint_id: target.id, policy_id: policy.id });
    const authorization = "Bearer pw-mark";
    for (const id of ["1", "2", "3"]) {
      await source.send(`tenant-mark-${id}`, { wanted: "payload-mark" }, { "user-agent": "header-mark" });
    }
    await source.send("tenant-mark-1", { wanted: "payload-mark" });
    await source.send("tenant-mark-4", { other: "payload-mark" });
    await client.call("GET", "/v1/events", undefined, { authorization });
    await until("all are delivered", () => app.arrivals.length >= 3);
    app.answer((_arrival, response) => response.writeHead(500).end());
    await source.send("tenant-mark-5", { wanted: "payload-mark" });

    const attempts = "countersign_delivery_attempt_duration_seconds_count";
    await until("the attempts are counted", async () => (await figure(attempts, { outcome: "succeeded" })) >= 3);
    await until("the failure is counted", async () => (await figure(attempts, { outcome: "http-5xx" })) >= 1);
    assert.is(await figure("countersign_decisions_total", { outcome: "admitted", origin: "source" }), 4);
    assert.is(await figure("countersign_decisions_total", { outcome: "duplicate" }), 1);
    assert.is(await figure("countersign_decisions_total", { outcome: "blocked", gate: "require_fields" }), 1);
    const calls = "countersign_http_request_duration_seconds_count";
    assert.is(await figure(calls, { route: "/v1/webhooks/:provider/:source_id", status: "2xx" }), 5);
    assert.is(await figure(calls, { route: "/v1/events", status: "4xx" }), 1);
    assert.ok((await figure("countersign_log_append_duration_seconds_count", { outcome: "appended" })) > 5);
    assert.ok((await figure("countersign_projection_lag_seconds")) >= 0);

    const told = `${await (await scrape()).text()}\n${program.output()}`;
    const own = [client.account, source.id, target.id, policy.id, client.key, client.cookie.split("=")[1] ?? "cookie"];
    assert.is(
      MARKS.find((mark) => told.includes(mark)),
      undefined,
    );
    const figures = await (await scrape()).text();
    assert.is(
      own.find((id) => figures.includes(id)),
      undefined,
    );
    assert.not.match(figures, /evt_/);

    // And nobody is told by whom the service is used, however few they are.
    const pages = await Promise.all(
      ["/public/status/summary", "/status"].map(async (path) => (await fetch(`${program.url}${path}`)).text()),
    );
    const all = pages.join("\n");
    assert.is(
      [...MARKS, ...own].find((mark) => all.includes(mark)),
      undefined,
    );
    assert.not.match(all, /evt_|acc_|127\.0\.0\.1/);
    const { last_24h, days } = JSON.parse(pages[0] ?? "");
    const [today] = days;
    const counts = [last_24h.admitted, last_24h.delivered, last_24h.failed, today.admitted, today.delivered];
    assert.equal(counts, ["<10", "<10", "<10", "<10", "<10"]);
    assert.equal(
      [last_24h.delivery_success_rate, last_24h.delivery_p50_ms, last_24h.delivery_p99_ms],
      [null, null, null],
    );
  });

  test("each decision and each attempt is a line with its trace", async () => {
    const lines = await until("the lines are there", () => {
      const all = program
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line));
      const found = all.filter(({ msg }) => msg === "decided" || msg === "attempted");
      return found.length >= 10 ? found : null;
    });
    for (const { trace_id, id, event_id = id } of lines) {
      assert.match(trace_id, /^[0-9a-f]{32}$/);
      assert.match(event_id, /^evt_/);
    }
    const [attempt] = lines.filter(({ msg }) => msg === "attempted");
    const decision = lines.find(({ msg, id }) => msg === "decided" && id === attempt.event_id);
    assert.is(decision.trace_id, attempt.trace_id);
    assert.is(lines.find(({ outcome }) => outcome === "blocked").code, "missing-fields");
  });

  test("from elsewhere only with the token: a proxy on this machine is elsewhere", async () => {
    assert.is((await scrape()).status, 200);
    const proxied = { "x-forwarded-for": "203.0.113.7" };
    const refused = await scrape(proxied);
    assert.is(refused.status, 401);
    assert.match(refused.headers.get("content-type") ?? "", /problem\+json/);
    assert.is((await scrape({ ...proxied, authorization: "Bearer wrong" })).status, 401);
    assert.is((await scrape({ ...proxied, authorization: `Bearer ${TOKEN}` })).status, 200);
  });

  test("every figure that an alert or the dashboard asks for is there", async () => {
    const text = await (await scrape()).text();
    const alerts = parse(infra("prometheus/alerts.yaml"));
    const rules: readonly { alert: string; expr: string }[] = alerts.groups[0].rules;
    const guide = readFileSync("docs/operator.md", "utf8").split("\n");
    for (const { alert, expr } of rules) {
      assert.match(expr, /\babsent\(/, alert);
      const row = guide.find((line) => line.startsWith(`| \`${alert}\``)) ?? "";
      for (const metric of namesIn(expr)) {
        // A histogram is asked for by another of its series.
        assert.match(row, metric.replace(/_(bucket|count|sum)$/, ""), `${alert} is explained for operators`);
      }
    }
    const dashboard = JSON.parse(infra("grafana/dashboard.json"));
    const asked = namesIn(`${rules.map(({ expr }) => expr).join("\n")}\n${JSON.stringify(dashboard.panels)}`);
    assert.ok(asked.length > 10);
    // Of an embedded log alone.
    const isAbsent = (metric: string) => !text.includes(`\n${metric}{`) && !text.includes(`\n${metric} `);
    assert.equal(asked.filter(isAbsent), []);
  });

  test.run();
};

for (const set of engineSets()) metrics(set);
