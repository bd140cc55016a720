import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config.ts";
import { ConfigError } from "../config-error.ts";

type Address = Pick<Config, "host" | "port">;

/** What an operator is told if the service cannot listen. */
export const notListening = ({ host, port }: Address, error: NodeJS.ErrnoException): ConfigError => {
  const sentence = `HOST ${host} and PORT ${port} cannot be listened on`;
  return new ConfigError(
    error.code === "EADDRINUSE"
      ? `${sentence}: another program does. Set another one: PORT=<port> npm start, or serve --port <port>.`
      : `${sentence}: ${error.message}`,
  );
};

/**
 * Refuses a start that could not listen, before anything is made for it. The port may still be taken until the service
 * listens itself.
 */
export const checkPort = async ({ host, port, roles }: Address & Pick<Config, "roles">): Promise<void> => {
  if (!roles.includes("api")) return;
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    throw notListening({ host, port }, error as NodeJS.ErrnoException);
  }
  server.close();
  await once(server, "close");
};
