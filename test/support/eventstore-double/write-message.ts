import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerWritableStream } from "@grpc/grpc-js";

export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

/** Messages that may be on their way to the socket: about what 64 KiB, the output buffer of the server, take. */
const ON_THE_WAY_MAX = 64;

/** Writes one message, and waits while the client takes no more. False when the call has ended meanwhile. */
export const writeMessage = async (call: ReadCall, message: streams.ReadResp): Promise<boolean> => {
  if (call.cancelled || !call.writable) return false;
  if (call.write(message) || call.writableLength < ON_THE_WAY_MAX) return true;
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
