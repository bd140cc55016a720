import { defined } from "../../domain/defined.ts";
import { closingQuote } from "../../domain/evidence/closing-quote.ts";
import { escapePointer } from "../../domain/gate/field-path.ts";
import type { Json } from "../../domain/json.ts";
import { isExactNumber } from "./exact-number.ts";

export type JsonScan = {
  readonly duplicate?: string;
  /** The path of a key `__proto__`, if there is one: a careless copy of it would change an object's prototype. */
  readonly proto?: string;
  readonly inexact?: string;
  readonly tooDeep?: true;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

const isNumberStart = (code: number): boolean => code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9);

const LINEAR_KEYS_MAX = 16;

type Frame = { keys: string[] | Set<string> | null; at: string | number };

const numberAt = (text: string, at: number): string => {
  const number = /[-+.\deE]+/y;
  number.lastIndex = at;
  return number.exec(text)?.[0] ?? "";
};

const keyText = (text: string, from: number, to: number): string => {
  const raw = text.slice(from + 1, to);
  if (!raw.includes("\\")) return raw;
  const key: unknown = JSON.parse(`"${raw}"`);
  return String(key);
};

const isDuplicate = (frame: Frame, key: string): boolean => {
  frame.at = key;
  if (frame.keys instanceof Set) {
    const { size } = frame.keys;
    return frame.keys.add(key).size === size;
  }
  if (frame.keys === null) return false;
  if (frame.keys.includes(key)) return true;
  if (frame.keys.push(key) > LINEAR_KEYS_MAX) frame.keys = new Set(frame.keys);
  return false;
};

const pointer = (frames: readonly Frame[]): string => frames.map(({ at }) => `/${escapePointer(String(at))}`).join("");

/**
 * Scans valid JSON without recursion, and ends at the first duplicate key or at the first level that is too deep.
 * With `skipsNumbers` it does not look for numbers that would not be kept exactly.
 */
export const scanJson = (text: string, depthMax: number, skipsNumbers = false): JsonScan => {
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let keyNext = false;
  let proto: string | undefined;
  let inexact: string | undefined;
  const found = (scan: JsonScan): JsonScan =>
    proto === undefined && inexact === undefined ? scan : defined({ ...scan, proto, inexact });

  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    switch (code) {
      case QUOTE: {
        const end = closingQuote(text, at);
        if (keyNext && frame !== undefined) {
          keyNext = false;
          const key = keyText(text, at, end);
          const duplicate = isDuplicate(frame, key);
          if (duplicate) return found({ duplicate: pointer(frames) });
          if (key === "__proto__") proto ??= pointer(frames);
        }
        at = end;
        break;
      }
      case COMMA:
        if (typeof frame?.at === "number") frame.at += 1;
        else keyNext = true;
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY: {
        if (frames.length === depthMax) return found({ tooDeep: true });
        keyNext = code === OPEN_OBJECT;
        frame = keyNext ? { keys: [], at: "" } : { keys: null, at: 0 };
        frames.push(frame);
        break;
      }
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        frames.pop();
        frame = frames.at(-1);
        keyNext = false;
        break;
      default:
        if (!skipsNumbers && isNumberStart(code)) {
          const number = numberAt(text, at);
          if (inexact === undefined && !isExactNumber(number)) inexact = pointer(frames);
          at += number.length - 1;
        }
    }
  }
  return found({});
};

export const JSON_DEPTH_MAX = 64;

/** False for text that parsing and writing would change, or that is too deep for a recursive reader. */
export const isFaithfulJson = (text: string): boolean => {
  const { duplicate, inexact, tooDeep } = scanJson(text, JSON_DEPTH_MAX);
  return duplicate === undefined && inexact === undefined && tooDeep === undefined;
};

export type StrictJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly path: string };

const refused = (message: string, path = ""): StrictJson => ({ ok: false, message, path });

const BOM = 0xfeff;
/** Matches the escape of half a surrogate pair. In bytes of valid UTF-8 it cannot occur in any other form. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Half a surrogate pair in a string is lost when it is stored as UTF-8 (forbidden by RFC 7493, section 2.1). */
const hasLoneSurrogate = (text: string): boolean => {
  if (!SURROGATE_ESCAPE.test(text)) return false;
  let lone = false;
  JSON.parse(text, (key, value: unknown) => {
    lone ||= LONE_SURROGATE.test(key) || (typeof value === "string" && LONE_SURROGATE.test(value));
    return value;
  });
  return lone;
};

export const strictJson = (bytes: Uint8Array): StrictJson => {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refused("The body is not valid UTF-8.");
  }
  if (text.charCodeAt(0) === BOM) return refused("The body begins with a byte order mark; leave it out.");
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    const at = error instanceof Error ? /position \d+/.exec(error.message) : null;
    return refused(`The body is not valid JSON${at === null ? "" : ` (at ${at[0]})`}.`);
  }
  const { duplicate, proto, inexact, tooDeep } = scanJson(text, JSON_DEPTH_MAX);
  if (tooDeep === true) return refused(`The body is nested deeper than ${JSON_DEPTH_MAX} levels.`);
  if (duplicate !== undefined) return refused("This key occurs twice in one object.", duplicate);
  if (proto !== undefined) return refused("The key __proto__ is not allowed.", proto);
  if (inexact !== undefined) return refused("This number would not be kept exactly; send it as a string.", inexact);
  if (hasLoneSurrogate(text)) return refused("A string contains half of a surrogate pair.");
  return { ok: true, value };
};
