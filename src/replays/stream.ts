const REPLAY_ID = /^rpl_[a-z2-7]{32}$/;

export const isReplayId = (text: string): boolean => REPLAY_ID.test(text);

export const replayStream = (replayId: string): string => `replay-${replayId}`;

/** The stream whose records limit the running replays of an account. */
export const replayPlacesStream = (account: string): string => `replays-${account}`;
