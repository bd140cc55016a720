import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { testWhere } from "./support/skipped.ts";

type Service = {
  readonly image: string;
  readonly build?: object;
  readonly pull_policy?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

/** Tests are run in the repository's folder. */
const text = (path: string): string => readFileSync(path, "utf8");
const yaml = (path: string) => parse(text(path), { merge: true });

// Compose itself checks its files against their schema; here it is about what they say of this program.
const compose: Compose = yaml("infra/compose.yaml");
const dockerfile = text("infra/Dockerfile");
const workflow = text(".github/workflows/ci.yml");
const { engines, scripts } = JSON.parse(text("package.json"));

const OWN = ["countersign", "countersign-2"];
/** A name, and a tag that says a version down to its patch level. */
const PINNED = /^[\w./-]+:\d+\.\d+\.\d+(-[\w.-]+)?$/;

const services = Object.entries(compose.services);
const isOwn = ([name]: [string, unknown]): boolean => OWN.includes(name);
/** Made once, and gone when it is done. */
const isJob = ([name]: [string, unknown]): boolean =>
  services.some(([, { depends_on }]) => depends_on?.[name]?.condition === "service_completed_successfully");

const known = (): ReadonlySet<string> =>
  new Set([...text("src/config.ts").matchAll(/\benv\.([A-Z_]+)|\benv, "([A-Z_]+)"/g)].map(([, a, b]) => a ?? b ?? ""));

const test = suite("deployment");

test("every image is of one version, in every file the same", () => {
  const images = [
    ...services.filter((service) => !isOwn(service)).map(([, { image }]) => image),
    ...[...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image),
    ...[...workflow.matchAll(/\bimage: (\S+)/g)].map(([, image = ""]) => image),
  ];
  assert.ok(images.length >= 6);
  for (const image of images) assert.match(image, PINNED);
  const versions = new Map<string, Set<string>>();
  for (const image of images) {
    const [name = ""] = image.split(":");
    versions.set(name, (versions.get(name) ?? new Set()).add(image));
  }
  for (const [name, all] of versions) assert.is(all.size, 1, name);
});

test("an image that is built is built by one service, and by the others neither built nor looked for in a registry", () => {
  const built = services.filter(([, { build }]) => build !== undefined);
  assert.ok(built.length > 0);
  for (const [name, { image }] of built) {
    for (const [other, service] of services.filter((one) => one[0] !== name && one[1].image === image)) {
      assert.is(service.build, undefined, `${name} and ${other}`);
      assert.is(service.pull_policy, "never", other);
    }
  }
});

test("what the service is told are variables that it reads, of all engines and with its key", () => {
  const read = known();
  for (const name of OWN) {
    const told = Object.keys(compose.services[name]?.environment ?? {});
    for (const variable of told) assert.ok(read.has(variable), variable);
    for (const variable of [
      "EVENTSTORE_URL",
      "MONGODB_URL",
      "KAFKA_BROKERS",
      "COUNTERSIGN_KEY",
      "AUDIT_KEY_FILE",
      "PUBLIC_URL",
    ])
      assert.ok(told.includes(variable), variable);
  }
  const [, set = ""] = /^ENV (.+)$/m.exec(dockerfile) ?? [];
  // The first is for libraries, the second for glibc.
  const ofOthers = ["NODE_ENV", "MALLOC_ARENA_MAX"];
  for (const [, variable = ""] of set.matchAll(/\b([A-Z_]+)=/g))
    assert.ok(ofOthers.includes(variable) || read.has(variable), variable);
});

test("no secret has a value in the file, and none may be left out", () => {
  const secrets = [...text("infra/compose.yaml").matchAll(/\$\{(\w+)(:[-?])?/g)].filter(([, name = ""]) =>
    /KEY|PASSWORD/.test(name),
  );
  assert.ok(secrets.length >= 4);
  for (const [, name, otherwise] of secrets) assert.is(otherwise, ":?", name);
  assert.match(text(".gitignore"), /^\.env$/m);
  assert.match(text(".dockerignore"), /^infra\/\.env$/m);
});

test("only the service is reached from outside, and only from this machine", () => {
  for (const [name, { ports = [] }] of services) {
    assert.is(ports.length > 0, OWN.includes(name), name);
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/);
  }
  assert.is(compose.networks.inside?.internal, true);
});

test("every server is watched, bounded and started again, and waits for those that it needs", () => {
  for (const service of services) {
    const [name, { restart, mem_limit, healthcheck, depends_on = {} }] = service;
    assert.ok(restart && mem_limit, name);
    // The image of the service has its own.
    if (!isJob(service) && !isOwn(service)) assert.ok(healthcheck, name);
    for (const [needed, { condition }] of Object.entries(depends_on)) {
      assert.ok(compose.services[needed], needed);
      assert.match(condition, /^service_(healthy|completed_successfully)$/);
    }
  }
  assert.match(dockerfile, /^HEALTHCHECK .*\\\n {2}CMD \["node", .*\/ready/m);
});

test("what is mounted is there, and what has a name is kept", () => {
  for (const [name, { volumes = [] }] of services) {
    for (const volume of volumes) {
      const [from = ""] = volume.split(":");
      if (from.startsWith("./")) assert.ok(existsSync(`infra/${from}`), `${name}: ${from}`);
      else assert.ok(Object.hasOwn(compose.volumes, from), `${name}: ${from}`);
    }
  }
});

test("the service is given longer to stop than it takes", () => {
  const [, stopMs = ""] = /^const STOP_MS = ([\d_]+);$/m.exec(text("src/main.ts")) ?? [];
  assert.ok(Number(stopMs.replaceAll("_", "")) > 0);
  for (const name of OWN) {
    const given = compose.services[name]?.stop_grace_period ?? "";
    assert.ok(Number.parseInt(given, 10) * 1_000 > Number(stopMs.replaceAll("_", "")), name);
  }
});

test("the image is built from what is there, and what is copied is not ignored", () => {
  const ignored = text(".dockerignore").split("\n");
  assert.is(ignored.includes("*"), true);
  for (const [, copied = ""] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const path of copied.split(" ")) {
      assert.ok(existsSync(path), path);
      assert.ok(ignored.includes(`!${path}`), path);
    }
  }
  // The types of tests and scripts are not needed, but everything that the program is made of is.
  const folders = JSON.parse(text("tsconfig.json")).include as string[];
  for (const folder of folders.filter((it) => it !== "test" && it !== "scripts")) {
    const [whole = folder] = folder.split("/");
    assert.match(dockerfile, new RegExp(`^COPY ${whole} \\./${whole}$`, "m"));
  }
});

test("the container starts Node as npm start does, with a Node that the package allows, and not as root", () => {
  const [, command = ""] = /^CMD (\[.+\])$/m.exec(dockerfile) ?? [];
  assert.is(JSON.parse(command).join(" "), scripts.start.split(" && ").at(-1));
  const [, major, minor] = /^FROM node:(\d+)\.(\d+)/m.exec(dockerfile) ?? [];
  const [, least = "", leastMinor = ""] = /(\d+)\.(\d+)/.exec(engines.node) ?? [];
  assert.ok(Number(major) > Number(least) || (major === least && Number(minor) >= Number(leastMinor)));
  assert.match(dockerfile, /^USER node$/m);
});

test("the job of the real engines runs tests that there are, on addresses that the compose files open", () => {
  const [, filters = ""] = /npm test -- (.+)$/m.exec(workflow) ?? [];
  const tests = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  for (const filter of filters.split(" "))
    assert.ok(
      tests.some((file) => file.includes(filter)),
      filter,
    );
  const opened: Compose = yaml("infra/compose.ports.yaml");
  const ports = Object.values(opened.services).flatMap((service) => service.ports ?? []);
  const used = [...workflow.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port = ""]) => port);
  assert.ok(used.length >= 3);
  for (const port of used)
    assert.ok(
      ports.some((open) => open.startsWith(`127.0.0.1:${port}:`)),
      port,
    );
});

