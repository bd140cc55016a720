import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../streams/problems.ts";
import { noteProblem } from "./route-problems.ts";
import { problemAnswer, sendAnswer } from "./sent-answer.ts";

export const sendProblem = (request: FastifyRequest, reply: FastifyReply, it: Problem): FastifyReply => {
  noteProblem(request, it);
  return sendAnswer(reply, problemAnswer(it, request.id));
};
