/** Runs something of Node's that warns, in the calling thread, of what is known and meant. */
export const withoutWarnings = <T>(run: () => T): T => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return run();
  } finally {
    process.emitWarning = emitWarning;
  }
};
