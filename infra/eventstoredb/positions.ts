import type { Position } from "../../domain/ports/event-log.ts";
import type { Cursor } from "./connection.ts";

/** Numbers have the digits of the largest unsigned 64-bit number, so that positions compare as text. */
const DIGITS = 20;
const POSITION = /^\d{40}$/;

export const positionOf = ({ commit, prepare }: Cursor): Position =>
  String(commit).padStart(DIGITS, "0") + String(prepare).padStart(DIGITS, "0");

export const cursorOf = (position: Position): Cursor => {
  if (!POSITION.test(position)) throw new TypeError(`not a position of this log: ${position}`);
  return { commit: BigInt(position.slice(0, DIGITS)), prepare: BigInt(position.slice(DIGITS)) };
};

export const compare = (a: Cursor, b: Cursor): number => {
  if (a.commit !== b.commit) return a.commit < b.commit ? -1 : 1;
  if (a.prepare !== b.prepare) return a.prepare < b.prepare ? -1 : 1;
  return 0;
};
