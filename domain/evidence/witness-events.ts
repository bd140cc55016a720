/**
 * Streams `checkpoint-witnessed`, which has each instance checkpoint that reached the quorum, and `checkpoint-hourly`, which
 * has the first of them in each hour. `note` is the checkpoint with the log's signatures and the cosignatures.
 */
export type WitnessEvent = { readonly type: "CheckpointCosigned"; readonly data: { readonly note: string } };

export const WITNESSED_STREAM = "checkpoint-witnessed";
export const HOURLY_STREAM = "checkpoint-hourly";
