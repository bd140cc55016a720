/** A value of the environment that cannot be used; the message is one sentence that says what to change. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export type Env = Readonly<Record<string, string | undefined>>;
