/** `derivedId` makes no others; and what is no id is no stream's name either. */
const REPLAY_ID = /^rpl_[a-z2-7]{32}$/;

export const isReplayId = (text: string): boolean => REPLAY_ID.test(text);

export const replayStream = (replayId: string): string => `replay-${replayId}`;

/** The stream that decides how many replays of an account run. */
export const replayPlacesStream = (account: string): string => `replays-${account}`;
