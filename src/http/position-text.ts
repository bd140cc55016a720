import type { Position } from "../../domain/ports/event-log.ts";
import { derivedId } from "../../infra/crypto/ids.ts";

/**
 * A position as it is written outside of the program: `<four characters that name the log>-<the position>`. A log that was
 * moved gives other positions, which compare with the old ones as if they meant something; the characters tell them apart.
 */
export type PositionText = {
  of(position: Position): string;
  /** Null for a position of another log. */
  read(text: string): Position | null;
};

/** By chance, one log in a million has the same. */
const TAG_LENGTH = 4;

/** Matches a position of any log. Nothing in it has to be encoded in a URL. */
export const POSITION_PATTERN = `^[a-z2-7]{${TAG_LENGTH}}-[0-9A-Za-z_]{1,59}$`;

/** `log`: its identity. */
export const positionText = (log: string): PositionText => {
  const tag = `${derivedId("", "position", log).slice(0, TAG_LENGTH)}-`;
  return {
    of: (position) => tag + position,
    read: (text) => (text.startsWith(tag) ? text.slice(tag.length) : null),
  };
};
