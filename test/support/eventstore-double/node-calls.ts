import gossip from "@eventstore/db-client/generated/gossip_pb.js";
import { PersistentSubscriptionsService } from "@eventstore/db-client/generated/persistent_grpc_pb.js";
import features from "@eventstore/db-client/generated/serverfeatures_pb.js";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import { StreamsService } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import { type ServerUnaryCall, type ServiceError, type sendUnaryData, status } from "@grpc/grpc-js";
import type { Context } from "./context.ts";
import type { Method } from "./misbehaviour.ts";
import { callError, notLeaderError } from "./wire.ts";

const SERVER_VERSION = "23.10.8";
/** VNodeState.Leader. */
const LEADER = 8;

/** As ServerFeatures.GetSupportedMethods of the server: names in lower case. */
const supportedMethods = (withBatch: boolean): features.SupportedMethods => {
  const answer = new features.SupportedMethods().setEventStoreServerVersion(SERVER_VERSION);
  for (const { path } of [...Object.values(StreamsService), ...Object.values(PersistentSubscriptionsService)]) {
    const [, service = "", name = ""] = path.toLowerCase().split("/");
    if (name === "batchappend" && !withBatch) continue;
    const method = new features.SupportedMethod().setServiceName(service).setMethodName(name);
    if (service.includes("persistent")) method.setFeaturesList(["stream", "all"]);
    else if (name === "read") method.setFeaturesList(["position", "events"]);
    else if (name === "batchappend") method.setFeaturesList(["deadline_duration"]);
    answer.addMethods(method);
  }
  return answer;
};

type Unary<Response> = (call: ServerUnaryCall<shared.Empty, Response>, callback: sendUnaryData<Response>) => void;

const answering =
  <Response>(context: Context, method: Method, response: () => Response): Unary<Response> =>
  (_call, callback) => {
    const failing = (error: ServiceError): void => callback(error);
    const odd = context.misbehaviours.next({ method, stream: null, events: 0, batch: false, requiresLeader: false });
    switch (odd?.how) {
      case "silent":
        return;
      case "slow":
        return context.later(odd.ms, () => callback(null, response()));
      case "cut":
        return context.cut();
      case "error":
        return failing(callError(odd.code, odd.details));
      case "timeout":
        return failing(callError(status.DEADLINE_EXCEEDED, "Deadline exceeded"));
      case "not-leader":
        return failing(notLeaderError(odd.leader));
      default:
        return callback(null, response());
    }
  };

export const featuresCall = (context: Context): Unary<features.SupportedMethods> =>
  answering(context, "features", () => supportedMethods(context.withBatch));

/** A cluster of one, which is its own leader. */
export const gossipCall = (context: Context, port: () => number): Unary<gossip.ClusterInfo> =>
  answering(context, "gossip", () => {
    const member = new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString("5f4e3d2c-0000-4000-8000-000000000001"))
      .setTimeStamp(String(Date.now()))
      .setState(LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress("127.0.0.1").setPort(port()));
    return new gossip.ClusterInfo().setMembersList([member]);
  });
