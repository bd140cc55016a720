/** What a browser is shown at an address that does not exist, in a coding that it accepts. */
export type UnknownPage = (acceptEncoding: string | undefined) => {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};