test("the embedded engines are one service with one volume, that is written to nowhere else", () => {
  const { services: embedded, volumes }: Compose = yaml("infra/compose.embedded.yaml");
  assert.equal([Object.keys(embedded), Object.keys(volumes)], [["countersign"], ["countersign-data"]]);
  const own = embedded.countersign;
  assert.equal(own?.volumes, ["countersign-data:/data"]);
  assert.is(own?.environment?.DATA_DIR, "/data");
  assert.is(own?.read_only, true);
  assert.ok(own?.healthcheck?.test.join(" ").includes("/ready"));
  for (const port of own?.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
  const read = known();
  for (const variable of Object.keys(own?.environment ?? {})) assert.ok(read.has(variable), variable);
});

const UNIT = "infra/systemd/countersign.service";
const isSystemdThere = spawnSync("systemd-analyze", ["--version"]).status === 0;

testWhere(test, isSystemdThere, "systemd-analyze missing", "systemd finds nothing wrong in the unit", () => {
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", UNIT], { encoding: "utf8" });
  // Node and its folder are elsewhere on the machine of a test.
  const found = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("countersign.service:"));
  assert.equal(
    found.filter((line) => !line.includes("is not executable")),
    [],
  );
});

test("the unit starts Node as npm start does, writes to the folder that systemd makes for it, and knows its variables", () => {
  const unit = text(UNIT);
  assert.ok(unit.includes(`ExecStart=/usr/bin/${scripts.start.split(" && ").at(-1)}\n`));
  const [, state = ""] = /^StateDirectory=(.+)$/m.exec(unit) ?? [];
  const [, told = ""] = /^Environment=(.+)$/m.exec(unit) ?? [];
  assert.ok(told.split(" ").includes(`DATA_DIR=/var/lib/${state}`));
  for (const [, variable = ""] of told.matchAll(/\b([A-Z_]+)=/g))
    assert.ok(variable === "NODE_ENV" || known().has(variable), variable);
});

const SECRET_PATHS = [
  "backup/log.db",
  "data/key",
  "infra/audit/key",
  "infra/.env",
  "audit-key",
  "a.key",
  "profiles.json",
];

test("what may hold a secret is neither versioned nor sent to the builder of the image", () => {
  const { stdout } = spawnSync("git", ["check-ignore", "--no-index", ...SECRET_PATHS], { encoding: "utf8" });
  assert.equal(stdout.trim().split("\n"), SECRET_PATHS);
  const ignored = text(".dockerignore").split("\n");
  // Of the folders that are copied, only infra/ has secrets in it; the rest of the repository is not sent at all.
  for (const path of ["infra/.env", "infra/audit"]) assert.ok(ignored.includes(path), path);
});

test("each job of the workflow has an end, and starts nothing that floats", () => {
  for (const file of readdirSync(".github/workflows")) {
    const { jobs } = yaml(`.github/workflows/${file}`);
    for (const [name, job] of Object.entries<{ "timeout-minutes"?: number; steps: { uses?: string }[] }>(jobs)) {
      assert.ok(Number(job["timeout-minutes"]) > 0, name);
      for (const { uses } of job.steps) if (uses !== undefined) assert.match(uses, /@[0-9a-f]{40}$/, name);
    }
  }
});

test.run();
