import type { Position } from "../../domain/ports/event-log.ts";
import { derivedId } from "../../infra/crypto/ids.ts";

/**
 * In the API, a position is `<four characters that identify the log>-<position>`: after the log was moved, the
 * positions of the old copy must not be compared with those of the new one.
 */
export type PositionText = {
  of(position: Position): string;
  read(text: string): Position | null;
};

const TAG_LENGTH = 4;

export const POSITION_PATTERN = `^[a-z2-7]{${TAG_LENGTH}}-[0-9A-Za-z_]{1,59}$`;

export const positionText = (log: string): PositionText => {
  const tag = `${derivedId("", "position", log).slice(0, TAG_LENGTH)}-`;
  return {
    of: (position) => tag + position,
    read: (text) => (text.startsWith(tag) ? text.slice(tag.length) : null),
  };
};
