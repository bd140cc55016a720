import type { Position } from "../../domain/ports/event-log.ts";
import { derivedId } from "../../infra/crypto/ids.ts";

/**
 * Positions in the API: `<four characters that identify the log>-<position>`. The prefix tells positions of a log that was
 * moved from its earlier ones, with which they must not be compared.
 */
export type PositionText = {
  of(position: Position): string;
  /** Null for a position of another log. */
  read(text: string): Position | null;
};

/** One log in a million has the same tag by chance. */
const TAG_LENGTH = 4;

/** Matches a position of any log; none needs URL encoding. */
export const POSITION_PATTERN = `^[a-z2-7]{${TAG_LENGTH}}-[0-9A-Za-z_]{1,59}$`;

export const positionText = (log: string): PositionText => {
  const tag = `${derivedId("", "position", log).slice(0, TAG_LENGTH)}-`;
  return {
    of: (position) => tag + position,
    read: (text) => (text.startsWith(tag) ? text.slice(tag.length) : null),
  };
};
