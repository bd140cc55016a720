import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../problems.ts";
import { problemWire, sendWire } from "./wire.ts";

/** Answers with a problem; its trace id is the request's id. */
export const sendProblem = (request: FastifyRequest, reply: FastifyReply, it: Problem): FastifyReply =>
  sendWire(reply, problemWire(it, request.id));
