import { visibleLine } from "../../domain/visible-text.ts";
import type { EventDetail } from "../bodies/event-answer.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, apiOf } from "./api.ts";
import { type Command, UsageError } from "./command.ts";
import { type Cell, json, nameCell, plainLine, printLines, shownTime, stateCell, tonedTable } from "./formats.ts";
import type { Line } from "./tone.ts";

type AttemptShown = EventDetail["attempts"][number];

/** Characters of a response body that are shown; `--json` has the whole body. */
const BODY_MAX = 2_000;

export const isEventId = (text: string): boolean => /^evt_[a-z2-7]{1,64}$/.test(text);

const timings = (ms: AttemptShown["timings_ms"]): string =>
  Object.entries(ms ?? {})
    .map(([name, value]) => `${name.replace("_", " ")} ${value ?? "-"}`)
    .join(", ");

const attemptLines = (attempt: AttemptShown): readonly string[] => {
  const { number, trigger, outcome, status_code, duration_ms, failure, response, next_attempt_at } = attempt;
  const replay = trigger === "replay" ? ", replayed" : "";
  const came = [status_code, failure === null ? null : `${failure.kind}: ${visibleLine(failure.detail)}`];
  const said = came.filter((it) => it !== null).join(", ");
  const body = response?.encoding === "text" ? (response.body ?? "") : "";
  return [
    `  ${number}  ${shownTime(attempt.started_at)}  ${outcome}${replay}${said === "" ? "" : `  ${said}`}`,
    ...(duration_ms === null ? [] : [`     ${duration_ms} ms (${timings(attempt.timings_ms)})`]),
    ...(body === ""
      ? []
      : [`     answer: ${visibleLine(body.slice(0, BODY_MAX))}${body.length > BODY_MAX ? " …" : ""}`]),
    ...(next_attempt_at === null ? [] : [`     again ${shownTime(next_attempt_at)}`]),
  ];
};

const heading = (name: string): readonly Line[] => tonedTable([[nameCell(name)]]);

const shownEvent = (event: EventDetail): readonly Line[] => {
  const { verdict, payload, origin } = event;
  const policy = verdict.policy === null ? "" : `, ${verdict.policy.id} version ${verdict.policy.version}`;
  const kept = payload.erased_at === null ? "" : `, erased ${shownTime(payload.erased_at)}`;
  const repeats = `${event.duplicates} duplicates, ${event.delivery_id_reused} with another body`;
  const facts: readonly (readonly [string, Cell | null])[] = [
    ["event", event.id],
    ["status", stateCell(event.status)],
    ["type", visibleLine(event.type)],
    ["from", `${origin.kind} ${origin.id} (${visibleLine(origin.name)}, ${visibleLine(origin.type)})`],
    ["sample", event.sample ? "yes, made by this service: no provider sent it" : null],
    ["to", event.endpoint_id],
    ["delivery id", visibleLine(event.delivery_id)],
    ["received", shownTime(event.received_at)],
    [
      "payload",
      `${payload.size} bytes, ${visibleLine(payload.content_type) || "no type"}, sha256 ${payload.sha256}${kept}`,
    ],
    ["verdict", `${verdict.decision}${policy}`],
    ["cost", event.cost_eur === null ? null : `${event.cost_eur} EUR`],
    ["approval", event.approval_id],
    ["repeats", event.duplicates + event.delivery_id_reused === 0 ? null : repeats],
    ["failure", event.failure === null ? null : `${event.failure.kind}: ${visibleLine(event.failure.detail)}`],
    ["trace", event.trace_id],
  ];
  const gates = verdict.gates.map(({ gate, outcome, detail }) => [
    `  ${gate}`,
    stateCell(outcome),
    visibleLine(detail),
  ]);
  const stages = event.timeline.map(({ stage, at, ms, number, reason, by }) => [
    `  ${at}`,
    `+${ms} ms`,
    number === undefined ? stage : `${stage} ${number}`,
    [visibleLine(reason ?? ""), by === undefined ? "" : `by ${by.kind} ${by.id}`].filter((it) => it !== "").join(", "),
  ]);
  return [
    ...tonedTable(facts.flatMap(([name, value]) => (value === null || value === "" ? [] : [[nameCell(name), value]]))),
    ...(gates.length === 0 ? [] : [...heading("gates"), ...tonedTable(gates)]),
    ...heading("timeline"),
    ...tonedTable(stages),
    ...(event.attempts.length === 0 ? [] : heading("attempts")),
    ...event.attempts.flatMap(attemptLines).map(plainLine),
    ...(event.attempts_left_out > 0
      ? [plainLine(`  ${event.attempts_left_out} attempts in the middle are not shown`)]
      : []),
  ];
};

export const eventsShow: Command = {
  synopsis: `<event> [--payload] ${API_SYNOPSIS}`,
  help: [
    "Prints one event: its sender, the verdict of the gates, its timeline, and the request and response of",
    "each attempt.",
    "<event>      evt_…",
    "--payload    prints only the payload, as it was received",
    ...API_HELP,
  ],
  options: { ...API_OPTIONS, payload: { type: "boolean" } },
  async run(args, env, terminal) {
    const [id = "", ...others] = args.positionals;
    if (!isEventId(id) || others.length > 0) throw new UsageError("events show takes one event, evt_….");
    const api = apiOf(args, env);
    if (args.options.payload === true) {
      const response = await api.open(`/v1/events/${id}/payload`);
      if (response.headers.get("countersign-redacted") === "true")
        terminal.note("The policy hides fields of this payload from the role of this key.");
      return terminal.out(new Uint8Array(await response.arrayBuffer()));
    }
    const event = await api.get<EventDetail>(`/v1/events/${id}`);
    if (args.options.json === true) return terminal.out(json(event));
    printLines(terminal, shownEvent(event));
  },
};
