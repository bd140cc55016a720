import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../streams/problems.ts";
import { noteProblem } from "./route-problems.ts";
import { problemWire, sendWire } from "./wire.ts";

/** Answers with a problem; its trace id is the request's id. */
export const sendProblem = (request: FastifyRequest, reply: FastifyReply, it: Problem): FastifyReply => {
  noteProblem(request, it);
  return sendWire(reply, problemWire(it, request.id));
};
