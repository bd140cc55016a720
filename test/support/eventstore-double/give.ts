import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerWritableStream } from "@grpc/grpc-js";

export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

/** Writes one message, and waits while the client takes no more. False when the call has ended meanwhile. */
export const give = async (call: ReadCall, message: streams.ReadResp): Promise<boolean> => {
  if (call.cancelled || !call.writable) return false;
  if (call.write(message)) return true;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      call.off("drain", settle);
      call.off("cancelled", settle);
      resolve();
    };
    call.on("drain", settle);
    call.on("cancelled", settle);
  });
  return !call.cancelled;
};
