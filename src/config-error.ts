/** A variable of the environment cannot be used. The message is a sentence that tells the operator what to change. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export type Env = Readonly<Record<string, string | undefined>>;
