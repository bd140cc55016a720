import { counted } from "../../design/format.ts";
import { type Message, message } from "./message.ts";

/** Why a step of a bundle could not be undone, in words. Pure. */

type Attempt = {
  readonly status_code: number | null;
  readonly failure: { readonly detail: string } | null;
  readonly response: { readonly body?: string | null; readonly encoding?: string | null } | null;
};

/** How the receiver answered the undo; `to` is its name. */
export type UndoTried = { readonly to: string; readonly attempts: readonly Attempt[]; readonly leftOut: number };

/** Members in which applications say what went wrong. */
const SAID_IN = ["detail", "message", "error", "reason", "title"];
/** As much as fits into a sentence. */
const SAID_MAX = 120;

/** What an answer's body says, if it is short and for people. */
const saidIn = (body: string): string => {
  const text = body.trim();
  try {
    const parsed: unknown = JSON.parse(text);
    const said =
      typeof parsed === "string"
        ? parsed
        : typeof parsed === "object" && parsed !== null
          ? SAID_IN.map((name): unknown => Reflect.get(parsed, name)).find((it) => typeof it === "string")
          : undefined;
    return typeof said === "string" ? said.slice(0, SAID_MAX) : "";
  } catch {
    return /^[^<\n]+$/.test(text) && text.length <= SAID_MAX ? text : "";
  }
};

const answerOf = ({ status_code: status, failure, response }: Attempt): string => {
  if (status === null) return failure?.detail ?? "no answer";
  const said = response?.encoding === "base64" ? "" : saidIn(response?.body ?? "");
  return said === "" ? `HTTP ${status}` : `HTTP ${status}, ${said}`;
};

const TODO = "Undo it by hand, then mark it as undone.";

/** `why` is told where no undo was sent. */
export const undoMessage = (tried: UndoTried | null, why: string): Message => {
  const last = tried?.attempts.at(-1);
  const title = "This step could not be undone.";
  if (tried === null || last === undefined) return message(title, `${why} ${TODO}`);
  const number = tried.attempts.length + tried.leftOut;
  const times = number === 1 ? "once" : counted(number, "time");
  const did = last.status_code === null ? "did not answer" : "refused";
  return message(title, `${tried.to} ${did} ${times}: "${answerOf(last)}". ${TODO}`);
};
