import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { parseVerifierKey, type VerifierKey } from "../../domain/evidence/signed-note.ts";
import { systemClock } from "../../infra/clock.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { openWitness } from "../witness/open-witness.ts";
import { witnessServer } from "../witness/server.ts";
import type { Witness } from "../witness/witness.ts";
import { API_OPTIONS, apiOf } from "./api.ts";
import { type Arguments, type Command, type Terminal, UsageError } from "./command.ts";
import { accountWatch } from "./witness-account.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const NAME = /^[^\s+]{1,255}$/u;

const keysOf = (given: readonly string[]): readonly VerifierKey[] =>
  given.map((text) => {
    const key = parseVerifierKey(sha256, text);
    if (key === null)
      throw new UsageError(`--log takes a verifier key, such as GET /v1/audit/key answers, not "${text}".`);
    return key;
  });

type Listen = { readonly host: string; readonly port: number };

const LISTEN = /^(?:\[(?<ipv6>[\da-fA-F:.]+)\]|(?<host>[\w.-]+)):(?<port>\d{1,5})$/;

const listenOf = (text: string | boolean | undefined): Listen | null => {
  if (text === undefined) return null;
  const { ipv6, host = ipv6, port } = LISTEN.exec(String(text))?.groups ?? {};
  if (host === undefined || !(Number(port) <= 65_535)) throw new UsageError("--listen takes <host>:<port>.");
  return { host, port: Number(port) };
};

const serveWitness = async (witness: Witness, listen: Listen, terminal: Terminal) => {
  const server = witnessServer({ witness, onError: (error) => terminal.note(`The witness failed: ${String(error)}`) });
  server.listen(listen);
  await once(server, "listening");
  // The server listens on a port, and only one on a socket path has a string as its address.
  const { address, family, port } = server.address() as AddressInfo;
  terminal.out(`listening on http://${family === "IPv6" ? `[${address}]` : address}:${port}`);
  return server;
};

const untilSignalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });

const optionsOf = ({ options, lists, positionals }: Arguments) => {
  const logs = keysOf(lists.log ?? []);
  const name = options.name === undefined ? null : String(options.name);
  if (positionals.length > 0 || logs.length === 0 || options.state === undefined)
    throw new UsageError("witness takes --log, --state and no argument.");
  const listen = listenOf(options.listen);
  if (listen === null && options.fetch !== true) throw new UsageError("witness takes --listen, --fetch or both.");
  if (name !== null && !NAME.test(name)) throw new UsageError("A witness' name has no space and no plus sign.");
  return { logs, listen, name, path: String(options.state) };
};

export const witness: Command = {
  synopsis: "--log <vkey>… --state <file> [--listen <host>:<port>] [--fetch] [--name <name>]",
  help: [
    "Runs a witness (C2SP tlog-witness) until it is interrupted. It cosigns a checkpoint of a log whose key",
    "it is given, if the tree has only grown since the one that it cosigned before. For a key of Countersign,",
    "it takes the trees of the installation and of its accounts.",
    "--log <vkey>             the log's verifier key, from GET /v1/audit/key; may be given several times",
    "--state <file>           what was cosigned; the witness' own key is made beside it, in <file>.key",
    "--listen <host>:<port>   where checkpoints are submitted (POST /add-checkpoint), and where the newest",
    "                         cosigned one is read (GET /<SHA-256 of the origin, in hex>/checkpoint)",
    "--fetch                  asks the service for the account's checkpoints itself, every minute",
    "--name <name>            the witness' name, such as example.com/witness; fixed with the first start",
    "--url <url>              with --fetch, the service; default: COUNTERSIGN_URL, or http://localhost:8080",
    "--key <key>              with --fetch, a key of the account with the role auditor; default:",
    "                         COUNTERSIGN_API_KEY, which other users cannot see",
  ],
  options: {
    log: { type: "string", multiple: true },
    state: { type: "string" },
    listen: { type: "string" },
    fetch: { type: "boolean" },
    name: { type: "string" },
    url: API_OPTIONS.url,
    key: API_OPTIONS.key,
  },
  async run(args, env, terminal) {
    const { logs, listen, name, path } = optionsOf(args);
    const api = args.options.fetch === true ? apiOf(args, env) : null;
    const opened = openWitness({
      ...{ path, name, logs, randomness, clock: systemClock },
      onFork: (text) => terminal.note(text),
    });
    try {
      terminal.out(`witness key: ${opened.vkey}`);
      const server = listen === null ? null : await serveWitness(opened.witness, listen, terminal);
      const watch = api === null ? null : accountWatch({ api, witness: opened.witness, terminal });
      await untilSignalled();
      await watch?.stop();
      server?.close();
      server?.closeAllConnections();
    } finally {
      opened.close();
    }
  },
};
