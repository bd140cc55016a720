const REPLAY_ID = /^rpl_[a-z2-7]{32}$/;

export const isReplayId = (text: string): boolean => REPLAY_ID.test(text);

export const replayStream = (replayId: string): string => `replay-${replayId}`;

/** The stream `replays-<account>` has the places of the account's running replays, and so limits their number. */
export const replayPlacesStream = (account: string): string => `replays-${account}`;
