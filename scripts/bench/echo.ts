import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { answerParent } from "./child.ts";

/** This process is a bare Fastify that returns the JSON body, to measure HTTP alone. It prints its address. */
const app = Fastify();
app.post("/", async (request) => request.body);
await app.listen({ host: "127.0.0.1", port: 0 });

answerParent<null, string>(async () => {
  const { port } = app.server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/`;
});
