import { parseArgs } from "node:util";

const USAGE = `npm run bench                        about six minutes, logs of 10 and 100 thousand events
npm run bench -- --quick             about a minute, to see that everything works
npm run bench -- --events 1000000    the larger log with a million
npm run bench -- --json FILE         the file for the figures; default: bench-<date>.json
npm run bench -- --engines           on the configured ones of EVENTSTORE_URL, MONGODB_URL and KAFKA_BROKERS
npm run bench -- --double            the same with a test double of EventStoreDB
npm run bench -- --engines --embedded    both, and their ratios
npm run bench -- --beside            only the cost of traces to a missing collector, and of log lines
npm run bench -- --attack            only a victim's p99 with and without an attacker
npm run bench -- --attack --only hang --rounds 20    only attacks with this in their names, 20 rounds
npm run bench -- --against DIR       only a comparison with the build in another checkout, in turns
npm run bench -- --against DIR --only admission,light    only these of admission, delivered and light
npm run bench -- --double --ratio    only the processor time on these engines as a multiple of the embedded ones
npm run bench -- --growth --events 1000000    only what depends on the log's size
npm run bench -- --sealing           only how soon records are sealed, and what sealing costs
npm run bench -- --profile DIR       only CPU profiles of the service's threads, written to DIR
npm run bench -- --engines --yes     on a log that is not empty; the records stay in it, so never in production`;

const OPTIONS = {
  help: { type: "boolean", default: false },
  quick: { type: "boolean", default: false },
  events: { type: "string" },
  json: { type: "string" },
  engines: { type: "boolean", default: false },
  double: { type: "boolean", default: false },
  embedded: { type: "boolean", default: false },
  beside: { type: "boolean", default: false },
  attack: { type: "boolean", default: false },
  only: { type: "string", default: "" },
  rounds: { type: "string" },
  against: { type: "string" },
  profile: { type: "string" },
  ratio: { type: "boolean", default: false },
  growth: { type: "boolean", default: false },
  sealing: { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
} as const;

/** For a wrong option or setting. */
export const EXIT_USAGE = 2;

const parsed = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;

type Said = { readonly text: string; readonly exitCode: 0 | typeof EXIT_USAGE };

/** The options of `npm run bench`; with `--help`, or an option that does not exist, what to print instead of measuring. */
export const flagsOf = (args: readonly string[]): { readonly flags: ReturnType<typeof parsed> } | Said => {
  try {
    const flags = parsed(args);
    return flags.help ? { text: USAGE, exitCode: 0 } : { flags };
  } catch (error) {
    // `parseArgs` throws for nothing else than its arguments.
    return { text: `${error instanceof Error ? error.message : error}\n\n${USAGE}`, exitCode: EXIT_USAGE };
  }
};
